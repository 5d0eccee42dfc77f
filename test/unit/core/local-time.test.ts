import { expect, test } from "vitest";
import { isZone, LocalTime } from "../../../src/core/local-time.ts";

const at = (text: string): number => Date.parse(text);
const DAY_MS = 86_400_000;

test.for([
  { name: "winter", zone: "Europe/Berlin", time: "2026-03-27T23:30Z", wall: "2026-03-28T00:30Z" },
  { name: "summer", zone: "Europe/Berlin", time: "2026-07-01T12:00Z", wall: "2026-07-01T14:00Z" },
  { name: "a quarter of an hour", zone: "Asia/Kathmandu", time: "2026-07-01T12:00Z", wall: "2026-07-01T17:45Z" },
  { name: "UTC", zone: "UTC", time: "2026-07-01T12:00Z", wall: "2026-07-01T12:00Z" },
])("wall clock: $name", ({ zone, time, wall }) => {
  expect(new LocalTime(zone).wallMs(at(time))).toBe(at(wall));
});

test.for([
  {
    name: "the same hour after the clock went forward",
    zone: "Europe/Berlin",
    time: "2026-03-30T07:00Z",
    before: "2026-03-23T08:00Z",
  },
  {
    name: "the same hour after the clock went back",
    zone: "Europe/Berlin",
    time: "2026-10-26T08:00Z",
    before: "2026-10-19T07:00Z",
  },
  { name: "no change between", zone: "Europe/Berlin", time: "2026-06-08T07:00Z", before: "2026-06-01T07:00Z" },
  {
    name: "an hour that did not exist: elapsed time",
    zone: "Europe/Berlin",
    time: "2026-04-05T00:30Z",
    before: "2026-03-29T00:30Z",
  },
  { name: "New York", zone: "America/New_York", time: "2026-03-10T14:00Z", before: "2026-03-03T15:00Z" },
  {
    name: "half an hour, Lord Howe",
    zone: "Australia/Lord_Howe",
    time: "2026-04-08T00:00Z",
    before: "2026-03-31T23:30Z",
  },
])("7 days before by the wall clock: $name", ({ zone, time, before }) => {
  expect(new Date(new LocalTime(zone).sameWallTimeBefore(at(time), 7 * DAY_MS)).toISOString()).toBe(
    new Date(at(before)).toISOString(),
  );
});

test("zones are those of the runtime", () => {
  expect(isZone("Europe/Berlin")).toBe(true);
  expect(isZone("Europe/Atlantis")).toBe(false);
});
