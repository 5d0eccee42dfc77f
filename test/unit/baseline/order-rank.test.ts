import { expect, test } from "vitest";
import { intervalRanks, pointRank } from "../../../src/baseline/order-rank.ts";

test.for([
  { n: 500, lower: 491 },
  { n: 1000, lower: 985 },
  { n: 5000, lower: 4938 },
])("lower end of $n values is rank $lower", ({ n, lower }) => {
  expect(intervalRanks(n)[0]).toBe(lower);
});

test("below 299 values there is no upper end", () => {
  expect(intervalRanks(298)[1]).toBe(299);
  expect(intervalRanks(299)[1]).toBe(299);
});

test("the ranks are those of the binomial distribution, for any size", () => {
  for (const n of [1, 10, 100, 299, 368, 500, 777, 2000, 20_000]) {
    // direct sum of P(K = k)
    let term = Math.exp(n * Math.log(0.99));
    let below = term;
    let k = 0;
    let upper: number | undefined;
    for (;;) {
      if (upper === undefined && below > 0.05) upper = n - k + 1;
      if (below >= 0.95) break;
      k++;
      term *= ((n - k + 1) / k) * (0.01 / 0.99);
      below += term;
    }
    expect([n, ...intervalRanks(n)]).toEqual([n, n - k, upper]);
  }
});

test("millions of values do not underflow", () => {
  const n = 5_000_000;
  const [lower, upper] = intervalRanks(n);
  const half = 1.6449 * Math.sqrt(n * 0.0099);
  expect(Math.abs(lower - (0.99 * n - half))).toBeLessThan(5);
  expect(Math.abs(upper - (0.99 * n + half))).toBeLessThan(5);
});

test("nearest rank", () => {
  expect([1, 100, 101, 500, 1000].map(pointRank)).toEqual([1, 99, 100, 495, 990]);
});
