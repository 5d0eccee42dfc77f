/** A time at the head of a line, read from its bytes. */
export interface HeadTime {
  /** Milliseconds since the epoch. */
  timeMs: number;
  /** Index after the zone. */
  end: number;
  fractionDigits: number;
  /** How the zone is written. Go, thus Docker and the kubelet, never writes `+00:00`; rsyslog does. */
  zone: "Z" | "+00:00" | "offset";
}

const result: HeadTime = { timeMs: 0, end: 0, fractionDigits: 0, zone: "Z" };

/**
 * Reads `YYYY-MM-DDTHH:MM:SS[.fraction](Z|±HH:MM|±HHMM)` at `at`; a time without its zone is none.
 *
 * @returns A shared object, overwritten by the next call; undefined if no such time stands there.
 */
export function readHeadTime(bytes: Buffer, at: number, end: number): HeadTime | undefined {
  if (end - at < 20 || bytes[at + 4] !== 45 || bytes[at + 10] !== 84) return undefined;
  if (bytes[at + 7] !== 45 || bytes[at + 13] !== 58 || bytes[at + 16] !== 58) return undefined;
  const year = two(bytes, at) * 100 + two(bytes, at + 2);
  const month = two(bytes, at + 5);
  const day = two(bytes, at + 8);
  const hour = two(bytes, at + 11);
  const minute = two(bytes, at + 14);
  const second = two(bytes, at + 17);
  if (!(year + month + day + hour + minute + second >= 0)) return undefined;
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60) return undefined;
  let next = at + 19;
  let millis = 0;
  result.fractionDigits = 0;
  if (bytes[next] === 46) {
    let scale = 100;
    for (next++; next < end && isDigit(bytes[next]); next++) {
      if (scale >= 1) millis += ((bytes[next] as number) - 48) * scale;
      scale /= 10;
      result.fractionDigits++;
    }
    if (result.fractionDigits === 0) return undefined;
  }
  result.timeMs = Date.UTC(year, month - 1, day, hour, minute, second, Math.floor(millis));
  return readZone(bytes, next, end) ? result : undefined;
}

function readZone(bytes: Buffer, at: number, end: number): boolean {
  const sign = bytes[at];
  if (sign === 90) {
    result.zone = "Z";
    result.end = at + 1;
    return at < end;
  }
  if (sign !== 43 && sign !== 45) return false;
  const minutesAt = bytes[at + 3] === 58 ? at + 4 : at + 3;
  const hours = two(bytes, at + 1);
  const minutes = two(bytes, minutesAt);
  if (!(hours <= 15 && minutes <= 59) || minutesAt + 2 > end) return false;
  result.zone = sign === 43 && hours === 0 && minutes === 0 ? "+00:00" : "offset";
  result.timeMs -= (sign === 43 ? 1 : -1) * (hours * 60 + minutes) * 60_000;
  result.end = minutesAt + 2;
  return true;
}

export function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 48 && byte <= 57;
}

/** Two decimal digits at `at`; NaN if they are none. */
function two(bytes: Buffer, at: number): number {
  const high = (bytes[at] ?? 0) - 48;
  const low = (bytes[at + 1] ?? 0) - 48;
  return high >= 0 && high <= 9 && low >= 0 && low <= 9 ? high * 10 + low : Number.NaN;
}
