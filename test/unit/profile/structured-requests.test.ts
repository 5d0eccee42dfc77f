import { expect, test } from "vitest";
import { UTC } from "../../../src/core/timestamp.ts";
import { Latency, type LatencyKind } from "../../../src/model/latency.ts";
import { Line } from "../../../src/model/line.ts";
import { structured } from "../../../src/profile/structured/index.ts";
import { readLog } from "../../support/read-log.ts";

const MINUTE = 60_000;
const at = (ms: number): string => new Date(Date.UTC(2026, 2, 2, 10) + ms).toISOString();

interface Want {
  /** finished, failed, aborted */
  requests?: readonly [number, number, number];
  received?: number;
  e2e?: readonly number[];
  ttft?: readonly number[];
  steps?: Record<string, number>;
  tokens?: Record<string, number>;
  cost?: number;
  counters?: Record<string, number>;
  failures?: Record<string, number>;
  scores?: number;
  models?: Record<string, number>;
  routes?: Record<string, number>;
  other?: number;
}

/** Lines a second apart unless they carry an `at` of their own, milliseconds. */
function read(lines: readonly object[]) {
  const text = lines.map((line, index) => {
    const { at: own, ...rest } = line as { at?: number };
    return JSON.stringify({ timestamp: at(own ?? index * 1000), level: "info", ...rest });
  });
  return readLog(`${text.join("\n")}\n`, { profiles: [structured] });
}

const END = { event: "request.completed", request_id: "r1", status: 200, duration_ms: 900 };
const LLM = {
  event: "llm.completed",
  request_id: "r1",
  model: "m",
  ttft_ms: 50,
  duration_ms: 700,
  usage: { input_tokens: 10, output_tokens: 4 },
  cost_usd: 0.5,
};

test.for<{ name: string; lines: readonly object[]; want: Want }>([
  {
    name: "a model call and its request are one request",
    lines: [LLM, END],
    want: {
      requests: [1, 0, 0],
      e2e: [900],
      ttft: [50],
      steps: { upstream_llm: 700 },
      tokens: { in: 10, out: 4 },
      cost: 0.5,
    },
  },
  {
    name: "usage that both tell counts once",
    lines: [LLM, { ...END, usage: { input_tokens: 10, output_tokens: 4 }, cost_usd: 0.5 }],
    want: { requests: [1, 0, 0], tokens: { in: 10, out: 4 }, cost: 0.5 },
  },
  {
    name: "calls of one request add up",
    lines: [LLM, { ...LLM, ttft_ms: 60, duration_ms: 300 }, END],
    want: {
      requests: [1, 0, 0],
      e2e: [900],
      ttft: [60],
      steps: { upstream_llm: 1000 },
      tokens: { in: 20, out: 8 },
      cost: 1,
    },
  },
  {
    name: "a call without a request's end is the request",
    lines: [LLM, { ...LLM, request_id: "r2" }],
    want: { requests: [2, 0, 0], e2e: [700, 700], ttft: [50, 50], steps: {}, tokens: { in: 20, out: 8 } },
  },
  {
    name: "a call without any id is the request",
    lines: [
      { ...LLM, request_id: undefined },
      { ...LLM, request_id: "-" },
    ],
    want: { requests: [2, 0, 0], e2e: [700, 700], tokens: { in: 20, out: 8 } },
  },
  {
    name: "calls of one trace are requests of their own",
    lines: [
      { ...LLM, request_id: undefined, trace_id: "t" },
      { ...LLM, request_id: undefined, trace_id: "t" },
    ],
    want: { requests: [2, 0, 0], e2e: [700, 700], tokens: { in: 20, out: 8 } },
  },
  {
    name: "an end that comes late adds its time only",
    lines: [
      LLM,
      { ...LLM, request_id: "r2", at: 20_000 },
      { ...END, at: 21_000 },
      { ...END, request_id: "r2", at: 22_000 },
    ],
    want: { requests: [2, 0, 0], e2e: [700, 900, 900], tokens: { in: 20, out: 8 } },
  },
  {
    name: "cumulative usage of chunks counts its last report",
    lines: [
      { event: "llm.chunk", request_id: "r1", usage: { input_tokens: 10, output_tokens: 1 } },
      { event: "llm.chunk", request_id: "r1", usage: { input_tokens: 10, output_tokens: 2 } },
      END,
    ],
    want: { requests: [1, 0, 0], e2e: [900], tokens: { in: 10, out: 2 } },
  },
  {
    name: "chunks of two requests interleave",
    lines: [
      { event: "llm.chunk", request_id: "r1", usage: { output_tokens: 1 } },
      { event: "llm.chunk", request_id: "r2", usage: { output_tokens: 5 } },
      { event: "llm.chunk", request_id: "r1", usage: { output_tokens: 2 } },
      { ...LLM, usage: { input_tokens: 10, output_tokens: 3 } },
      { ...LLM, request_id: "r2", usage: undefined },
    ],
    want: { requests: [2, 0, 0], tokens: { in: 10, out: 8 } },
  },
  {
    name: "chunks whose end never comes count once",
    lines: [1, 2, 3].map((output_tokens) => ({
      event: "stream.delta",
      request_id: "r1",
      usage: { input_tokens: 7, output_tokens },
    })),
    want: { requests: [1, 0, 0], tokens: { in: 7, out: 3 } },
  },
  {
    name: "chunks without an id hold nothing that could be counted once",
    lines: [
      { event: "llm.chunk", usage: { output_tokens: 1 } },
      { event: "llm.chunk", usage: { output_tokens: 2 } },
    ],
    want: { requests: [0, 0, 0], tokens: {} },
  },
  {
    name: "the first token tells the request's ttft",
    lines: [{ event: "llm.first_token", request_id: "r1", ttft_ms: 33 }, END],
    want: { requests: [1, 0, 0], ttft: [33], e2e: [900] },
  },
  {
    name: "a first token that only says how long it took",
    lines: [
      { msg: "first token received", request_id: "r1", elapsed_ms: 33 },
      { msg: "request completed", request_id: "r1", duration_ms: 900, status: 200 },
    ],
    want: { requests: [1, 0, 0], ttft: [33], e2e: [900] },
  },
  {
    name: "messages instead of event names",
    lines: [
      { msg: "retrieval done", request_id: "r1", latency_ms: 5, scores: [0.5, 0.6] },
      {
        msg: "LLM call completed",
        request_id: "r1",
        model: "m",
        duration_ms: 700,
        prompt_tokens: 10,
        completion_tokens: 4,
      },
      { msg: "request completed", request_id: "r1", status: 200, duration_ms: 900 },
    ],
    want: {
      requests: [1, 0, 0],
      e2e: [900],
      steps: { retrieval: 5, upstream_llm: 700 },
      tokens: { in: 10, out: 4 },
      scores: 2,
    },
  },
  {
    name: "event names in camel case",
    lines: [
      { ...LLM, event: "LLMCompleted" },
      { ...END, event: "RequestCompleted" },
    ],
    want: { requests: [1, 0, 0], e2e: [900], steps: { upstream_llm: 700 } },
  },
  {
    name: "event names with other separators, under other keys",
    lines: [
      { ...LLM, event: undefined, event_type: "llm_call_finished" },
      { ...END, event: undefined, "event.action": "http-request-end" },
    ],
    want: { requests: [1, 0, 0], e2e: [900], steps: { upstream_llm: 700 } },
  },
  {
    name: "usage on a line of its own",
    lines: [
      { msg: "token usage", request_id: "r1", prompt_tokens: 10, completion_tokens: 4 },
      { msg: "chat completed", request_id: "r1", status: 200, duration_ms: 900 },
    ],
    want: { requests: [1, 0, 0], e2e: [900], tokens: { in: 10, out: 4 } },
  },
  {
    name: "stages told by steps and again by the request count once",
    lines: [
      { event: "search.completed", request_id: "r1", latency_ms: 5, scores: [0.5] },
      { event: "rerank.finished", request_id: "r1", latency_ms: 6 },
      { ...END, retrieval_ms: 5, rerank_ms: 6, scores: [0.5] },
    ],
    want: { requests: [1, 0, 0], steps: { retrieval: 5, rerank: 6 }, scores: 1 },
  },
  {
    name: "stages of a line of its own",
    lines: [{ msg: "timings", retrieval_ms: 5, rerank_ms: 6 }],
    want: { requests: [0, 0, 0], steps: { retrieval: 5, rerank: 6 } },
  },
  {
    name: "the steps of a pipeline by step and stage keys",
    lines: [
      { step: "retrieval", duration_ms: 5 },
      { stage: "rerank", latency_ms: 6 },
      { stage: "embed_query", elapsed_ms: 7 },
    ],
    want: { requests: [0, 0, 0], steps: { retrieval: 5, rerank: 6, embedding: 7 } },
  },
  {
    name: "embedding calls with their tokens",
    lines: [{ event: "embedding.completed", model: "e", latency_ms: 7, usage: { total_tokens: 12 } }],
    want: { requests: [0, 0, 0], steps: { embedding: 7 }, tokens: { embedding: 12 } },
  },
  {
    name: "tool calls, one of which failed",
    lines: [
      { event: "tool.started", request_id: "r1", tool: "a" },
      { event: "tool.completed", request_id: "r1", tool: "a", duration_ms: 5 },
      { event: "tool.failed", request_id: "r1", tool: "b", duration_ms: 7, error: { type: "timeout" } },
      END,
    ],
    want: { requests: [1, 0, 0], steps: { tool: 12 }, counters: { tool_calls: 2 }, failures: { tool_call_timeout: 1 } },
  },
  {
    name: "a tool's time-out that fails its request is one failure",
    lines: [
      { event: "tool.timeout", request_id: "r1", tool: "a", timeout_ms: 10_000 },
      { ...END, event: "request.failed", status: 504, error: { type: "tool_timeout" } },
    ],
    want: { requests: [0, 1, 0], counters: { tool_calls: 1 }, failures: { tool_call_timeout: 1 } },
  },
  {
    name: "a retry that helped is no failure",
    lines: [{ event: "llm.retry", request_id: "r1", status: 429, attempt: 1, error: { type: "rate_limit" } }, LLM, END],
    want: { requests: [1, 0, 0], counters: { retries: 1, upstream_errors: 1 }, failures: {} },
  },
  {
    name: "a fallback that helped is no failure",
    lines: [
      {
        ...LLM,
        event: "llm.failed",
        level: "error",
        usage: undefined,
        error: { type: "timeout" },
        duration_ms: 30_000,
        ttft_ms: undefined,
        cost_usd: undefined,
      },
      { event: "llm.fallback", request_id: "r1", from: "m", to: "n" },
      { ...LLM, model: "n" },
      { ...END, model: "n" },
    ],
    want: {
      requests: [1, 0, 0],
      counters: { fallbacks: 1, upstream_errors: 1 },
      failures: {},
      steps: { upstream_llm: 700 },
      models: { n: 1 },
    },
  },
  {
    name: "retries that the request itself counts",
    lines: [
      { ...END, retries: 2 },
      { ...END, request_id: "r2", attempts: 3 },
    ],
    want: { requests: [2, 0, 0], counters: { retries: 4 } },
  },
  {
    name: "retries counted by events and by the request",
    lines: [
      { event: "llm.retry", request_id: "r1" },
      { event: "llm.retry", request_id: "r1" },
      { ...END, retries: 2 },
    ],
    want: { requests: [1, 0, 0], counters: { retries: 2 } },
  },
  {
    name: "a message that mentions its retry is still the end",
    lines: [{ msg: "request completed after retry", status: 200, duration_ms: 9, completion_tokens: 2 }],
    want: { requests: [1, 0, 0], tokens: { out: 2 } },
  },
  {
    name: "a failed step and its failed request are one failure",
    lines: [
      {
        event: "retrieval.failed",
        level: "error",
        request_id: "r1",
        error: { type: "index_missing", message: "no such index" },
      },
      { ...END, event: "request.failed", status: 404, error: { type: "index_missing" } },
    ],
    want: { requests: [0, 1, 0], failures: { vector_index_missing: 1 } },
  },
  {
    name: "the step tells why the request failed when the request does not",
    lines: [
      {
        event: "llm.failed",
        level: "error",
        request_id: "r1",
        status: 400,
        error: { type: "context_length_exceeded" },
      },
      { event: "request.failed", request_id: "r1", status: 500, duration_ms: 5 },
    ],
    want: { requests: [0, 1, 0], failures: { context_length_exceeded: 1 } },
  },
  {
    name: "an error line before the failed request is the same failure",
    lines: [
      {
        level: "error",
        msg: "call failed",
        request_id: "r1",
        err: { code: "ECONNREFUSED", message: "connect ECONNREFUSED" },
      },
      { level: "error", msg: "request failed", request_id: "r1", status: 502, duration_ms: 5 },
    ],
    want: { requests: [0, 1, 0], failures: { upstream_unreachable: 1 } },
  },
  {
    name: "an error line after the failed request is the same failure",
    lines: [
      {
        level: "error",
        msg: "request failed",
        request_id: "r1",
        status: 502,
        error_kind: "connection_refused",
        duration_ms: 5,
      },
      { level: "error", msg: "connect ECONNREFUSED 10.0.0.1", request_id: "r1" },
    ],
    want: { requests: [0, 1, 0], failures: { upstream_unreachable: 1 } },
  },
  {
    name: "an error line without a request counts for itself",
    lines: [{ level: "error", msg: "x", request_id: "r1", error_kind: "rate_limit" }],
    want: { requests: [0, 0, 0], failures: { rate_limited: 1 } },
  },
  {
    name: "a step that failed in a request that went well",
    lines: [{ event: "retrieval.failed", request_id: "r1", error: { type: "index_missing" } }, END],
    want: { requests: [1, 0, 0], failures: { vector_index_missing: 1 } },
  },
  {
    name: "a failed call without a request's end is a failed request",
    lines: [{ event: "llm.failed", request_id: "r1", status: 429, error: { type: "rate_limit" }, duration_ms: 5 }],
    want: { requests: [0, 1, 0], e2e: [5], failures: { rate_limited: 1 } },
  },
  {
    name: "a guardrail that blocks",
    lines: [
      { event: "guardrail.blocked", request_id: "r1", rule: "prompt_injection" },
      { ...END, event: "request.failed", status: 403, error: { type: "prompt_injection" } },
    ],
    want: { requests: [0, 1, 0], counters: { guardrail_blocks: 1 }, failures: { prompt_injection_block: 1 } },
  },
  {
    name: "a guardrail that blocks, and a request that only has a status",
    lines: [
      { event: "moderation.flagged", request_id: "r1", category: "content_policy" },
      { ...END, event: "request.failed", status: 400 },
    ],
    want: { requests: [0, 1, 0], failures: { content_policy_block: 1 } },
  },
  {
    name: "a guardrail that passes",
    lines: [{ event: "guardrail.passed", request_id: "r1" }, END],
    want: { requests: [1, 0, 0], counters: {}, failures: {} },
  },
  {
    name: "documents of another tenant are a failure of their own",
    lines: [
      {
        event: "retrieval.completed",
        request_id: "r1",
        tenant_id: "acme",
        doc_tenants: ["acme", "globex"],
        latency_ms: 5,
      },
      END,
    ],
    want: { requests: [1, 0, 0], counters: { cross_tenant_leaks: 1 }, failures: { cross_tenant_leak: 1 } },
  },
  {
    name: "a leak told three times is one",
    lines: [
      {
        event: "retrieval.completed",
        request_id: "r1",
        tenant_id: "acme",
        documents: [{ tenant_id: "globex", score: 0.5 }],
        latency_ms: 5,
      },
      { event: "security.cross_tenant_leak", level: "error", request_id: "r1", tenant_id: "acme" },
      { ...END, event: "request.failed", status: 500, error: { type: "cross_tenant_leak" } },
    ],
    want: { requests: [0, 1, 0], counters: { cross_tenant_leaks: 1 }, failures: { cross_tenant_leak: 1 }, scores: 1 },
  },
  {
    name: "the same end twice counts once",
    lines: [END, { ...END, at: 1 }],
    want: { requests: [1, 0, 0], e2e: [900], counters: { duplicates_dropped: 1 } },
  },
  {
    name: "plain lines with one id are requests of their own",
    lines: [
      { msg: "chat completed", request_id: "r1", status: 200, duration_ms: 5 },
      { msg: "chat completed", request_id: "r1", status: 200, duration_ms: 6 },
    ],
    want: { requests: [2, 0, 0], e2e: [5, 6] },
  },
  {
    name: "a start is received, its end finished, with the route of the start",
    lines: [{ event: "request.started", request_id: "r1", route: "/v1/answer", method: "POST" }, END],
    want: { requests: [1, 0, 0], received: 1, routes: { "/v1/answer": 1 } },
  },
  {
    name: "Fastify: route and method stand at the start, status at the end",
    lines: [
      { level: 30, reqId: "q1", req: { method: "POST", url: "/v1/chat?x=1" }, msg: "incoming request" },
      { level: 30, reqId: "q1", res: { statusCode: 200 }, responseTime: 12, msg: "request completed" },
      { level: 30, reqId: "q2", req: { method: "GET", url: "/health" }, msg: "incoming request" },
      { level: 30, reqId: "q2", res: { statusCode: 200 }, responseTime: 1, msg: "request completed" },
    ],
    want: { requests: [1, 0, 0], received: 1, e2e: [12], routes: { "/v1/chat": 1 }, other: 1 },
  },
  {
    name: "chunks by the names of Anthropic's and OpenAI's stream events",
    lines: [
      { event: "content_block_delta", request_id: "r1", usage: { output_tokens: 1 } },
      { event: "message_delta", request_id: "r1", usage: { output_tokens: 2 } },
      { event: "response.output_text.delta", request_id: "r2", usage: { output_tokens: 5 } },
      { event: "response.in_progress", request_id: "r2" },
    ],
    want: { requests: [2, 0, 0], tokens: { out: 7 }, failures: {} },
  },
  {
    name: "a model that was loaded, and probes",
    lines: [
      { msg: "model loaded", model: "m", duration_s: 30 },
      { msg: "llm health check ok", status: 200, duration_ms: 3 },
      { msg: "cache warmup finished", duration_ms: 3 },
    ],
    want: { requests: [0, 0, 0], e2e: [] },
  },
  {
    name: "words about tenants and servers do not hide the request",
    lines: [
      { msg: "tenant acme request completed", status: 200, duration_ms: 5 },
      { msg: "llm server request completed", status: 200, duration_ms: 6 },
    ],
    want: { requests: [2, 0, 0], e2e: [5, 6] },
  },
  {
    name: "method and path in one field",
    lines: [
      { msg: "handled", endpoint: "POST /v1/chat/completions", status: 200, duration_ms: 5 },
      { msg: "handled", request: "GET /metrics HTTP/1.1", status: 200, duration_ms: 1 },
    ],
    want: { requests: [1, 0, 0], e2e: [5], routes: { "/v1/chat/completions": 1 }, other: 1 },
  },
  {
    name: "a status with its phrase, a cost with its sign",
    lines: [{ msg: "chat completed", status: "200 OK", duration_ms: 5, cost: "$0.25" }],
    want: { requests: [1, 0, 0], cost: 0.25 },
  },
  {
    name: "gRPC's code 0 is its OK, HTTP's 0 is no answer",
    lines: [
      { msg: "request completed", "grpc.code": 0, duration_ms: 5 },
      { msg: "request completed", status: 0, duration_ms: 5 },
    ],
    want: { requests: [1, 1, 0] },
  },
  {
    name: "what is held too long is let go",
    lines: [LLM, { msg: "idle", at: 20 * MINUTE }, { ...LLM, request_id: "r2", at: 21 * MINUTE }],
    want: { requests: [2, 0, 0], e2e: [700, 700] },
  },
])("structured: $name", ({ lines, want }) => {
  const { records, report } = read(lines);
  const { requests, tokens, counters, errors, scores, cost_usd: cost, http } = report;
  const times = (kind: LatencyKind): number[] =>
    records.flatMap((record) => {
      if (record.kind === "step") return record.step === kind ? [record.durationMs] : [];
      const value = record.kind === "request" ? record.latencies.get(kind) : undefined;
      return value === undefined ? [] : [value];
    });
  const got: Required<Want> = {
    requests: [requests.finished ?? 0, requests.failed ?? 0, requests.aborted ?? 0],
    received: requests.received ?? 0,
    e2e: times(Latency.e2e),
    ttft: times(Latency.ttft),
    steps: Object.fromEntries(
      Object.entries<{ sum: number }>(report["latency_ms"])
        .filter(([kind]) => kind !== "e2e" && kind !== "ttft")
        .map(([kind, { sum }]) => [kind, sum]),
    ),
    tokens: Object.fromEntries(Object.entries<{ sum: number }>(tokens).map(([kind, { sum }]) => [kind, sum])),
    cost,
    counters,
    failures: errors.records,
    scores: scores.retrieval?.count ?? 0,
    models: requests.by_model,
    routes: requests.by_route,
    other: http.other,
  };
  expect(Object.fromEntries(Object.keys(want).map((key) => [key, got[key as keyof Want]]))).toEqual(want);
});

function open() {
  const kinds: string[] = [];
  const parser = structured.open({ emit: ({ kind }) => kinds.push(kind), reject: () => {}, zone: UTC });
  const line = new Line();
  const parse = (object: object, readMs: number): void => {
    line.setText(JSON.stringify(object));
    line.readMs = readMs;
    parser.parse(line);
  };
  return { kinds, parser, parse };
}

test("structured lets a call go after 5 s of silence, and after 60 s once requests have had ends", () => {
  const { kinds, parser, parse } = open();
  parse(LLM, 0);
  parser.flush?.(4000, false);
  expect(kinds).toEqual([]);
  parser.flush?.(6000, false);
  expect(kinds).toEqual(["request"]);
  parse({ ...LLM, request_id: "r2" }, 10_000);
  parse({ ...END, request_id: "r2" }, 10_000);
  expect(kinds).toEqual(["request", "step", "request"]);
  parse({ ...LLM, request_id: "r3" }, 10_000);
  parser.flush?.(60_000, false);
  expect(kinds).toHaveLength(3);
  parser.flush?.(71_000, false);
  expect(kinds).toHaveLength(4);
});

test("structured holds no more than 2,000 requests, and loses none", () => {
  const { kinds, parser, parse } = open();
  for (let index = 0; index < 5000; index++) parse({ ...LLM, request_id: `r${index}` }, 0);
  expect(kinds).toHaveLength(3000);
  parser.flush?.(0, true);
  expect(kinds).toHaveLength(5000);
});
