import { monthNumber } from "../../core/timestamp.ts";

const COMMON = /^(\d\d)\/(\w{3})\/(\d{4}):(\d\d):(\d\d):(\d\d) ([+-])(\d\d)(\d\d)/;

/** Reads `02/Mar/2026:12:30:00 +0000`; NaN when the text is no such time. Milliseconds since the epoch. */
export function parseCommonTime(text: string): number {
  const found = COMMON.exec(text);
  if (found === null) return Number.NaN;
  const [, day, month = "", year, hours, minutes, seconds, sign, zoneHours, zoneMinutes] = found;
  const asUtc = Date.UTC(
    Number(year),
    monthNumber(month, 0) - 1,
    Number(day),
    Number(hours),
    Number(minutes),
    Number(seconds),
  );
  const offsetMinutes = Number(zoneHours) * 60 + Number(zoneMinutes);
  return asUtc - (sign === "+" ? 1 : -1) * offsetMinutes * 60_000;
}
