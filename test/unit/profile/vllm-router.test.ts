import { expect, test } from "vitest";
import { readLog } from "../../support/read-log.ts";

const PLACE = "(request.py:430:vllm_router.services.request_service.request)";
const STATS = [
  "==================================================",
  "Model: example/llm-8b",
  "Server: http://10.0.0.4:8000",
  " Engine Stats: Running Requests: 3, Queued Requests: 1, GPU Cache Hit Rate: 0.45",
  " Request Stats: QPS: 1.20, Avg Latency: 2.1, Avg ITL: 0.02, Prefill Requests: 1, Decoding Requests: 2, Swapped Requests: 0, Finished: 12, Uptime: 600.00 sec",
  "--------------------------------------------------",
  "Model: example/llm-8b",
  "Server: http://10.0.0.5:8000",
  " Engine Stats: No stats available",
  " Request Stats: No stats available",
  "--------------------------------------------------",
  "==================================================",
];
const GAUGES = { "http://10.0.0.4:8000": { running: 3, waiting: 1, prefix_cache_hit_ratio: 0.45 } };

test.for([
  {
    name: "a request is routed",
    log: `[2026-01-05 12:00:00,123] INFO: Routing request 1f2e with session id None to http://10.0.0.4:8000 at 1767614400.123, process time = 0.0012 ${PLACE}\n`,
    received: 1,
  },
  {
    name: "in colour, without session",
    log: `\u001b[32;20m[2026-01-05 12:00:00,123] INFO:\u001b[0m Routing request 1f2e to http://10.0.0.4:8000 at 1767614400.123, process time = 0.0012 \u001b[3m${PLACE}\u001b[0m\n`,
    received: 1,
  },
  {
    name: "JSON",
    log: `${JSON.stringify({ timestamp: "2026-01-05 12:00:00,123", level: "INFO", logger: "vllm_router.services.request_service.request", message: "Routing request 1f2e to http://10.0.0.4:8000 at 1767614400.123, process time = 0.0012", filename: "request.py", lineno: 430 })}\n`,
    received: 1,
  },
  {
    name: "other messages are none",
    log: `[2026-01-05 12:00:00,123] INFO: Scraper initialized ${PLACE}\n`,
    received: null,
  },
])("vllm-router: $name", ({ log, received }) => {
  const { report, profiles } = readLog(log);
  expect(profiles).toEqual({ "vllm-router": 1 });
  expect(report["requests"]).toMatchObject({ received, finished: null });
});

test.for([
  {
    name: "text",
    log: `[2026-01-05 12:00:10,125] INFO: \n${STATS.join("\n")}\n (log_stats.py:80:vllm_router.stats.log_stats)\n`,
    lines: 14,
  },
  {
    name: "JSON",
    log: `${JSON.stringify({ timestamp: "2026-01-05 12:00:00,123", level: "INFO", logger: "vllm_router.stats.log_stats", message: `\n${STATS.join("\n")}\n`, filename: "log_stats.py", lineno: 80 })}\n`,
    lines: 1,
  },
])("vllm-router statistics: $name", ({ log, lines }) => {
  const { report, profiles } = readLog(log);
  expect(profiles).toEqual({ "vllm-router": lines });
  expect(report["gauges_last"]).toEqual(GAUGES);
  expect(report["latency_ms"]).toEqual({});
});

test("vllm-router: an error takes its traceback", () => {
  const log = `[2026-01-05 12:00:00,123] ERROR: Error in _proxy_request ${PLACE}\nTraceback (most recent call last):\n  File "x.py", line 1, in f\nRuntimeError: x\n`;
  expect(readLog(log).records).toMatchObject([
    {
      kind: "failure",
      text: 'Error in _proxy_request\nTraceback (most recent call last):\n  File "x.py", line 1, in f\nRuntimeError: x',
    },
  ]);
});
