import { expect, test } from "vitest";
import type { FailureRecord, RequestRecord } from "../../../src/model/record.ts";
import { type Report, readLog } from "../../support/read-log.ts";

const TAIL = '"10.0.0.2" "openai-python/1.51.0" "f35094f1-ff76-4bcd-ad3f-574a5068249b" "llm.example" "10.42.2.7:8000"';
const line = (status: string, figures = "10 20 835 334", method = "POST", path = "/v1/chat/completions"): string =>
  `[2026-03-02T11:00:01.478Z] "${method} ${path} HTTP/1.1" ${status} ${figures} ${TAIL}\n`;
const requests = (log: string): RequestRecord[] =>
  readLog(log).records.filter((record): record is RequestRecord => record.kind === "request");
const failures = (log: string): FailureRecord[] =>
  readLog(log).records.filter((record): record is FailureRecord => record.kind === "failure");

test("envoy reads the default format", () => {
  const [record] = requests(line("200 -"));
  expect(record).toMatchObject({
    outcome: "ok",
    httpStatus: 200,
    route: "/v1/chat/completions",
    id: "f35094f1-ff76-4bcd-ad3f-574a5068249b",
    timeMs: Date.UTC(2026, 2, 2, 11, 0, 1, 478) + 835,
  });
  expect(record?.latencies.valuesMs).toEqual([835, 334]);
});

test.for([
  { name: "UT", status: "504 UT", cause: "upstream_timeout" },
  { name: "UF,URX", status: "503 UF,URX", cause: "upstream_unreachable" },
  { name: "UO", status: "503 UO", cause: "queue_overflow" },
  { name: "UH", status: "503 UH", cause: "upstream_overloaded" },
  { name: "NR", status: "404 NR", cause: "model_not_found" },
  { name: "RL", status: "429 RL", cause: "rate_limited" },
  { name: "UAEX with 403", status: "403 UAEX", cause: "permission_denied" },
  { name: "UAEX with 401", status: "401 UAEX", cause: "auth_invalid_key" },
  { name: "UPE", status: "502 UPE", cause: "upstream_error" },
  { name: "UC", status: "502 UC", cause: "stream_interrupted" },
  { name: "DC before an answer", status: "0 DC", cause: "client_cancelled" },
  { name: "a long flag", status: "504 UpstreamRequestTimeout", cause: "upstream_timeout" },
  { name: "413 without a flag", status: "413 -", cause: "request_too_large" },
])("envoy names the cause of $name", ({ status, cause }) => {
  expect(failures(line(status))).toMatchObject([{ cause }]);
});

test.for([
  {
    name: "counts status 0 as a client that left",
    log: line("0 DC", "347 0 6941 -"),
    want: { aborted: 1, http: { 0: 1 } },
  },
  { name: "leaves unset figures unknown", log: line("200 -", "10 20 - -"), want: { finished: 1, latency: {} } },
  {
    name: "reads Istio's format, details and transport failure between flags and figures",
    log: `[2026-05-10T08:23:45.710Z] "POST /v1/messages HTTP/1.1" 503 UH no_healthy_upstream - "-" 8737 19 7 - "10.4.193.187" "ce64ee35-0c77-47d4-0595-b2a2b11ef2ee" "llm" "-"\n`,
    want: { failed: 1, errors: { upstream_overloaded: 1 }, latency: { e2e: 7 } },
  },
  {
    name: "reads status and flags of a user's own format",
    log: `[2026-05-10T08:23:45.710Z] "POST /v1/messages HTTP/2" 504 UT model=x took 12 s\n`,
    want: { failed: 1, errors: { upstream_timeout: 1 }, latency: {} },
  },
  {
    name: "keeps health checks apart",
    log: line("200 -", "1 2 3 4", "GET", "/health"),
    want: { finished: null, other: 1 },
  },
  {
    name: "is not deceived by quotes in a user agent",
    log: line("200 -").replace("openai-python/1.51.0", 'x" 500 UT 1 1 1 1 "'),
    want: { finished: 1, http: { 200: 1 } },
  },
  {
    name: "counts a stream that its client left in the middle as answered, and tells so",
    log: line("200 DC"),
    want: { finished: 1, counters: { client_disconnects: 1 } },
  },
  {
    name: "takes errors of its own log for failures, chatter not",
    log: "[2026-03-02 10:59:59.001][1][info][main] [source/server/server.cc:1012] starting\n[2026-03-02 10:59:59.001][1][error][config] [source/x.cc:1] cannot bind\n",
    want: { errors: { unknown: 1 } },
  },
  {
    name: "joins the records of a crash",
    log: "[2026-03-02 10:59:59.001][1][critical][backtrace] [./b.h:104] Caught Segmentation fault\n[2026-03-02 10:59:59.001][1][critical][backtrace] [./b.h:91] #0: [0x1]\n",
    want: { errors: { runner_crash: 1 } },
  },
])("envoy $name", ({ log, want }) => expectReport(log, want));

const ai = (fields: Report = {}): string =>
  `${JSON.stringify({
    bytes_received: 1,
    bytes_sent: 2,
    duration: 3000,
    "gen_ai.request.model": "gpt-4o",
    "gen_ai.response.model": "gpt-4o-2026",
    "gen_ai.usage.input_tokens": 100,
    "gen_ai.usage.output_tokens": 20,
    "gen_ai.usage.reasoning_tokens": null,
    "gen_ai.usage.total_tokens": 120,
    method: "POST",
    response_code: 200,
    response_code_details: "via_upstream",
    response_flags: "-",
    start_time: "2026-03-02T10:30:00.320Z",
    "x-envoy-origin-path": "/v1/chat/completions?x=1",
    "x-envoy-upstream-service-time": "888",
    "x-request-id": "r1",
    ...fields,
  })}\n`;
const UNSET = {
  "gen_ai.usage.input_tokens": null,
  "gen_ai.usage.output_tokens": null,
  "gen_ai.usage.total_tokens": null,
};

test.for([
  {
    name: "reads usage; reasoning is inside output",
    log: ai({ "gen_ai.usage.reasoning_tokens": 5 }),
    want: { finished: 1, tokens: { in: 100, out: 20, out_reasoning: 5 }, latency: { e2e: 3000, ttfb: 888 } },
  },
  {
    name: "leaves null usage unknown and counts it",
    log: ai(UNSET),
    want: { finished: 1, tokens: {}, counters: { ok_without_usage: 1 } },
  },
  {
    name: "leaves usage printed as - unknown",
    log: ai({ "gen_ai.usage.input_tokens": "-", "gen_ai.usage.output_tokens": "-" }),
    want: { finished: 1, tokens: {}, rejected: {} },
  },
  {
    name: "takes an MCP call for a tool call",
    log: ai({ ...UNSET, "gen_ai.request.model": null, "mcp.method.name": "tools/call", "mcp.tool.name": "search" }),
    want: { finished: null, latency: { tool: 3000 }, counters: { tool_calls: 1 }, other: 1 },
  },
  {
    name: "names a tool call that timed out",
    log: ai({
      ...UNSET,
      "mcp.method.name": "tools/call",
      "mcp.tool.name": "s",
      response_code: 504,
      response_flags: "UT",
    }),
    want: { failed: null, errors: { tool_call_timeout: 1 }, counters: { tool_calls: 1 } },
  },
  {
    name: "counts no other MCP method as a tool call",
    log: ai({ ...UNSET, "mcp.method.name": "initialize" }),
    want: { finished: null, latency: {}, counters: {} },
  },
  {
    name: "reads the metadata's own names: TTFT, ITL, cached tokens",
    log: ai({ token_latency_ttft: 150.5, token_latency_itl: 12, llm_cached_input_token: 60 }),
    want: {
      latency: { e2e: 3000, ttfb: 888, ttft: 150.5, itl: 12 },
      tokens: { in: 100, in_cached: 60, in_processed: 40, out: 20 },
    },
  },
  {
    name: "reads the names of the first releases",
    log: ai({ ...UNSET, genai_model_name: "m", genai_tokens_input: 44, genai_tokens_output: 12 }),
    want: { finished: 1, tokens: { in: 44, out: 12 } },
  },
  {
    name: "decides by details where there is no flag",
    log: ai({
      ...UNSET,
      response_code: 503,
      response_code_details: "upstream_reset_before_response_started{remote_connection_failure}",
    }),
    want: { failed: 1, errors: { upstream_unreachable: 1 } },
  },
  {
    name: "keeps requests that ask for no answer apart",
    log: ai({
      ...UNSET,
      "gen_ai.request.model": null,
      "gen_ai.response.model": null,
      method: "GET",
      "x-envoy-origin-path": "/v1/models",
    }),
    want: { finished: null, other: 1 },
  },
  {
    name: "reads the text of `aigw run`",
    log: "[2026-03-02T11:00:01.478Z] /v1/chat/completions model=qwen2.5:0.5b 200 llm_input_token=15 llm_output_token=7 llm_reasoning_token=- 1526ms\n",
    want: { finished: 1, tokens: { in: 15, out: 7 }, latency: { e2e: 1526 }, models: { "qwen2.5:0.5b": 1 } },
  },
])("envoy-ai-gateway $name", ({ log, want }) => expectReport(log, want));

test("envoy reads JSON without AI fields", () => {
  const log = `${JSON.stringify({
    start_time: "2026-03-02T10:30:00.320Z",
    method: "POST",
    path: "/v1/completions",
    response_code: "429",
    response_flags: "RL",
    duration: "12",
    upstream_cluster: "x",
  })}\n`;
  const { profiles } = readLog(log);
  expect(profiles).toEqual({ envoy: 1 });
  expectReport(log, { failed: 1, latency: { e2e: 12 }, errors: { rate_limited: 1 } });
});

function expectReport(log: string, want: Report): void {
  const { report } = readLog(log);
  const sums = (values: Report): Report =>
    Object.fromEntries(Object.entries<Report>(values).map(([key, { sum }]) => [key, sum]));
  const got: Report = {
    ...report["requests"],
    models: report["requests"].by_model,
    http: report["http"].inference,
    other: report["http"].other,
    tokens: sums(report["tokens"]),
    latency: sums(report["latency_ms"]),
    counters: report["counters"],
    errors: report["errors"].records,
    rejected: report["rejected_values"],
  };
  expect(Object.fromEntries(Object.keys(want).map((key) => [key, got[key]]))).toEqual(want);
}
