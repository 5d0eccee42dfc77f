import type { ZoneOffset } from "../core/timestamp.ts";
import { Line } from "../model/line.ts";
import { LineSplitter } from "./line-splitter.ts";

export interface FramerOptions {
  readonly maxLineBytes: number;
  /** Zone of times that a wrapper prints without one. */
  readonly zone: ZoneOffset;
  /** Receives each logical line; the object is reused and valid during the call only. */
  readonly onLine: (line: Line) => void;
}

/** Bytes of one stream → logical lines: cut at newlines, unwrapped from whatever carries them, partial lines joined. */
export class Framer {
  /** Bytes that were no valid UTF-8 and read as U+FFFD (in lines whose text was looked at). */
  invalidBytes = 0;
  readonly splitter: LineSplitter;
  readonly #line = new Line();
  readonly #onLine: (line: Line) => void;
  #readMs = Number.NaN;

  constructor(options: FramerOptions) {
    this.#onLine = options.onLine;
    this.splitter = new LineSplitter({
      maxLineBytes: options.maxLineBytes,
      onLine: (bytes, start, end, _offset, cut) => this.#physical(bytes, start, end, cut),
    });
  }

  /** What carries the lines: `plain`, `cri`, `docker-json`, … or `mixed`. */
  get frame(): string {
    return "plain";
  }

  /**
   * Offset from which the stream must be read again after a crash so that nothing held here is lost;
   * undefined when nothing is held.
   */
  get heldOffset(): number | undefined {
    return this.splitter.heldOffset;
  }

  /**
   * @param offset Position of `bytes[0]` in the stream.
   * @param readMs Wall time of the read (or the file's modification time in a one-shot).
   */
  push(bytes: Buffer, offset: number, readMs: number): void {
    this.#readMs = readMs;
    this.splitter.push(bytes, offset);
  }

  /** Releases partial lines that have waited too long for their end. */
  flush(_nowMs: number): void {}

  /** The stream is over: delivers all that is held. */
  end(): void {
    this.splitter.end();
  }

  #physical(bytes: Buffer, start: number, end: number, cut: boolean): void {
    const line = this.#line;
    line.setBytes(bytes, start, end);
    line.timeMs = Number.NaN;
    line.readMs = this.#readMs;
    line.origin = undefined;
    line.cut = cut;
    this.#onLine(line);
  }
}
