import type { StreamPipeline } from "../pipeline/stream-pipeline.ts";
import type { StreamSink } from "../source/source.ts";

/** What a source writes to: the pipeline of one stream, and who is told when the stream is over. */
export class PipelineSink implements StreamSink {
  readonly #pipeline: StreamPipeline;
  readonly #onEnd: () => void;

  constructor(pipeline: StreamPipeline, onEnd: () => void) {
    this.#pipeline = pipeline;
    this.#onEnd = onEnd;
  }

  push(bytes: Buffer, offset: number, readMs: number): void {
    this.#pipeline.push(bytes, offset, readMs);
  }

  endLine(): void {
    this.#pipeline.endLine();
  }

  flush(nowMs: number): void {
    this.#pipeline.flush(nowMs);
  }

  beginsWith(head: Buffer): void {
    this.#pipeline.beginsWith(head);
  }

  get heldOffset(): number | undefined {
    return this.#pipeline.heldOffset;
  }

  end(nowMs: number): void {
    this.#pipeline.end(nowMs);
    this.#onEnd();
  }
}
