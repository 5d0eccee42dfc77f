import { expect, test } from "vitest";
import { periodAt } from "../../../src/budget/period.ts";
import { LocalTime } from "../../../src/core/local-time.ts";

const at = (text: string): number => Date.parse(text);

test.for([
  {
    name: "UTC date",
    kind: "1d",
    zone: "UTC",
    time: "2026-05-04T12:00Z",
    from: "2026-05-04T00:00Z",
    to: "2026-05-05T00:00Z",
  },
  {
    name: "midnight begins the new date",
    kind: "1d",
    zone: "UTC",
    time: "2026-05-05T00:00Z",
    from: "2026-05-05T00:00Z",
    to: "2026-05-06T00:00Z",
  },
  {
    name: "a day of 23 hours",
    kind: "1d",
    zone: "Europe/Berlin",
    time: "2026-03-29T10:00Z",
    from: "2026-03-28T23:00Z",
    to: "2026-03-29T22:00Z",
  },
  {
    name: "a day of 25 hours",
    kind: "1d",
    zone: "Europe/Berlin",
    time: "2026-10-25T10:00Z",
    from: "2026-10-24T22:00Z",
    to: "2026-10-25T23:00Z",
  },
  {
    name: "a date whose midnight does not exist",
    kind: "1d",
    zone: "Africa/Cairo",
    time: "2026-04-24T10:00Z",
    from: "2026-04-23T22:00Z",
    to: "2026-04-24T21:00Z",
  },
  {
    name: "an hour that the clock shows twice is two",
    kind: "1h",
    zone: "Europe/Berlin",
    time: "2026-10-25T01:30Z",
    from: "2026-10-25T01:00Z",
    to: "2026-10-25T02:00Z",
  },
  {
    name: "a local hour off the UTC hour",
    kind: "1h",
    zone: "Asia/Kolkata",
    time: "2026-05-04T12:10Z",
    from: "2026-05-04T11:30Z",
    to: "2026-05-04T12:30Z",
  },
  {
    name: "an ISO week begins on Monday",
    kind: "1w",
    zone: "UTC",
    time: "2026-05-10T23:59Z",
    from: "2026-05-04T00:00Z",
    to: "2026-05-11T00:00Z",
  },
  {
    name: "a week in which the clock goes forward",
    kind: "1w",
    zone: "Europe/Berlin",
    time: "2026-03-25T00:00Z",
    from: "2026-03-22T23:00Z",
    to: "2026-03-29T22:00Z",
  },
  {
    name: "a month, leap year",
    kind: "1mo",
    zone: "UTC",
    time: "2028-02-10T00:00Z",
    from: "2028-02-01T00:00Z",
    to: "2028-03-01T00:00Z",
  },
  {
    name: "December to January",
    kind: "1mo",
    zone: "Asia/Tokyo",
    time: "2026-12-31T14:59Z",
    from: "2026-11-30T15:00Z",
    to: "2026-12-31T15:00Z",
  },
] as const)("$kind: $name", ({ kind, zone, time, from, to }) => {
  const { startMs, endMs } = periodAt(kind, new LocalTime(zone), at(time));
  const iso = (ms: number): string => new Date(ms).toISOString();
  expect([iso(startMs), iso(endMs)]).toEqual([iso(at(from)), iso(at(to))]);
});

test("periods of a year leave no gap and do not overlap", () => {
  for (const zone of ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo"]) {
    const clock = new LocalTime(zone);
    for (const kind of ["1d", "1w", "1mo"] as const) {
      let { endMs } = periodAt(kind, clock, at("2026-01-01T00:00Z"));
      for (const end = at("2027-01-01T00:00Z"); endMs < end; ) {
        const next = periodAt(kind, clock, endMs);
        expect(next.startMs).toBe(endMs);
        expect(periodAt(kind, clock, next.endMs - 1)).toEqual(next);
        ({ endMs } = next);
      }
    }
  }
});
