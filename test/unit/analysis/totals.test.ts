import { expect, test } from "vitest";
import { Distribution } from "../../../src/analysis/quantiles.ts";
import { Totals } from "../../../src/analysis/totals.ts";
import { RequestRecord } from "../../../src/model/record.ts";

test("a failure without a time leaves the span of its cause as it is", () => {
  const totals = new Totals();
  for (const timeMs of [Number.NaN, 2000, Number.NaN, 1000])
    totals.add({ kind: "failure", timeMs, text: "x", cause: "gpu_oom" }, []);
  expect(totals.causes.get("gpu_oom")).toMatchObject({ count: 4, firstMs: 1000, lastMs: 2000 });
});

test("counts that no writer can tell stay unknown, counts that one can tell start at 0", () => {
  const totals = new Totals();
  totals.add(new RequestRecord(), ["finished", "failed"]);
  expect(totals.requests).toEqual({ received: undefined, finished: 1, failed: 0, aborted: undefined });
});

test("sums of money are exact where naive addition is not", () => {
  const totals = new Totals();
  for (let at = 0; at < 10; at++) {
    const record = new RequestRecord();
    record.costUsd = 0.1;
    totals.add(record, []);
  }
  expect(totals.cost?.value).toBe(1);
});

test("quantiles are order statistics for few values, within 0.5 % of them for many", () => {
  const values = Array.from({ length: 20_000 }, (_, at) => 1 + ((at * 7919) % 20_000));
  const few = new Distribution();
  const many = new Distribution();
  for (const value of values.slice(0, 1000)) few.add(value);
  for (const value of values) many.add(value);
  const sorted = values.slice(0, 1000).sort((a, b) => a - b);
  expect(few.quantile(0.99)).toBe(sorted[989]);
  expect(Math.abs(many.quantile(0.99) / 19_800 - 1)).toBeLessThan(0.005);
  expect([many.count, many.max, many.min]).toEqual([20_000, 20_000, 1]);
});
