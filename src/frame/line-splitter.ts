import { lastFrame, passHead, trimEnd } from "./line-trim.ts";

/**
 * Called with one physical line, line end removed: `bytes[start..end)`, the offset of its first byte, and how many of its
 * bytes the size limit cut off. The bytes are valid during the call only. `bytes[end]` is the first byte of the line end
 * (`\r` or `\n`) if nothing was cut off and the line has one.
 */
export type OnPhysicalLine = (bytes: Buffer, start: number, end: number, offset: number, cutBytes: number) => void;

const FIRST_HOLD_BYTES = 4096;
/** A buffer that grew for one long line is given back above this size. */
const KEPT_HOLD_BYTES = 64 * 1024;

/**
 * Cuts a byte stream at `\n`. Any chunking of the same bytes gives the same lines.
 *
 * - Carriage returns before the `\n` go. A line that begins with one draws over itself (tqdm and its kind): what counts
 *   is the text after the last `\r`, and the frames before it are dropped while they come, so that a bar may run for ever.
 *   A `\r` inside any other line is content.
 * - NULs in front of a line (the hole that a truncated file leaves under a writer that goes on at its old offset) are
 *   passed over and counted; inside a line they are content.
 * - A line longer than `maxLineBytes` is delivered cut to that length, the rest is skipped up to its `\n`, and both are
 *   counted. No more than the limit is ever held.
 */
export class LineSplitter {
  /** Physical lines delivered: newline characters, plus an unterminated last line once {@link LineSplitter.end} delivers it. */
  lines = 0;
  /** Lines cut at the limit. */
  overlong = 0;
  /** Bytes of over-long lines that were not delivered. */
  skippedBytes = 0;
  /** NUL bytes passed over in front of lines. */
  nulBytes = 0;
  /** Bytes of progress bars that later frames of the same line had drawn over. */
  redrawnBytes = 0;
  /** Lines are delivered as they are, for a format with binary fields: no trimming but that of the `\n`. */
  raw = false;
  readonly #maxLineBytes: number;
  readonly #onLine: OnPhysicalLine;
  #hold: Buffer = Buffer.alloc(0);
  #heldBytes = 0;
  /** Where reading must go on after a crash: a byte of the held line from which it comes out the same. */
  #resumeOffset = 0;
  /** Offset of the first held byte. */
  #contentOffset = 0;
  /** Bytes of the held line beyond the limit, not kept. */
  #cutBytes = 0;
  /** The held line began with a carriage return. */
  #redraw = false;
  /** The last byte of the held line, kept or not, is a carriage return. */
  #endsInReturn = false;

  constructor(options: { maxLineBytes: number; onLine: OnPhysicalLine }) {
    this.#maxLineBytes = options.maxLineBytes;
    this.#onLine = options.onLine;
  }

  /** Offset from which the line that is held must be read again after a crash, or undefined when nothing is held. */
  get heldOffset(): number | undefined {
    return this.#heldBytes > 0 || this.#redraw ? this.#resumeOffset : undefined;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** @param offset Position of `bytes[0]` in the stream. The buffer may be reused by the caller afterwards. */
  push(bytes: Buffer, offset: number): void {
    let start = 0;
    for (let newline = bytes.indexOf(10); newline >= 0; newline = bytes.indexOf(10, start)) {
      if (this.#heldBytes > 0 || this.#redraw) {
        this.#add(bytes, start, newline, offset);
        this.#finish();
      } else this.#deliver(bytes, start, newline, offset);
      start = newline + 1;
    }
    if (start < bytes.length) this.#add(bytes, start, bytes.length, offset);
  }

  /** Delivers an unterminated last line, if there is one. */
  end(): void {
    if (this.#heldBytes > 0) this.#finish();
    else this.#forget();
  }

  /** Forgets an unterminated line (its bytes were replaced under us). @returns The bytes forgotten. */
  drop(): number {
    const dropped = this.#heldBytes + this.#cutBytes;
    this.#forget();
    return dropped;
  }

  #deliver(bytes: Buffer, start: number, end: number, offset: number): void {
    let from = start;
    if (!this.raw && (bytes[start] === 13 || bytes[start] === 0)) {
      const head = passHead(bytes, start, end, false);
      this.nulBytes += head.nuls;
      from = head.returns > 0 ? lastFrame(bytes, head.start, end) : head.start;
      this.redrawnBytes += from - head.start;
    }
    this.#emit(bytes, from, end, offset + from, 0);
  }

  /** @param cutBytes Bytes of the line that are not in `bytes` any more. */
  #emit(bytes: Buffer, start: number, end: number, offset: number, cutBytes: number): void {
    this.lines++;
    const max = this.#maxLineBytes;
    const length = end - start;
    // one byte more may be the carriage return of the line end
    const fits = length <= max || (length === max + 1 && !this.raw && bytes[end - 1] === 13);
    if (fits && cutBytes === 0) {
      this.#onLine(bytes, start, this.raw ? end : trimEnd(bytes, start, end), offset, 0);
      return;
    }
    const skipped = length - max + cutBytes;
    this.overlong++;
    this.skippedBytes += skipped;
    this.#onLine(bytes, start, start + max, offset, skipped);
  }

  /** Adds a piece of a line that has not ended. @param offset Position of `bytes[0]`. */
  #add(bytes: Buffer, start: number, end: number, offset: number): void {
    let from = start;
    if (this.#heldBytes === 0) {
      if (!this.raw && (this.#redraw || bytes[from] === 13 || bytes[from] === 0)) {
        const head = passHead(bytes, start, end, this.#redraw);
        from = head.start;
        this.nulBytes += head.nuls;
        if (head.returns > 0) {
          this.#redraw = true;
          this.#resumeOffset = offset + from - 1;
        }
      }
      this.#contentOffset = offset + from;
      if (!this.#redraw) this.#resumeOffset = this.#contentOffset;
      this.#endsInReturn = this.#redraw;
    }
    if (from >= end) return;
    if (this.#redraw) from = this.#dropDrawnOver(bytes, from, end, offset);
    const kept = Math.min(this.#maxLineBytes + 1 - this.#heldBytes, end - from);
    if (kept > 0) {
      this.#grow(this.#heldBytes + kept);
      bytes.copy(this.#hold, this.#heldBytes, from, from + kept);
      this.#heldBytes += kept;
    }
    this.#cutBytes += end - from - kept;
    this.#endsInReturn = bytes[end - 1] === 13;
  }

  /** @returns Start of the piece that no later frame has drawn over. */
  #dropDrawnOver(bytes: Buffer, start: number, end: number, offset: number): number {
    const frame = lastFrame(bytes, start, end);
    const begins = frame > start || (this.#heldBytes > 0 && this.#endsInReturn && bytes[start] !== 13);
    if (!begins) return start;
    this.redrawnBytes += this.#heldBytes + this.#cutBytes + frame - start;
    this.#heldBytes = 0;
    this.#cutBytes = 0;
    this.#contentOffset = offset + frame;
    // the `\r` before the frame, so that what is read again from there is still a bar
    this.#resumeOffset = this.#contentOffset - 1;
    return frame;
  }

  #grow(bytes: number): void {
    if (bytes <= this.#hold.length) return;
    const size = Math.min(Math.max(bytes, this.#hold.length * 2, FIRST_HOLD_BYTES), this.#maxLineBytes + 1);
    const grown = Buffer.allocUnsafeSlow(size);
    this.#hold.copy(grown, 0, 0, this.#heldBytes);
    this.#hold = grown;
  }

  #finish(): void {
    const hold = this.#hold;
    const length = this.#heldBytes;
    const cutBytes = this.#cutBytes;
    const offset = this.#contentOffset;
    this.#forget();
    // as in a chunk, the byte behind the line is its end and not what a longer line left there
    if (length < hold.length) hold[length] = 10;
    this.#emit(hold, 0, length, offset, cutBytes);
  }

  #forget(): void {
    this.#heldBytes = 0;
    this.#cutBytes = 0;
    this.#redraw = false;
    this.#endsInReturn = false;
    if (this.#hold.length > KEPT_HOLD_BYTES) this.#hold = Buffer.alloc(0);
  }
}
