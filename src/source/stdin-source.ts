import type { Readable } from "node:stream";
import { newSourceStats, type OpenSink, type PositionChange, type Source, type StreamSink } from "./source.ts";

/** Bytes taken in one pass. */
const TURN_BYTES = 4 * 1024 * 1024;

/**
 * Reads standard input as it comes; a slow reader slows the writer down. It has no position: what was in the pipe at a crash is
 * lost, and what was read has been counted.
 */
export class StdinSource implements Source {
  readonly name: string;
  readonly stats = newSourceStats();
  readonly fileCount = 1;
  readonly lagBytes = 0;
  readonly heldDeletedBytes = 0;
  readonly unreadable = 0;
  caughtUp = false;
  readonly #input: Readable;
  readonly #openSink: () => StreamSink;
  #opened: StreamSink | undefined = undefined;
  #offset = 0;
  #ended = false;
  #delivered = false;

  constructor(options: {
    name: string;
    labels: Readonly<Record<string, string>>;
    profile: string;
    openSink: OpenSink;
    input: Readable;
  }) {
    const { name, labels, profile } = options;
    this.name = name;
    this.#input = options.input;
    this.#openSink = () => options.openSink({ name, labels, profile });
    const end = (): void => {
      this.#ended = true;
    };
    this.#input
      .on("end", end)
      .on("error", end)
      .on("readable", () => {});
  }

  async poll(nowMs: number): Promise<boolean> {
    let left = TURN_BYTES;
    for (let chunk = this.#read(); chunk !== null; chunk = left > 0 ? this.#read() : null) {
      this.#sink.push(chunk, this.#offset, nowMs);
      this.#offset += chunk.length;
      this.stats.readBytes += chunk.length;
      left -= chunk.length;
    }
    if (this.#ended && !this.#delivered) {
      this.#delivered = true;
      this.#sink.endLine();
      this.#sink.end(nowMs);
    } else if (!this.#delivered) this.#sink.flush(nowMs);
    this.caughtUp = left > 0;
    return left <= 0;
  }

  takeChanges(): PositionChange[] {
    return [];
  }

  forgetCommit(): void {}

  async close(): Promise<void> {
    this.#input.destroy();
  }

  get #sink(): StreamSink {
    this.#opened ??= this.#openSink();
    return this.#opened;
  }

  #read(): Buffer | null {
    const chunk = this.#input.read() as Buffer | string | null;
    return typeof chunk === "string" ? Buffer.from(chunk) : chunk;
  }
}
