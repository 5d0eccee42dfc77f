import { isAbsent } from "../figure.ts";

const CELLS = 512;
/** Labels longer than that are cut by the general reader. */
const MAX_LABEL_BYTES = 200;

/** Names that come again and again (models, tenants), from bytes to one string each: nothing is decoded twice. */
export class Names {
  readonly #bytes: Array<Uint8Array | undefined> = Array.from({ length: CELLS }, () => undefined);
  readonly #texts: string[] = Array.from({ length: CELLS }, () => "");

  /** @returns Undefined for a name that the general reader would pass over or cut. */
  of(bytes: Buffer, start: number, end: number): string | undefined {
    const length = end - start;
    if (length === 0 || length > MAX_LABEL_BYTES) return undefined;
    let hash = length;
    for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (bytes[at] as number)) | 0;
    const cell = (hash ^ (hash >>> 15)) & (CELLS - 1);
    const known = this.#bytes[cell];
    if (known !== undefined && known.length === length && startsAt(bytes, start, known)) return this.#texts[cell];
    const text = bytes.toString("latin1", start, end);
    if (isAbsent(text)) return undefined;
    this.#bytes[cell] = Uint8Array.from(bytes.subarray(start, end));
    this.#texts[cell] = text;
    return text;
  }
}

function startsAt(bytes: Uint8Array, start: number, known: Uint8Array): boolean {
  for (let at = 0; at < known.length; at++) if (bytes[start + at] !== known[at]) return false;
  return true;
}
