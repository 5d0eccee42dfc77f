import fc from "fast-check";
import { expect, test } from "vitest";
import { parseConfig } from "../../../src/config/load.ts";
import { METRICS, type MetricDef } from "../../../src/metric/catalogue.ts";
import { MetricSet, observe } from "../../../src/metric/metric-set.ts";
import { renderOpenMetrics, renderText } from "../../../src/metric/open-metrics.ts";
import { Recorder } from "../../../src/metric/recorder.ts";
import { Latency } from "../../../src/model/latency.ts";
import { RequestRecord } from "../../../src/model/record.ts";

const STREAM = { name: "a.log", labels: { service_name: "chat" }, profile: "auto" };
const render = (set: MetricSet): string => [...renderOpenMetrics(set, () => {})].join("");

function request(tenant: string | undefined, fields: Partial<RequestRecord> = {}): RequestRecord {
  const record = Object.assign(new RequestRecord(), { tenant, model: "m", tokensIn: 3, tokensOut: 2, ...fields });
  record.latencies.set(Latency.e2e, 250);
  return record;
}

function sums(set: MetricSet): Map<MetricDef, { series: number; sum: number }> {
  return new Map(
    [...set.families()].map(({ def, cells }) => {
      const all = [...cells].map((cell) => ("counts" in cell ? cell.count : cell.value));
      return [def, { series: all.length, sum: all.reduce((sum, value) => sum + value, 0) }];
    }),
  );
}

test("200,000 tenants: series stay bounded and every sum is exact", () => {
  const set = new MetricSet({ maxSeries: 1000 });
  const recorder = new Recorder({ set, labels: ["model", "route", "tenant"], naming: "both" });
  for (let at = 0; at < 200_000; at++) recorder.record(request(`tenant-${at}`), STREAM, 0);
  const byDef = sums(set);
  expect(byDef.get(METRICS.requests)).toEqual({ series: 1001, sum: 200_000 });
  expect(byDef.get(METRICS.requestDuration)).toEqual({ series: 1001, sum: 200_000 });
  expect(byDef.get(METRICS.tokens)).toEqual({ series: 1002, sum: 1_000_000 });
  const text = render(set);
  expect(text.length).toBeLessThan(10_000_000);
  // sums by a label of few values are exact too
  const input = [...text.matchAll(/^ai_token_consumption_total\{.*token_type="input"\} (\d+)$/gm)];
  expect(input.reduce((sum, [, value]) => sum + Number(value), 0)).toBe(600_000);
});

test("sources that come and go are bounded at twice the limit, and sums stay exact", () => {
  const set = new MetricSet({ maxSeries: 20 });
  const recorder = new Recorder({ set, labels: ["model"] });
  for (let pod = 0; pod < 500; pod++)
    recorder.record(request(undefined), { ...STREAM, labels: { pod: `p${pod}`, namespace: "n" } }, 0);
  expect(sums(set).get(METRICS.requests)).toEqual({ series: 41, sum: 500 });
  expect(render(set)).toContain('llm_requests_total{pod="other",namespace="other",model="other",outcome="ok"} 460\n');
});

test("the +Inf bucket equals the count, buckets never fall, whatever is observed", () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1e9, noNaN: true }), { maxLength: 200 }), (values) => {
      const set = new MetricSet({ maxSeries: 10 });
      const cell = set.cell(METRICS.requestDuration, {});
      for (const value of values) observe(cell, value);
      const text = render(set);
      const buckets = [...text.matchAll(/_bucket\{le="([^"]+)"\} (\d+)$/gm)];
      const counts = buckets.map(([, , count]) => Number(count));
      expect(buckets.at(-1)?.[1]).toBe("+Inf");
      expect(counts.at(-1)).toBe(values.length);
      expect(counts).toEqual(counts.toSorted((a, b) => a - b));
      expect(text).toContain(`_count ${values.length}\n`);
      for (const [, bound, count] of buckets)
        expect(Number(count)).toBe(
          values.filter((value) => value <= Number(bound?.replace("+Inf", "Infinity"))).length,
        );
    }),
  );
});

test("idle series vanish when told to, the commit drops them, and a cell at hand is not written in vain", () => {
  const set = new MetricSet({ maxSeries: 10 });
  const recorder = new Recorder({ set, labels: ["tenant"], idleMs: 60_000 });
  recorder.record(request("a"), STREAM, 0);
  recorder.record(request("b"), STREAM, 0);
  set.changes();
  recorder.dropStale(0);
  recorder.record(request("b"), STREAM, 0);
  recorder.dropStale(50_000);
  recorder.dropStale(70_000);
  expect(render(set)).not.toContain('tenant="a"');
  expect(render(set)).toContain('tenant="b",outcome="ok"} 2\n');
  const dropped = set.changes().filter(([, series]) => series === undefined);
  expect(dropped.map(([key]) => key.split(" ")[0])).toContain("llm_requests_total");
  recorder.record(request("a"), STREAM, 0);
  expect(render(set)).toContain('tenant="a",outcome="ok"} 1\n');
});

test("counters never expire unless told to", () => {
  const set = new MetricSet({ maxSeries: 10 });
  const recorder = new Recorder({ set, labels: ["tenant"] });
  recorder.record(request("a"), STREAM, 0);
  recorder.dropStale(0);
  recorder.dropStale(1e15);
  expect(render(set)).toContain('tenant="a",outcome="ok"} 1\n');
});

test("errors and causes begin at 0 where the log can tell them, and do not go idle", () => {
  const set = new MetricSet({ maxSeries: 100 });
  const recorder = new Recorder({ set, labels: ["model"], idleMs: 60_000 });
  recorder.record(request(undefined), STREAM, 0, { name: "vllm-v1", tells: ["finished", "failed"] });
  const zero = (): string[] =>
    render(set)
      .match(/^.* 0$/gm)
      ?.filter((line) => line.includes("_total{")) ?? [];
  expect(zero()).toContain('llm_requests_total{service_name="chat",model="m",outcome="error"} 0');
  expect(zero()).toContain('llm_failures_total{service_name="chat",cause="gpu_oom"} 0');
  expect(zero().join()).not.toContain("aborted");
  recorder.dropStale(0);
  recorder.dropStale(120_000);
  expect(zero()).toContain('llm_failures_total{service_name="chat",cause="gpu_oom"} 0');
});

test("a log that is not an engine's declares no causes, and one that tells no ends no outcomes", () => {
  const set = new MetricSet({ maxSeries: 100 });
  const recorder = new Recorder({ set, labels: ["model"] });
  recorder.record(request(undefined), STREAM, 0, { name: "nginx", tells: [] });
  expect(render(set)).not.toMatch(/_total\{.* 0$/m);
});

const HOSTILE = [
  'quote " and backslash \\',
  "line\nbreak\r\nand\ttab",
  "\u0000 NUL",
  "\ud800 lone surrogate",
  "\ufffd",
  "x".repeat(10_240),
  '",le="0.1"} 99\nllm_requests_total{tenant="fake',
  "1leading.digit a.b",
  "# EOF",
  "\u2028\u2029\u0085",
];

test.for(["text", "open-metrics"] as const)("hostile label values never break the %s format", (format) => {
  const set = new MetricSet({ maxSeries: 100 });
  const recorder = new Recorder({ set, labels: ["model", "route", "tenant"], naming: "both" });
  for (const value of HOSTILE) {
    const record = request(value, { model: value, route: value, finishReason: value, id: value, traceId: value });
    recorder.record(record, STREAM, 0);
    recorder.record({ kind: "failure", timeMs: 0, text: value, cause: value, model: value, tenant: value }, STREAM, 0);
  }
  const text = [...(format === "text" ? renderText : renderOpenMetrics)(set, () => {})].join("");
  const value = String.raw`"(?:[^"\\\n]|\\["\\n])*"`;
  const labels = String.raw`\{(?:[a-z_]+=${value},?)*\}`;
  const sample = new RegExp(String.raw`^[a-z_]+(?:${labels})? [-+.e\d]+(?: # ${labels} [.e\d]+(?: [.\d]+)?)?$`);
  for (const line of text.split("\n").slice(0, -1)) if (!line.startsWith("# ")) expect(line).toMatch(sample);
  expect(text.isWellFormed()).toBe(true);
  expect(text.includes("\u0000")).toBe(false);
  expect(text.match(/^# EOF$/gm)?.length ?? 0).toBe(format === "text" ? 0 : 1);
});

test.for([
  { name: "le", labels: { le: "1" }, says: "is reserved by Prometheus" },
  { name: "two underscores", labels: { __name__: "x" }, says: "is reserved by Prometheus" },
  { name: "a dot, which would fall together with a_b", labels: { a_b: "1", "a.b": "2" }, says: '"a.b" must match' },
  { name: "a leading digit", labels: { "1a": "x" }, says: "must match" },
  {
    name: "a label of a metric, both places named",
    labels: { outcome: "x" },
    says: 'sources[0].labels.outcome: collides with the label "outcome" of the metric llm_requests_total',
  },
  {
    name: "a label of the conventions",
    labels: { error_type: "x" },
    says: "sources[0].labels.error_type: collides with the labels of metrics.naming genai",
  },
])("refused at load: $name", ({ labels, says }) => {
  const config = JSON.stringify({ sources: [{ files: ["a.log"], labels }] });
  expect(() => parseConfig(config, "c.yml")).toThrow(says);
});

test("refused at load: a label that the pod's path gives", () => {
  const config = JSON.stringify({ sources: [{ kubernetes: {}, labels: { pod: "x" } }] });
  expect(() => parseConfig(config, "c.yml")).toThrow(
    'sources[0].labels.pod: collides with the label "pod" that sources[0].kubernetes takes from the path',
  );
});

test.for([
  { name: "never", text: "never", ms: undefined },
  { name: "a day", text: "24h", ms: 86_400_000 },
])("idle_expiry: $name", ({ text, ms }) => {
  const config = JSON.stringify({ sources: [{ stdin: true }], metrics: { idle_expiry: text } });
  expect(parseConfig(config, "c.yml").metrics.idle_expiry).toBe(ms);
});

test("idle_expiry: too short or no duration is refused", () => {
  for (const text of ["5s", "soon"]) {
    const config = JSON.stringify({ sources: [{ stdin: true }], metrics: { idle_expiry: text } });
    expect(() => parseConfig(config, "c.yml")).toThrow("must be never, or a duration of 1m or more");
  }
});
