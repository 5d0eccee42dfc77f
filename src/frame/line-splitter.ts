/** Called with one physical line, line end removed: `bytes[start..end)`, and the offset of its first byte. */
export type OnPhysicalLine = (bytes: Buffer, start: number, end: number, offset: number, cut: boolean) => void;

/**
 * Cuts a byte stream at `\n`; a `\r` before it goes too. Any chunking of the same bytes gives the same lines.
 * A line longer than `maxLineBytes` is delivered cut to that length, the rest is skipped up to its `\n`, and both are counted.
 */
export class LineSplitter {
  /** Physical lines delivered: newline characters, plus an unterminated last line once {@link LineSplitter.end} delivers it. */
  lines = 0;
  /** Lines cut at the limit. */
  overlong = 0;
  /** Bytes of over-long lines that were not delivered. */
  skippedBytes = 0;
  readonly #maxLineBytes: number;
  readonly #onLine: OnPhysicalLine;
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** Offset of the first held byte. */
  #heldOffset = 0;
  /** The limit was passed: bytes are dropped until the next newline. */
  #skipping = false;

  constructor(options: { maxLineBytes: number; onLine: OnPhysicalLine }) {
    this.#maxLineBytes = options.maxLineBytes;
    this.#onLine = options.onLine;
  }

  /** Offset of the first byte that is not part of a delivered line, or undefined when nothing is held. */
  get heldOffset(): number | undefined {
    return this.#heldBytes > 0 || this.#skipping ? this.#heldOffset : undefined;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** @param offset Position of `bytes[0]` in the stream. The buffer may be reused by the caller afterwards. */
  push(bytes: Buffer, offset: number): void {
    let start = 0;
    for (let newline = bytes.indexOf(10); newline >= 0; newline = bytes.indexOf(10, start)) {
      if (this.#heldBytes > 0 || this.#skipping) this.#finishHeld(bytes, start, newline);
      else this.#deliver(bytes, start, newline, offset + start);
      start = newline + 1;
    }
    if (start < bytes.length) this.#hold(bytes, start, offset + start);
  }

  /** Delivers an unterminated last line, if there is one. */
  end(): void {
    if (this.#heldBytes > 0 || this.#skipping) this.#finishHeld(Buffer.alloc(0), 0, 0);
  }

  /** Forgets an unterminated line (its bytes were replaced under us). @returns The bytes forgotten. */
  drop(): number {
    const dropped = this.#heldBytes;
    this.#held = [];
    this.#heldBytes = 0;
    this.#skipping = false;
    return dropped;
  }

  #deliver(bytes: Buffer, start: number, end: number, offset: number): void {
    this.lines++;
    let stop = end;
    if (stop > start && bytes[stop - 1] === 13) stop--;
    if (stop - start > this.#maxLineBytes) {
      this.overlong++;
      this.skippedBytes += stop - start - this.#maxLineBytes;
      this.#onLine(bytes, start, start + this.#maxLineBytes, offset, true);
    } else this.#onLine(bytes, start, stop, offset, false);
  }

  #hold(bytes: Buffer, start: number, offset: number): void {
    if (this.#heldBytes === 0 && !this.#skipping) this.#heldOffset = offset;
    const room = this.#maxLineBytes + 1 - this.#heldBytes;
    const length = bytes.length - start;
    if (this.#skipping || room <= 0) {
      this.#skipping = true;
      this.skippedBytes += length;
      return;
    }
    const kept = Math.min(room, length);
    this.#held.push(Buffer.from(bytes.subarray(start, start + kept)));
    this.#heldBytes += kept;
    if (kept < length) {
      this.#skipping = true;
      this.skippedBytes += length - kept;
    }
  }

  #finishHeld(bytes: Buffer, start: number, end: number): void {
    const skipped = this.#skipping;
    let line: Buffer;
    if (skipped) {
      this.skippedBytes += end - start;
      line = Buffer.concat(this.#held);
    } else line = Buffer.concat([...this.#held, bytes.subarray(start, end)]);
    this.#held = [];
    this.#heldBytes = 0;
    this.#skipping = false;
    if (!skipped) {
      this.#deliver(line, 0, line.length, this.#heldOffset);
      return;
    }
    this.lines++;
    this.overlong++;
    const kept = Math.min(line.length, this.#maxLineBytes);
    this.skippedBytes += line.length - kept;
    this.#onLine(line, 0, kept, this.#heldOffset, true);
  }
}
