import { describe, expect, test } from "vitest";
import { readLog } from "../../support/read-log.ts";

const P = "[11/07/2025-14:01:00] [TRT-LLM] [I] [_torch][RANK 0] ";
const STATES = "states = {'num_ctx_requests': 1, 'num_ctx_tokens': 412, 'num_generation_tokens': 3}";

describe("iterations", () => {
  test.for([
    {
      name: "1.1: scheduled at the end, with a colon",
      line: `${P}iter = 1, global_rank = 0, rank = 0, currank_total_requests = 1/1, host_step_time = 38.5ms, prev_device_step_time = 10.25ms, timestamp = 2025-11-07 14:01:00, num_scheduled_requests: 2, ${STATES}`,
      latency: { host_step: 38.5, device_step: 10.25 },
      gauges: { scheduled: 2 },
      rejected: [],
    },
    {
      name: "2026: scheduled and KV use in front",
      line: `${P}iter = 1, global_rank = 0, rank = 0, num_scheduled_requests = 2, kv_cache_util = 0.101, kv_hit_rate = 0.93, currank_total_requests = 1/1, host_step_time = 38.5ms, prev_device_step_time = 10.25ms, timestamp = 2026-08-19 14:11:49, ${STATES.replace("}", ", 'cached_kv_tokens': 9}")}`,
      latency: { host_step: 38.5, device_step: 10.25 },
      gauges: { scheduled: 2, kv_cache_usage_ratio: 0.101, prefix_cache_hit_ratio: 0.93 },
      rejected: [],
    },
    {
      name: "not available is unknown",
      line: `${P}iter = 1, global_rank = 0, rank = 0, num_scheduled_requests = 2, kv_cache_util = N/A, host_step_time = 38.5ms, prev_device_step_time = N/A, ${STATES}`,
      latency: { host_step: 38.5 },
      gauges: { scheduled: 2 },
      rejected: [],
    },
    {
      name: "not available, with the unit",
      line: `${P}iter = 1, num_scheduled_requests: 2, host_step_time = 38.5ms, prev_device_step_time = N/Ams, ${STATES}`,
      latency: { host_step: 38.5 },
      gauges: { scheduled: 2 },
      rejected: [],
    },
    {
      name: "broken figures are refused",
      line: `${P}iter = 1, num_scheduled_requests: 2, host_step_time = nanms, prev_device_step_time = -4.5ms, ${STATES}`,
      latency: {},
      gauges: { scheduled: 2 },
      rejected: ["not-a-number", "negative-duration"],
    },
    {
      name: "no time, rank before the level",
      line: `[TRT-LLM] [RANK 0] [I] iter = 1, num_scheduled_requests = 2, host_step_time = 38.5ms, prev_device_step_time = 10.25ms, ${STATES}`,
      latency: { host_step: 38.5, device_step: 10.25 },
      gauges: { scheduled: 2 },
      rejected: [],
    },
  ])("$name", ({ line, latency, gauges, rejected }) => {
    const { report, rejected: refused } = readLog(`${line}\n`);
    const sums = Object.entries<{ sum: number }>(report["latency_ms"]).map(([kind, { sum }]) => [kind, sum]);
    expect(Object.fromEntries(sums)).toEqual(latency);
    expect(report["gauges_last"]).toEqual(gauges);
    expect(report["counters"]).toEqual({ iterations: 1, context_tokens: 412, generation_tokens: 3 });
    expect(report["tokens"]).toEqual({});
    expect(report["requests"]).toMatchObject({ received: null, finished: null, failed: null, aborted: null });
    expect(refused).toEqual(rejected);
  });

  test("the steps that other ranks print too count once", () => {
    const step = (rank: number): string =>
      `[11/07/2025-14:01:00] [TRT-LLM] [I] [_torch][RANK ${rank}] iter = 1, global_rank = ${rank}, rank = ${rank}, num_scheduled_requests = 2, host_step_time = 38.5ms, prev_device_step_time = 10.25ms, ${STATES}\n`;
    const { report } = readLog(step(0) + step(1) + step(0) + step(1));
    expect(report["counters"]).toEqual({ iterations: 2, context_tokens: 824, generation_tokens: 6 });
    expect(report["latency_ms"].host_step.count).toBe(2);
  });

  test("an iteration quoted inside another message is none", () => {
    expect(readLog(`${P}prompt: iter = 1, host_step_time = 1ms, ${STATES}\n`).records).toEqual([]);
  });
});

test.for([
  {
    name: "a traceback with bare lines, access lines between",
    log: '[11/07/2025-14:01:12] [TRT-LLM] [E] Traceback (most recent call last):\n  File "a.py", line 640, in f\nINFO:     10.0.0.1:1 - "GET /health HTTP/1.1" 200 OK\nValueError: x\n\n[11/07/2025-14:01:13] [TRT-LLM] [I] next',
    texts: ['Traceback (most recent call last):\n  File "a.py", line 640, in f\nValueError: x'],
  },
  {
    name: "an error and its traceback are two records, as they are logged",
    log: "[11/07/2025-14:01:20] [TRT-LLM] [E] [_torch][RANK 0] Error in event loop: x\n[11/07/2025-14:01:20] [TRT-LLM] [E] [_torch][RANK 0] Traceback (most recent call last):\n  a\nRuntimeError: x",
    texts: ["Error in event loop: x", "Traceback (most recent call last):\n  a\nRuntimeError: x"],
  },
  {
    name: "the C++ runtime",
    log: "[TensorRT-LLM][ERROR] [3] out of memory\n1       0x7f00aa /a.so(+0x7f00aa) [0x7f00aa]\n[TensorRT-LLM][WARNING] x\n[TensorRT-LLM][INFO] y",
    texts: ["out of memory\n1       0x7f00aa /a.so(+0x7f00aa) [0x7f00aa]"],
  },
  { name: "a warning is no failure", log: "[11/07/2025-14:01:15] [TRT-LLM] [W] KV cache pool is tight", texts: [] },
])("failures: $name", ({ log, texts }) => {
  const { records, unrecognised } = readLog(`${log}\n`);
  expect(records.filter((record) => record.kind === "failure").map(({ text }) => text)).toEqual(texts);
  expect(unrecognised).toEqual([]);
});

test("times are local", () => {
  const [record] = readLog("[11/07/2025-14:01:21] [TRT-LLM] [E] Hang detected on rank 0 in PyExecutor.\n").records;
  expect(record).toMatchObject({ timeMs: Date.UTC(2025, 10, 7, 14, 1, 21), cause: "engine_hang_watchdog" });
});
