import { expect, test } from "vitest";
import { UTC } from "../../../src/core/timestamp.ts";
import { Line } from "../../../src/model/line.ts";
import type { FailureRecord, LogRecord } from "../../../src/model/record.ts";
import { LitellmParser } from "../../../src/profile/litellm/parse.ts";
import { type Report, readLog } from "../../support/read-log.ts";

const lines = (...texts: string[]): string => `${texts.join("\n")}\n`;
const failures = (records: LogRecord[]): FailureRecord[] =>
  records.filter((record): record is FailureRecord => record.kind === "failure");
const HANDLER = "litellm.proxy.proxy_server._handle_llm_api_exception(): Exception occured - ";
const error = (message: string, time = "10:00:00"): string =>
  `${time} - LiteLLM Proxy:ERROR: common_request_processing.py:1570 - ${HANDLER}${message}`;
const ok = (path = "/v1/chat/completions", status = "200 OK", method = "POST"): string =>
  `INFO:     172.18.0.3:51011 - "${method} ${path} HTTP/1.1" ${status}`;
const SEEN = "10:00:00 - LiteLLM:INFO: utils.py:1 - hello";

test.for([
  {
    name: "litellm.RateLimitError",
    error: "litellm.RateLimitError: RateLimitError: OpenAIException - 400 bad",
    cause: "rate_limited",
  },
  {
    name: "a spent quota under RateLimitError",
    error: "litellm.RateLimitError: OpenAIException - You exceeded your current quota",
    cause: "quota_exhausted",
  },
  {
    name: "the class before the numbers in the text",
    error: "litellm.ContextWindowExceededError: litellm.BadRequestError: 429 too many",
    cause: "context_length_exceeded",
  },
  {
    name: "the exact class behind a generic one",
    error: "litellm.BadRequestError: litellm.ContentPolicyViolationError: AzureException - filtered",
    cause: "content_policy_block",
  },
  {
    name: "a detected jailbreak",
    error: "litellm.ContentPolicyViolationError: x {'jailbreak': {'filtered': True, 'detected': True}}",
    cause: "prompt_injection_block",
  },
  {
    name: "an undetected jailbreak",
    error:
      "litellm.ContentPolicyViolationError: x {'hate': {'filtered': True}, 'jailbreak': {'filtered': False, 'detected': False}}",
    cause: "content_policy_block",
  },
  {
    name: "litellm.Timeout",
    error: "litellm.Timeout: APITimeoutError - Request timed out.",
    cause: "upstream_timeout",
  },
  {
    name: "litellm.APIConnectionError",
    error: "litellm.APIConnectionError: OllamaException - [Errno 111]",
    cause: "upstream_unreachable",
  },
  {
    name: "InternalServerError that could not connect",
    error: "litellm.InternalServerError: OpenAIException - Connection error.",
    cause: "upstream_unreachable",
  },
  {
    name: "InternalServerError of the provider",
    error: "litellm.InternalServerError: OpenAIException - The server had an error",
    cause: "upstream_error",
  },
  {
    name: "litellm.ServiceUnavailableError",
    error: "litellm.ServiceUnavailableError: AnthropicException - Overloaded",
    cause: "upstream_overloaded",
  },
  {
    name: "litellm.AuthenticationError",
    error: "litellm.AuthenticationError: AuthenticationError: OpenAIException - Incorrect API key",
    cause: "auth_invalid_key",
  },
  {
    name: "litellm.NotFoundError",
    error: "litellm.NotFoundError: OpenAIException - 404 page not found",
    cause: "model_not_found",
  },
  {
    name: "litellm.BadRequestError",
    error: "litellm.BadRequestError: OpenAIException - max_tokens must be positive",
    cause: "invalid_request",
  },
  {
    name: "the proxy's own limiter",
    error: "429: LiteLLM Rate Limit Handler for rate limit type = team. Crossed TPM",
    cause: "rate_limited",
  },
  {
    name: "a spent budget",
    error: "Budget has been exceeded! Current cost: 26.07, Max budget: 25.0",
    cause: "quota_exhausted",
  },
  {
    name: "an unknown model",
    error: "400: {'error': '/chat/completions: Invalid model name passed in model=lite. Call'}",
    cause: "model_not_found",
  },
  {
    name: "a guardrail",
    error: "400: {'error': 'Violated guardrail policy', 'guardrail': 'pii'}",
    cause: "content_policy_block",
  },
  {
    name: "a guardrail against prompt attacks",
    error: "400: {'error': 'Violated guardrail policy', 'lakera': {'detector_type': 'prompt_attack'}}",
    cause: "prompt_injection_block",
  },
  {
    name: "all deployments in cooldown, errors of another class quoted",
    error:
      "No deployments available for selected model, Try again in 5 seconds. cooldown_list=[('9', {'exception_received': 'litellm.RateLimitError', 'status_code': '429'})]",
    cause: "rate_limited",
  },
  { name: "a bad key", error: "Authentication Error, Invalid proxy server token passed", cause: "auth_invalid_key" },
  {
    name: "a backend out of memory, left to the catalogue",
    error: "litellm.InternalServerError: Hosted_vllmException - CUDA out of memory",
    cause: undefined,
  },
])("litellm cause: $name", ({ error: text, cause }) => {
  const found = failures(readLog(lines(error(text))).records);
  expect(found).toHaveLength(1);
  expect(found[0]?.cause).toBe(cause ?? found[0]?.cause);
  if (cause === undefined) expect(["unknown", "gpu_oom"]).toContain(found[0]?.cause);
});

test.for<{ name: string; log: string; want: Report }>([
  {
    name: "counts answers by status once a line of the proxy was seen",
    log: lines(SEEN, ok(), ok(undefined, "429 Too Many Requests"), ok("/v1/embeddings", "200")),
    want: { finished: 2, failed: 1, http: { 200: 2, 429: 1 } },
  },
  {
    name: "counts no answers where the proxy was never seen",
    log: lines(ok(), ok()),
    want: { finished: null, failed: null, http: { 200: 2 } },
  },
  {
    name: "knows the proxy by its banner",
    log: lines("LiteLLM: Proxy initialized with Config, Set models:", ok()),
    want: { finished: 1, http: { 200: 1 } },
  },
  {
    name: "keeps health probes and administration apart",
    log: lines(SEEN, ok("/health/liveliness", "200 OK", "GET"), ok("/key/generate"), ok("/v1/models", "200 OK", "GET")),
    want: { finished: null, other: 3, counters: { health_probes: 1 } },
  },
  {
    name: "takes 499 for a client that left",
    log: lines(SEEN, ok(undefined, "499")),
    want: { aborted: 1, http: { 499: 1 } },
  },
  {
    name: "reads the colours of a terminal",
    log: lines(
      "\u001b[92m10:00:00 - LiteLLM Router:INFO\u001b[0m: router.py:1644 - litellm.acompletion(model=openai/gpt-4o)\u001b[32m 200 OK\u001b[0m",
    ),
    want: { counters: { upstream_calls_ok: 1 } },
  },
  {
    name: "counts retries of an attempt and of its client error once",
    log: lines(
      "10:00:00 - LiteLLM Router:INFO: router.py:1 - litellm.acompletion(model=azure/x) Exception litellm.RateLimitError: AzureException - no LiteLLM Retried: 2 times",
      error(
        "litellm.RateLimitError: AzureException - no. Received Model Group=x\nAvailable Model Group Fallbacks=None LiteLLM Retried: 2 times, LiteLLM Max Retries: 2",
      ),
      ok(undefined, "429"),
    ),
    want: { failed: 1, errors: { rate_limited: 1 }, counters: { retries: 2, upstream_calls_failed: 1 } },
  },
  {
    name: "believes the retry count at the end, not one that the error quotes",
    log: lines(
      error("litellm.Timeout: you wrote LiteLLM Retried: 900 times LiteLLM Retried: 1 times, LiteLLM Max Retries: 2"),
    ),
    want: { counters: { retries: 1 } },
  },
  {
    name: "counts fallbacks tried, done and failed",
    log: lines(
      "10:00:00 - LiteLLM Router:INFO: router.py:4346 - Trying to fallback b/w models",
      "10:00:01 - LiteLLM Router:INFO: f.py:150 - Successful fallback b/w models.",
      "10:00:02 - LiteLLM Router:INFO: router.py:4346 - Trying to fallback b/w models",
      "10:00:02 - LiteLLM Router:ERROR: f.py:160 - litellm.router.py::async_function_with_fallbacks() - Error occurred while trying to do fallbacks - litellm.Timeout: x",
    ),
    want: { counters: { fallbacks: 2, fallbacks_succeeded: 1, fallbacks_failed: 1 }, errors: {} },
  },
  {
    name: "ignores what prompts in DEBUG dumps say",
    log: lines(
      "10:00:00 - LiteLLM:DEBUG: utils.py:1 - {'messages': 'x",
      `litellm.proxy.proxy_server._handle_llm_api_exception(): Exception occured - litellm.Timeout: fake`,
      "y'}",
    ),
    want: { errors: {}, counters: {} },
  },
  {
    name: "ends a record at a line of another writer",
    log: lines(error("litellm.Timeout: x"), "INFO 03-02 10:00:00 [loggers.py:1] Engine 000: Avg prompt throughput: 1"),
    want: { errors: { upstream_timeout: 1 } },
  },
  {
    name: "reads records of old versions without a file",
    log: lines(`10:00:00 - LiteLLM Proxy:ERROR: ${HANDLER}litellm.Timeout: x`),
    want: { errors: { upstream_timeout: 1 } },
  },
  {
    name: "reads errors of authentication and of older endpoints",
    log: lines(
      "10:00:00 - LiteLLM Proxy:ERROR: auth_exception_handler.py:72 - litellm.proxy.proxy_server.user_api_key_auth(): Exception occured - Authentication Error, Invalid proxy server token passed",
      "10:00:01 - LiteLLM Proxy:ERROR: proxy_server.py:72 - litellm.proxy.proxy_server.embeddings(): Exception occured - litellm.Timeout: x",
      "10:00:02 - LiteLLM Proxy:ERROR: auth_exception_handler.py:72 - Exception occured - key not allowed to access model. This key can only access models=['a']",
    ),
    want: { errors: { auth_invalid_key: 1, upstream_timeout: 1, permission_denied: 1 } },
  },
  {
    name: "reads a bare exception of the library",
    log: lines(
      "litellm.ServiceUnavailableError: AnthropicException - Overloaded. Received Model Group=a",
      "more of it",
    ),
    want: { errors: { upstream_overloaded: 1 } },
  },
  {
    name: "tells a client that left from an error",
    log: lines(
      "10:00:00 - LiteLLM Proxy:INFO: c.py:1 - litellm.proxy.proxy_server._handle_llm_api_exception(): client disconnected, upstream LLM request cancelled",
    ),
    want: { errors: { client_cancelled: 1 } },
  },
])("litellm-text $name", ({ log, want }) => {
  expectReport(readLog(log).report, want);
});

test("litellm-text joins the message that starts on the next line, its paragraphs and its traceback", () => {
  const { records } = readLog(
    lines(
      "10:00:00 - LiteLLM Proxy:ERROR: p.py:1 - ",
      `${HANDLER}litellm.ContextWindowExceededError: too long`,
      "",
      "Set 'context_window_fallback'",
      "Traceback (most recent call last):",
      '  File "/x.py", line 1, in f [trace_id=abc session_id=def]',
      ok(undefined, "400"),
    ),
  );
  expect(failures(records)).toMatchObject([
    {
      cause: "context_length_exceeded",
      errorClass: "ContextWindowExceededError",
      text: `${HANDLER}litellm.ContextWindowExceededError: too long\n\nSet 'context_window_fallback'\nTraceback (most recent call last):\n  File "/x.py", line 1, in f`,
    },
  ]);
});

test("litellm-text dates its lines by the time of reading, and goes over midnight", () => {
  const { records } = readLog(
    lines(
      "23:59:59 - LiteLLM:INFO: a.py:1 - x",
      error("litellm.Timeout: y", "23:59:59"),
      error("litellm.Timeout: z", "00:00:02"),
    ),
    { readMs: Date.UTC(2026, 2, 2, 23, 59, 59) },
  );
  expect(failures(records).map(({ timeMs }) => new Date(timeMs).toISOString())).toEqual([
    "2026-03-02T23:59:59.000Z",
    "2026-03-03T00:00:02.000Z",
  ]);
});

const T = 1_772_445_600;
const slp = (fields: Report = {}): Report => ({
  id: "a",
  trace_id: "t1",
  call_type: "acompletion",
  stream: false,
  status: "success",
  startTime: T,
  endTime: T + 2,
  completionStartTime: T + 2,
  model: "gpt-4o",
  model_group: "gpt-4o",
  custom_llm_provider: "openai",
  prompt_tokens: 100,
  completion_tokens: 10,
  response_cost: 0.001,
  ...fields,
});
const failed = (fields: Report = {}): Report =>
  slp({
    status: "failure",
    prompt_tokens: 0,
    completion_tokens: 0,
    response_cost: 0,
    error_information: {
      error_code: "429",
      error_class: "RateLimitError",
      error_message: "litellm.RateLimitError: no",
    },
    ...fields,
  });
const jsonl = (...payloads: Report[]): string => lines(...payloads.map((payload) => JSON.stringify(payload)));

test.for<{ name: string; log: string; want: Report }>([
  {
    name: "takes the whole duration from start and end, never from response_time",
    log: jsonl(slp({ stream: true, completionStartTime: T + 0.5, response_time: 0.5 })),
    want: { finished: 1, latency: { e2e: [1, 2000], ttft: [1, 500] } },
  },
  {
    name: "gives no ttft to what is no stream",
    log: jsonl(slp({ stream: null, completionStartTime: T + 0.5 })),
    want: { latency: { e2e: [1, 2000] } },
  },
  {
    name: "gives no ttft to a stream whose first token comes with its last",
    log: jsonl(slp({ stream: true })),
    want: { latency: { e2e: [1, 2000] }, counters: { ttft_suspect: 1 } },
  },
  {
    name: "reads subsets without adding them",
    log: jsonl(
      slp({
        metadata: {
          usage_object: {
            prompt_tokens_details: { cached_tokens: 80, cache_creation_tokens: 5 },
            cache_read_input_tokens: 80,
            completion_tokens_details: { reasoning_tokens: 4 },
          },
        },
      }),
    ),
    want: { tokens: { in: 100, in_processed: 20, in_cached: 80, out: 10, out_reasoning: 4 } },
  },
  {
    name: "leaves unknown cost and usage unknown",
    log: jsonl(slp({ response_cost: null, prompt_tokens: 0, completion_tokens: 0 })),
    want: { cost: null, tokens: {}, counters: { ok_without_usage: 1 } },
  },
  {
    name: "refuses figures that are none",
    log: lines(JSON.stringify(slp({ response_cost: "COST" })).replace('"COST"', "NaN")),
    want: { cost: null, rejected: { "not-a-number": 1 }, finished: 1 },
  },
  {
    name: "refuses a request that ends before it begins",
    log: jsonl(slp({ endTime: T - 1, completionStartTime: T - 1 })),
    want: { latency: {}, rejected: { "negative-duration": 1 }, finished: 1 },
  },
  {
    name: "counts the tries of one trace as one request that took all their time",
    log: jsonl(
      failed({ id: "r0", endTime: T + 0.5 }),
      failed({ id: "r1", startTime: T + 1, endTime: T + 1.5 }),
      slp({ id: "r2", startTime: T + 2, endTime: T + 4 }),
    ),
    want: {
      finished: 1,
      failed: 0,
      errors: {},
      counters: { retries: 2, upstream_calls_failed: 2 },
      latency: { e2e: [1, 4000] },
    },
  },
  {
    name: "counts tries that all failed as one failure with its last error",
    log: jsonl(failed({ id: "r0", endTime: T + 0.5 }), failed({ id: "r1", startTime: T + 1, endTime: T + 1.5 })),
    want: { failed: 1, errors: { rate_limited: 1 }, http: { 429: 1 }, counters: { retries: 1 } },
  },
  {
    name: "calls a try of another model group a fallback",
    log: jsonl(failed({ id: "r0", endTime: T + 0.5 }), slp({ id: "r1", model_group: "b", startTime: T + 1 })),
    want: { finished: 1, counters: { fallbacks: 1, fallbacks_succeeded: 1, upstream_calls_failed: 1 } },
  },
  {
    name: "keeps requests apart that only share a session",
    log: jsonl(failed({ id: "r0", endTime: T + 0.5 }), slp({ id: "r1", startTime: T + 900, endTime: T + 901 })),
    want: { finished: 1, failed: 1, counters: {} },
  },
  {
    name: "keeps requests apart that ran at the same time",
    log: jsonl(failed({ id: "r0", endTime: T + 5 }), slp({ id: "r1", startTime: T + 1, endTime: T + 6 })),
    want: { finished: 1, failed: 1, counters: {} },
  },
  {
    name: "believes attempted_retries where failed tries are not logged",
    log: jsonl(slp({ metadata: { attempted_retries: 2, max_retries: 3 } })),
    want: { finished: 1, counters: { retries: 2 } },
  },
  {
    name: "drops copies of one entry, also of a failed one",
    log: jsonl(
      slp(),
      slp({ endTime: T + 2.003 }),
      failed({ id: "f", trace_id: "t2" }),
      failed({ id: "f", trace_id: "t2" }),
    ),
    want: { finished: 1, failed: 1, counters: { duplicates_dropped: 2 } },
  },
  {
    name: "reads a budget block, which has no status",
    log: jsonl(
      failed({
        error_information: {
          error_code: "",
          error_class: "BudgetExceededError",
          error_message: "Budget has been exceeded!",
        },
      }),
    ),
    want: { failed: 1, errors: { quota_exhausted: 1 }, http: {} },
  },
  {
    name: "reads a guardrail that intervened",
    log: jsonl(
      failed({
        status_fields: { llm_api_status: "failure", guardrail_status: "guardrail_intervened" },
        error_information: { error_code: "400", error_class: "HTTPException", error_message: "400: {'error': 'no'}" },
      }),
    ),
    want: { errors: { content_policy_block: 1 }, http: { 400: 1 } },
  },
  {
    name: "reads retrievals that the proxy did",
    log: jsonl(
      slp({
        metadata: {
          vector_store_request_metadata: [
            {
              vector_store_id: "kb",
              query: "secret",
              start_time: T,
              end_time: T + 0.25,
              vector_store_search_response: { data: [{ score: 0.5 }, { score: 0.25 }] },
            },
          ],
        },
      }),
    ),
    want: { finished: 1, latency: { e2e: [1, 2000], retrieval: [1, 250] }, scores: { count: 2, sum: 0.75 } },
  },
  {
    name: "takes a tool call for a tool call",
    log: jsonl(slp({ call_type: "call_mcp_tool", metadata: { mcp_tool_call_metadata: { name: "search" } } })),
    want: { finished: null, latency: { tool: [1, 2000] }, counters: { tool_calls: 1 } },
  },
  {
    name: "counts neither its own health checks nor file handling as requests",
    log: jsonl(
      slp({ metadata: { user_api_key_alias: "litellm-internal-health-check" } }),
      slp({ id: "b", call_type: "acreate_file" }),
    ),
    want: { finished: null, counters: { health_probes: 1 } },
  },
  {
    name: "names the tenant by team, then by organisation",
    log: jsonl(
      slp({ metadata: { user_api_key_team_alias: "acme", user_api_key_team_id: "t-1" } }),
      slp({ id: "b", trace_id: "t2", metadata: { user_api_key_team_alias: null, user_api_key_team_id: "t-2" } }),
      slp({ id: "c", trace_id: "t3", metadata: { user_api_key_org_id: "o-3" } }),
    ),
    want: { tenants: { acme: 1, "t-2": 1, "o-3": 1 } },
  },
  {
    name: "counts cache hits with their tokens",
    log: jsonl(slp({ cache_hit: true, response_cost: 0 })),
    want: { finished: 1, cost: 0, tokens: { in: 100, out: 10 }, counters: { cache_hits: 1 } },
  },
  {
    name: "reads SpendLogs: printed times, spend, metadata as text",
    log: jsonl({
      request_id: "s1",
      call_type: "acompletion",
      api_key: "k",
      spend: 0.25,
      total_tokens: 30,
      prompt_tokens: 20,
      completion_tokens: 10,
      startTime: "2025-01-24 09:20:46.847371",
      endTime: "2025-01-24 09:20:48.847371",
      completionStartTime: "2025-01-24 09:20:47.347871",
      model: "gpt-4o",
      user: "",
      metadata: '{"user_api_key_team_alias": "acme", "usage_object": {"prompt_tokens_details": {"cached_tokens": 5}}}',
      cache_hit: "None",
      team_id: "t",
      request_tags: "[]",
      end_user: "",
      status: null,
    }),
    want: {
      finished: 1,
      cost: 0.25,
      tenants: { acme: 1 },
      tokens: { in: 20, in_processed: 15, in_cached: 5, out: 10 },
      latency: { e2e: [1, 2000], ttft: [1, 500.5] },
    },
  },
  {
    name: "takes a SpendLogs row whose first token is its end for no stream",
    log: jsonl({
      request_id: "s1",
      call_type: "aembedding",
      spend: 0.1,
      prompt_tokens: 20,
      completion_tokens: 0,
      startTime: "2025-01-24 09:20:46.847371",
      endTime: "2025-01-24 09:20:48.847371",
      completionStartTime: "2025-01-24 09:20:48.847371",
      model: "e",
      metadata: "{}",
      status: "success",
    }),
    want: { finished: 1, tokens: { in: 20 }, latency: { e2e: [1, 2000] }, counters: {} },
  },
])("litellm-slp $name", ({ log, want }) => {
  expectReport(readLog(log).report, want);
});

const pretty = (payload: Report): string => JSON.stringify(payload, null, 4);

test.for<{ name: string; log: string; want: Report }>([
  {
    name: "reads a printed payload between lines of the proxy, and counts its access line once",
    log: lines(SEEN, pretty(slp()), ok()),
    want: { finished: 1, http: { 200: 1 }, tokens: { in: 100, out: 10 } },
  },
  {
    name: "counts once when the access line comes first",
    log: lines(SEEN, ok(), pretty(slp()), ok(), pretty(slp({ id: "b", trace_id: "t2" }))),
    want: { finished: 2, http: { 200: 2 }, tokens: { in: 200, out: 20 } },
  },
  {
    name: "counts once where no line of the proxy but payloads is seen",
    log: lines(pretty(slp()), ok(), pretty(slp({ id: "b", trace_id: "t2" })), ok(undefined, "200 OK")),
    want: { finished: 2, http: { 200: 2 } },
  },
  {
    name: "joins a failed payload with its access line and its error record",
    log: lines(SEEN, error("litellm.RateLimitError: no"), pretty(failed()), ok(undefined, "429")),
    want: { failed: 1, http: { 429: 1 }, errors: { rate_limited: 1 }, models: { "gpt-4o": 1 } },
  },
  {
    name: "joins them when the access line comes first",
    log: lines(SEEN, error("litellm.RateLimitError: no"), ok(undefined, "429"), pretty(failed())),
    want: { failed: 1, http: { 429: 1 }, errors: { rate_limited: 1 } },
  },
  {
    name: "passes over the conversation, whatever it holds",
    log: lines(
      SEEN,
      pretty(
        slp({ messages: [{ role: "user", content: '}\n{"status": "failure"}' }], response: { a: { b: [] } }, end: 1 }),
      ),
    ),
    want: { finished: 1, failed: 0, tokens: { in: 100, out: 10 } },
  },
  {
    name: "lets lines of others stand in the middle of a payload",
    log: lines(SEEN, pretty(slp()).replace('\n    "model"', `\n${ok()}\n    "model"`)),
    want: { finished: 1, http: { 200: 1 }, tokens: { in: 100, out: 10 } },
  },
  {
    name: "takes no other printed object for a payload",
    log: lines(SEEN, "{", '    "id": "x",', '    "name": "y"', "}", pretty(slp())),
    want: { finished: 1 },
  },
  {
    name: "reads a payload on one line between text records",
    log: lines(SEEN, JSON.stringify(slp()), ok()),
    want: { finished: 1, http: { 200: 1 } },
  },
])("litellm payloads on the proxy's output: $name", ({ log, want }) => {
  expectReport(readLog(log).report, want);
});

const json = (message: string, fields: Report = {}): string =>
  JSON.stringify({ message, level: "INFO", timestamp: "2026-03-02T10:00:00.123456", ...fields });
const LITELLM = { component: "LiteLLM Proxy", logger: "p.py:1" };
const ACCESS = { component: "uvicorn.access", logger: "h.py:476" };
const answer = (status: number, at = "00.5"): string =>
  json(`172.18.0.4:41007 - "POST /v1/chat/completions HTTP/1.1" ${status}`, {
    ...ACCESS,
    timestamp: `2026-03-02T10:00:${at}00000`,
  });

test.for<{ name: string; log: string; want: Report }>([
  {
    name: "reads a promoted payload once",
    log: lines(json(JSON.stringify(slp()), { ...slp(), component: "LiteLLM", logger: "c.py:1" }), answer(200)),
    want: { finished: 1, tokens: { in: 100, out: 10 }, cost: 0.001, http: { 200: 1 } },
  },
  {
    name: "reads a payload that was not promoted",
    log: lines(json(JSON.stringify(slp()), LITELLM), answer(200)),
    want: { finished: 1, tokens: { in: 100, out: 10 } },
  },
  {
    name: "counts answers without payloads by their access line",
    log: lines(answer(200, "01.0"), answer(200, "02.0"), answer(500, "03.0")),
    want: { finished: 2, failed: 1, http: { 200: 2, 500: 1 } },
  },
  {
    name: "reads errors with their stack trace",
    log: lines(
      json(`${HANDLER}litellm.Timeout: x`, { ...LITELLM, level: "ERROR", stacktrace: "Traceback…" }),
      answer(408),
    ),
    want: { failed: 1, errors: { upstream_timeout: 1 }, http: { 408: 1 } },
  },
  {
    name: "drops the second copy that old versions print of a record",
    log: lines(
      json(`${HANDLER}litellm.Timeout: x`, { level: "ERROR" }),
      json(`${HANDLER}litellm.Timeout: x`, { level: "ERROR" }),
    ),
    want: { errors: { upstream_timeout: 1 } },
  },
  {
    name: "reads the oldest shape, which is only a message, in the proxy's company",
    log: lines(
      JSON.stringify({ message: `${HANDLER}litellm.Timeout: x` }),
      JSON.stringify({ message: '1.2.3.4:1 - "POST /v1/chat/completions HTTP/1.1" 200' }),
    ),
    want: { finished: 1 },
  },
  {
    name: "reads bare NaN",
    log: lines(json(JSON.stringify(slp()), { ...slp({ response_cost: "COST" }), ...LITELLM }).replace('"COST"', "NaN")),
    want: { finished: 1, cost: null, rejected: { "not-a-number": 1 } },
  },
])("litellm-json $name", ({ log, want }) => {
  expectReport(readLog(log).report, want);
});

test("litellm holds a record open over a short pause, and what may still be retried for a minute", () => {
  const records: LogRecord[] = [];
  const parser = new LitellmParser({ emit: (record) => records.push(record), reject: () => {}, zone: UTC });
  const push = (text: string, readMs: number): void => {
    const line = new Line();
    line.setText(text);
    line.readMs = readMs;
    parser.parse(line);
    parser.flush(readMs, false);
  };
  push(error("litellm.Timeout: x"), 1000);
  push("Traceback (most recent call last):", 3000);
  parser.flush(7000, false);
  expect(records).toEqual([]);
  parser.flush(8000, false);
  expect(failures(records)).toMatchObject([
    { text: `${HANDLER}litellm.Timeout: x\nTraceback (most recent call last):` },
  ]);
  push(JSON.stringify(failed()), 10_000);
  parser.flush(69_000, false);
  expect(records.filter(({ kind }) => kind === "request")).toEqual([]);
  parser.flush(70_000, false);
  expect(records.filter(({ kind }) => kind === "request")).toHaveLength(1);
});

/** Compares only what `want` names. */
function expectReport(report: Report, want: Report): void {
  const totals = (values: Report = {}): Report =>
    Object.fromEntries(Object.entries<Report>(values).map(([key, { sum }]) => [key, sum]));
  const got: Report = {
    finished: report["requests"].finished,
    failed: report["requests"].failed,
    aborted: report["requests"].aborted,
    tenants: report["requests"].by_tenant,
    models: report["requests"].by_model,
    http: report["http"].inference,
    other: report["http"].other,
    tokens: totals(report["tokens"]),
    cost: report["cost_usd"],
    counters: report["counters"],
    errors: report["errors"].records,
    rejected: report["rejected_values"],
    scores: report["scores"].retrieval,
    latency: Object.fromEntries(
      Object.entries<Report>(report["latency_ms"]).map(([key, { count, sum }]) => [
        key,
        [count, Math.round(sum * 1000) / 1000],
      ]),
    ),
  };
  const named = Object.fromEntries(Object.keys(want).map((key) => [key, got[key]]));
  expect(named).toMatchObject(want);
  for (const exact of ["errors", "latency", "counters", "tokens", "http"])
    if (exact in want) expect(named[exact]).toEqual(want[exact]);
}
