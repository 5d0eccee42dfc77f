import { readFileSync } from "node:fs";
import path from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { LogRecord } from "../../../src/model/record.ts";
import { readPython } from "../../../src/profile/sglang/python-literal.ts";
import { parseRequestLine } from "../../../src/profile/sglang/request-line.ts";
import { type ReadLog, readLog } from "../../support/read-log.ts";
import { readWithRestarts } from "../../support/restart-log.ts";

const T = "[2026-02-16 08:01:40";
const META =
  "{'id': 'r1', 'finish_reason': {'type': 'stop', 'matched': 151645}, 'prompt_tokens': 412, 'completion_tokens': 87, 'cached_tokens': 12, 'e2e_latency': 1.5}";
const finish = (out: string, obj = "GenerateReqInput(rid='r1', stream=True)", prefix = `${T}] `): string =>
  `${prefix}Finish: obj=${obj}, out=${out}\n`;
const failures = (log: string): Array<LogRecord & { kind: "failure" }> =>
  readLog(log).records.filter((record) => record.kind === "failure");

describe("batch lines", () => {
  test.for([
    {
      name: "2026: comma, cuda graph before the throughput, pending tokens",
      line: `${T} TP0] Prefill batch [7], #new-seq: 1, #new-token: 412, #cached-token: 8, token usage: 0.25, #running-req: 3, #queue-req: 2, #pending-token: 0, cuda graph: False, input throughput (token/s): 11.30, est. prefill TFLOPS/s (per GPU): 1.25`,
      gauges: { running: 3, waiting: 2, kv_cache_usage_ratio: 0.25, prompt_tokens_per_s: 11.3 },
      counters: { prefill_new_tokens: 412, prefill_cached_tokens: 8 },
    },
    {
      name: "mid-2025: period after batch, trailing comma",
      line: `${T}] Decode batch. #running-req: 2, #token: 1120, token usage: 0.01, cuda graph: True, gen throughput (token/s): 61.05, #queue-req: 0, `,
      gauges: { running: 2, waiting: 0, kv_cache_usage_ratio: 0.01, generation_tokens_per_s: 61.05 },
      counters: {},
    },
    {
      name: "2024: no time, mixed batch, hit rate as a percentage beside a fraction",
      line: "[gpu=0] Prefill batch(mixed #running-req: 2). #new-seq: 1, #new-token: 100, #cached-token: 4, cache hit rate: 12.30%, token usage: 0.10, #queue-req: 1",
      gauges: { running: 2, waiting: 1, kv_cache_usage_ratio: 0.1, prefix_cache_hit_ratio: 0.123 },
      counters: { prefill_new_tokens: 100, prefill_cached_tokens: 4 },
    },
    {
      name: "hybrid model: the full-attention pool is the usage",
      line: `${T} TP0] Decode batch, #running-req: 1, #full token: 900, full token usage: 0.40, mamba num: 3, mamba usage: 0.90, npu graph: True, gen throughput (token/s): 5.00, #queue-req: 0`,
      gauges: { running: 1, waiting: 0, kv_cache_usage_ratio: 0.4, generation_tokens_per_s: 5 },
      counters: {},
    },
    {
      name: "disaggregation and speculative figures stand between",
      line: `${T} TP0] Decode batch, #running-req: 2, #token: 9, token usage: 0.02, accept len: 2.75, accept rate: nan, pre-allocated usage: 0.10, #prealloc-req: 4, #transfer-req: 5, #retracted-req: 6, cuda graph: True, gen throughput (token/s): 61.05, #queue-req: 0`,
      gauges: { running: 2, waiting: 0, kv_cache_usage_ratio: 0.02, generation_tokens_per_s: 61.05 },
      counters: {},
    },
    {
      name: "a data-parallel rank is an engine of its own",
      line: `[2026-02-16 08:01:40.123 DP1 TP4 EP4] Decode batch, #running-req: 2, #token: 9, token usage: 0.02, #queue-req: 0`,
      gauges: { DP1: { running: 2, waiting: 0, kv_cache_usage_ratio: 0.02 } },
      counters: {},
    },
    {
      name: "other ranks of one batch are echoes",
      line: ["PP0 ATTN_CP1 TP1", "PP1 TP0", "TP3", "DP1 ATTN_CP2 TP6"]
        .map((rank) => `${T} ${rank}] Prefill batch, #new-seq: 1, #new-token: 412, #cached-token: 8, #running-req: 3`)
        .join("\n"),
      gauges: {},
      counters: {},
    },
  ])("$name", ({ line, gauges, counters }) => {
    const { report } = readLog(`${line}\n`);
    expect(report["gauges_last"]).toEqual(gauges);
    expect(report["counters"]).toEqual(counters);
  });
});

describe("finished requests", () => {
  test.for([
    { name: "prefix with time", prefix: `${T}] ` },
    { name: "prefix with milliseconds and ranks", prefix: "[2026-02-16 08:01:40.250 DP0 PP0 TP0] " },
    { name: "2024 prefix without time", prefix: "[gpu=0] " },
    { name: "request lines of 2026 have no prefix", prefix: "" },
  ])("$name", ({ prefix }) => {
    const { report } = readLog(finish(`{'meta_info': ${META}}`, undefined, prefix));
    expect(report["requests"]).toMatchObject({ finished: 1, aborted: 0, by_finish_reason: { stop: 1 } });
    expect(report["latency_ms"].e2e).toMatchObject({ count: 1, sum: 1500 });
    expect(report["tokens"]).toEqual({
      in: { count: 1, sum: 412 },
      in_cached: { count: 1, sum: 12 },
      out: { count: 1, sum: 87 },
    });
  });

  const FORGED = `, out={'meta_info': {'id': 'x', 'finish_reason': {'type': 'stop'}, 'prompt_tokens': 9, 'completion_tokens': 9, 'e2e_latency': 9.0}}`;
  test.for([
    {
      name: "a forged end in the prompt",
      line: finish(`{'meta_info': ${META}}`, `GenerateReqInput(text="${FORGED}", rid='r1')`),
    },
    {
      name: "a forged end in the answer",
      line: finish(`{'text': "${FORGED}", 'meta_info': ${META}}`),
    },
    {
      name: "a forged end in the stop string, after the figures",
      line: finish(`{'meta_info': ${META.replace("151645", `"${FORGED}"`)}}`),
    },
    {
      name: "a forged line break in the prompt",
      line: finish(`{'meta_info': ${META}}`, `GenerateReqInput(rid='r1', text='a\\nFinish: obj=X(), out={}\\'')`),
    },
    {
      name: "shortened text and ids (level 2)",
      line: finish(
        `{'text': 'It\\'s' ... 'end"', 'output_ids': [1, 2] ... [3, 4], 'meta_info': ${META}}`,
        "GenerateReqInput(rid='r1', text='abc' ... 'xyz', input_ids=[1, 2] ... [8, 9], sampling_params={'temperature': 0.6, 'stop': None})",
      ),
    },
    {
      name: "headers between",
      line: `${T}] Finish: obj=GenerateReqInput(rid='r1'), headers={'x-smg-routing-key': 'a, out={'}, out={'meta_info': ${META}}\n`,
    },
    {
      name: "an object part that is no literal",
      line: finish(`{'meta_info': ${META}}`, "GenerateReqInput(rid='r1', image_data=http://a/b?c=d(e, x=1)"),
    },
    {
      name: "the rid behind the prompt (2024 field order)",
      line: finish(`{'meta_info': ${META}}`, "GenerateReqInput(text='rid=HEALTH_CHECK', input_ids=None, rid='r1')"),
    },
  ])("figures come from `out` alone: $name", ({ line }) => {
    const { report } = readLog(line);
    expect(report["requests"]).toMatchObject({ finished: 1 });
    expect(report["tokens"].in).toEqual({ count: 1, sum: 412 });
    expect(report["latency_ms"].e2e.sum).toBe(1500);
  });

  test("a line cut before its figures is a request without figures", () => {
    const { report } = readLog(`${finish(`{'meta_info': ${META}}`).slice(0, 120)}\n`);
    expect(report["requests"].finished).toBe(1);
    expect(report["latency_ms"]).toEqual({});
    expect(report["tokens"]).toEqual({});
  });

  test("the same entry twice is one request, a rid used again is two", () => {
    const again = finish(`{'meta_info': ${META.replace("1.5", "2.5")}}`);
    const { report } = readLog(finish(`{'meta_info': ${META}}`) + finish(`{'meta_info': ${META}}`) + again);
    expect(report["requests"].finished).toBe(2);
  });

  test.for([
    { name: "string of 2024", reason: "'FINISH_LENGTH: 16'", is: { length: 1 } },
    { name: "null", reason: "None", is: {} },
    { name: "length", reason: "{'type': 'length', 'length': 16}", is: { length: 1 } },
  ])("finish reason: $name", ({ reason, is }) => {
    const { report } = readLog(finish(`{'meta_info': {'id': 'r1', 'finish_reason': ${reason}}}`));
    expect(report["requests"]).toMatchObject({ finished: 1, by_finish_reason: is });
  });
});

describe("figures of meta_info", () => {
  const read = (more: string): ReadLog =>
    readLog(finish(`{'meta_info': {'id': 'r1', 'finish_reason': None, ${more}}}`));
  test.for([
    {
      name: "TTFT from the end of prefill",
      meta: "'prefill_finished_ts': 1771228897.46, 'request_received_ts': 1771228897.25",
      latency: { ttft: 210 },
      rejected: [],
    },
    { name: "no TTFT from one of the two", meta: "'request_received_ts': 1771228897.25", latency: {}, rejected: [] },
    {
      name: "no TTFT from times never taken",
      meta: "'prefill_finished_ts': 0.0, 'request_received_ts': 1771228897.25",
      latency: {},
      rejected: [],
    },
    { name: "queue", meta: "'queue_time': 0.25", latency: { queue: 250 }, rejected: [] },
    {
      name: "negative queue after a retraction",
      meta: "'queue_time': -3.5, 'e2e_latency': 2.0",
      latency: { e2e: 2000 },
      rejected: ["negative-duration"],
    },
    { name: "an epoch time", meta: "'e2e_latency': 1753355419.0", latency: {}, rejected: ["implausible-duration"] },
    { name: "nan", meta: "'e2e_latency': nan", latency: {}, rejected: ["not-a-number"] },
    { name: "None is unknown", meta: "'e2e_latency': None, 'queue_time': None", latency: {}, rejected: [] },
    { name: "decode throughput is not used", meta: "'decode_throughput': 3.9e-05", latency: {}, rejected: [] },
  ])("$name", ({ meta, latency, rejected }) => {
    const { report, rejected: refused } = read(meta);
    const sums = Object.entries<{ sum: number }>(report["latency_ms"]).map(([name, { sum }]) => [
      name,
      Math.round(sum),
    ]);
    expect(Object.fromEntries(sums)).toEqual(latency);
    expect(refused).toEqual(rejected);
  });
});

describe("aborts", () => {
  test.for([
    { name: "client left", reason: "'message': 'Client disconnected', 'status_code': None", cause: "client_cancelled" },
    { name: "in the queue", reason: "'message': 'Abort in waiting queue'", cause: "client_cancelled" },
    {
      name: "queue full, status as an enumeration member",
      reason: "'message': 'The request queue is full.', 'status_code': <HTTPStatus.SERVICE_UNAVAILABLE: 503>",
      cause: "queue_overflow",
    },
    { name: "no message", reason: "'message': ''", cause: "client_cancelled" },
  ])("$name", ({ reason, cause }) => {
    const line = finish(
      `{'meta_info': {'id': 'r1', 'finish_reason': {'type': 'abort', ${reason}}, 'prompt_tokens': 5, 'completion_tokens': 0, 'e2e_latency': 4.75}}`,
    );
    const { report } = readLog(line);
    expect(report["requests"]).toMatchObject({ finished: 0, aborted: 1, by_finish_reason: {} });
    expect(report["latency_ms"]).toEqual({});
    expect(report["tokens"]).toEqual({});
    expect(report["errors"].records).toEqual({ [cause]: 1 });
  });

  test("a refusal told by its Finish and by its 503 is one failure; a 503 alone is one too", () => {
    const abort = finish(
      "{'meta_info': {'id': 'r1', 'finish_reason': {'type': 'abort', 'message': 'The request queue is full.', 'status_code': 503}}}",
    );
    const access = `${T}] INFO:     10.0.0.1:1 - "POST /v1/chat/completions HTTP/1.1" 503 Service Unavailable\n`;
    expect(readLog(abort + access).report["errors"].records).toEqual({ queue_overflow: 1 });
    expect(readLog(abort + access + access).report["errors"].records).toEqual({ queue_overflow: 2 });
    expect(readLog(access.replace("POST /v1/chat/completions", "GET /health")).records).toHaveLength(1);
  });
});

describe("arrivals and probes", () => {
  test.for([
    { name: "one request", line: "Receive: obj=GenerateReqInput(rid='a', text='x')", received: 1 },
    { name: "a batch", line: "Receive: obj=GenerateReqInput(rid=['a', 'b', 'c'], text=['x', 'y', 'z'])", received: 3 },
    { name: "a probe", line: "Receive: obj=GenerateReqInput(rid='HEALTH_CHECK_17', text=None)", received: null },
    {
      name: "the same request in OpenAI's form is no second one",
      line: "Receive OpenAI: obj={'model': 'm'}\nReceive: obj=GenerateReqInput(rid='a')",
      received: 1,
    },
    {
      name: "JSON",
      line: '{"timestamp": "2026-02-16T08:01:37.699925", "event": "request.received", "rid": "a", "obj": {}}',
      received: 1,
    },
    {
      name: "JSON probe",
      line: '{"timestamp": "2026-02-16T08:01:37.699925", "event": "request.received", "rid": "HEALTH_CHECK_1", "obj": {}}',
      received: null,
    },
    {
      name: "JSON in OpenAI's form",
      line: '{"timestamp": "2026-02-16T08:01:37.699925", "event": "request.received.openai", "obj": {}}',
      received: null,
    },
  ])("$name", ({ line, received }) => {
    const { report, unrecognised } = readLog(`${line}\n`);
    expect(report["requests"].received).toBe(received);
    expect(unrecognised).toEqual([]);
  });

  test("JSON times without offset are local times", () => {
    const [record] = readLog(
      '{"timestamp": "2026-02-16T08:01:37.699925", "event": "request.finished", "rid": "a", "out": {"meta_info": {"id": "a", "queue_time": NaN}}}\n',
    ).records;
    expect(record).toMatchObject({ kind: "request", timeMs: Date.UTC(2026, 1, 16, 8, 1, 37, 699), outcome: "ok" });
  });
});

describe("Req Time Stats", () => {
  const stats = (rest: string, rid = "r1"): string => `${T} TP0] Req Time Stats(rid=${rid}, ${rest}\n`;
  const unified =
    "input len=412, output len=87, type=unified): queue_duration=0.41ms, forward_duration=1932.77ms, start_time=8063.000";

  test.for([
    { name: "before Finish", log: stats(unified) + finish(`{'meta_info': ${META}}`) },
    { name: "after Finish", log: finish(`{'meta_info': ${META}}`) + stats(unified) },
    { name: "alone", log: stats(unified) },
  ])("one request, two durations: $name", ({ log }) => {
    const { report } = readLog(log);
    expect(report["requests"]).toMatchObject({ finished: 1, received: null });
    expect(report["latency_ms"].queue).toMatchObject({ count: 1, sum: 0.41 });
    expect(report["latency_ms"].forward).toMatchObject({ count: 1, sum: 1932.77 });
    expect(report["tokens"].in).toEqual({ count: 1, sum: 412 });
  });

  test("the queue time of Finish wins", () => {
    const log =
      stats(unified) + finish(`{'meta_info': ${META.replace("}", "}").replace(/}$/, ", 'queue_time': 0.005}")}}`);
    expect(readLog(log).report["latency_ms"].queue).toMatchObject({ count: 1, sum: 5 });
  });

  test.for([
    {
      name: "prefill node with its breakdown",
      rest: "bootstrap_room=77, input len=412, output len=1, type=prefill): bootstrap_queue_duration(5.10ms) = alloc_wait(2.05ms) + bootstrap(3.05ms) + other(0.00ms); queue_duration=1.20ms, forward_duration=300.50ms, start=8063.000, transfer_speed=11.25GB/s, transfer_total=103.01MB, #retries=0",
      latency: { queue: 1.2, forward: 300.5 },
      rejected: 0,
    },
    {
      name: "decode node",
      rest: "bootstrap_room=77, input len=412, output len=87, type=decode): prealloc_queue_duration(5.10ms) = bootstrap(3.05ms) + alloc_wait(2.05ms); transfer_duration=7.00ms; queue_duration=1.20ms, forward_duration=300.50ms, start=8063.000",
      latency: { queue: 1.2, forward: 300.5 },
      rejected: 0,
    },
    {
      name: "mid-2026: entry time, transfer units apart",
      rest: "input len=412, output len=1, type=prefill): bootstrap_duration=1.00ms, alloc_wait_duration=2.00ms, queue_duration=1.20ms, forward_duration=300.50ms, entry_time=1779264164.565, transfer_speed=1.00 GB/s, transfer_total=2.00 MB, #retries=0",
      latency: { queue: 1.2, forward: 300.5 },
      rejected: 0,
    },
    {
      name: "a start that was never taken",
      rest: "input len=38, output len=484, type=unified): queue_duration=0.00ms, forward_duration=1759654443392.38ms, start_time=0.000",
      latency: {},
      rejected: 1,
    },
    {
      name: "a forward time that was never taken",
      rest: "input len=38, output len=484, type=unified): queue_duration=0.50ms, forward_duration=0.00ms, entry_time=1779264164.565",
      latency: { queue: 0.5 },
      rejected: 0,
    },
    {
      name: "a negative wait",
      rest: "input len=38, output len=484, type=unified): queue_duration=-2.50ms, forward_duration=10.00ms, start_time=1.000",
      latency: { forward: 10 },
      rejected: 1,
    },
    {
      name: "an unknown form",
      rest: "input len=38, output len=484, type=x): Unknown Time Stats",
      latency: {},
      rejected: 0,
    },
  ])("$name", ({ rest, latency, rejected }) => {
    const { report, rejected: refused } = readLog(stats(rest));
    const sums = Object.entries<{ sum: number }>(report["latency_ms"]).map(([kind, { sum }]) => [kind, sum]);
    expect(Object.fromEntries(sums)).toEqual(latency);
    expect(refused).toHaveLength(rejected);
    expect(report["requests"].finished).toBe(1);
  });

  test("both halves of a disaggregated request are one request", () => {
    const half = (type: string): string =>
      stats(`input len=5, output len=1, type=${type}): queue_duration=1.00ms, forward_duration=2.00ms, start=8.0`);
    const { report } = readLog(half("prefill") + half("decode"));
    expect(report["requests"].finished).toBe(1);
    expect(report["latency_ms"].queue).toMatchObject({ count: 2, sum: 2 });
  });

  test("durations of an aborted request are left out", () => {
    const abort = finish(
      "{'meta_info': {'id': 'r1', 'finish_reason': {'type': 'abort', 'message': 'Client disconnected'}}}",
    );
    expect(readLog(stats(unified) + abort).report["latency_ms"]).toEqual({});
    expect(readLog(abort + stats(unified)).report["latency_ms"]).toEqual({});
  });
});

describe("trouble", () => {
  test.for([
    {
      name: "a retraction is no failure",
      log: `${T} TP0] KV cache pool is full. Retract requests. #retracted_reqs: 2, #new_tokens_gained: 18432, #new_token_ratio: 0.4312 -> 0.9871`,
      counters: { retractions: 2 },
      texts: [],
    },
    {
      name: "a retraction in older words",
      log: `${T} TP0] Decode out of memory happened. #retracted_reqs: 3, #new_token_ratio: 0.4 -> 0.9`,
      counters: { retractions: 3 },
      texts: [],
    },
    {
      name: "a traceback with bare lines, another writer between",
      log: `${T} TP0] Scheduler hit an exception: Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\nINFO:     10.0.0.1:1 - "GET /health HTTP/1.1" 200 OK\ntorch.OutOfMemoryError: CUDA out of memory.\n\n${T}] next`,
      counters: {},
      texts: [
        'Scheduler hit an exception: Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\ntorch.OutOfMemoryError: CUDA out of memory.',
      ],
    },
    {
      name: "the web server's refusal",
      log: `${T}] [http_server] Error: The input (40112 tokens) is longer than the model's context length (32768 tokens).`,
      counters: {},
      texts: ["The input (40112 tokens) is longer than the model's context length (32768 tokens)."],
    },
    {
      name: "a failed health check",
      log: `${T}] Health check failed. Server couldn't get a response from detokenizer for last 20 seconds. tic start time: 08:27:15.`,
      counters: {},
      texts: [
        "Health check failed. Server couldn't get a response from detokenizer for last 20 seconds. tic start time: 08:27:15.",
      ],
    },
    {
      name: "a prompt cut to size (2024)",
      log: "[gpu=0] Request length is longer than the KV cache pool size or the max context length. Truncated!!!",
      counters: { truncated_prompts: 1 },
      texts: [],
    },
    {
      name: "ordinary words are no failure",
      log: `${T} TP0] Load weight end. type=LlamaForCausalLM`,
      counters: {},
      texts: [],
    },
  ])("$name", ({ log, counters, texts }) => {
    const read = readLog(`${log}\n`);
    expect(read.report["counters"]).toEqual(counters);
    expect(failures(`${log}\n`).map(({ text }) => text)).toEqual(texts);
  });

  test("Killed after a child failed is the server's own doing, otherwise the host's", () => {
    const start = `${T}] The server is fired up and ready to roll!\n`;
    const child = `${T}] SIGQUIT received. signum=None, frame=None. It usually means one child failed.\n`;
    expect(failures(`${start}Killed\n`).map(({ cause }) => cause)).toEqual(["host_oom_killed"]);
    expect(failures(`${child}Killed\n`).map(({ cause }) => cause)).toEqual(["worker_node_lost"]);
    expect(readLog("Killed\n").unrecognised).toEqual(["Killed"]);
  });
});

describe("whose line", () => {
  test.for([
    { name: "LMDeploy's statistics", line: `${T} DP0] Avg thr (in/out): 33.1 / 88.9 tokens/s`, profile: false },
    { name: "MLC's lines", line: `${T}] INFO server.py:41: started`, profile: false },
    { name: "vLLM's router", line: `${T}] INFO: Routing request 1 to http://a`, profile: false },
    { name: "an unknown message", line: `${T}] hello`, profile: false },
    { name: "its uvicorn", line: `${T}] INFO:     10.0.0.1:1 - "POST /generate HTTP/1.1" 200 OK`, profile: true },
    { name: "any line with a rank", line: `${T} TP0] hello`, profile: true },
  ])("$name", ({ line, profile }) => {
    expect("sglang" in readLog(`${line}\n`).profiles).toBe(profile);
  });

  test("an unknown message after one of its own", () => {
    expect(readLog(`${T} TP0] hello\n${T}] hello\n`).unrecognised).toEqual([]);
  });
});

describe("properties", () => {
  const log = readFileSync(path.join(import.meta.dirname, "../../golden/sglang/sglang.log"));

  test("any cutting of the bytes gives the same report", () => {
    const whole = readLog(log).report;
    fc.assert(
      fc.property(fc.array(fc.nat(log.length), { maxLength: 30 }), (cuts) => {
        expect(readLog(log, { cuts }).report).toEqual(whole);
      }),
      { numRuns: 20 },
    );
  });

  test("a restart between any lines gives the same records", () => {
    const text = log.toString();
    const whole = readWithRestarts(text, new Set());
    expect(whole).toHaveLength(readLog(log).records.length);
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(70)), (restarts) => {
        expect(readWithRestarts(text, new Set(restarts))).toEqual(whole);
      }),
      { numRuns: 20 },
    );
  });

  test("no mutated line is slow or throws", () => {
    const line = finish(`{'text': '${"a'".repeat(50_000)}', 'meta_info': ${META}}`);
    fc.assert(
      fc.property(fc.nat(line.length), fc.constantFrom("(", "'", "{", ", out={", "\\", "<", "["), (at, insert) => {
        const mutated = line.slice(0, at) + insert.repeat(200) + line.slice(at);
        const began = performance.now();
        parseRequestLine(mutated.slice(23));
        expect(performance.now() - began).toBeLessThan(100);
      }),
      { numRuns: 100 },
    );
  });
});

test.for([
  {
    name: "nested values",
    text: "{'a': [1, -2.5, (True, None)], \"b\": {}} x",
    value: { a: [1, -2.5, [true, null]], b: {} },
  },
  { name: "escapes", text: "'it\\'s \\x41\\u00e9\\n\\\\'", value: "it's Aé\n\\" },
  {
    name: "a call",
    text: "Req(rid='a', n=1, when=datetime.datetime(2025, 1, 2))",
    value: { rid: "a", n: 1, when: {} },
  },
  { name: "an enumeration member", text: "<HTTPStatus.BAD_REQUEST: 400>", value: 400 },
  { name: "a set and bytes", text: "[{'a', 'b'}, b'x']", value: [{}, "x"] },
  { name: "no prototype", text: "{'__proto__': {'x': 1}}", value: {} },
  { name: "cut", text: "{'a': [1, 2", value: undefined },
  { name: "too deep", text: "[".repeat(40), value: undefined },
])("readPython: $name", ({ text, value }) => {
  expect(readPython(text, 0)?.value).toEqual(value);
});
