import { isUtf8 } from "node:buffer";

/**
 * Bytes of `bytes[start..end)` that belong to no valid UTF-8 sequence: what reads as U+FFFD.
 *
 * @see The Unicode Standard, table 3-7 (well-formed UTF-8 byte sequences)
 */
export function countInvalidUtf8(bytes: Buffer, start: number, end: number): number {
  if (isUtf8(bytes.subarray(start, end))) return 0;
  let invalid = 0;
  let at = start;
  while (at < end) {
    const length = sequenceLength(bytes, at, end);
    if (length === 0) {
      invalid++;
      at++;
    } else at += length;
  }
  return invalid;
}

function sequenceLength(bytes: Buffer, at: number, end: number): number {
  const first = bytes[at] as number;
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (at + length > end) return 0;
  const second = bytes[at + 1] as number;
  // overlong forms, surrogates and code points past U+10FFFF
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  if (second < low || second > high) return 0;
  for (let next = at + 2; next < at + length; next++) if (((bytes[next] as number) & 0xc0) !== 0x80) return 0;
  return length;
}

/** End of the whole characters in `bytes[start..end)`, which a limit has cut: half a character is not the writer's fault. */
export function wholeCharacters(bytes: Buffer, start: number, end: number): number {
  for (let back = 1; back <= 3 && end - back >= start; back++) {
    const byte = bytes[end - back] as number;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 && byte <= 0xf4 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc2 ? 2 : 1;
    return byte <= 0xf4 && length > back ? end - back : end;
  }
  return end;
}
