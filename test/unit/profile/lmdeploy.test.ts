import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { readLog } from "../../support/read-log.ts";
import { readWithRestarts } from "../../support/restarts.ts";

const at = (time: string, message: string, level = "INFO", pid = ""): string =>
  `2026-02-05 17:01:${time} - lmdeploy - ${level}${pid} - async_engine.py:779 - ${message}\n`;
const start = (session: number): string =>
  `session=${session}, history_tokens=0, input_tokens=18, max_new_tokens=512, seq_start=True, seq_end=True, step=0, prep=True`;
const end = (session: number, reason = "stop"): string =>
  `session ${session} finished, reason "${reason}", input_tokens 18, output_tokens 9`;

describe("lmdeploy sessions", () => {
  test.for([
    {
      name: "a turn lasts from its first line to its last",
      log: at("48,145", start(9)) + at("53,229", end(9)),
      e2e: [1, 5084],
    },
    {
      name: "2025: no history in the first line",
      log: at("48,145", start(9).replace("history_tokens=0, ", "")) + at("53,229", end(9)),
      e2e: [1, 5084],
    },
    { name: "an end without its begin has no duration", log: at("53,229", end(9)), e2e: undefined },
    {
      name: "sessions run at the same time",
      log: at("48,000", start(1)) + at("49,000", start(2)) + at("50,000", end(2)) + at("52,000", end(1)),
      e2e: [2, 5000],
    },
    {
      name: "a session has several turns",
      log: at("48,000", start(1)) + at("49,000", end(1)) + at("50,000", start(1)) + at("53,000", end(1)),
      e2e: [2, 4000],
    },
    {
      name: "processes number their sessions apart",
      log:
        at("48,000", start(1), "INFO", " - [pid=41 ppid=1]") +
        at("49,000", end(1), "INFO", " - [pid=42 ppid=1]") +
        at("50,000", end(1), "INFO", " - [pid=41 ppid=1]"),
      e2e: [1, 2000],
    },
  ])("$name", ({ log, e2e }) => {
    const { e2e: seen } = readLog(log).report["latency_ms"];
    expect(seen && [seen.count, seen.sum]).toEqual(e2e);
  });

  test.for([
    {
      name: "error with its type",
      message: 'session 12 finished, ResponseType.INPUT_LENGTH_ERROR, reason "error"',
      requests: { failed: 1, aborted: null },
      causes: { context_length_exceeded: 1 },
    },
    {
      name: "internal error",
      message: 'session 12 finished, ResponseType.INTERNAL_ENGINE_ERROR, reason "error"',
      requests: { failed: 1 },
      causes: { internal_error: 1 },
    },
    {
      name: "cancelled by the engine",
      message: 'session 12 finished, reason "abort", input_tokens 18, output_tokens 3',
      requests: { finished: null, failed: 0, aborted: 1, by_finish_reason: {} },
      causes: { client_cancelled: 1 },
    },
    {
      name: "no room for an answer",
      message: "run out of tokens. session=13.",
      requests: { failed: 1 },
      causes: { context_length_exceeded: 1 },
    },
    {
      name: "no room for an answer, 2025",
      message: "run out of tokens. session_id=13.",
      requests: { failed: 1 },
      causes: { context_length_exceeded: 1 },
    },
    {
      name: "the client left",
      message: "[safe_run] session 14 cancelled: GeneratorExit",
      requests: { aborted: 1, failed: 0 },
      causes: { client_cancelled: 1 },
    },
    {
      name: "prompts are no begin",
      message: "session=1, adapter_name=None, input_tokens=3, prompt='max_new_tokens=512', prompt_token_id=[1]",
      requests: { received: null },
      causes: {},
    },
    {
      name: "an ending quoted in a prompt",
      message: `session=1, adapter_name=None, prompt='${end(3)}'`,
      requests: { finished: null },
      causes: {},
    },
  ])("$name", ({ message, requests, causes }) => {
    const { report } = readLog(at("53,229", message));
    expect(report["requests"]).toMatchObject(requests);
    expect(report["errors"].records).toEqual(causes);
  });

  test("an exception ends the session, and its traceback is part of the failure", () => {
    const log = `${at("53,229", "[safe_run] session 14 exception caught: boom", "ERROR")}Traceback (most recent call last):\n  File "x.py", line 1, in f\nRuntimeError: boom\n`;
    const { records, report } = readLog(log);
    expect(report["requests"]).toMatchObject({ failed: 1 });
    expect(records.filter((record) => record.kind === "failure")).toMatchObject([
      { requestId: "14", text: expect.stringMatching(/boom\nTraceback[^]*RuntimeError: boom$/) },
    ]);
  });

  test("a session that was counted is not counted again", () => {
    expect(
      readLog(at("53,229", "[safe_run] session 14 cancelled: CancelledError") + at("53,230", end(14, "abort"))).report[
        "requests"
      ],
    ).toMatchObject({ aborted: 1 });
  });
});

describe("lmdeploy statistics", () => {
  const GAUGES = {
    prompt_tokens_per_s: 33.1,
    generation_tokens_per_s: 88.9,
    running: 2,
    waiting: 1,
    kv_cache_usage_ratio: 0.012,
  };
  const printed = (head: string, server = "API server (completed/routed/waiting): 9 / 50 / 0", more = ""): string =>
    `[2026-02-05 17:01:53 ${head}] Avg thr (in/out): 33.1 / 88.9 tokens/s, ${server}, Engine (running/waiting): 2 / 1, KV cache: 1.2%, ${more}\n`;
  test.for([
    { name: "printed, trailing comma", log: printed("DP0"), gauges: GAUGES },
    {
      name: "with a hit rate",
      log: printed("DP0", undefined, "Prefix cache hit rate: 12.5%, "),
      gauges: { ...GAUGES, prefix_cache_hit_ratio: 0.125 },
    },
    {
      name: "2026-08: engine number and other server counts",
      log: printed("Engine 000", "Server (succeeded/failed/routed/waiting): 9 / 1 / 50 / 0"),
      gauges: GAUGES,
    },
    {
      name: "ranks are engines once there are several",
      log: at("00,000", "enable metrics, with dp: 2 dp_rank: 0") + printed("DP0") + printed("DP1"),
      gauges: { DP0: GAUGES, DP1: GAUGES },
    },
    {
      name: "2025, through the logger",
      log: at(
        "53,229",
        "DP: 0, Avg prompt throughput: 33.1 tokens/s, Avg generation throughput: 88.9 tokens/s, Running: 2 reqs, Waiting: 1 reqs, GPU KV cache usage: 1.2%, ",
      ),
      gauges: GAUGES,
    },
  ])("$name", ({ log, gauges }) => {
    const { report, profiles } = readLog(log);
    expect(report["gauges_last"]).toEqual(gauges);
    expect(Object.keys(profiles)).toEqual(["lmdeploy"]);
  });

  test("speculative decoding is counted", () => {
    const log = printed(
      "DP0",
      undefined,
      "Draft acceptance rate: 77.8%, Accepted: 77 tokens, Drafted: 99 tokens, Per-position acceptance rate: 0.9",
    );
    expect(readLog(log).report["counters"]).toEqual({ draft_accepted: 77, draft_generated: 99 });
  });
});

test("lmdeploy: a restart after any line goes on exactly", () => {
  const log = readFileSync(path.join(import.meta.dirname, "../../golden/lmdeploy/lmdeploy.log"));
  const { report } = readLog(log);
  const restarted = readWithRestarts(log);
  for (const key of ["requests", "http", "tokens", "latency_ms", "gauges_last", "errors"])
    expect(restarted[key]).toEqual(report[key]);
});
