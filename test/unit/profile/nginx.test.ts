import { expect, test } from "vitest";
import type { FailureRecord } from "../../../src/model/record.ts";
import { type Report, readLog } from "../../support/read-log.ts";

const json = (fields: Report = {}): string =>
  `${JSON.stringify({
    time_iso8601: "2026-03-02T12:30:00+00:00",
    msec: 1_772_454_600.201,
    remote_addr: "10.0.0.6",
    request_id: "3bcd",
    request: "POST /v1/chat/completions?x=1 HTTP/1.1",
    status: 200,
    body_bytes_sent: 7267,
    request_time: 7.365,
    upstream_addr: "10.42.2.7:8000",
    upstream_status: "200",
    upstream_header_time: "1.473",
    upstream_response_time: "7.365",
    http_user_agent: "x",
    http_x_tenant_id: "globex",
    ...fields,
  })}\n`;
const COMBINED = '10.0.0.1 - - [02/Mar/2026:12:30:00 +0000] "POST /v1/chat/completions HTTP/1.1" 200 12 "-" "x"';

test.for<{ name: string; log: string; want: Report }>([
  {
    name: "reads seconds",
    log: json(),
    want: { finished: 1, latency: { e2e: 7365, ttfb: 1473 }, tenants: { globex: 1 }, http: { 200: 1 }, counters: {} },
  },
  {
    name: "counts tries and takes the header time of the last",
    log: json({ upstream_status: "502, 504, 200", upstream_header_time: "-, -, 0.040" }),
    want: { finished: 1, latency: { e2e: 7365, ttfb: 40 }, counters: { retries: 2 } },
  },
  {
    name: "tells internal redirects from tries",
    log: json({ upstream_status: "404 : 502, 200", upstream_header_time: "0.010 : -, 0.200" }),
    want: { latency: { e2e: 7365, ttfb: 200 }, counters: { retries: 1 } },
  },
  {
    name: "leaves what no upstream answered unknown",
    log: json({
      status: 429,
      upstream_addr: "",
      upstream_status: "",
      upstream_header_time: "",
      upstream_response_time: "",
    }),
    want: { failed: 1, latency: { e2e: 7365 }, errors: { rate_limited: 1 }, counters: {} },
  },
  {
    name: "takes 499 for a client that left",
    log: json({ status: 499, upstream_status: "-", upstream_header_time: "-" }),
    want: { aborted: 1, errors: { client_cancelled: 1 } },
  },
  {
    name: "keeps GET and health checks apart",
    log: json({ request: "GET / HTTP/1.1" }) + json({ request: "POST /health HTTP/1.1" }),
    want: { finished: null, other: 2 },
  },
  {
    name: "reads the default escape, which is no JSON",
    log: json().replace('"http_user_agent":"x"', '"http_user_agent":"agent \\x22q\\x22 \\x5C \\xC3\\xBCn"'),
    want: { finished: 1, latency: { e2e: 7365, ttfb: 1473 } },
  },
  {
    name: "reads unquoted variables that are empty",
    log: json()
      .replace('"upstream_header_time":"1.473"', '"upstream_header_time":-')
      .replace('"upstream_addr":"10.42.2.7:8000"', '"upstream_addr":'),
    want: { finished: 1, latency: { e2e: 7365 } },
  },
  {
    name: "reads other names for the same variables",
    log: `${JSON.stringify({ time: "2026-03-02T12:30:00+00:00", client_ip: "10.0.0.1", method: "POST", uri: "/v1/embeddings", status: "200", request_time: "0.5", upstream_response_time: "0.4", user_agent: "x" })}\n`,
    want: { finished: 1, latency: { e2e: 500 } },
  },
  {
    name: "refuses figures that are none",
    log: json({ request_time: "fast" }),
    want: { finished: 1, rejected: { "not-a-number": 1 } },
  },
  {
    name: "reads combined lines, which hold no duration",
    log: `${COMBINED}\n`,
    want: { finished: 1, latency: {}, http: { 200: 1 } },
  },
  {
    name: "keeps what is no request line apart",
    log: '10.0.0.1 - - [02/Mar/2026:12:30:00 +0000] "\\x16\\x03\\x01" 400 157 "-" "-"\n10.0.0.1 - - [02/Mar/2026:12:30:00 +0000] "" 400 0 "-" "-"\n',
    want: { finished: null, other: 2 },
  },
  {
    name: "is not deceived by a request or an agent that holds a fake line",
    log: `${COMBINED.replace('"x"', '"a\\x22 500 \\x22 1.2.3.4 - - [02/Mar/2026:12:30:00 +0000] \\x22POST /v1/x HTTP/1.1\\x22 500 1"')}\n`,
    want: { finished: 1, failed: 0, http: { 200: 1 } },
  },
  {
    name: "reads the times of ingress-nginx",
    log: `${COMBINED} 456 7.365 [ns-svc-80] [] 10.42.2.7:8000, 10.42.2.8:8000 0, 7267 0.001, 7.364 502, 200 3bcd92eda30a6fa6fd125d5287a8f5cf\n`,
    want: { finished: 1, latency: { e2e: 7365 }, counters: { retries: 1 } },
  },
  {
    name: "reads labelled times",
    log: `${COMBINED} rt=0.362 uct="-, 0.000" uht="-, 0.062" urt="0.000, 0.362"\n`,
    want: { finished: 1, latency: { e2e: 362, ttfb: 62 }, counters: { retries: 1 } },
  },
  {
    name: "reads Kong's suffix",
    log: `${COMBINED} kong_request_id: "a1b2"\n`,
    want: { finished: 1 },
  },
])("nginx $name", ({ log, want }) => expectReport(log, want));

const errorLine = (message: string, level = "error", request = "POST /v1/chat/completions HTTP/1.1"): string =>
  `2026/03/02 12:30:00 [${level}] 7#7: *15 ${message}, client: 10.0.0.6, server: , request: "${request}", upstream: "http://10.42.2.7:8000/v1", host: "llm"\n`;

test.for([
  {
    name: "a refused connection",
    message: "connect() failed (111: Connection refused) while connecting to upstream",
    cause: "upstream_unreachable",
  },
  {
    name: "a timeout",
    message: "upstream timed out (110: Connection timed out) while reading response header from upstream",
    cause: "upstream_timeout",
  },
  { name: "no upstream left", message: "no live upstreams while connecting to upstream", cause: "upstream_overloaded" },
  {
    name: "a body too large",
    message: "client intended to send too large body: 9000000 bytes",
    cause: "request_too_large",
  },
  { name: "its limiter", message: 'limiting requests, excess: 5.1 by zone "llm"', cause: "rate_limited" },
  {
    name: "an upstream that closed before its headers",
    message: "upstream prematurely closed connection while reading response header from upstream",
    cause: "upstream_unreachable",
  },
  {
    name: "an upstream that closed in the middle",
    message: "upstream prematurely closed connection while reading upstream",
    cause: "stream_interrupted",
  },
  {
    name: "a name that does not resolve",
    message: "llm.svc could not be resolved (3: Host not found)",
    cause: "upstream_unreachable",
  },
])("nginx error log: $name", ({ message, cause }) => {
  const [failure] = readLog(errorLine(message)).records as FailureRecord[];
  expect(failure).toMatchObject({ kind: "failure", cause, route: "/v1/chat/completions" });
  expect(failure?.text.startsWith(message)).toBe(true);
});

const REFUSED = errorLine("connect() failed (111: Connection refused) while connecting to upstream");

test.for<{ name: string; log: string; want: Report }>([
  {
    name: "chatter below error is no failure, a client that left is",
    log:
      errorLine("client 10.0.0.1 closed keepalive connection", "info") +
      errorLine("a client request body is buffered to a temporary file /x", "warn") +
      errorLine(
        "epoll_wait() reported that client prematurely closed connection, so upstream connection is closed too while reading upstream",
        "info",
      ),
    want: { errors: { client_cancelled: 1 } },
  },
  {
    name: "each record counts where no access lines are written",
    log: REFUSED + REFUSED,
    want: { errors: { upstream_unreachable: 2 } },
  },
  {
    name: "tries that failed are no failures when the request was answered",
    log: REFUSED + json({ upstream_status: "502, 200" }),
    want: { finished: 1, errors: {}, counters: { upstream_errors: 1, retries: 1 } },
  },
  {
    name: "a failed request counts once, in the words of its last error",
    log: REFUSED + REFUSED + json({ status: 502, upstream_status: "502, 502" }),
    want: { failed: 1, errors: { upstream_unreachable: 1 }, counters: { retries: 1 } },
  },
])("nginx error log: $name", ({ log, want }) => expectReport(log, want));

test("nginx leaves JSON lines of applications alone", () => {
  const log = `${JSON.stringify({ status: 200, method: "POST", path: "/x", duration_ms: 3, remote_addr: "1.2.3.4" })}\n`;
  expect(readLog(log).profiles["nginx"]).toBeUndefined();
});

function expectReport(log: string, want: Report): void {
  const { report } = readLog(log);
  const sums = (values: Report): Report =>
    Object.fromEntries(Object.entries<Report>(values).map(([key, { sum }]) => [key, Math.round(sum * 1000) / 1000]));
  const got: Report = {
    ...report["requests"],
    tenants: report["requests"].by_tenant,
    http: report["http"].inference,
    other: report["http"].other,
    latency: sums(report["latency_ms"]),
    counters: report["counters"],
    errors: report["errors"].records,
    rejected: report["rejected_values"],
  };
  expect(Object.fromEntries(Object.keys(want).map((key) => [key, got[key]]))).toEqual(want);
}
