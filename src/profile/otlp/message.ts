import type { JsonObject } from "../../model/line.ts";

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const NANOS = 1_000_000_000;

/** A time in nanoseconds since the epoch, split so that no digit is lost: seconds and the rest. */
export interface UnixNano {
  readonly seconds: number;
  readonly nanos: number;
}

/** Reads a fixed64 time: a decimal string, or a number that JSON has rounded already. Undefined when absent, 0 or no time. */
export function unixNano(value: unknown): UnixNano | undefined {
  if (typeof value === "number") {
    if (!(value > 0)) return undefined;
    const seconds = Math.floor(value / NANOS);
    return { seconds, nanos: value - seconds * NANOS };
  }
  if (typeof value !== "string" || !/^\d{1,20}$/.test(value)) return undefined;
  const seconds = Number(value.slice(0, -9) || "0");
  const nanos = Number(value.slice(-9));
  return seconds === 0 && nanos === 0 ? undefined : { seconds, nanos };
}

/** Milliseconds since the epoch; NaN when unknown. */
export const epochMs = (time: UnixNano | undefined): number =>
  time === undefined ? Number.NaN : time.seconds * 1000 + time.nanos / 1e6;

/** Milliseconds from one time to another, exact to the nanosecond; negative when they are the wrong way round. */
export function durationMs(start: UnixNano | undefined, end: UnixNano | undefined): number | undefined {
  if (start === undefined || end === undefined) return undefined;
  return ((end.seconds - start.seconds) * NANOS + (end.nanos - start.nanos)) / 1e6;
}

/** A hex id in lower case; undefined when absent. */
export function hexId(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value.toLowerCase() : undefined;
}
