import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { type Attributes, explain } from "../../../src/failure/explain.ts";
import { benjaminiHochberg, gStatistic, logChiSquareTail } from "../../../src/failure/significance.ts";

const repeat = (count: number, attributes: (index: number) => Attributes): Attributes[] =>
  Array.from({ length: count }, (_, index) => attributes(index));
const traffic = repeat(400, (index) => ({
  gpu: `GPU-${index % 8}`,
  tenant: `t${index % 10}`,
  context_tokens: (index * 37) % 4000,
  http_status: 200,
  request_id: `r${index}`,
  stream: index % 2 === 0,
}));

test("the value that failures have more often comes first, with both shares", () => {
  const failures = repeat(20, (index) => ({
    gpu: index < 17 ? "GPU-3" : "GPU-1",
    tenant: `t${index % 10}`,
    http_status: 500,
    request_id: `f${index}`,
    stream: index % 2 === 0,
  }));
  const [first, ...others] = explain(failures, traffic);
  expect(first).toEqual({ attribute: "gpu", value: "GPU-3", count: 17, share: 0.85, baseline_share: 0.125 });
  // a symptom comes after what explains, an id never
  expect(others).toEqual([{ attribute: "http_status", value: "500", count: 20, share: 1, baseline_share: 0 }]);
});

test("a number is cut where it parts best", () => {
  const failures = repeat(20, (index) => ({
    context_tokens: index < 18 ? 9000 + index : 100,
    tenant: `t${index % 10}`,
  }));
  expect(explain(failures, traffic)[0]).toMatchObject({
    attribute: "context_tokens",
    value: ">= 9000",
    count: 18,
    baseline_share: 0,
  });
});

test("too little support explains nothing", () => {
  expect(
    explain(
      repeat(2, () => ({ gpu: "GPU-3" })),
      traffic,
    ),
  ).toEqual([]);
});

test("failures like other traffic have no driver", () => {
  expect(
    explain(
      traffic.filter((_, index) => index % 3 === 0),
      traffic,
    ),
  ).toEqual([]);
});

test("what is unknown is no value", () => {
  const failures = repeat(20, (index) => ({ gpu: index < 10 ? null : "GPU-3", tenant: undefined }));
  expect(explain(failures, traffic)).toEqual([
    { attribute: "gpu", value: "GPU-3", count: 10, share: 1, baseline_share: 0.125 },
  ]);
});

test("drivers of the labelled failures", () => {
  const rows = (file: string): { label: string; fields: Attributes }[] =>
    readFileSync(path.join(import.meta.dirname, "../../golden/failures", file), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { label: string; fields: Attributes });
  const labelled = rows("labelled.jsonl");
  const baseline = rows("traffic.jsonl").map(({ fields }) => fields);
  const first = (label: string): string => {
    const [best] = explain(
      labelled.filter((row) => row.label === label).map(({ fields }) => fields),
      baseline,
    );
    return `${best?.attribute} ${best?.value}`;
  };
  expect(first("gpu_oom")).toBe("gpu GPU-3");
  expect(first("rate_limited")).toBe("tenant batchly");
  expect(first("upstream_timeout")).toBe("upstream azure-swedencentral");
  expect(first("structured_output_grammar")).toBe("client json-forms/2.0");
  expect(first("queue_overflow")).toMatch(/^concurrency >= /);
  expect(first("context_length_exceeded")).toMatch(/^input_tokens >= /);
});

test("the G statistic of a known table", () => {
  // 2 × (10 ln 2 + 10 ln 2/3 + 5 ln 1/2 + 35 ln 7/6)
  expect(gStatistic(10, 20, 5, 40)).toBeCloseTo(9.613, 2);
  expect(gStatistic(5, 10, 50, 100)).toBeCloseTo(0, 10);
});

test("the tail of χ² with one degree of freedom", () => {
  expect(Math.exp(logChiSquareTail(3.841459))).toBeCloseTo(0.05, 5);
  expect(Math.exp(logChiSquareTail(6.634897))).toBeCloseTo(0.01, 5);
  // both branches meet
  expect(logChiSquareTail(24.99) - logChiSquareTail(25.01)).toBeLessThan(0.02);
  expect(logChiSquareTail(200)).toBeCloseTo(-102.87, 1);
});

test("Benjamini–Hochberg keeps up to the last that holds", () => {
  const logP = [0.01, 0.04, 0.03, 0.5].map(Math.log);
  expect(benjaminiHochberg(logP, 0.05)).toEqual([true, false, false, false]);
  expect(benjaminiHochberg([0.01, 0.02, 0.03, 0.5].map(Math.log), 0.05)).toEqual([true, true, true, false]);
});
