import { parseDurationMs } from "../../core/duration.ts";

const POWERS = [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
/** Digits that a double holds exactly, so that one division rounds as `Number` does. */
const EXACT_DIGITS = 15;

/**
 * Number that a text spells (`12`, `1e-3`, ` 7 `): NaN for any other text. Unlike `Number`, empty text is no 0 and hex is
 * no number. Plain decimals, nearly all there are, are read without a copy.
 */
export function numberOf(text: string): number {
  const { length } = text;
  let digits = 0;
  let whole = 0;
  let pointAt = -1;
  for (let at = 0; at < length; at++) {
    const code = text.charCodeAt(at);
    if (code >= 48 && code <= 57) {
      whole = whole * 10 + (code - 48);
      digits++;
    } else if (code === 46 && pointAt < 0) pointAt = at;
    else return spelled(text);
  }
  if (digits === 0) return Number.NaN;
  if (digits > EXACT_DIGITS) return spelled(text);
  return pointAt < 0 ? whole : whole / (POWERS[length - pointAt - 1] as number);
}

/** Signs, exponents, blanks around it, or more digits than are exact. */
function spelled(text: string): number {
  const first = text.charCodeAt(0);
  if (!((first >= 48 && first <= 57) || first === 45 || first === 46 || first === 43 || first === 32))
    return Number.NaN;
  const second = text.charCodeAt(1) | 32;
  if (first === 48 && (second === 120 || second === 111 || second === 98)) return Number.NaN;
  return text.length > 64 || text.trim() === "" ? Number.NaN : Number(text);
}

/** True for the words loggers write where there is no value. */
export function isAbsent(text: string): boolean {
  const { length } = text;
  if (length === 0) return true;
  if (length > 9) return false;
  const first = text.charCodeAt(0);
  if (first === 45) return length === 1;
  // n, N, <, u
  if (first !== 110 && first !== 78 && first !== 60 && first !== 117) return false;
  switch (text) {
    case "null":
    case "nil":
    case "<nil>":
    case "None":
    case "undefined":
    case "N/A":
    case "n/a":
      return true;
    default:
      return false;
  }
}

/** `0:00:01.25`, as Python prints a timedelta; NaN for other text. */
const CLOCK = /^(\d{1,3}):([0-5]\d):([0-5]\d(?:\.\d{1,9})?)$/;

/** Milliseconds of a duration that names its unit (`1.2s`, `823µs`, `1m2.5s`, `12.5 ms`) or is a clock; NaN otherwise. */
export function durationTextMs(text: string): number {
  if (text.length > 40) return Number.NaN;
  const clock = CLOCK.exec(text);
  if (clock !== null) return (Number(clock[1]) * 60 + Number(clock[2])) * 60_000 + Number(clock[3]) * 1000;
  return parseDurationMs(text.toLowerCase());
}
