import type { StreamPipeline } from "../pipeline/stream-pipeline.ts";
import type { StreamSink } from "../source/source.ts";

/** A suspended stream is woken once after this long, to release what waited: parts of lines, open failure blocks. */
const WAKE_AFTER_MS = 15_000;

export interface PipelineHome {
  /** Opens the pipeline of a stream, with the memory that the state holds of it. */
  open(): StreamPipeline;
  /** The stream is over. */
  ended(pipeline: StreamPipeline): void;
  /** The sink was written to: the last one to be suspended. */
  used(sink: PipelineSink): void;
}

/** What a source writes to: the pipeline of one stream, which is in memory only while its lines come. */
export class PipelineSink implements StreamSink {
  readonly #home: PipelineHome;
  #pipeline: StreamPipeline | undefined;
  /** Wall time of the last flush, and of the suspension while its memory may hold something that waits. */
  #flushedMs = 0;
  #suspendedMs: number | undefined = undefined;

  constructor(home: PipelineHome) {
    this.#home = home;
    this.#pipeline = home.open();
  }

  push(bytes: Buffer, offset: number, readMs: number): void {
    this.#suspendedMs = undefined;
    this.#opened().push(bytes, offset, readMs);
    this.#home.used(this);
  }

  endLine(): void {
    this.#opened().endLine();
  }

  flush(nowMs: number): void {
    this.#flushedMs = nowMs;
    if (this.#pipeline !== undefined) this.#pipeline.flush(nowMs);
    else if (this.#suspendedMs !== undefined && Math.abs(nowMs - this.#suspendedMs) >= WAKE_AFTER_MS) {
      this.#suspendedMs = undefined;
      const pipeline = this.#opened();
      // a part that was restored begins its wait at the first flush
      pipeline.flush(nowMs - WAKE_AFTER_MS);
      pipeline.flush(nowMs);
      this.#home.used(this);
    }
  }

  beginsWith(head: Buffer): void {
    this.#opened().beginsWith(head);
  }

  get heldOffset(): number | undefined {
    return this.#pipeline?.heldOffset;
  }

  end(nowMs: number): void {
    const pipeline = this.#opened();
    pipeline.end(nowMs);
    this.#home.ended(pipeline);
  }

  /** Lets go of the pipeline, whose memory is committed. @returns It; undefined when part of a line is held that is not in the state. */
  suspend(): StreamPipeline | undefined {
    const pipeline = this.#pipeline;
    if (pipeline === undefined || pipeline.heldOffset !== undefined) return undefined;
    this.#pipeline = undefined;
    this.#suspendedMs ??= this.#flushedMs;
    return pipeline;
  }

  #opened(): StreamPipeline {
    this.#pipeline ??= this.#home.open();
    return this.#pipeline;
  }
}
