import { isAbsent } from "../figure.ts";

const CELLS = 512;
/** Labels longer than that are cut by the general reader. */
const MAX_LABEL_BYTES = 200;

/** Names that come again and again (models, tenants), from bytes to one string each: nothing is decoded twice. */
export class Names {
  readonly #bytes: Array<Uint8Array | undefined> = Array.from({ length: CELLS }, () => undefined);
  readonly #texts: string[] = Array.from({ length: CELLS }, () => "");

  /** @returns Undefined for a name that the general reader would pass over or cut. */
  of(bytes: Buffer, view: DataView, start: number, end: number): string | undefined {
    const length = end - start;
    if (length === 0 || length > MAX_LABEL_BYTES) return undefined;
    const cell = cellOf(view, start, end);
    const known = this.#bytes[cell];
    if (known !== undefined && known.length === length && startsAt(bytes, start, known)) return this.#texts[cell];
    const text = bytes.toString("latin1", start, end);
    if (isAbsent(text)) return undefined;
    this.#bytes[cell] = Uint8Array.from(bytes.subarray(start, end));
    this.#texts[cell] = text;
    return text;
  }
}

/** From the length and both ends of a name, where names differ. */
function cellOf(view: DataView, start: number, end: number): number {
  const length = end - start;
  let hash = length;
  if (length >= 4) hash = Math.imul(hash ^ view.getInt32(start, true), 0x9e37_79b1) ^ view.getInt32(end - 4, true);
  else for (let at = start; at < end; at++) hash = Math.imul(hash, 31) + view.getUint8(at);
  hash = Math.imul(hash ^ (hash >>> 15), 0x85eb_ca6b);
  return (hash >>> 16) & (CELLS - 1);
}

function startsAt(bytes: Uint8Array, start: number, known: Uint8Array): boolean {
  for (let at = 0; at < known.length; at++) if (bytes[start + at] !== known[at]) return false;
  return true;
}
