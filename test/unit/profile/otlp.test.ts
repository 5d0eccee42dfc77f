import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { Latency } from "../../../src/model/latency.ts";
import type { LogRecord, RequestRecord } from "../../../src/model/record.ts";
import { plainAttributes, plainValue } from "../../../src/profile/otlp/any-value.ts";
import { otlp } from "../../../src/profile/otlp/index.ts";
import { durationMs, unixNano } from "../../../src/profile/otlp/message.ts";
import { operationOf } from "../../../src/profile/otlp/operation.ts";
import { readLog } from "../../support/read-log.ts";
import { readWithRestarts } from "../../support/restarts.ts";

/** JavaScript values as OTLP's: integers are decimal strings. */
function anyValue(value: unknown): object {
  if (typeof value === "string") return { stringValue: value };
  if (typeof value === "boolean") return { boolValue: value };
  if (typeof value === "number") return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  if (Array.isArray(value)) return { arrayValue: { values: value.map(anyValue) } };
  return { kvlistValue: { values: attributes(value as Record<string, unknown>) } };
}
const attributes = (values: Record<string, unknown>): object[] =>
  Object.entries(values).map(([key, value]) => ({ key, value: anyValue(value) }));

const START = 1_772_467_201_000_000_001n;
interface SpanSpec {
  id?: string;
  parent?: string;
  name?: string;
  ms?: number;
  at?: Record<string, unknown>;
  status?: object;
  events?: object[];
  kind?: unknown;
}
const span = ({
  id = "a1",
  parent,
  name = "chat m",
  ms = 1000,
  at = {},
  status = {},
  events,
  kind = 3,
}: SpanSpec): object => ({
  traceId: "ABCDEF",
  spanId: id,
  ...(parent === undefined ? {} : { parentSpanId: parent }),
  name,
  kind,
  startTimeUnixNano: String(START),
  endTimeUnixNano: String(START + BigInt(ms * 1e6)),
  attributes: attributes(at),
  status,
  ...(events === undefined ? {} : { events }),
});
const spans = (...list: object[]): string =>
  JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributes({ "service.name": "rag", "tenant.id": "acme" }) },
        scopeSpans: [{ scope: {}, spans: list }],
      },
    ],
  });
const logs = (...list: object[]): string =>
  JSON.stringify({ resourceLogs: [{ resource: {}, scopeLogs: [{ scope: {}, logRecords: list }] }] });
const read = (...lines: string[]) => readLog(`${lines.join("\n")}\n`, { profiles: [otlp] });
const requests = (records: LogRecord[]): RequestRecord[] => records.filter((record) => record.kind === "request");

const CHAT = {
  "gen_ai.operation.name": "chat",
  "gen_ai.request.model": "m",
  "gen_ai.usage.input_tokens": 10,
  "gen_ai.usage.output_tokens": 4,
};
const DETAILS = {
  eventName: "gen_ai.client.inference.operation.details",
  timeUnixNano: String(START),
  severityNumber: 9,
  spanId: "a1",
  attributes: attributes(CHAT),
};

test.for<{ name: string; value: object; plain: unknown }>([
  { name: "text", value: { stringValue: "x" }, plain: "x" },
  { name: "an integer as text", value: { intValue: "12" }, plain: 12 },
  { name: "an integer as number", value: { intValue: 12 }, plain: 12 },
  { name: "a double", value: { doubleValue: 0.5 }, plain: 0.5 },
  { name: "a double that is no number", value: { doubleValue: "NaN" }, plain: "NaN" },
  { name: "a boolean", value: { boolValue: false }, plain: false },
  { name: "an array", value: { arrayValue: { values: [{ intValue: "1" }, { stringValue: "x" }] } }, plain: [1, "x"] },
  { name: "an empty array", value: { arrayValue: {} }, plain: [] },
  { name: "bytes", value: { bytesValue: "AAA=" }, plain: undefined },
  { name: "nothing", value: {}, plain: undefined },
])("plainValue reads $name", ({ value, plain }) => {
  expect(plainValue(value)).toEqual(plain);
});

test("plainAttributes keeps keys that objects are born with", () => {
  const list = [
    { key: "__proto__", value: { stringValue: "x" } },
    { key: "a", value: { kvlistValue: { values: [{ key: "b", value: { intValue: "1" } }] } } },
  ];
  expect(Object.entries(plainAttributes(list))).toEqual([
    ["__proto__", "x"],
    ["a", Object.assign(Object.create(null), { b: 1 })],
  ]);
});

test.for<{ name: string; start: unknown; end: unknown; ms: number | undefined }>([
  { name: "text to the nanosecond", start: "1772467201801210106", end: "1772467204195749303", ms: 2394.539197 },
  { name: "a nanosecond", start: "1772467201999999999", end: "1772467202000000000", ms: 0.000001 },
  { name: "numbers", start: 1_000_000_000, end: 1_500_000_000, ms: 500 },
  { name: "the wrong way round", start: "1772467202000000000", end: "1772467201000000000", ms: -1000 },
  { name: "no end", start: "1772467202000000000", end: undefined, ms: undefined },
  { name: "an end of 0", start: "1772467202000000000", end: "0", ms: undefined },
  { name: "no time", start: "x", end: "1772467202000000000", ms: undefined },
])("durationMs of $name", ({ start, end, ms }) => {
  expect(durationMs(unixNano(start), unixNano(end))).toBe(ms);
});

test.for<{ name: string; at: Record<string, unknown>; span?: string; operation: string }>([
  { name: "chat", at: { "gen_ai.operation.name": "chat" }, operation: "inference" },
  { name: "generate_content", at: { "gen_ai.operation.name": "generate_content" }, operation: "inference" },
  { name: "text_completion", at: { "gen_ai.operation.name": "text_completion" }, operation: "inference" },
  { name: "embeddings", at: { "gen_ai.operation.name": "embeddings" }, operation: "inference" },
  { name: "invoke_agent", at: { "gen_ai.operation.name": "invoke_agent" }, operation: "container" },
  { name: "invoke_workflow", at: { "gen_ai.operation.name": "invoke_workflow" }, operation: "container" },
  { name: "create_agent", at: { "gen_ai.operation.name": "create_agent" }, operation: "container" },
  {
    name: "fetch_response",
    at: { "gen_ai.operation.name": "fetch_response", "gen_ai.usage.input_tokens": 3 },
    operation: "other",
  },
  {
    name: "an operation not known yet",
    at: { "gen_ai.operation.name": "search_memory", "gen_ai.usage.input_tokens": 3 },
    operation: "other",
  },
  { name: "execute_tool", at: { "gen_ai.operation.name": "execute_tool" }, operation: "tool" },
  { name: "retrieval", at: { "gen_ai.operation.name": "retrieval" }, operation: "retrieval" },
  { name: "OpenInference LLM", at: { "openinference.span.kind": "LLM" }, operation: "inference" },
  { name: "OpenInference CHAIN", at: { "openinference.span.kind": "CHAIN" }, operation: "container" },
  { name: "OpenInference RETRIEVER", at: { "openinference.span.kind": "RETRIEVER" }, operation: "retrieval" },
  { name: "OpenInference RERANKER", at: { "openinference.span.kind": "RERANKER" }, operation: "rerank" },
  { name: "OpenLLMetry request type", at: { "llm.request.type": "chat" }, operation: "inference" },
  { name: "OpenLLMetry workflow", at: { "traceloop.span.kind": "workflow" }, operation: "container" },
  { name: "the span's name", at: { "gen_ai.system": "openai" }, span: "chat gpt-4o", operation: "inference" },
  { name: "vLLM's llm_request", at: { "gen_ai.usage.prompt_tokens": 3 }, span: "llm_request", operation: "inference" },
  { name: "an HTTP call", at: { "http.request.method": "POST" }, span: "chat", operation: "other" },
])("operationOf tells $name", ({ at, span: name = "x", operation }) => {
  expect(operationOf(at, name)).toBe(operation);
});

test("otlp reads a call with new attribute names", () => {
  const { records, report } = read(
    spans(
      span({
        at: {
          ...CHAT,
          "gen_ai.response.model": "m-2026",
          "gen_ai.response.time_to_first_chunk": 0.125,
          "gen_ai.request.stream": true,
          "gen_ai.usage.cache_read.input_tokens": 6,
          "gen_ai.usage.reasoning.output_tokens": 2,
          "gen_ai.response.finish_reasons": ["stop"],
          "gen_ai.response.id": "chatcmpl-1",
        },
      }),
    ),
  );
  expect(requests(records)).toMatchObject([
    {
      outcome: "ok",
      model: "m",
      tenant: "acme",
      service: "rag",
      id: "chatcmpl-1",
      traceId: "abcdef",
      stream: true,
      finishReason: "stop",
      tokensIn: 10,
      tokensInCached: 6,
      tokensOut: 4,
      tokensOutReasoning: 2,
    },
  ]);
  expect(report["latency_ms"]).toMatchObject({ e2e: { count: 1, sum: 1000 }, ttft: { count: 1, sum: 125 } });
});

test.for<{ name: string; at: Record<string, unknown> }>([
  {
    name: "old",
    at: {
      "gen_ai.operation.name": "chat",
      "gen_ai.system": "openai",
      "gen_ai.request.model": "m",
      "gen_ai.usage.prompt_tokens": 10,
      "gen_ai.usage.completion_tokens": 4,
    },
  },
  {
    name: "OpenLLMetry's",
    at: {
      "llm.request.type": "chat",
      "gen_ai.request.model": "m",
      "gen_ai.usage.prompt_tokens": 10,
      "gen_ai.usage.completion_tokens": 4,
      "llm.usage.total_tokens": 14,
    },
  },
  {
    name: "OpenInference's",
    at: {
      "openinference.span.kind": "LLM",
      "llm.model_name": "m",
      "llm.token_count.prompt": 10,
      "llm.token_count.completion": 4,
      "llm.token_count.total": 14,
    },
  },
])("otlp reads $name attribute names", ({ at }) => {
  expect(requests(read(spans(span({ at }))).records)).toMatchObject([{ model: "m", tokensIn: 10, tokensOut: 4 }]);
});

test("otlp reads vLLM's spans in seconds", () => {
  const { report } = read(
    spans(
      span({
        name: "llm_request",
        at: {
          "gen_ai.usage.prompt_tokens": 10,
          "gen_ai.latency.time_to_first_token": 0.1,
          "gen_ai.latency.e2e": 0.9,
          "gen_ai.latency.time_in_queue": 0.05,
          "gen_ai.latency.time_in_model_prefill": 0.04,
          "gen_ai.latency.time_in_model_decode": 0.8,
        },
      }),
    ),
  );
  expect(report["latency_ms"]).toMatchObject({
    e2e: { sum: 1000 },
    ttft: { sum: 100 },
    queue: { sum: 50 },
    prefill: { sum: 40 },
    decode: { sum: 800 },
  });
});

test.for<{ name: string; lines: readonly string[]; finished: number; tokensIn: number }>([
  {
    name: "an agent that repeats the usage of its call",
    lines: [
      spans(
        span({ id: "a0", name: "invoke_agent x", at: { ...CHAT, "gen_ai.operation.name": "invoke_agent" } }),
        span({ parent: "a0", at: CHAT }),
      ),
    ],
    finished: 1,
    tokensIn: 10,
  },
  {
    name: "a call inside a call, in one line",
    lines: [spans(span({ id: "a0", at: CHAT }), span({ id: "a1", parent: "a0", at: CHAT }))],
    finished: 1,
    tokensIn: 10,
  },
  {
    name: "a call inside a call, the outer one in a later line, a step between them",
    lines: [
      spans(span({ id: "a2", parent: "a1", at: CHAT })),
      spans(span({ id: "a1", parent: "a0", name: "POST" })),
      spans(span({ id: "a0", at: CHAT })),
    ],
    finished: 1,
    tokensIn: 10,
  },
  {
    name: "calls side by side",
    lines: [spans(span({ id: "a1", parent: "a0", at: CHAT }), span({ id: "a2", parent: "a0", at: CHAT }))],
    finished: 2,
    tokensIn: 20,
  },
  {
    name: "the same span twice",
    lines: [spans(span({ at: CHAT })), spans(span({ at: CHAT }))],
    finished: 1,
    tokensIn: 10,
  },
  {
    name: "a span and its details event",
    lines: [spans(span({ at: CHAT })), logs(DETAILS)],
    finished: 1,
    tokensIn: 10,
  },
  {
    name: "a details event and its span",
    lines: [logs(DETAILS), spans(span({ at: CHAT }))],
    finished: 1,
    tokensIn: 10,
  },
  {
    name: "the details event of another call",
    lines: [logs({ ...DETAILS, spanId: "a9" }), spans(span({ at: CHAT }))],
    finished: 2,
    tokensIn: 20,
  },
  {
    name: "details events by the older attribute",
    lines: [
      logs({
        ...DETAILS,
        eventName: undefined,
        attributes: attributes({ ...CHAT, "event.name": "gen_ai.client.inference.operation.details" }),
      }),
    ],
    finished: 1,
    tokensIn: 10,
  },
])("otlp counts once: $name", ({ lines, finished, tokensIn }) => {
  const { report } = read(...lines);
  expect(report["requests"].finished).toBe(finished);
  expect(report["tokens"].in.sum).toBe(tokensIn);
});

test("otlp adds the times of a span whose call was counted by its event", () => {
  const { report } = read(logs(DETAILS), spans(span({ at: { ...CHAT, "gen_ai.response.time_to_first_chunk": 0.2 } })));
  expect(report["latency_ms"]).toMatchObject({ e2e: { count: 1, sum: 1000 }, ttft: { count: 1, sum: 200 } });
});

test("otlp reads steps", () => {
  const { records, report } = read(
    spans(
      span({
        id: "a1",
        at: {
          "gen_ai.operation.name": "retrieval",
          "gen_ai.data_source.id": "kb",
          "gen_ai.retrieval.documents": [
            { id: "d1", score: 0.5 },
            { id: "d2", score: 0.25 },
          ],
        },
        ms: 20,
      }),
      span({
        id: "a2",
        at: { "openinference.span.kind": "RETRIEVER", "retrieval.documents.0.document.score": 0.75 },
        ms: 30,
      }),
      span({ id: "a3", at: { "gen_ai.operation.name": "rerank", "gen_ai.request.model": "r" }, ms: 5 }),
      span({ id: "a4", at: { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search" }, ms: 7 }),
    ),
  );
  expect(requests(records)).toEqual([]);
  expect(report["latency_ms"]).toMatchObject({
    retrieval: { count: 2, sum: 50 },
    rerank: { sum: 5 },
    tool: { sum: 7 },
  });
  expect(report["scores"].retrieval).toMatchObject({ count: 3, sum: 1.5 });
  expect(report["counters"]).toEqual({ tool_calls: 1 });
  expect(records).toContainEqual(expect.objectContaining({ kind: "step", step: Latency.tool, tool: "search" }));
  expect(records).toContainEqual(expect.objectContaining({ kind: "step", step: Latency.retrieval, collection: "kb" }));
});

test.for<{ name: string; spec: SpanSpec; cause?: string; text?: string; outcome?: string }>([
  {
    name: "a status as error.type",
    spec: { at: { ...CHAT, "error.type": "429" }, status: { code: 2, message: "429" } },
    cause: "rate_limited",
  },
  {
    name: "a class as error.type",
    spec: { at: { ...CHAT, "error.type": "openai.APITimeoutError" }, status: { code: 2 } },
    cause: "upstream_timeout",
  },
  {
    name: "a status code by name",
    spec: { at: CHAT, status: { code: "STATUS_CODE_ERROR", message: "ContextWindowExceededError" } },
    cause: "context_length_exceeded",
  },
  {
    name: "a cancelled call",
    spec: { at: { ...CHAT, "error.type": "CancelledError" }, status: { code: 2 } },
    cause: "client_cancelled",
    outcome: "aborted",
  },
  {
    name: "an exception on the span",
    spec: {
      at: { ...CHAT, "error.type": "ValueError" },
      status: { code: 2 },
      events: [
        {
          name: "exception",
          attributes: attributes({
            "exception.type": "ValueError",
            "exception.message": "boom",
            "exception.stacktrace": "Traceback (most recent call last):\nValueError: boom",
          }),
        },
      ],
    },
    text: "Traceback (most recent call last):\nValueError: boom",
  },
])("otlp names the failure of $name", ({ spec, cause, text, outcome = "error" }) => {
  const { records } = read(spans(span(spec)));
  expect(requests(records)).toMatchObject([{ outcome }]);
  const failures = records.filter(({ kind }) => kind === "failure");
  expect(failures).toMatchObject([
    { ...(cause === undefined ? {} : { cause }), ...(text === undefined ? {} : { text }) },
  ]);
});

test("otlp counts an error record of a failed span once", () => {
  const error = { timeUnixNano: String(START), severityNumber: 17, spanId: "a1", body: { stringValue: "call failed" } };
  const failed = spans(span({ at: { ...CHAT, "error.type": "429" }, status: { code: 2 } }));
  for (const lines of [
    [logs(error), failed],
    [failed, logs(error)],
  ]) {
    expect(read(...lines).records.filter(({ kind }) => kind === "failure")).toHaveLength(1);
  }
  expect(
    read(logs(error, { ...error, spanId: "b2" }, { ...error, severityNumber: 13, spanId: "b3" })).records,
  ).toHaveLength(2);
});

test("otlp reads evaluations from log events and span events", () => {
  const result = attributes({ "gen_ai.evaluation.name": "relevance", "gen_ai.evaluation.score.value": 0.5 });
  const { report } = read(
    logs({ eventName: "gen_ai.evaluation.result", timeUnixNano: String(START), attributes: result }),
    spans(
      span({
        at: CHAT,
        events: [{ name: "gen_ai.evaluation.result", timeUnixNano: String(START), attributes: result }],
      }),
    ),
    logs({
      eventName: "gen_ai.evaluation.result",
      attributes: attributes({ "gen_ai.evaluation.name": "relevance", "gen_ai.evaluation.score.label": "good" }),
    }),
  );
  expect(report["scores"].relevance).toMatchObject({ count: 2, sum: 1 });
  expect(report["counters"]).toEqual({ evaluations: 3 });
});

test.for<{ name: string; line: string; rejected: Record<string, number> }>([
  { name: "a negative duration", line: spans(span({ at: CHAT, ms: -5 })), rejected: { "negative-duration": 1 } },
  {
    name: "a ttft that is no number",
    line: spans({
      ...span({ at: CHAT }),
      attributes: [...attributes(CHAT), { key: "gen_ai.response.time_to_first_chunk", value: { doubleValue: "NaN" } }],
    }),
    rejected: { "not-a-number": 1 },
  },
])("otlp refuses $name", ({ line, rejected }) => {
  const { report } = read(line);
  expect(report["rejected_values"]).toEqual(rejected);
  expect(report["requests"].finished).toBe(1);
});

test.for<{ name: string; line: string }>([
  {
    name: "metrics",
    line: '{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"gen_ai.client.token.usage","sum":{"dataPoints":[{"asInt":"500"}]}}]}]}]}',
  },
  { name: "empty requests", line: '{"resourceSpans":[]}' },
  {
    name: "values of the wrong type",
    line: '{"resourceSpans":[null,{"scopeSpans":[1,{"spans":["x",{"attributes":{"a":1},"events":"no"}]}]}]}',
  },
  { name: "spans of other sorts", line: spans(span({ name: "GET /", at: { "http.route": "/" } })) },
])("otlp knows $name, which hold no request", ({ line }) => {
  const { records, unrecognised } = read(line);
  expect({ records, unrecognised }).toEqual({ records: [], unrecognised: [] });
});

test.for(["otlp-file-traces", "otlp-file-logs"])("otlp goes on with %s after a restart at any line", (name) => {
  const bytes = readFileSync(path.join(import.meta.dirname, `../../golden/otlp/${name}.log`));
  const { files: _files, ...whole } = readLog(bytes).report;
  const { files: _none, ...restarted } = readWithRestarts(bytes);
  expect(restarted).toEqual(whole);
  expect(readLog(bytes, { cuts: [100, 5000, 9999] }).report["requests"]).toEqual(whole["requests"]);
});
