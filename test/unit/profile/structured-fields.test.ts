import { expect, test } from "vitest";
import { structured } from "../../../src/profile/structured/index.ts";
import { type Report, readLog } from "../../support/read-log.ts";

const report = (...lines: readonly (string | object)[]): Report =>
  readLog(`${lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n")}\n`, {
    profiles: [structured],
  }).report;

/** Everything a report counts, without what is empty. */
function figures({ requests, http, latency_ms: latency, tokens, cost_usd: cost, rejected_values: rejected }: Report) {
  const sums = Object.fromEntries(
    Object.entries<{ sum: number }>(latency).map(([name, { sum }]) => [name, Math.round(sum * 1e6) / 1e6]),
  );
  const counts = Object.fromEntries(Object.entries<{ sum: number }>(tokens).map(([name, { sum }]) => [name, sum]));
  return {
    requests: (requests.finished ?? 0) + (requests.failed ?? 0) + (requests.aborted ?? 0),
    ...(Object.keys(sums).length > 0 ? { latency: sums } : {}),
    ...(Object.keys(counts).length > 0 ? { tokens: counts } : {}),
    ...(cost === null ? {} : { cost }),
    ...(Object.keys(rejected).length > 0 ? { rejected } : {}),
    ...(Object.keys(http.inference).length > 0 ? { http: http.inference } : {}),
  };
}

const CALL = { msg: "llm call", status: "ok" };

test.for<{ name: string; line: object; latency: Record<string, number> }>([
  { name: "ttft_ms", line: { ttft_ms: 127.3 }, latency: { ttft: 127.3 } },
  { name: "ttftMs", line: { ttftMs: 127.3 }, latency: { ttft: 127.3 } },
  { name: "TTFT-ms", line: { "TTFT-ms": 127.3 }, latency: { ttft: 127.3 } },
  { name: "time_to_first_token_ms", line: { time_to_first_token_ms: 5 }, latency: { ttft: 5 } },
  { name: "timeToFirstTokenSeconds", line: { timeToFirstTokenSeconds: 0.5 }, latency: { ttft: 500 } },
  { name: "first_token_latency_s", line: { first_token_latency_s: 0.25 }, latency: { ttft: 250 } },
  { name: "first_token_us", line: { first_token_us: 2500 }, latency: { ttft: 2.5 } },
  {
    name: "gen_ai.response.time_to_first_chunk is seconds",
    line: { "gen_ai.response.time_to_first_chunk": 0.2 },
    latency: { ttft: 200 },
  },
  { name: "e2e_latency_ms", line: { e2e_latency_ms: 892.5 }, latency: { e2e: 892.5 } },
  { name: "duration_ms", line: { duration_ms: 10 }, latency: { e2e: 10 } },
  { name: "latency_ms", line: { latency_ms: 10 }, latency: { e2e: 10 } },
  { name: "latencyMillis", line: { latencyMillis: 10 }, latency: { e2e: 10 } },
  { name: "latency_in_ms", line: { latency_in_ms: 10 }, latency: { e2e: 10 } },
  { name: "elapsed_s", line: { elapsed_s: 1.5 }, latency: { e2e: 1500 } },
  { name: "elapsed_sec", line: { elapsed_sec: 1.5 }, latency: { e2e: 1500 } },
  { name: "duration_seconds", line: { duration_seconds: 1.5 }, latency: { e2e: 1500 } },
  { name: "duration_ns", line: { duration_ns: 1_500_000_000 }, latency: { e2e: 1500 } },
  { name: "duration_us", line: { duration_us: 1500 }, latency: { e2e: 1.5 } },
  { name: "response_time_ms", line: { response_time_ms: 12 }, latency: { e2e: 12 } },
  { name: "took_ms", line: { took_ms: 12 }, latency: { e2e: 12 } },
  { name: "total_ms", line: { total_ms: 12 }, latency: { e2e: 12 } },
  { name: "total_time_s", line: { total_time_s: 2 }, latency: { e2e: 2000 } },
  { name: "pino-http's responseTime is milliseconds", line: { responseTime: 12 }, latency: { e2e: 12 } },
  {
    name: "an explicit end-to-end time before a vague one",
    line: { latency_ms: 7, e2e_latency_ms: 12 },
    latency: { e2e: 12 },
  },
  { name: "queue_ms", line: { queue_ms: 3 }, latency: { queue: 3 } },
  { name: "queue_wait_ms", line: { queue_wait_ms: 3 }, latency: { queue: 3 } },
  { name: "prefill_ms and decode_ms", line: { prefill_ms: 3, decode_ms: 9 }, latency: { prefill: 3, decode: 9 } },
  { name: "tpot_ms and itl_ms", line: { tpot_ms: 3, itl_ms: 9 }, latency: { tpot: 3, itl: 9 } },
  { name: "ms_per_token", line: { ms_per_token: 21 }, latency: { tpot: 21 } },
  {
    name: "retrieval_ms, rerank_ms, embedding_ms",
    line: { retrieval_ms: 1, rerank_ms: 2, embedding_ms: 3 },
    latency: { retrieval: 1, rerank: 2, embedding: 3 },
  },
  {
    name: "retrieval_latency_s, vector_search_ms",
    line: { retrieval_latency_s: 0.1, tool_call_ms: 4 },
    latency: { retrieval: 100, tool: 4 },
  },
  { name: "llm_latency_ms is the model's part", line: { llm_latency_ms: 8 }, latency: { upstream_llm: 8 } },
  { name: "ttfb_ms is no ttft", line: { ttfb_ms: 8 }, latency: { ttfb: 8 } },
  {
    name: "nested in latency",
    line: { latency: { ttft_ms: 5, total_ms: 50, retrieval_ms: 2 } },
    latency: { ttft: 5, e2e: 50, retrieval: 2 },
  },
  { name: "a unit on the enclosing key", line: { latency_ms: { ttft: 5, total: 50 } }, latency: { ttft: 5, e2e: 50 } },
  {
    name: "nested in the stage",
    line: { retrieval: { latency_ms: 5 }, rerank: { duration_ms: 6 } },
    latency: { retrieval: 5, rerank: 6 },
  },
  {
    name: "nested in timings of llama.cpp",
    line: { timings: { prompt_ms: 5, predicted_ms: 6 } },
    latency: { prefill: 5, decode: 6 },
  },
  {
    name: "Ollama's nanoseconds",
    line: { prompt_eval_duration: 5_000_000, eval_duration: 6_000_000 },
    latency: { prefill: 5, decode: 6 },
  },
  { name: "deep in objects of no meaning", line: { data: { metrics: { ttft_ms: 5 } } }, latency: { ttft: 5 } },
  {
    name: "a distinct figure in an object of unknown name",
    line: { chat_stats: { ttft_ms: 5 } },
    latency: { ttft: 5 },
  },
  { name: "a value with unit", line: { latency: "1.2s", ttft: "823µs" }, latency: { e2e: 1200, ttft: 0.823 } },
  { name: "a Go duration", line: { latency: "1m2.5s" }, latency: { e2e: 62_500 } },
  { name: "a Python timedelta", line: { duration: "0:00:01.250000" }, latency: { e2e: 1250 } },
  { name: "the value's unit before the key's", line: { latency_ms: "1.5s" }, latency: { e2e: 1500 } },
  { name: "a number as text", line: { latency_ms: "12.5" }, latency: { e2e: 12.5 } },
  { name: "a number in scientific notation as text", line: { latency_ms: "1.25e3" }, latency: { e2e: 1250 } },
  { name: "zero is a figure", line: { latency_ms: 0 }, latency: { e2e: 0 } },
])("structured reads the duration of $name", ({ line, latency }) => {
  expect(figures(report({ ...CALL, ...line }))).toEqual({ requests: 1, latency });
});

test.for<{ name: string; line: object; tokens: Record<string, number> }>([
  {
    name: "prompt_tokens, completion_tokens",
    line: { prompt_tokens: 7, completion_tokens: 3 },
    tokens: { in: 7, out: 3 },
  },
  { name: "tokens_in, tokens_out", line: { tokens_in: 7, tokens_out: 3 }, tokens: { in: 7, out: 3 } },
  { name: "inputTokens, outputTokens", line: { inputTokens: 7, outputTokens: 3 }, tokens: { in: 7, out: 3 } },
  {
    name: "usage.prompt_tokens nested",
    line: { usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } },
    tokens: { in: 7, out: 3 },
  },
  {
    name: "usage.prompt_tokens dotted",
    line: { "usage.prompt_tokens": 7, "usage.completion_tokens": 3 },
    tokens: { in: 7, out: 3 },
  },
  {
    name: "response.usage",
    line: { response: { model: "m", usage: { input_tokens: 7, output_tokens: 3 } } },
    tokens: { in: 7, out: 3 },
  },
  { name: "llm.usage", line: { llm: { usage: { prompt_tokens: 7 } } }, tokens: { in: 7 } },
  { name: "llm_prompt_tokens", line: { llm_prompt_tokens: 7, llm_completion_tokens: 3 }, tokens: { in: 7, out: 3 } },
  { name: "tokens: {input, output}", line: { tokens: { input: 7, output: 3 } }, tokens: { in: 7, out: 3 } },
  { name: "tokens: {prompt, completion}", line: { tokens: { prompt: 7, completion: 3 } }, tokens: { in: 7, out: 3 } },
  {
    name: "gen_ai.usage new names",
    line: { "gen_ai.usage.input_tokens": 7, "gen_ai.usage.output_tokens": 3 },
    tokens: { in: 7, out: 3 },
  },
  {
    name: "gen_ai.usage old names",
    line: { "gen_ai.usage.prompt_tokens": 7, "gen_ai.usage.completion_tokens": 3 },
    tokens: { in: 7, out: 3 },
  },
  {
    name: "Gemini's usageMetadata",
    line: { usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3 } },
    tokens: { in: 7, out: 3 },
  },
  { name: "Ollama's counts", line: { prompt_eval_count: 7, eval_count: 3 }, tokens: { in: 7, out: 3 } },
  {
    name: "cached tokens are a part of the prompt",
    line: { usage: { prompt_tokens: 7, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 5 } } },
    tokens: { in: 7, in_cached: 5, out: 3 },
  },
  {
    name: "cached tokens told twice",
    line: { usage: { prompt_tokens: 7, cached_tokens: 5, prompt_tokens_details: { cached_tokens: 5 } } },
    tokens: { in: 7, in_cached: 5 },
  },
  {
    name: "gen_ai.usage.cache_read.input_tokens",
    line: { "gen_ai.usage.input_tokens": 7, "gen_ai.usage.cache_read.input_tokens": 5 },
    tokens: { in: 7, in_cached: 5 },
  },
  {
    name: "Anthropic's own usage leaves cached tokens out of input_tokens",
    line: {
      usage: { input_tokens: 7, cache_read_input_tokens: 100, cache_creation_input_tokens: 20, output_tokens: 3 },
    },
    tokens: { in: 127, in_cached: 100, out: 3 },
  },
  {
    name: "a total beside Anthropic's names says that they were added up",
    line: {
      usage: {
        input_tokens: 127,
        cache_read_input_tokens: 100,
        cache_creation_input_tokens: 20,
        output_tokens: 3,
        total_tokens: 130,
      },
    },
    tokens: { in: 127, in_cached: 100, out: 3 },
  },
  {
    name: "reasoning tokens are a part of the output",
    line: { usage: { completion_tokens: 9, completion_tokens_details: { reasoning_tokens: 4 } } },
    tokens: { out: 9, out_reasoning: 4 },
  },
  { name: "only a total", line: { total_tokens: 12, status: 200, duration_ms: 1 }, tokens: { total: 12 } },
  { name: "tokens as text", line: { prompt_tokens: "7" }, tokens: { in: 7 } },
  {
    name: "usage told flat and nested counts once",
    line: { prompt_tokens: 7, usage: { prompt_tokens: 7 } },
    tokens: { in: 7 },
  },
])("structured reads the tokens of $name", ({ line, tokens }) => {
  const { latency: _latency, http: _http, ...rest } = figures(report({ ...CALL, ...line }));
  expect(rest).toEqual({ requests: 1, tokens });
});

test.for<{ name: string; line: object; rejected: Record<string, number> }>([
  { name: "a bare NaN", line: JSON.parse('{"ttft_ms":"NaN"}'), rejected: { "not-a-number": 1 } },
  { name: "text that is no number", line: { latency_ms: "fast" }, rejected: { "not-a-number": 1 } },
  { name: "+Inf", line: { latency_ms: "+Inf" }, rejected: { "not-a-number": 1 } },
  { name: "a negative duration", line: { latency_ms: -5 }, rejected: { "negative-duration": 1 } },
  { name: "a negative duration as text", line: { latency_ms: "-5" }, rejected: { "negative-duration": 1 } },
  { name: "a negative Go duration", line: { latency: "-1.5s" }, rejected: { "negative-duration": 1 } },
  { name: "negative tokens", line: { prompt_tokens: -1 }, rejected: { "negative-tokens": 1 } },
  { name: "fractional tokens", line: { prompt_tokens: 1.5 }, rejected: { "fractional-tokens": 1 } },
  { name: "tokens that are no number", line: { prompt_tokens: "many" }, rejected: { "not-a-number": 1 } },
  { name: "a negative cost", line: { cost_usd: -0.1, status: 200 }, rejected: { "negative-cost": 1 } },
  { name: "a bare number without any unit", line: { latency: 12, prompt_tokens: 1 }, rejected: { "unknown-unit": 1 } },
])("structured refuses and counts $name", ({ line, rejected }) => {
  const { rejected_values: got, requests } = report({ ...CALL, ...line });
  expect(got).toEqual(rejected);
  expect(requests.finished).toBe(1);
});

test.for<{ name: string; line: object }>([
  { name: "null", line: { latency_ms: null, prompt_tokens: null } },
  { name: "empty text", line: { latency_ms: "", prompt_tokens: "" } },
  { name: "a dash", line: { latency_ms: "-", prompt_tokens: "-" } },
  { name: "None", line: { latency_ms: "None", prompt_tokens: "None" } },
  { name: "a boolean", line: { latency_ms: true } },
])("structured takes $name for unknown, not for 0", ({ line }) => {
  const { latency_ms: latency, tokens, rejected_values: rejected } = report({ ...CALL, status: 200, ...line });
  expect({ latency, tokens, rejected }).toEqual({ latency: {}, tokens: {}, rejected: {} });
});

test.for<{ name: string; line: object }>([
  { name: "limits", line: { max_tokens: 512, limits: { prompt_tokens: 9 }, timeout_ms: 30_000, backoff_ms: 500 } },
  { name: "quantiles", line: { latency_ms_p99: 9, p99: { ttft_ms: 9 }, ttft_ms: { p50: 1, p99: 2 } } },
  {
    name: "what users wrote",
    line: { prompt: { ttft_ms: 9 }, messages: [{ ttft_ms: 9 }], input: { prompt_tokens: 9 } },
  },
  { name: "text that holds pairs", line: { prompt: "ttft_ms=9 tokens_out=5", msg: "asked: ttft_ms=9 tokens_out=5" } },
  { name: "text that holds JSON", line: { body: '{"ttft_ms":9,"prompt_tokens":5}' } },
  { name: "totals of a session", line: { cumulative: { prompt_tokens: 9 }, session: { completion_tokens: 9 } } },
  { name: "settings", line: { config: { ttft_ms: 9 }, settings: { cost_usd: 9 } } },
  {
    name: "loguru's time since the start",
    line: { text: "x", record: { elapsed: { seconds: 3.2 }, extra: {}, message: "hello" } },
  },
  {
    name: "Python's own milliseconds",
    line: { created: 1_772_474_401.8, msecs: 832, relativeCreated: 12_345, message: "hello" },
  },
  { name: "a job's duration", line: { message: "nightly job finished", duration_ms: 90_000 } },
  { name: "a query of a database", line: { msg: "db query", duration_ms: 3, rows: 5 } },
  {
    name: "a probe with method",
    line: { msg: "request completed", method: "GET", path: "/health", status: 200, duration_ms: 1 },
  },
  {
    name: "a probe below a prefix",
    line: { msg: "request completed", path: "/api/healthz", status: 200, duration_ms: 1 },
  },
  {
    name: "a page",
    line: { msg: "request completed", method: "GET", path: "/static/app.js", status: 200, duration_ms: 1 },
  },
  {
    name: "a listing of models",
    line: { msg: "handled request", method: "GET", url: "/v1/models?limit=5", status: 200, duration_ms: 1 },
  },
  { name: "a start", line: { msg: "request started", model: "m", request_id: "r" } },
  { name: "nothing at all", line: { level: "info", time: "2026-03-02T17:00:03.000Z", msg: "GET /health" } },
])("structured counts no request and no figure for $name", ({ line }) => {
  const { requests, tokens, latency_ms: latency, cost_usd: cost, rejected_values: rejected } = report(line);
  expect({ finished: requests.finished ?? 0, failed: requests.failed ?? 0, tokens, latency, cost, rejected }).toEqual({
    finished: 0,
    failed: 0,
    tokens: {},
    latency: {},
    cost: null,
    rejected: {},
  });
});

test.for<{ name: string; line: object; by: string; value: string }>([
  { name: "model_name", line: { model_name: "m" }, by: "by_model", value: "m" },
  { name: "model: {name}", line: { model: { name: "m" } }, by: "by_model", value: "m" },
  {
    name: "the model asked for before the one that answered",
    line: { "gen_ai.response.model": "m-2026", "gen_ai.request.model": "m" },
    by: "by_model",
    value: "m",
  },
  { name: "tenant_id", line: { tenant_id: "acme" }, by: "by_tenant", value: "acme" },
  { name: "tenant.id", line: { tenant: { id: "acme" } }, by: "by_tenant", value: "acme" },
  {
    name: "the tenant before team and organisation",
    line: { org: "o", team: "t", tenant: "acme" },
    by: "by_tenant",
    value: "acme",
  },
  { name: "team", line: { team: "t", org_id: "o" }, by: "by_tenant", value: "t" },
  {
    name: "the path without query",
    line: { path: "/v1/chat/completions?stream=1" },
    by: "by_route",
    value: "/v1/chat/completions",
  },
  {
    name: "the path of a URL",
    line: { url: "https://api.example/v1/chat/completions?x=1" },
    by: "by_route",
    value: "/v1/chat/completions",
  },
  {
    name: "the route before the path",
    line: { path: "/v1/answer/17", route: "/v1/answer/:id" },
    by: "by_route",
    value: "/v1/answer/:id",
  },
  { name: "stop_reason", line: { stop_reason: "end_turn" }, by: "by_finish_reason", value: "end_turn" },
  { name: "a list of finish reasons", line: { finish_reasons: ["stop"] }, by: "by_finish_reason", value: "stop" },
])("structured labels requests by $name", ({ line, by, value }) => {
  expect(report({ ...CALL, prompt_tokens: 1, ...line })["requests"][by]).toEqual({ [value]: 1 });
});

test.for<{ name: string; line: object; id?: string; traceId?: string; service?: string }>([
  { name: "request_id", line: { request_id: "r-1" }, id: "r-1" },
  { name: "requestId", line: { requestId: "r-1" }, id: "r-1" },
  { name: "req.id", line: { req: { id: "r-1" } }, id: "r-1" },
  { name: "req.id as number", line: { req: { id: 17 } }, id: "17" },
  { name: "reqId", line: { reqId: "r-1" }, id: "r-1" },
  { name: "X-Request-Id", line: { "X-Request-Id": "r-1" }, id: "r-1" },
  { name: "call_id", line: { call_id: "r-1" }, id: "r-1" },
  { name: "correlation_id", line: { correlation_id: "r-1" }, id: "r-1" },
  { name: "traceId", line: { traceId: "t-1" }, traceId: "t-1" },
  { name: "trace.id", line: { trace: { id: "t-1" } }, traceId: "t-1" },
  { name: "dd.trace_id stays text", line: { "dd.trace_id": "1234567890123456789" }, traceId: "1234567890123456789" },
  {
    name: "logging.googleapis.com/trace",
    line: { "logging.googleapis.com/trace": "projects/p/traces/t-1" },
    traceId: "t-1",
  },
  { name: "service_name", line: { service_name: "chat" }, service: "chat" },
  { name: "service.name", line: { service: { name: "chat" } }, service: "chat" },
])("structured takes the id of $name", ({ line, id, traceId, service }) => {
  const { records } = readLog(`${JSON.stringify({ msg: "chat completed", status: 200, ...line })}\n`, {
    profiles: [structured],
  });
  expect(records).toMatchObject([{ kind: "request", id, traceId, service }]);
});
