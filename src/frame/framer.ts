import { isUtf8 } from "node:buffer";
import type { ZoneOffset } from "../core/timestamp.ts";
import { Line } from "../model/line.ts";
import { LineSplitter } from "./line-splitter.ts";
import { Unwrapper, type UnwrapperState } from "./unwrapper.ts";
import { type Encoding, encodingOf, Utf16Decoder } from "./utf16.ts";

export interface FramerOptions {
  readonly maxLineBytes: number;
  /** Zone of times that a wrapper prints without one. */
  readonly zone: ZoneOffset;
  /** Receives each logical line; the object is reused and valid during the call only. */
  readonly onLine: (line: Line) => void;
}

/** What a commit holds of a framer beside the offset; survives `structuredClone`. Counters are not part of it. */
export interface FramerState extends UnwrapperState {
  readonly encoding: Encoding;
}

/**
 * Bytes of one stream → logical lines: cut at newlines, unwrapped from whatever carries them, partial lines joined.
 *
 * A commit is the pair of {@link Framer.state} and `heldOffset ?? offset after the last push`. Whole physical lines that
 * wait for others (CRI and Docker parts, a journal entry) are in the state; an unfinished physical line is not: it is
 * read again from `heldOffset`. A new framer with that state, fed from that offset, goes on exactly.
 */
export class Framer {
  readonly splitter: LineSplitter;
  readonly #unwrapper: Unwrapper;
  #encoding: Encoding = "utf-8";
  #decoder: Utf16Decoder | undefined = undefined;
  /** The first byte of a stream, which may be half of a byte order mark. */
  #halfMark: Buffer | undefined = undefined;
  #invalidBytes = 0;
  /** The chunk that is being split, and whether its whole lines may hold invalid UTF-8. */
  #chunk: Buffer | undefined = undefined;
  #chunkSuspect = false;
  #readMs = Number.NaN;

  constructor(options: FramerOptions) {
    const { maxLineBytes, zone, onLine } = options;
    const unwrapper = new Unwrapper({ maxLineBytes, zone, line: new Line(), onLine });
    const splitter = new LineSplitter({
      maxLineBytes,
      onLine: (bytes, start, end, _offset, cutBytes) => {
        const suspect = bytes === this.#chunk ? this.#chunkSuspect : true;
        unwrapper.physical(bytes, start, end, cutBytes, suspect, this.#readMs);
        splitter.raw = unwrapper.raw;
      },
    });
    this.splitter = splitter;
    this.#unwrapper = unwrapper;
  }

  /**
   * What carries the lines, from the outside in: `plain`, `cri`, `docker-json`, `cri+compose`, …; `utf-16` leads when the
   * stream is encoded so. `mixed` when nothing carries 95 % of the lines.
   */
  get frame(): string {
    const { name } = this.#unwrapper.tally;
    if (this.#encoding === "utf-8") return name;
    return name === "plain" ? "utf-16" : `utf-16+${name}`;
  }

  /** Physical lines: newline characters, and an unterminated last line. */
  get lines(): number {
    return this.splitter.lines;
  }

  /** Bytes that were no valid UTF-8 (or UTF-16) and read as U+FFFD. */
  get invalidBytes(): number {
    return this.#invalidBytes + this.#unwrapper.invalidBytes + (this.#decoder?.invalidBytes ?? 0);
  }

  /** NUL bytes in front of lines, passed over. */
  get nulBytes(): number {
    return this.splitter.nulBytes;
  }

  /** Lines cut at the limit, joined ones included. */
  get overlong(): number {
    return this.splitter.overlong + this.#unwrapper.overlong;
  }

  /** Bytes of cut lines that were not delivered. */
  get skippedBytes(): number {
    return this.splitter.skippedBytes + this.#unwrapper.skippedBytes;
  }

  /** Journal entries whose message the journal itself left out. */
  get withheld(): number {
    return this.#unwrapper.withheld;
  }

  /**
   * Offset from which the stream must be read again after a crash so that nothing held here, and not in the
   * {@link Framer.state}, is lost; undefined when nothing is held.
   */
  get heldOffset(): number | undefined {
    if (this.#halfMark !== undefined) return 0;
    const held = this.splitter.heldOffset;
    if (this.#decoder === undefined) return held;
    return held !== undefined || this.#decoder.waits ? this.#decoder.lineOffset : undefined;
  }

  /** The live memory, for a structured clone into a commit. */
  get state(): FramerState {
    return { ...this.#unwrapper.state, encoding: this.#encoding };
  }

  /** @param state A clone: it is kept and written to. */
  set state(state: FramerState) {
    this.#unwrapper.state = state;
    this.splitter.raw = this.#unwrapper.raw;
    this.#setEncoding(state.encoding);
  }

  /**
   * Tells how the stream begins, when reading starts behind its head without a state (`start_at: end`).
   *
   * @param head Its first two bytes or more.
   */
  beginsWith(head: Buffer): void {
    this.#setEncoding(encodingOf(head[0], head[1]));
  }

  /**
   * @param offset Position of `bytes[0]` in the stream; 0 begins a file, which may have a byte order mark.
   * @param readMs Wall time of the read (or the file's modification time in a one-shot).
   */
  push(bytes: Buffer, offset: number, readMs: number): void {
    if (bytes.length === 0) return;
    this.#readMs = readMs;
    if (offset === 0) this.#begin(bytes);
    else if (this.#halfMark !== undefined) this.#begin(Buffer.concat([this.#halfMark, bytes]));
    else if (this.#decoder !== undefined) this.#split(this.#decoder.push(bytes, offset), offset);
    else this.#split(bytes, offset);
  }

  /** Releases parts that have waited for their end for ten seconds of `nowMs`. */
  flush(nowMs: number): void {
    this.#unwrapper.flush(nowMs);
  }

  /**
   * The file is over but not its stream: an unterminated last line is delivered, parts wait for their end at the head of
   * the next file.
   */
  endLine(): void {
    const half = this.#halfMark;
    this.#halfMark = undefined;
    if (half !== undefined) this.#split(half, 0);
    if (this.#decoder !== undefined) this.#split(this.#decoder.end(), 0);
    this.splitter.end();
  }

  /** The stream is over: delivers all that is held. */
  end(): void {
    this.endLine();
    this.#unwrapper.end();
  }

  #begin(bytes: Buffer): void {
    const first = bytes[0];
    this.#halfMark = undefined;
    if (bytes.length === 1 && (first === 0xff || first === 0xfe)) {
      this.#halfMark = Buffer.from(bytes);
      return;
    }
    this.#setEncoding(encodingOf(first, bytes[1]));
    if (this.#decoder === undefined) this.#split(bytes, 0);
    else if (bytes.length > 2) this.#split(this.#decoder.push(bytes.subarray(2), 2), 2);
  }

  #setEncoding(encoding: Encoding): void {
    this.#invalidBytes += this.#decoder?.invalidBytes ?? 0;
    this.#encoding = encoding;
    this.#decoder = encoding === "utf-8" ? undefined : new Utf16Decoder(encoding);
  }

  #split(bytes: Buffer, offset: number): void {
    this.#chunk = bytes;
    // a newline is part of no character: whole lines can be judged at once (a line begun in an earlier chunk is on its own)
    const first = this.splitter.heldOffset === undefined ? 0 : bytes.indexOf(10) + 1;
    this.#chunkSuspect = !isUtf8(bytes.subarray(first, bytes.lastIndexOf(10) + 1));
    this.splitter.push(bytes, offset);
    this.#chunk = undefined;
  }
}
