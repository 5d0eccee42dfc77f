import fc from "fast-check";
import { expect, test } from "vitest";
import { stripAnsi } from "../../../src/core/ansi.ts";
import { putBounded, take } from "../../../src/core/bounded-map.ts";
import { parseDurationMs } from "../../../src/core/duration.ts";
import { ExactSum } from "../../../src/core/exact-sum.ts";
import { monthNumber, nearestDay, nearestYear, parseIso, parseMonthDay, UTC } from "../../../src/core/timestamp.ts";
import { didYouMean } from "../../../src/core/told.ts";

test.for([
  ["1.2s", 1200],
  ["823.443\u00b5s", 0.823443],
  ["823us", 0.823],
  ["747.3micros", 0.7473],
  ["12ns", 0.000012],
  ["1m10.5s", 70_500],
  ["1h2m5s", 3_725_000],
  ["2 s", 2000],
  ["0", 0],
  ["-3ms", -3],
  ["1.5e3ms", 1500],
  ["", Number.NaN],
  ["12", Number.NaN],
  ["1.2sx", Number.NaN],
  ["s", Number.NaN],
  ["ms12", Number.NaN],
] as const)("duration %j is %d ms", ([text, ms]) => {
  const got = parseDurationMs(text);
  if (Number.isNaN(ms)) expect(got).toBeNaN();
  else expect(got).toBeCloseTo(ms, 9);
});

test.for([
  ["2026-03-02T17:00:01.330Z", Date.UTC(2026, 2, 2, 17, 0, 1, 330)],
  ["2026-03-02 17:00:01,330", Date.UTC(2026, 2, 2, 17, 0, 1, 330)],
  ["2026/03/02 17:00:01.33 +00:00", Date.UTC(2026, 2, 2, 17, 0, 1, 330)],
  ["2026-03-02T17:00:01+02:00", Date.UTC(2026, 2, 2, 15, 0, 1)],
  ["2026-03-02T17:00:01-0530", Date.UTC(2026, 2, 2, 22, 30, 1)],
  ["2026-03-02T17:00:01.123456789Z", Date.UTC(2026, 2, 2, 17, 0, 1, 123)],
  ["2026-13-02T17:00:01Z", Number.NaN],
  ["2026-03-02", Number.NaN],
  ["not a time at all", Number.NaN],
] as const)("time %s", ([text, ms]) => {
  expect(parseIso(text, 0, UTC).timeMs).toBe(ms);
});

test("a time read after another of the same second is not the other's", () => {
  parseIso("2026-03-02T17:00:01.100Z", 0, UTC);
  expect(parseIso("2026-03-02T17:00:01.200Z", 0, UTC).timeMs).toBe(Date.UTC(2026, 2, 2, 17, 0, 1, 200));
  expect(parseIso("2026-03-02T17:00:02.200Z", 0, UTC).timeMs).toBe(Date.UTC(2026, 2, 2, 17, 0, 2, 200));
});

test("every time that Date writes is read back", () => {
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }), (date) => {
      expect(parseIso(date.toISOString(), 0, UTC).timeMs).toBe(date.getTime());
    }),
  );
});

test.for([
  { name: "the past of the same year", month: 5, now: Date.UTC(2026, 11, 1), year: 2026 },
  { name: "December read in January", month: 12, now: Date.UTC(2026, 0, 1), year: 2025 },
  {
    name: "January read a moment ahead of its clock in December",
    month: 1,
    now: Date.UTC(2025, 11, 31, 23, 59),
    year: 2026,
  },
  { name: "never the future", month: 5, now: Date.UTC(2026, 3, 1), year: 2025 },
])("a time without a year: $name", ({ month, now, year }) => {
  expect(new Date(nearestYear(month, 1, 0, 0, 0, now, UTC)).getUTCFullYear()).toBe(year);
});

test("month and day, and month names", () => {
  expect(parseMonthDay("05-12 09:15:47", 0, Date.UTC(2026, 5, 1), UTC)).toBe(Date.UTC(2026, 4, 12, 9, 15, 47));
  expect(parseMonthDay("xx-12 09:15:47", 0, Date.UTC(2026, 5, 1), UTC)).toBeNaN();
  expect([monthNumber("Jan", 0), monthNumber("Dec", 0), monthNumber("Foo", 0)]).toEqual([1, 12, Number.NaN]);
});

test("a time without a date belongs to the nearest day", () => {
  const evening = 23 * 3600 + 59 * 60;
  expect(nearestDay(evening, Date.UTC(2026, 5, 2, 0, 1), UTC)).toBe(Date.UTC(2026, 5, 1, 23, 59));
});

test("an exact sum does not depend on the order", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -1e9, max: 1e9 }), { maxLength: 50 }), (integers) => {
      const add = (values: readonly number[]): number => {
        const sum = new ExactSum();
        for (const value of values) sum.add(value / 1e6);
        return sum.value;
      };
      expect(add(integers)).toBeCloseTo(add(integers.toReversed()), 12);
    }),
  );
  const big = new ExactSum();
  for (const value of [1e16, 1, -1e16]) big.add(value);
  expect([big.value, ExactSum.from(big.parts).value]).toEqual([1, 1]);
});

test("a bounded map drops its oldest entry, and says which", () => {
  const map = new Map<string, number>();
  expect([
    putBounded(map, "a", 1, 2),
    putBounded(map, "b", 2, 2),
    putBounded(map, "c", 3, 2),
    putBounded(map, "c", 4, 2),
  ]).toEqual([undefined, undefined, 1, undefined]);
  expect([take(map, "b"), take(map, "b"), [...map]]).toEqual([2, undefined, [["c", 4]]]);
});

test("colours, titles and links go, text stays", () => {
  expect(stripAnsi("\u001b[1;36m(APIServer pid=1)\u001b[0;0m x\u001b]0;title\u0007y")).toBe("(APIServer pid=1) xy");
});

test("the nearest name, or none", () => {
  expect([didYouMean("lables", ["labels", "files"]), didYouMean("zzzzzz", ["labels", "files"])]).toEqual([
    '; did you mean "labels"?',
    "",
  ]);
});
