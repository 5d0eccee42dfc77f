import { expect, test } from "vitest";
import { type Report, readLog } from "../../support/read-log.ts";

const kong = (ai: Report | undefined, fields: Report = {}): string =>
  `${JSON.stringify({
    upstream_status: "200",
    source: "upstream",
    started_at: 1_772_451_015_714,
    request: { id: "r1", uri: "/llm/chat?a=1", method: "POST" },
    response: { status: 200 },
    latencies: { kong: 7, proxy: 2914, request: 2923, receive: 19 },
    tries: [{ ip: "10.1.0.3", port: 443 }],
    consumer: { username: "acme" },
    ...(ai === undefined ? {} : { ai }),
    ...fields,
  })}\n`;
const META = { request_model: "gpt-4o-mini", response_model: "gpt-4o-mini-2024", llm_latency: 2900 };
const USAGE = { prompt_tokens: 162, completion_tokens: 363, total_tokens: 525, time_per_token: 8, cost: 0.25 };

test.for<{ name: string; log: string; want: Report }>([
  {
    name: "main: ai.proxy",
    log: kong({ proxy: { meta: META, usage: USAGE } }),
    want: {
      finished: 1,
      tokens: { in: 162, out: 363 },
      cost: 0.25,
      latency: { e2e: 2923, upstream_llm: 2900 },
      models: { "gpt-4o-mini": 1 },
      tenants: { acme: 1 },
    },
  },
  {
    name: "3.8 and 3.9: ai-proxy with a cache block",
    log: kong({ "ai-proxy": { meta: META, usage: USAGE, cache: { cache_status: "Hit", embeddings_latency: 12 } } }),
    want: {
      finished: 1,
      tokens: { in: 162, out: 363 },
      latency: { e2e: 2923, upstream_llm: 2900, embedding: 12 },
      counters: { cache_hits: 1 },
    },
  },
  {
    name: "3.7: other usage names, no latency",
    log: kong({
      "ai-proxy": { meta: { request_model: "m" }, usage: { prompt_token: 10, completion_token: 5, total_tokens: 15 } },
    }),
    want: { finished: 1, tokens: { in: 10, out: 5 }, latency: { e2e: 2923 }, cost: null },
  },
  {
    name: "3.6: no plugin level",
    log: kong({
      meta: { request_model: "m", provider_name: "openai" },
      usage: { prompt_token: 10, completion_token: 5 },
    }),
    want: { finished: 1, tokens: { in: 10, out: 5 }, models: { m: 1 } },
  },
  {
    name: "plugins beside the proxy are further calls within one request",
    log: kong({
      "request-transformer": {
        meta: { request_model: "small", llm_latency: 100 },
        usage: { prompt_tokens: 1, completion_tokens: 2, cost: 0.5 },
      },
      proxy: { meta: META, usage: USAGE },
    }),
    want: {
      finished: 1,
      tokens: { in: 163, out: 365 },
      cost: 0.75,
      latency: { e2e: 2923, upstream_llm: 3000 },
      models: { "gpt-4o-mini": 1 },
    },
  },
  {
    name: "keeps the estimate of a stream without usage apart",
    log: kong({ proxy: { meta: META, usage: { ...USAGE, prompt_tokens: 0, cost: 0 } } }),
    want: { finished: 1, tokens: {}, estimated: { out: 363 }, counters: { ok_without_usage: 1 } },
  },
  {
    name: "takes UNSPECIFIED for no model",
    log: kong({ proxy: { meta: { request_model: "UNSPECIFIED", response_model: "x" }, usage: USAGE } }),
    want: { models: { x: 1 } },
  },
  {
    name: "counts tries after the first as retries",
    log: kong({ proxy: { meta: META, usage: USAGE } }, { upstream_status: "502, 200", tries: [{}, {}, {}] }),
    want: { finished: 1, counters: { retries: 2 } },
  },
  {
    name: "names a refusal before any upstream, and leaves zeros of a failed call unknown",
    log:
      kong(undefined, { source: "exit", upstream_status: "", response: { status: 400 }, tries: [] }) +
      kong(undefined, { source: "kong", upstream_status: "", response: { status: 429 }, tries: [] }) +
      kong(
        { proxy: { meta: META, usage: { prompt_tokens: 0, completion_tokens: 0, cost: 0 } } },
        { upstream_status: "504", response: { status: 504 } },
      ),
    want: {
      failed: 3,
      errors: { content_policy_block: 1, rate_limited: 1, upstream_timeout: 1 },
      tokens: {},
      cost: null,
    },
  },
  {
    name: "keeps requests that ask for no answer apart",
    log: kong(undefined, { request: { uri: "/status", method: "GET" } }),
    want: { finished: null, other: 1 },
  },
])("kong $name", ({ log, want }) => expectReport(log, want));

const higress = (ai: Report | undefined, fields: Record<string, string> = {}): string => {
  const values: Record<string, string> = {
    ai_log: ai === undefined ? "-" : JSON.stringify(JSON.stringify(ai)).slice(1, -1),
    authority: "llm.example",
    bytes_sent: "10",
    duration: "3058",
    istio_policy_status: "-",
    method: "POST",
    path: "/v1/chat/completions",
    request_id: "q1",
    response_code: "200",
    response_flags: "-",
    start_time: "2026-03-02T12:00:02.878Z",
    upstream_service_time: "1529",
    upstream_transport_failure_reason: "-",
    user_agent: "x",
    response_code_details: "via_upstream",
    ...fields,
  };
  // the writer escapes nothing
  return `{${Object.entries(values)
    .map(([key, value]) => `"${key}":"${value}"`)
    .join(",")}}\n`;
};
const AI = {
  api: "-",
  consumer: "globex",
  model: "qwen",
  input_token: 10,
  output_token: 5,
  total_token: 15,
  response_type: "stream",
  llm_first_token_duration: 100,
  llm_service_duration: 3000,
};
const WHOLE = {
  finished: 1,
  tokens: { in: 10, out: 5 },
  latency: { e2e: 3058, ttfb: 1529, ttft: 100, upstream_llm: 3000 },
  tenants: { globex: 1 },
};

test.for<{ name: string; log: string; want: Report }>([
  { name: "reads ai_log", log: higress(AI), want: WHOLE },
  {
    name: "reads figures that are text",
    log: higress(Object.fromEntries(Object.entries(AI).map(([key, value]) => [key, String(value)]))),
    want: WHOLE,
  },
  {
    name: "reads a line that a quote in the user agent broke",
    log: higress(AI, { user_agent: 'agent "7" \\ x' }),
    want: WHOLE,
  },
  {
    name: "is not deceived by fields inside a user agent",
    log: higress(AI, { user_agent: 'x","response_code":"500","zz":"' }).replace('"zz":""', '"zz":"" x"'),
    want: WHOLE,
  },
  {
    name: "reads a broken line with its fields in another order",
    log: higress(AI, { user_agent: '"' }).replace(/^\{("ai_log":".*?"),("authority".*)\}\n$/, "{$2,$1}\n"),
    want: WHOLE,
  },
  {
    name: "leaves tokens of a stream without usage unknown",
    log: higress({ response_type: "stream", llm_first_token_duration: 100, llm_service_duration: 3000 }),
    want: { finished: 1, tokens: {}, counters: { ok_without_usage: 1 } },
  },
  {
    name: "names a token limit",
    log: higress(undefined, { response_code: "429", response_code_details: "ai-token-ratelimit.rejected" }),
    want: { failed: 1, errors: { rate_limited: 1 } },
  },
  {
    name: "takes a denial with status 200 for a failure",
    log: higress({ safecheck_status: "reqeust deny", safecheck_riskLabel: "sexual" }),
    want: { finished: 0, failed: 1, errors: { content_policy_block: 1 }, http: { 200: 1 } },
  },
  {
    name: "names a prompt attack",
    log: higress({ safecheck_status: "request deny", safecheck_riskLabel: "prompt_attack" }),
    want: { failed: 1, errors: { prompt_injection_block: 1 } },
  },
  {
    name: "reads subsets and cache hits",
    log: higress({
      ...AI,
      cache_status: "hit",
      input_token_details: { cached_tokens: 4 },
      output_token_details: '{"reasoning_tokens":2}',
    }),
    want: { tokens: { in: 10, in_cached: 4, in_processed: 6, out: 5, out_reasoning: 2 }, counters: { cache_hits: 1 } },
  },
  {
    name: "passes over the chatter of plugins",
    log: "2026-03-02T12:00:00.412492Z\twarning\tenvoy wasm external/x.cc:1400\twasm log default.ai-statistics-1.0.0: [ai-statistics] get usage information failed\tthread=65\n",
    want: { finished: null, errors: {} },
  },
])("higress $name", ({ log, want }) => expectReport(log, want));

const cloudflare = (fields: Report = {}): string =>
  `${JSON.stringify({
    id: "01A",
    cached: false,
    created_at: "2026-03-02T13:00:01.824Z",
    duration: 5117,
    model: "gpt-4o-mini",
    path: "chat/completions",
    provider: "openai",
    success: true,
    tokens_in: 1421,
    tokens_out: 310,
    cost: 0.5,
    metadata: '{"tenant":"globex","user":"u-118"}',
    status_code: 200,
    step: 0,
    ...fields,
  })}\n`;

test.for<{ name: string; log: string; want: Report }>([
  {
    name: "reads an entry",
    log: cloudflare(),
    want: {
      finished: 1,
      tokens: { in: 1421, out: 310 },
      cost: 0.5,
      latency: { e2e: 5117 },
      tenants: { globex: 1 },
      counters: {},
    },
  },
  {
    name: "counts a fallback that answered and a cache hit",
    log: cloudflare({ step: 1, cached: true }),
    want: { counters: { cache_hits: 1, fallbacks: 1, fallbacks_succeeded: 1 } },
  },
  {
    name: "leaves zeros of a failed request unknown",
    log: cloudflare({ success: false, status_code: 524, tokens_in: 0, tokens_out: 0, cost: 0 }),
    want: { failed: 1, tokens: {}, cost: null, errors: { upstream_timeout: 1 } },
  },
  {
    name: "believes `success` over a status of 200",
    log: cloudflare({ success: false }),
    want: { failed: 1, finished: 0 },
  },
  { name: "drops an entry that was exported twice", log: cloudflare() + cloudflare(), want: { finished: 1 } },
  { name: "takes metadata that is no object", log: cloudflare({ metadata: null }), want: { finished: 1, tenants: {} } },
])("cloudflare-ai-gateway $name", ({ log, want }) => expectReport(log, want));

function expectReport(log: string, want: Report): void {
  const { report } = readLog(log);
  const sums = (values: Report): Report =>
    Object.fromEntries(Object.entries<Report>(values).map(([key, { sum }]) => [key, sum]));
  const got: Report = {
    ...report["requests"],
    models: report["requests"].by_model,
    tenants: report["requests"].by_tenant,
    http: report["http"].inference,
    other: report["http"].other,
    tokens: sums(report["tokens"]),
    estimated: report["tokens_estimated"],
    cost: report["cost_usd"],
    latency: sums(report["latency_ms"]),
    counters: report["counters"],
    errors: report["errors"].records,
  };
  expect(Object.fromEntries(Object.keys(want).map((key) => [key, got[key]]))).toEqual(want);
}
