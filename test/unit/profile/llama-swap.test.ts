import { expect, test } from "vitest";
import { readLog } from "../../support/read-log.ts";

const line = (path: string, rest: string, head = "[INFO] ", method = "POST"): string =>
  `${head}Request 10.0.0.2 "${method} ${path} HTTP/1.1" ${rest}\n`;

test.for([
  {
    name: "answered",
    log: line("/v1/chat/completions", '200 1234 "curl/8.5.0" 2.1s'),
    requests: { finished: 1, by_route: { "/v1/chat/completions": 1 } },
    http: { 200: 1 },
    e2e: 2100,
  },
  {
    name: "without level",
    log: line("/v1/chat/completions", '200 1234 "ua" 1m10.5s', ""),
    requests: { finished: 1 },
    http: { 200: 1 },
    e2e: 70_500,
  },
  {
    name: "with the monitor's name and a time",
    log: line("/v1/chat/completions", '200 1234 "ua" 823.4µs', "2026-02-05T17:01:53Z [proxy] [INFO] "),
    requests: { finished: 1 },
    http: { 200: 1 },
    e2e: 0.8234,
  },
  {
    name: "a failed one has no duration",
    log: line("/v1/chat/completions", '502 27 "ua" 2.1s'),
    requests: { finished: 0, failed: 1 },
    http: { 502: 1 },
    e2e: undefined,
  },
  {
    name: "the client left",
    log: line("/v1/chat/completions", '499 0 "ua" 2.1s'),
    requests: { failed: 0, aborted: 1 },
    http: { 499: 1 },
    e2e: undefined,
  },
  {
    name: "a user agent with quotes and a duration",
    log: line("/v1/chat/completions", '200 1 "x" 9s "y" 2.1s'),
    requests: { finished: 1 },
    http: { 200: 1 },
    e2e: 2100,
  },
  {
    name: "listings are no inference",
    log: line("/v1/models", '200 1 "ua" 2.1s', "[INFO] ", "GET"),
    requests: { finished: null },
    http: {},
    e2e: undefined,
  },
  {
    name: "nor is the proxy's own interface",
    log: line("/api/models/unload", '200 1 "ua" 2.1s'),
    requests: { finished: null },
    http: {},
    e2e: undefined,
  },
  {
    name: "the words within another line are nothing",
    log: `user: ${line("/v1/chat/completions", '200 1 "ua" 2.1s')}`,
    requests: { finished: null },
    http: {},
    e2e: undefined,
  },
])("llama-swap: $name", ({ log, requests, http, e2e }) => {
  const { report } = readLog(log);
  expect(report["requests"]).toMatchObject(requests);
  expect(report["http"].inference).toEqual(http);
  expect(report["latency_ms"].e2e?.sum).toBe(e2e);
});
