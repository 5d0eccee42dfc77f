import { monthNumber, nearestYear, parseIso, UTC, type ZoneOffset } from "../core/timestamp.ts";
import { isDigit } from "./rfc3339.ts";

export interface SyslogTime {
  readonly timeMs: number;
  /** Index after the time and its blank, in the text given. */
  readonly end: number;
  /**
   * The journal pads the day with a zero and may write a fraction, syslog pads it with a blank; a day of two digits
   * tells neither.
   */
  readonly writer: "journald" | "syslog" | "either";
}

const SHORT = /^[A-Z][a-z]{2} ([ 0-3])(\d) (\d\d):(\d\d):(\d\d)(\.\d{1,9})? /;

/**
 * Reads `Mmm dd HH:MM:SS ` (RFC 3164, `journalctl -o short` and `short-precise`). There is no year: the one that makes
 * it nearest to, and not after, the time of reading.
 *
 * @param nearMs Time of a wrapper around this one, or of the reading.
 */
export function readShortTime(text: string, nearMs: number, zone: ZoneOffset): SyslogTime | undefined {
  const month = monthNumber(text, 0);
  if (Number.isNaN(month)) return undefined;
  const found = SHORT.exec(text);
  if (found === null) return undefined;
  const [whole, tens = "", ones, hour, minute, second, fraction] = found;
  const timeMs = nearestYear(month, Number(tens + ones), Number(hour), Number(minute), Number(second), nearMs, zone);
  if (Number.isNaN(timeMs)) return undefined;
  const millis = fraction === undefined ? 0 : Math.floor(Number(`0${fraction}`) * 1000);
  const writer = fraction !== undefined || tens === "0" ? "journald" : tens === " " ? "syslog" : "either";
  return { timeMs: timeMs + millis, end: whole.length, writer };
}

const FULL = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?) ([A-Za-z0-9+-]{1,6}) /;

/** Reads `Thu 2026-10-09 08:53:20 UTC ` (`journalctl -o short-full`, `with-unit`). */
export function readFullTime(text: string, zone: ZoneOffset): SyslogTime | undefined {
  const found = FULL.exec(text);
  if (found === null) return undefined;
  const [whole, time = "", name] = found;
  const { timeMs } = parseIso(time, 0, name === "UTC" || name === "GMT" ? UTC : zone);
  return Number.isNaN(timeMs) ? undefined : { timeMs, end: whole.length, writer: "journald" };
}

const UNIX = /^(\d{10})\.(\d{3})\d{3} /;
const MONOTONIC = /^\[ {0,8}\d{1,10}\.\d{6}\] /;

/** Reads `1760000000.123456 ` (`journalctl -o short-unix`). */
export function readUnixTime(text: string): SyslogTime | undefined {
  const found = UNIX.exec(text);
  if (found === null) return undefined;
  return { timeMs: Number(found[1]) * 1000 + Number(found[2]), end: found[0].length, writer: "journald" };
}

/** Reads `[   12.345678] ` (`journalctl -o short-monotonic`): seconds since the boot, so no time. */
export function readMonotonicTime(text: string): SyslogTime | undefined {
  const found = MONOTONIC.exec(text);
  return found === null ? undefined : { timeMs: Number.NaN, end: found[0].length, writer: "journald" };
}

/** True when three bytes may be a month or a weekday: the look before any decoding. */
export function looksLikeShortTime(bytes: Buffer, at: number): boolean {
  if (bytes[at + 3] !== 32) return false;
  // "Mmm dd …" or "Www YYYY-…"
  return isDigit(bytes[at + 5]) && (bytes[at + 6] === 32 || isDigit(bytes[at + 6]));
}
