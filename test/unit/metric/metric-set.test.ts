import { expect, test } from "vitest";
import { bucketIndex, LATENCY_SECONDS, TOKEN_SECONDS } from "../../../src/metric/buckets.ts";
import { METRICS, type MetricDef } from "../../../src/metric/catalogue.ts";
import { MetricSet, observe } from "../../../src/metric/metric-set.ts";
import { renderOpenMetrics, wantsOpenMetrics } from "../../../src/metric/open-metrics.ts";
import { Recorder } from "../../../src/metric/recorder.ts";
import { Latency } from "../../../src/model/latency.ts";
import { RequestRecord } from "../../../src/model/record.ts";

const STREAM = { name: "a.log", labels: { service_name: "chat" }, profile: "auto" };
const render = (set: MetricSet): string => [...renderOpenMetrics(set, () => {})].join("");

test("buckets ascend, and grow by at most 1.25 from 10 ms to 600 s", () => {
  for (const buckets of [LATENCY_SECONDS, TOKEN_SECONDS])
    expect(buckets).toEqual([...new Set(buckets)].sort((a, b) => a - b));
  for (let at = 1; at < LATENCY_SECONDS.length; at++) {
    const [low, high] = [LATENCY_SECONDS[at - 1] as number, LATENCY_SECONDS[at] as number];
    if (low >= 0.01 && high <= 600) expect(high / low, `${low} to ${high}`).toBeLessThanOrEqual(1.2500001);
  }
});

test("a value on a boundary belongs to the bucket below", () => {
  expect([
    bucketIndex([1, 2, 3], 1),
    bucketIndex([1, 2, 3], 1.5),
    bucketIndex([1, 2, 3], 3),
    bucketIndex([1, 2, 3], 4),
  ]).toEqual([0, 1, 2, 3]);
});

test("names are unique, in base units, and counters end in _total", () => {
  const defs = Object.values<MetricDef>(METRICS);
  expect(new Set(defs.map((def) => def.name)).size).toBe(defs.length);
  for (const { name, kind, unit } of defs) {
    expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
    expect(name.endsWith("_total"), name).toBe(kind === "counter");
    if (unit === "s") expect(name).toContain("_seconds");
    if (unit === "By") expect(name).toContain("_bytes");
  }
});

test("a commit holds what changed, and a restart continues it", () => {
  const set = new MetricSet({ maxSeries: 10 });
  const counter = set.cell(METRICS.requests, {}, "m", undefined, undefined, "ok", undefined);
  counter.value = 5;
  observe(set.cell(METRICS.requestTtft, {}, "m"), 0.2);
  const changes = set.changes();
  expect(changes.length).toBe(2);
  expect(set.changes()).toEqual([]);
  counter.value++;
  const [again] = set.changes();
  const restored = new MetricSet({ maxSeries: 10 });
  restored.restore([changes[1]?.[1], again?.[1]], Object.values<MetricDef>(METRICS));
  expect(restored.cell(METRICS.requests, {}, "m", undefined, undefined, "ok", undefined).value).toBe(6);
  expect(restored.cell(METRICS.requestTtft, {}, "m")).toMatchObject({ count: 1, sum: 0.2 });
  expect(restored.changes()).toEqual([]);
});

test("a histogram comes back bucket by bucket; one of another layout starts anew", () => {
  const set = new MetricSet({ maxSeries: 10 });
  const cell = set.cell(METRICS.requestTtft, {}, "m");
  for (const seconds of [0, 0.2, 0.2, 1e9]) observe(cell, seconds);
  const series = structuredClone(set.changes().map(([, saved]) => saved));
  const restore = (def: MetricDef): number[] => {
    const restored = new MetricSet({ maxSeries: 10 });
    restored.restore(series, [def]);
    return [...restored.cell(METRICS.requestTtft, {}, "m").counts];
  };
  expect(restore(METRICS.requestTtft)).toEqual([...cell.counts]);
  const other = { ...METRICS.requestTtft, buckets: METRICS.requestTtft.buckets.with(0, 0.0004) };
  expect(new Set(restore(other))).toEqual(new Set([0]));
});

test("a commit that failed is written again whole", () => {
  const set = new MetricSet({ maxSeries: 10 });
  set.cell(METRICS.requestsReceived, {}).value = 1;
  set.changes();
  set.forgetCommit();
  expect(set.changes().length).toBe(1);
});

test("gauges of a silent engine vanish, counters stay", () => {
  const set = new MetricSet({ maxSeries: 10 });
  const recorder = new Recorder({ set, labels: ["model"] });
  recorder.record({ kind: "gauges", timeMs: 0, values: { running: 3 } }, STREAM, 1000);
  recorder.record({ kind: "count", timeMs: 0, name: "preemptions", by: 2 }, STREAM, 1000);
  recorder.dropStale(30_000);
  expect(render(set)).toContain("llm_requests_running");
  recorder.dropStale(70_000);
  expect(render(set)).not.toContain("llm_requests_running{");
  expect(render(set)).toContain('llm_preemptions_total{service_name="chat"} 2');
});

test("OpenMetrics: families, units, exemplars, +Inf equal to count, EOF", () => {
  const set = new MetricSet({ maxSeries: 10 });
  const recorder = new Recorder({ set, labels: ["model"] });
  const record = new RequestRecord();
  record.model = 'a"b\\c\nd';
  record.id = "r-1";
  record.traceId = "t-1";
  record.timeMs = 1_772_474_401_832;
  record.latencies.set(Latency.ttft, 200);
  recorder.record(record, STREAM, 0);
  const text = render(set);
  expect(text).toContain("# TYPE llm_requests counter\n");
  expect(text).toContain("# UNIT llm_request_ttft_seconds seconds\n");
  expect(text).toContain('llm_requests_total{service_name="chat",model="a\\"b\\\\c\\nd",outcome="ok"} 1\n');
  expect(text).toContain('le="0.22"} 1 # {trace_id="t-1",request_id="r-1"} 0.2 1772474401.832\n');
  expect(text).toMatch(/llm_request_ttft_seconds_bucket\{[^}]*le="\+Inf"\} 1\n/);
  expect(text.endsWith("# EOF\n")).toBe(true);
});

test("an exemplar longer than the format allows is left out, not the sample", () => {
  const set = new MetricSet({ maxSeries: 10 });
  const recorder = new Recorder({ set, labels: [] });
  const record = new RequestRecord();
  record.id = "x".repeat(200);
  record.latencies.set(Latency.ttft, 200);
  recorder.record(record, STREAM, 0);
  expect(render(set)).toContain('le="0.22"} 1\n');
});

test.for([
  ["application/openmetrics-text;version=1.0.0;q=0.8,text/plain;version=0.0.4;q=0.5", true],
  ["application/openmetrics-text; version=1.0.0", true],
  ["text/plain;version=0.0.4;q=0.9, application/openmetrics-text;version=1.0.0;q=0.5", false],
  ["application/openmetrics-text;version=9.9.9", false],
  ["*/*", false],
  [undefined, false],
] as const)("Accept: %s asks for OpenMetrics: %s", ([accept, wants]) => {
  expect(wantsOpenMetrics(accept)).toBe(wants);
});
