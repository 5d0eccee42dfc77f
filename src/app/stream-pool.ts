import type { StreamInfo } from "../model/stream.ts";
import type { StreamPipeline } from "../pipeline/stream-pipeline.ts";
import type { StreamSink } from "../source/source.ts";
import type { Committer } from "../store/committer.ts";
import type { LineCounts } from "./line-counts.ts";
import { PipelineSink } from "./pipeline-sink.ts";

/** Pipelines in memory: a node has some hundred live logs, and thousands that are quiet. */
const MAX_OPEN = 600;
/** Suspended at a time, so that one commit serves many. */
const SUSPENDED_AT_ONCE = 200;

export interface StreamPoolOptions {
  readonly make: (stream: StreamInfo) => StreamPipeline;
  /** What the state holds of a stream. */
  readonly memoryOf: (name: string) => unknown;
  readonly counts: LineCounts;
  readonly committer: () => Pick<Committer, "commit" | "degraded" | "ended" | "isEnded" | "suspended">;
  readonly maxOpen?: number;
}

/** All streams: the pipelines of those written to lately, the state's rows for the others. */
export class StreamPool {
  /** Those in memory. */
  readonly pipelines = new Set<StreamPipeline>();
  readonly #options: StreamPoolOptions;
  /** Sinks with a pipeline, in order of last use. */
  readonly #sinks = new Set<PipelineSink>();

  constructor(options: StreamPoolOptions) {
    this.#options = options;
  }

  open(stream: StreamInfo): StreamSink {
    const { make, memoryOf, counts, committer } = this.#options;
    const sink: PipelineSink = new PipelineSink({
      open: () => {
        this.#makeRoom();
        const pipeline = make(stream);
        const memory = committer().isEnded(stream.name) ? undefined : memoryOf(stream.name);
        if (memory !== undefined) pipeline.restore(memory);
        this.pipelines.add(pipeline);
        counts.opened(pipeline);
        return pipeline;
      },
      ended: (pipeline) => {
        counts.ended(pipeline);
        this.pipelines.delete(pipeline);
        this.#sinks.delete(sink);
        committer().ended(pipeline);
      },
      used: (used) => {
        this.#sinks.delete(used);
        this.#sinks.add(used);
      },
    });
    this.#sinks.add(sink);
    return sink;
  }

  #makeRoom(): void {
    if (this.pipelines.size < (this.#options.maxOpen ?? MAX_OPEN)) return;
    const { counts, committer } = this.#options;
    committer().commit();
    // what is not in the state must stay
    if (committer().degraded !== undefined) return;
    let left = SUSPENDED_AT_ONCE;
    for (const sink of this.#sinks) {
      if (left-- === 0) return;
      const pipeline = sink.suspend();
      if (pipeline === undefined) continue;
      this.#sinks.delete(sink);
      this.pipelines.delete(pipeline);
      counts.ended(pipeline);
      committer().suspended(pipeline);
    }
  }
}
