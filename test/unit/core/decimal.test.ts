import { expect, test } from "vitest";
import { decimalOf, parseDecimal, ratio, unitsAt } from "../../../src/core/decimal.ts";
import { durationTextMs } from "../../../src/core/duration-text.ts";

test.for([
  { name: "underscores are read over", text: "50_000_000", decimal: { units: 50_000_000n, scale: 0 } },
  { name: "a fraction keeps its digits", text: "0.10", decimal: { units: 10n, scale: 2 } },
  {
    name: "beyond 2^53 nothing is lost",
    text: "9223372036854775807",
    decimal: { units: 9223372036854775807n, scale: 0 },
  },
  { name: "an exponent makes the number whole", text: "1.5e3", decimal: { units: 1500n, scale: 0 } },
  { name: "a negative exponent makes a fraction", text: "1e-7", decimal: { units: 1n, scale: 7 } },
  { name: "a sign is refused", text: "-1", decimal: undefined },
  { name: "words are refused", text: "many", decimal: undefined },
  { name: "a huge exponent is refused", text: "1e999", decimal: undefined },
])("parseDecimal: $name", ({ text, decimal }) => {
  expect(parseDecimal(text)).toEqual(decimal);
});

test("a double is the decimal it prints as", () => {
  expect(decimalOf(0.15)).toEqual({ units: 15n, scale: 2 });
  expect(decimalOf(1e21)).toEqual({ units: 10n ** 21n, scale: 0 });
  expect(() => decimalOf(Number.NaN)).toThrow(RangeError);
});

test("units at a finer scale", () => {
  expect(unitsAt({ units: 42n, scale: 1 }, 3)).toBe(4200n);
});

test.for([
  { a: 95n, b: 100n, value: 0.95 },
  { a: 1n, b: 3n * 10n ** 30n, value: 1 / 3e30 },
  { a: 10n ** 40n + 1n, b: 10n ** 20n, value: 1e20 },
  { a: 0n, b: 7n, value: 0 },
])("ratio of $a and $b", ({ a, b, value }) => {
  expect(ratio(a, b)).toBeCloseTo(value, 12);
  expect(Math.abs(ratio(a, b) - value)).toBeLessThanOrEqual(value * 1e-12);
});

test.for([
  ["5m", 300_000],
  ["1h30m", 5_400_000],
  ["7d", 604_800_000],
  ["1w", 604_800_000],
  ["250ms", 250],
  ["0", 0],
  ["5", Number.NaN],
  ["5 m", Number.NaN],
  ["1mo", Number.NaN],
] as const)("duration %s", ([text, ms]) => {
  expect(durationTextMs(text)).toBe(ms);
});
