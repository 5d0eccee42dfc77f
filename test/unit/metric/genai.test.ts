import { expect, test } from "vitest";
import {
  GENAI_ATTRIBUTES,
  GENAI_METRICS,
  METRICS,
  type MetricDef,
  metricsOf,
  type Naming,
  REPLACED_BY_GENAI,
} from "../../../src/metric/catalogue.ts";
import { operationOf } from "../../../src/metric/genai-recorder.ts";
import { MetricSet } from "../../../src/metric/metric-set.ts";
import { renderText } from "../../../src/metric/open-metrics.ts";
import { MetricSetProducer } from "../../../src/metric/otel-producer.ts";
import { Recorder } from "../../../src/metric/recorder.ts";
import { Latency } from "../../../src/model/latency.ts";
import { RequestRecord } from "../../../src/model/record.ts";

const STREAM = { name: "a.log", labels: { service_name: "chat" }, profile: "auto" };
const VLLM = { name: "vllm-v1", tells: [] };

function request(
  fields: Partial<RequestRecord>,
  latencies: Partial<Record<keyof typeof Latency, number>>,
): RequestRecord {
  const record = Object.assign(new RequestRecord(), fields);
  for (const [name, ms] of Object.entries(latencies)) record.latencies.set(Latency[name as keyof typeof Latency], ms);
  return record;
}

function recorded(naming: Naming, ...records: RequestRecord[]): MetricSet {
  const set = new MetricSet({ maxSeries: 100 });
  const recorder = new Recorder({ set, labels: ["model", "route", "tenant"], naming });
  for (const record of records) recorder.record(record, STREAM, 0, VLLM);
  return set;
}

const textOf = (set: MetricSet): string => [...renderText(set, () => {})].join("");
const CHAT = request(
  { model: "m", route: "/v1/chat/completions", tenant: "t", tokensIn: 100, tokensOut: 11 },
  { e2e: 1200, ttft: 200 },
);

test("genai: the conventions' names in Prometheus' form, with their attributes", () => {
  const text = textOf(recorded("genai", CHAT));
  const labels =
    'service_name="chat",gen_ai_operation_name="chat",gen_ai_provider_name="vllm",gen_ai_request_model="m"';
  for (const line of [
    `gen_ai_server_request_duration_seconds_sum{${labels}} 1.2`,
    `gen_ai_server_time_to_first_token_seconds_sum{${labels}} 0.2`,
    `gen_ai_server_time_per_output_token_seconds_sum{${labels}} 0.1`,
    `gen_ai_client_token_usage_sum{${labels},gen_ai_token_type="input"} 100`,
    `gen_ai_client_token_usage_sum{${labels},gen_ai_token_type="output"} 11`,
    'ai_token_consumption_total{service_name="chat",model="m",route="/v1/chat/completions",tenant="t",token_type="output"} 11',
  ])
    expect(text).toContain(`${line}\n`);
  for (const def of REPLACED_BY_GENAI) expect(text).not.toContain(`# TYPE ${def.name} `);
});

test("llm: no series of the conventions", () => {
  expect(textOf(recorded("llm", CHAT))).not.toContain("gen_ai");
});

test("both: each name counts each request once", () => {
  const text = textOf(recorded("both", CHAT, CHAT));
  const counts = [...text.matchAll(/^(\w+)_count\{.*\} (\d+)$/gm)].map(([, name, count]) => `${name} ${count}`);
  expect(counts.sort()).toEqual([
    "gen_ai_client_token_usage 2",
    "gen_ai_client_token_usage 2",
    "gen_ai_server_request_duration_seconds 2",
    "gen_ai_server_time_per_output_token_seconds 2",
    "gen_ai_server_time_to_first_token_seconds 2",
    "llm_request_context_tokens 2",
    "llm_request_duration_seconds 2",
    "llm_request_output_tokens 2",
    "llm_request_output_tokens_per_second 2",
    "llm_request_ttft_seconds 2",
  ]);
});

test.for([
  { name: "a status", fields: { outcome: "error", httpStatus: 503 }, error: "503" },
  { name: "no status", fields: { outcome: "error" }, error: "_OTHER" },
  { name: "the client's leaving", fields: { outcome: "aborted" }, error: "client_cancelled" },
] as const)("error_type is $name, and only answered requests have a time to first token", ({ fields, error }) => {
  const text = textOf(recorded("genai", request({ ...fields, model: "m" }, { e2e: 900, ttft: 100 })));
  expect(text).toContain(`error_type="${error}",le="+Inf"} 1\n`);
  expect(text).not.toContain("gen_ai_server_time_to_first_token_seconds");
});

test("what a log does not hold has no series", () => {
  const text = textOf(recorded("genai", request({ tokensOut: 1 }, { e2e: 900, ttft: 100 })));
  expect(text).not.toContain("time_per_output_token");
  expect(text).not.toContain('gen_ai_token_type="input"');
  expect(text).not.toContain("gen_ai_request_model");
});

test("a gateway's wait is the client's, and a reported time per token goes before the derived one", () => {
  const text = textOf(
    recorded("genai", request({ tokensOut: 11 }, { e2e: 1200, ttft: 200, tpot: 50, upstream_llm: 700 })),
  );
  expect(text).toMatch(/gen_ai_client_operation_duration_seconds_sum\{[^}]*\} 0\.7\n/);
  expect(text).toMatch(/gen_ai_server_time_per_output_token_seconds_sum\{[^}]*\} 0\.05\n/);
});

test("a step is recorded under the conventions' operation", () => {
  const set = new MetricSet({ maxSeries: 10 });
  const recorder = new Recorder({ set, labels: ["model"], naming: "genai" });
  const step = { kind: "step", timeMs: 0, durationMs: 40 } as const;
  recorder.record({ ...step, step: Latency.retrieval, collection: "docs" }, STREAM, 0);
  recorder.record({ ...step, step: Latency.tool, tool: "search", outcome: "error" }, STREAM, 0);
  recorder.record({ ...step, step: Latency.rerank }, STREAM, 0);
  const text = textOf(set);
  expect(text).toContain('gen_ai_operation_name="retrieval",gen_ai_data_source_id="docs"} 0.04\n');
  expect(text).toContain('gen_ai_tool_name="search",error_type="_OTHER"} 0.04\n');
  expect(text).toContain('agent_tool_calls_total{service_name="chat",tool="search",outcome="error"} 1\n');
  expect(text).toContain("rag_rerank_duration_seconds_count");
  expect(text).not.toContain("rag_retrieval_duration");
});

test.for([
  ["/v1/chat/completions", "chat"],
  ["/v1/completions", "text_completion"],
  ["/generate", "text_completion"],
  ["/v1/embeddings", "embeddings"],
  ["/pooling", "inference"],
  [undefined, "inference"],
] as const)("the operation of route %s is %s", ([route, operation]) => {
  expect(operationOf(route)).toBe(operation);
});

test("OTLP gets the conventions' own names and attributes", async () => {
  const producer = new MetricSetProducer({
    set: recorded("genai", CHAT),
    nowMs: () => 1000,
    beforeCollect: () => {},
    resource: {},
  });
  const [{ metrics } = { metrics: [] }] = (await producer.collect()).resourceMetrics.scopeMetrics;
  const usage = metrics.find(({ descriptor }) => descriptor.name === "gen_ai.client.token.usage");
  expect(usage?.dataPoints.map(({ attributes }) => attributes)).toEqual(
    ["input", "output"].map((type) => ({
      service_name: "chat",
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": "vllm",
      "gen_ai.request.model": "m",
      "gen_ai.token.type": type,
    })),
  );
});

test("Prometheus names follow from the conventions' by rule, and every label has its attribute", () => {
  const own = new Set(Object.values<MetricDef>(METRICS).map((def) => def.name));
  for (const { name, otelName, unit, labels } of Object.values<MetricDef>(GENAI_METRICS)) {
    expect(name).toBe(`${otelName?.replaceAll(".", "_")}${unit === "s" ? "_seconds" : ""}`);
    expect(own.has(name)).toBe(false);
    for (const label of labels) expect(GENAI_ATTRIBUTES[label]?.replaceAll(".", "_")).toBe(label);
  }
  expect(metricsOf("both").length).toBe(own.size + Object.keys(GENAI_METRICS).length);
});
