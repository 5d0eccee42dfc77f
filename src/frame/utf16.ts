/** How a stream is encoded. Only a byte order mark tells; without one it is UTF-8. */
export type Encoding = "utf-8" | "utf-16le" | "utf-16be";

/** Encoding that the first two bytes of a stream name. */
export function encodingOf(first: number | undefined, second: number | undefined): Encoding {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  return "utf-8";
}

/**
 * UTF-16 bytes in any chunks → UTF-8 bytes, and where in the UTF-16 stream the last line begins: a commit speaks of
 * offsets in the file, not in what was made of it.
 */
export class Utf16Decoder {
  /** Bytes of lone surrogates: no characters, they read as U+FFFD. */
  invalidBytes = 0;
  /** Offset of the first code unit after the last newline. */
  lineOffset = -1;
  readonly #bigEndian: boolean;
  /** An odd byte, or a high surrogate (and an odd byte), that waits for the rest of its character. */
  #rest: Buffer = Buffer.alloc(0);

  constructor(encoding: Encoding) {
    this.#bigEndian = encoding === "utf-16be";
  }

  get waits(): boolean {
    return this.#rest.length > 0;
  }

  /** @param offset Position of `bytes[0]` in the stream. */
  push(bytes: Buffer, offset: number): Buffer {
    const from = offset - this.#rest.length;
    // the first push begins a line: the stream, or where a commit left off
    if (this.lineOffset < 0) this.lineOffset = from;
    const joined = this.#rest.length > 0 ? Buffer.concat([this.#rest, bytes]) : Buffer.from(bytes);
    let even = joined.length & ~1;
    const lastUnitHigh = even >= 2 ? (joined[this.#bigEndian ? even - 2 : even - 1] as number) : 0;
    if (lastUnitHigh >= 0xd8 && lastUnitHigh <= 0xdb) even -= 2;
    this.#rest = Buffer.from(joined.subarray(even));
    return this.#decode(joined.subarray(0, even), from);
  }

  /** The stream is over: half a character is what it is. */
  end(): Buffer {
    const rest = this.#rest;
    this.#rest = Buffer.alloc(0);
    if (rest.length === 0) return rest;
    this.invalidBytes += rest.length;
    return Buffer.from("\ufffd");
  }

  #decode(units: Buffer, offset: number): Buffer {
    const text = (this.#bigEndian ? units.swap16() : units).toString("utf16le");
    const newline = text.lastIndexOf("\n");
    if (newline >= 0) this.lineOffset = offset + 2 * (newline + 1);
    if (!text.isWellFormed()) this.invalidBytes += 2 * loneSurrogates(text);
    return Buffer.from(text);
  }
}

function loneSurrogates(text: string): number {
  let count = 0;
  for (const character of text) {
    const code = character.codePointAt(0) as number;
    if (code >= 0xd800 && code <= 0xdfff) count++;
  }
  return count;
}
