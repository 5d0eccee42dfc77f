import type { ZoneOffset } from "../../../core/timestamp.ts";
import { timeOfText } from "../logger.ts";

/** 10^0 … 10^15, exact. */
const POWERS = Float64Array.from({ length: 16 }, (_, exponent) => Number(`1e${exponent}`));
const MAX_DIGITS = 15;
const POINT = 46;
const ZERO = 48;
const QUOTE = 34;

/** What the readers below found beside the index that they return; overwritten by the next. */
export const found = { number: 0, timeMs: Number.NaN };

/** Bytes that end neither a quoted nor a bare value and need no decoding. */
const QUOTED = new Uint8Array(256);
const BARE = new Uint8Array(256);
for (let code = 32; code < 127; code++) {
  if (code !== QUOTE && code !== 92) QUOTED[code] = 1;
  if (/[\w.:/@+-]/.test(String.fromCharCode(code))) BARE[code] = 1;
}

/**
 * Reads digits with at most one point inside them. Up to 15 digits and one division round as `Number` does.
 *
 * @returns The index after them, or -1 when something else stands there.
 */
export function readNumber(bytes: Uint8Array, at: number, end: number, json: boolean): number {
  let whole = 0;
  let index = at;
  for (; index < end; index++) {
    const digit = (bytes[index] as number) - ZERO;
    if (digit < 0 || digit > 9) break;
    whole = whole * 10 + digit;
  }
  let digits = index - at;
  if (digits === 0 || digits > MAX_DIGITS || (json && digits > 1 && bytes[at] === ZERO)) return -1;
  if (index >= end || bytes[index] !== POINT) {
    found.number = whole;
    return index;
  }
  const point = ++index;
  for (; index < end; index++) {
    const digit = (bytes[index] as number) - ZERO;
    if (digit < 0 || digit > 9) break;
    whole = whole * 10 + digit;
  }
  const fraction = index - point;
  digits += fraction;
  if (fraction === 0 || digits > MAX_DIGITS) return -1;
  found.number = whole / (POWERS[fraction] as number);
  return index;
}

/** @returns The index after the text, which may be empty; the byte there is not part of it. */
export function passText(bytes: Uint8Array, at: number, end: number, quoted: boolean): number {
  const table = quoted ? QUOTED : BARE;
  let index = at;
  while (index < end && table[bytes[index] as number] === 1) index++;
  return index;
}

/** `2026-03-02T10:00:` of the last time read, and its milliseconds: the next line is nearly always of the same minute. */
const minute = new Uint8Array(17);
let minuteMs = Number.NaN;
/** Length of `2026-03-02T10:00:00.123Z`. */
const PLAIN_BYTES = 24;

/** Reads a time of a known shape. @returns The index after it, or -1 when it has another shape. */
export function readTime(bytes: Buffer, at: number, end: number, shape: Uint8Array, zone: ZoneOffset): number {
  const { length } = shape;
  if (at + length > end) return -1;
  const plain = length === PLAIN_BYTES && shape[23] === 90 && shape[19] === POINT;
  if (plain && sameMinute(bytes, at)) {
    const tens = (bytes[at + 17] as number) - ZERO;
    const ones = (bytes[at + 18] as number) - ZERO;
    const a = (bytes[at + 20] as number) - ZERO;
    const b = (bytes[at + 21] as number) - ZERO;
    const c = (bytes[at + 22] as number) - ZERO;
    const digits = ones >= 0 && ones <= 9 && a >= 0 && a <= 9 && b >= 0 && b <= 9 && c >= 0 && c <= 9;
    if (digits && tens >= 0 && tens <= 5 && bytes[at + 19] === POINT && bytes[at + 23] === 90) {
      found.timeMs = minuteMs + tens * 10_000 + ones * 1000 + a * 100 + b * 10 + c;
      return at + PLAIN_BYTES;
    }
  }
  for (let index = 0; index < length; index++) {
    const code = bytes[at + index] as number;
    const known = shape[index] as number;
    if (isDigit(known) ? !isDigit(code) : code !== known) return -1;
  }
  found.timeMs = timeOfText(bytes.toString("latin1", at, at + length), zone);
  if (plain && found.timeMs === found.timeMs && (bytes[at + 17] as number) < 54) {
    minute.set(bytes.subarray(at, at + 17));
    minuteMs = Math.floor(found.timeMs / 60_000) * 60_000;
  }
  return at + length;
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

function sameMinute(bytes: Uint8Array, at: number): boolean {
  // from the end, where times differ first
  for (let index = 16; index >= 0; index--) if (bytes[at + index] !== minute[index]) return false;
  return true;
}
