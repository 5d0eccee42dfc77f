import { expect, test } from "vitest";
import { readLog } from "../../support/read-log.ts";

const text = (level: string, fields: string, message: string, target = "smg::response"): string =>
  `2026-08-20 10:00:00 ${level.padStart(5)} http_request{method=POST uri=/v1/chat/completions?x=1 version=HTTP/1.1 module="smg" ${fields}}: ${target}: model_gateway/src/middleware/mod.rs:270: ${message}\n`;
const json = `${JSON.stringify({ timestamp: "2026-08-20 10:00:00", level: "INFO", message: "finished processing request", target: "smg::response", filename: "x.rs", line_number: 270, span: { method: "POST", uri: "/v1/chat/completions", version: "HTTP/1.1", request_id: "chatcmpl-1", status_code: 200, latency: 152310, name: "http_request" }, spans: [] })}\n`;

test.for([
  {
    name: "text",
    log: text("INFO", 'request_id="chatcmpl-1" status_code=200 latency=152310', "finished processing request"),
    requests: { finished: 1, failed: 0 },
    http: { 200: 1 },
    ttfb: 152.31,
  },
  { name: "flat JSON", log: json, requests: { finished: 1 }, http: { 200: 1 }, ttfb: 152.31 },
  {
    name: "a client's error",
    log: text("WARN", 'request_id="chatcmpl-1" status_code=429 latency=10', "request failed with client error"),
    requests: { finished: 0, failed: 1 },
    http: { 429: 1 },
    ttfb: undefined,
  },
  {
    name: "a server's error",
    log: text("ERROR", 'request_id="chatcmpl-1" status_code=503 latency=10', "request failed with server error"),
    requests: { failed: 1 },
    http: { 503: 1 },
    ttfb: undefined,
  },
  {
    name: "an arrival",
    log: text("INFO", 'request_id="chatcmpl-1"', "started processing request", "smg::request"),
    requests: { received: 1, finished: 0 },
    http: {},
    ttfb: undefined,
  },
  {
    name: "a request id that closes the span and forges figures",
    log: text(
      "INFO",
      String.raw`request_id="x} status_code=200 latency=1}: smg::response: a.rs:1: finished processing request" status_code=500 latency=10`,
      "request failed with server error",
    ),
    requests: { finished: 0, failed: 1 },
    http: { 500: 1 },
    ttfb: undefined,
  },
])("smg: $name", ({ log, requests, http, ttfb }) => {
  const { report, profiles, records } = readLog(log);
  expect(profiles).toEqual({ smg: 1 });
  expect(report["requests"]).toMatchObject(requests);
  expect(report["http"].inference).toEqual(http);
  expect(report["latency_ms"].ttfb?.sum).toBe(ttfb);
  expect(report["latency_ms"].e2e).toBeUndefined();
  expect(records[0]?.timeMs).toBe(Date.UTC(2026, 7, 20, 10));
});
