import { expect, test } from "vitest";
import { llamacpp } from "../../../src/profile/llamacpp/index.ts";
import { ollama } from "../../../src/profile/ollama/index.ts";
import { type Report, readLog } from "../../support/read-log.ts";

const read = (lines: readonly string[]) => readLog(`${lines.join("\n")}\n`, { profiles: [llamacpp, ollama] });

const gin = (status: number, duration: string, route = "/api/chat", method = "POST"): string =>
  `[GIN] 2025/09/18 - 10:00:20 | ${status} | ${duration.padStart(13)} | ${"10.4.0.7".padStart(15)} | ${method.padEnd(8)} "${route}"`;
const slog = (level: string, source: string, rest: string): string =>
  `time=2025-09-18T10:00:10.402+02:00 level=${level} source=${source}:399 msg=${rest}`;
const START = slog("INFO", "routes.go", '"Listening on [::]:11434 (version 0.12.0)"');
const CHILD = slog("INFO", "llama_server.go", '"starting llama-server" cmd="llama-server --log-verbosity 4"');
const LEFT = '"aborting completion request due to client closing the connection"';

const slot = (func: string, task: number, message: string, id = 0): string =>
  `slot ${func.padStart(12)}: id ${String(id).padStart(2)} | task ${task} | ${message}`;
/** One completion of the embedded server: 20 of 25 prompt tokens processed, 10 generated. */
const completion = (task: number, id = 0): string[] => [
  slot("launch_slot_", task, "processing task, is_child = 0", id),
  slot("update_slots", task, "new prompt, n_ctx_slot = 8192, n_keep = 0, task.n_tokens = 25", id),
  slot("print_timing", task, "n_decoded =    100, tg =  33.10 t/s", id),
  slot("print_timing", task, "prompt eval time =     100.50 ms /    20 tokens (…)", id),
  slot("print_timing", task, "       eval time =     400.25 ms /    10 tokens (…)", id),
  slot("print_timing", task, "      total time =     500.75 ms /    30 tokens", id),
  slot("release", task, "stop processing: n_tokens = 34, truncated = 0", id),
  "srv  update_slots: all slots are idle",
  "srv  log_server_r: done request: POST /completion 127.0.0.1 200",
];
const cancelled = (task: number): string[] => [
  slot("launch_slot_", task, "processing task, is_child = 0"),
  slog("INFO", "llama_server.go", LEFT),
  `srv          stop: cancel task, id_task = ${task}`,
  slot("release", task, "stop processing: n_tokens = 202, truncated = 0"),
];

test.for([
  { name: "microseconds", text: "54.234µs", ms: 0.054234 },
  { name: "milliseconds", text: "812.0045ms", ms: 812.0045 },
  { name: "seconds", text: "4.120334011s", ms: 4120.334011 },
  { name: "minutes and seconds", text: "1m10s", ms: 70_000 },
  { name: "hours", text: "1h2m5s", ms: 3_725_000 },
  { name: "whole minutes", text: "1m0s", ms: 60_000 },
  { name: "nothing", text: "0s", ms: 0 },
])("ollama: the access line's duration in $name", ({ text, ms }) => {
  const e2e = read([gin(200, text)]).report["latency_ms"].e2e;
  expect(e2e.count).toBe(1);
  expect(e2e.sum).toBeCloseTo(ms, 9);
});

test.for([
  {
    name: "colours of a terminal",
    line: '[GIN] 2025/09/18 - 10:00:20 |\u001b[97;42m 200 \u001b[0m|  4.1s |        10.4.0.7 |\u001b[97;46m POST    \u001b[0m "/api/chat"',
  },
  {
    name: "an IPv6 client",
    line: '[GIN] 2025/09/18 - 10:00:20 | 200 |  4.1s | 2001:db8:85a3:8d3:1319:8a2e:370:7348 | POST     "/api/chat"',
  },
  {
    name: "narrow columns of newer gin",
    line: '[GIN] 2026/09/18 - 10:00:20 | 200 |     4.1s |        10.4.0.7 | POST    "/api/chat"',
  },
  {
    name: "no client (unix socket)",
    line: '[GIN] 2026/09/18 - 10:00:20 | 200 |     4.1s |                 | POST    "/api/chat"',
  },
  { name: "no dash", line: '[GIN] 2026/09/18 10:00:20 | 200 |  4.1s |  10.4.0.7 | POST "/api/chat"' },
  { name: "a query string", line: '[GIN] 2026/09/18 - 10:00:20 | 200 |  4.1s |  10.4.0.7 | POST     "/api/chat?x=|1"' },
])("ollama: an access line with $name", ({ line }) => {
  const { report } = read([line]);
  expect(report["latency_ms"].e2e).toMatchObject({ count: 1, sum: 4100 });
  expect(report["requests"].by_route).toEqual({ "/api/chat": 1 });
});

test("ollama: an access line's time is in the zone that the records state", () => {
  const { records } = read([START, gin(200, "1s")]);
  expect(records.map(({ timeMs }) => timeMs)).toEqual([Date.UTC(2025, 8, 18, 8, 0, 20)]);
});

test.for([
  {
    name: "a gateway on gin that prints a request id",
    line: "[GIN] 2025/09/18 - 10:00:20 | 2025091810002 | 200 | 1.2s | 10.0.0.1 | POST /v1/chat/completions",
  },
  {
    name: "Prometheus",
    line: 'time=2025-09-18T10:00:10.402Z level=INFO source=main.go:1301 msg="updated GOGC" old=100 new=75',
  },
  {
    name: "a program that prints whole paths",
    line: 'time=2025-09-18T10:00:10.402Z level=INFO source=/src/server.go:13 msg="x"',
  },
  { name: "gin's start-up lines of others", line: "[GIN-debug] GET /x --> main.x (5 handlers)" },
])("ollama: does not take $name", ({ line }) => {
  expect(read([line]).unrecognised).toEqual([line]);
});

interface Want {
  readonly requests?: readonly [finished: number, failed: number, aborted: number];
  readonly e2e?: number;
  readonly decode?: readonly [count: number, sum: number] | null;
  readonly in?: number | null;
  readonly out?: number | null;
  readonly http?: Record<string, number>;
  readonly other?: number;
  readonly causes?: Record<string, number>;
  readonly counters?: Record<string, number>;
  readonly load?: number;
}

function told({ requests, latency_ms: latency, tokens, ...report }: Report, want: Want): Want {
  const all: Required<Want> = {
    requests: [requests.finished, requests.failed, requests.aborted],
    e2e: latency.e2e?.count ?? 0,
    decode: latency.decode === undefined ? null : [latency.decode.count, latency.decode.sum],
    in: tokens.in?.sum ?? null,
    out: tokens.out?.sum ?? null,
    http: report["http"].inference,
    other: report["http"].other,
    causes: report["errors"].records,
    counters: report["counters"],
    load: latency.model_load?.sum ?? 0,
  };
  return Object.fromEntries(Object.keys(want).map((key) => [key, all[key as keyof Want]]));
}

test.for<{ name: string; lines: readonly string[]; want: Want }>([
  {
    name: "only calls of a model are requests; listings, pulls and shows are not",
    lines: [
      ...["/api/tags", "/api/version", "/"].map((route) => gin(200, "1ms", route, "GET")),
      ...["/api/show", "/api/pull", "/api/blobs/sha256:a"].map((route) => gin(200, "1ms", route)),
      ...["/api/generate", "/api/embed", "/api/embeddings", "/v1/embeddings", "/v1/responses", "/v1/messages"].map(
        (route) => gin(200, "1ms", route),
      ),
    ],
    want: { requests: [6, 0, 0], http: { "200": 6 }, other: 6, e2e: 6 },
  },
  {
    name: "latency is of answered calls; 503 is a full queue; others fail without a record",
    lines: [gin(404, "1ms"), gin(400, "1ms"), gin(503, "1ms"), gin(500, "9s"), gin(200, "1s")],
    want: { requests: [1, 4, 0], e2e: 1, causes: { queue_overflow: 1 } },
  },
  {
    name: "up to 0.29 a generation that the client cut off says 200: it counts as finished, and an abort besides",
    lines: [slog("INFO", "server.go", LEFT), gin(200, "1m11s"), gin(200, "2s")],
    want: { requests: [2, 0, 1], http: { "200": 2 }, causes: { client_cancelled: 1 } },
  },
  {
    name: "an abort of the runner with 499 is one abort",
    lines: [slog("INFO", "runner.go", LEFT), gin(499, "1.61s"), gin(499, "1s")],
    want: {
      requests: [0, 0, 2],
      http: { "499": 2 },
      causes: { client_cancelled: 2 },
    },
  },
  {
    name: "a client that left while the model loaded: the warning is the record, 499 the request",
    lines: [
      slog("WARN", "server.go", '"client connection closed before server finished loading, aborting load"'),
      slog(
        "ERROR",
        "sched.go",
        '"error loading llama server" error="timed out waiting for llama runner to start: context canceled"',
      ),
      gin(499, "15s"),
    ],
    want: { causes: { client_cancelled: 1, model_load_failed: 1 }, http: { "499": 1 } },
  },
  {
    name: "loads: time, time-outs, memory of host and device",
    lines: [
      slog("INFO", "server.go", '"llama runner started in 2.91 seconds"'),
      slog("INFO", "llama_server.go", '"llama-server started in 3.71 seconds"'),
      slog(
        "ERROR",
        "sched.go",
        '"error loading llama server" error="timed out waiting for llama runner to start - progress 0.54 - "',
      ),
      slog(
        "INFO",
        "sched.go",
        '"Load failed" model=/blobs/sha256-a error="model requires more system memory (48.2 GiB) than is available (15.1 GiB)"',
      ),
      slog(
        "INFO",
        "sched.go",
        '"Load failed" model=/blobs/sha256-a error="llama-server process has terminated: cudaMalloc failed: out of memory"',
      ),
    ],
    want: { load: 6620, causes: { model_load_cold_start: 1, model_load_failed: 1, gpu_oom: 1 } },
  },
  {
    name: "a runner's crash: device error with the Go dump is one record, the end of the runner and of the call others",
    lines: [
      START,
      "CUDA error: out of memory",
      "  current device: 0, in function alloc at ggml-cuda.cu:452",
      "ggml-cuda.cu:84: CUDA error",
      "SIGABRT: abort",
      "PC=0x7f00000eb1c m=11 sigcode=18446744073709551610",
      "",
      "goroutine 41 gp=0xc000582000 m=11 mp=0xc000580008 [syscall]:",
      "github.com/ollama/ollama/runner/llamarunner.(*Server).run(0xc0001, {0x1, 0x2})",
      "\tgithub.com/ollama/ollama/runner.go:1 +0x4b",
      "rax    0x0",
      slog("ERROR", "server.go", '"post predict" error="Post \\"http://127.0.0.1:40111/completion\\": EOF"'),
      slog("ERROR", "server.go", '"llama runner terminated" error="exit status 2"'),
      "SIGSEGV: segmentation violation",
      "goroutine 1 [running]:",
    ],
    want: { causes: { gpu_oom: 1, runner_crash: 3 } },
  },
  {
    name: "0.30 and later: the slot's figures belong to the request of the next access line; the inner hop is none",
    lines: [CHILD, ...completion(0), gin(200, "1s"), ...completion(9), gin(200, "1s")],
    want: { requests: [2, 0, 0], e2e: 2, decode: [2, 800.5], in: 50, out: 20, http: { "200": 2 }, other: 0 },
  },
  {
    name: "0.30 and later: two at once, and a call without a completion (an embedding)",
    lines: [
      CHILD,
      ...completion(0, 0).slice(0, 4),
      ...completion(1, 1),
      gin(200, "1s", "/api/embed"),
      ...completion(0, 0).slice(4),
      gin(200, "1s"),
      gin(200, "1s"),
    ],
    want: { requests: [3, 0, 0], e2e: 3, decode: [2, 800.5] },
  },
  {
    name: "0.30 and later: two models are two servers, whose tasks have equal numbers",
    lines: [
      CHILD,
      ...completion(0).slice(0, 2),
      ...completion(0),
      gin(200, "1s"),
      ...completion(0).slice(2),
      gin(200, "1s"),
    ],
    want: { requests: [2, 0, 0], decode: [2, 800.5], in: 50, out: 20 },
  },
  {
    name: "0.30 and later: a client that left shows in three lines and is one abort, its 200 no success",
    lines: [CHILD, ...cancelled(5), gin(200, "6.3s", "/api/generate"), ...completion(9), gin(200, "1s")],
    want: { requests: [1, 0, 1], e2e: 2, decode: [1, 400.25], http: { "200": 2 }, causes: { client_cancelled: 1 } },
  },
  {
    name: "0.30 and later: refused by llama-server, one failed request and one record",
    lines: [
      CHILD,
      "srv    send_error: task id = 2410, error: request (8200 tokens) exceeds the available context size (8192 tokens), try increasing it",
      "srv          stop: cancel task, id_task = 2410",
      gin(500, "91ms"),
    ],
    want: { requests: [0, 1, 0], causes: { context_length_exceeded: 1 } },
  },
  {
    name: "0.30 and later: an error after the stream began says 200 and is a failure",
    lines: [
      CHILD,
      slot("launch_slot_", 7, "processing task, is_child = 0"),
      "srv    send_error: task id = 7, error: Context size has been exceeded.",
      slot("release", 7, "stop processing: n_tokens = 0, truncated = 0"),
      gin(200, "9s"),
    ],
    want: { requests: [0, 1, 0], http: { "200": 1 }, causes: { context_length_exceeded: 1 } },
  },
  {
    name: "0.30 and later: the log ends before the access line",
    lines: [CHILD, ...completion(0), ...cancelled(5)],
    want: { requests: [1, 0, 1], e2e: 0, decode: [1, 400.25], out: 10 },
  },
  {
    name: "up to 0.3: the runner's records at debug level are of the request too, its access record is not",
    lines: [
      START,
      'DEBUG [print_timings] prompt eval time     =     100.50 ms /    20 tokens (…) | n_prompt_tokens_processed=20 slot_id=0 t_prompt_processing=100.5 task_id=3 tid="1" timestamp=1723104000',
      'DEBUG [print_timings] generation eval time =     400.25 ms /    10 runs   (…) | n_decoded=10 slot_id=0 t_token_generation=400.25 task_id=3 tid="1" timestamp=1723104000',
      'DEBUG [print_timings]           total time =     500.75 ms | slot_id=0 t_total=500.75 task_id=3 tid="1" timestamp=1723104000',
      'DEBUG [log_server_request] request | method="POST" params={} path="/completion" remote_addr="127.0.0.1" remote_port=1 status=200 tid="1" timestamp=1723104000',
      gin(200, "1s"),
    ],
    want: { requests: [1, 0, 0], decode: [1, 400.25], out: 10, http: { "200": 1 }, other: 0 },
  },
  {
    name: "truncated prompts are counted, and records of files that others have too are Ollama's here",
    lines: [
      slog("WARN", "runner.go", '"truncating input prompt" limit=4096 prompt=9120 keep=4 new=4096'),
      slog("ERROR", "main.go", '"something new" error="went wrong"'),
    ],
    want: { counters: { prompts_truncated: 1 }, causes: { unknown: 1 } },
  },
  {
    name: "a message that quotes another record is text",
    lines: [
      START,
      slog(
        "DEBUG",
        "routes.go",
        `"chat request" prompt="x error=\\"y\\"\\n[GIN] 2025/09/18 - 10:00:20 | 200 | 1s | 1.1.1.1 | POST \\"/api/chat\\""`,
      ),
      slog("ERROR", "routes.go", '"level=ERROR error=\\"a\\"" err=b'),
    ],
    want: { causes: { unknown: 1 }, e2e: 0 },
  },
])("ollama: $name", ({ lines, want }) => {
  expect(told(read(lines).report, want)).toEqual(want);
});

test("ollama: lines of the embedded server are Ollama's, not a llama.cpp server's", () => {
  const { profiles, unrecognised } = read([
    CHILD,
    ...completion(0),
    "load_tensors: offloaded 33/33 layers to GPU",
    gin(200, "1s"),
  ]);
  expect(Object.keys(profiles)).toEqual(["ollama"]);
  expect(unrecognised).toEqual([]);
});

test("ollama: the embedded server's failures have the last time seen", () => {
  const { records } = read([
    CHILD,
    "srv    send_error: task id = 1, error: Compute error.",
    "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 9200.00 MiB on device 0: cudaMalloc failed: out of memory",
  ]);
  expect(records.filter(({ kind }) => kind === "failure").map(({ timeMs }) => timeMs)).toEqual(
    Array.from({ length: 2 }, () => Date.UTC(2025, 8, 18, 8, 0, 10, 402)),
  );
});
