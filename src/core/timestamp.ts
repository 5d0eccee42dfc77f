/** Reading times of log lines by hand: about ten times as fast as `Date.parse`, and naive times stay naive. */

const digit = (text: string, at: number): number => text.charCodeAt(at) - 48;
const two = (text: string, at: number): number => {
  const high = digit(text, at);
  const low = digit(text, at + 1);
  return high >= 0 && high <= 9 && low >= 0 && low <= 9 ? high * 10 + low : Number.NaN;
};

/**
 * Minutes that local time is ahead of UTC at a moment. Injected, because a naive time belongs to the machine that wrote it.
 */
export type ZoneOffset = (utcMs: number) => number;
export const UTC: ZoneOffset = () => 0;

/** The offset of the machine that runs us: right for a log written beside us, a guess for one carried here. */
export const localZone: ZoneOffset = (utcMs) => -new Date(utcMs).getTimezoneOffset();

/** Milliseconds since the epoch of a naive wall-clock time in `zone`. */
export function fromLocal(asUtcMs: number, zone: ZoneOffset): number {
  if (Number.isNaN(asUtcMs)) return asUtcMs;
  const first = asUtcMs - zone(asUtcMs) * 60_000;
  return asUtcMs - zone(first) * 60_000;
}

export interface ParsedTime {
  /** Milliseconds since the epoch, fraction kept to the millisecond; NaN when there is no time at `at`. */
  timeMs: number;
  /** Index after the time (and its zone). */
  end: number;
}

const result: ParsedTime = { timeMs: Number.NaN, end: 0 };

/** The last second read: lines of a log come many to a second. */
let lastSecond = "";
let lastSecondMs = 0;

/**
 * Reads `YYYY-MM-DD[T ]HH:MM:SS[.,fraction][Z|±HH[:]MM]` (also with `/` between date parts) at `at`.
 * A time without zone is read in `zone`.
 *
 * @returns A shared object, overwritten by the next call.
 */
export function parseIso(text: string, at: number, zone: ZoneOffset): ParsedTime {
  result.timeMs = Number.NaN;
  result.end = at;
  if (lastSecond === "" || !text.startsWith(lastSecond, at)) {
    const ms = parseSecond(text, at);
    if (Number.isNaN(ms)) return result;
    lastSecond = text.slice(at, at + 19);
    lastSecondMs = ms;
  }
  let end = at + 19;
  let millis = 0;
  const mark = text.charCodeAt(end);
  if (mark === 46 || mark === 44) {
    let scale = 100;
    let next = end + 1;
    for (let value = digit(text, next); value >= 0 && value <= 9; value = digit(text, ++next)) {
      if (scale >= 1) millis += value * scale;
      scale /= 10;
    }
    if (next > end + 1) end = next;
  }
  const asUtc = lastSecondMs + Math.floor(millis);
  const code = text.charCodeAt(end);
  if (code === 90 || code === 122) {
    result.timeMs = asUtc;
    result.end = end + 1;
    return result;
  }
  const signAt = code === 32 && (text.charCodeAt(end + 1) === 43 || text.charCodeAt(end + 1) === 45) ? end + 1 : end;
  const sign = text.charCodeAt(signAt);
  if (sign === 43 || sign === 45) {
    const hours = two(text, signAt + 1);
    const colon = text.charCodeAt(signAt + 3) === 58;
    const minutes = two(text, signAt + (colon ? 4 : 3));
    if (hours <= 15 && minutes <= 59) {
      result.timeMs = asUtc - (sign === 43 ? 1 : -1) * (hours * 60 + minutes) * 60_000;
      result.end = signAt + (colon ? 6 : 5);
      return result;
    }
  }
  result.timeMs = fromLocal(asUtc, zone);
  result.end = end;
  return result;
}

/** `YYYY-MM-DDTHH:MM:SS` read as if it were UTC; NaN when there is no such time at `at`. */
function parseSecond(text: string, at: number): number {
  const year = two(text, at) * 100 + two(text, at + 2);
  const month = two(text, at + 5);
  const day = two(text, at + 8);
  const hour = two(text, at + 11);
  const minute = two(text, at + 14);
  const second = two(text, at + 17);
  const separator = text.charCodeAt(at + 10);
  if (!(year + month + day + hour + minute + second >= 0) || month < 1 || month > 12 || day < 1 || day > 31)
    return Number.NaN;
  if (hour > 24 || minute > 59 || second > 60 || text.charCodeAt(at + 13) !== 58) return Number.NaN;
  if (separator !== 84 && separator !== 32 && separator !== 116 && separator !== 95) return Number.NaN;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/**
 * Reads `MM-DD HH:MM:SS` (a time without a year): the year is the latest that does not put it after `nearMs`.
 *
 * @returns Milliseconds since the epoch; NaN if there is no such time at `at`.
 */
export function parseMonthDay(text: string, at: number, nearMs: number, zone: ZoneOffset): number {
  const month = two(text, at);
  const day = two(text, at + 3);
  const hour = two(text, at + 6);
  const minute = two(text, at + 9);
  const second = two(text, at + 12);
  if (!(month + day + hour + minute + second >= 0)) return Number.NaN;
  return nearestYear(month, day, hour, minute, second, nearMs, zone);
}

/** How far a writer's clock may be ahead of the time of reading. */
const CLOCK_SKEW_MS = 36 * 3_600_000;

/**
 * The time of that month, day and clock in the latest year that does not put it after `nearMs`, some skew allowed: a line
 * read on January 1st from December 31st belongs to the old year, and none is of next May.
 */
export function nearestYear(
  month: number,
  day: number,
  hour: number,
  minute: number,
  second: number,
  nearMs: number,
  zone: ZoneOffset,
): number {
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 24 || minute > 59 || second > 60) return Number.NaN;
  const near = Number.isNaN(nearMs) ? 0 : nearMs;
  const year = new Date(near).getUTCFullYear();
  for (let candidate = year + 1; candidate > year - 1; candidate--) {
    const time = fromLocal(Date.UTC(candidate, month - 1, day, hour, minute, second), zone);
    if (time <= near + CLOCK_SKEW_MS) return time;
  }
  return fromLocal(Date.UTC(year - 1, month - 1, day, hour, minute, second), zone);
}

/** The time `HH:MM:SS` on the day that brings it nearest to `nearMs` (for logs that print no date). */
export function nearestDay(secondsOfDay: number, nearMs: number, zone: ZoneOffset): number {
  if (Number.isNaN(nearMs)) return Number.NaN;
  const localNear = nearMs + zone(nearMs) * 60_000;
  const midnight = Math.floor(localNear / 86_400_000) * 86_400_000;
  let best = Number.NaN;
  for (let day = -1; day <= 1; day++) {
    const time = fromLocal(midnight + day * 86_400_000 + secondsOfDay * 1000, zone);
    if (Number.isNaN(best) || Math.abs(time - nearMs) < Math.abs(best - nearMs)) best = time;
  }
  return best;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** 1–12 for an English month's first three letters at `at`; NaN otherwise. */
export function monthNumber(text: string, at: number): number {
  const month = MONTHS.indexOf(text.slice(at, at + 3));
  return month < 0 ? Number.NaN : month + 1;
}
