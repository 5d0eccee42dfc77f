import { expect, test } from "vitest";
import { llamacpp } from "../../../src/profile/llamacpp/index.ts";
import { type Report, readLog } from "../../support/read-log.ts";

const read = (lines: readonly string[]): Report => readLog(`${lines.join("\n")}\n`, { profiles: [llamacpp] }).report;

/** What a table row expects of a report: only what it names. */
interface Want {
  readonly requests?: readonly [finished: number, failed: number, aborted: number];
  readonly prefill?: readonly [count: number, sum: number] | null;
  readonly decode?: readonly [count: number, sum: number] | null;
  readonly total?: readonly [count: number, sum: number] | null;
  readonly in?: readonly [count: number, sum: number] | null;
  readonly processed?: readonly [count: number, sum: number] | null;
  readonly cached?: readonly [count: number, sum: number] | null;
  readonly out?: readonly [count: number, sum: number] | null;
  readonly http?: Record<string, number>;
  readonly other?: number;
  readonly causes?: Record<string, number>;
  readonly rejected?: Record<string, number>;
  readonly counters?: Record<string, number>;
  readonly models?: Record<string, number>;
}

const pair = (figure: { count: number; sum: number } | undefined): readonly [number, number] | null =>
  figure === undefined ? null : [figure.count, Math.round(figure.sum * 1000) / 1000];

function told(report: Report, want: Want): Want {
  const { requests, latency_ms: latency, tokens } = report;
  const all: Required<Want> = {
    requests: [requests.finished, requests.failed, requests.aborted],
    prefill: pair(latency.prefill),
    decode: pair(latency.decode),
    total: pair(latency.engine_total),
    in: pair(tokens.in),
    processed: pair(tokens.in_processed),
    cached: pair(tokens.in_cached),
    out: pair(tokens.out),
    http: report["http"].inference,
    other: report["http"].other,
    causes: report["errors"].records,
    rejected: report["rejected_values"],
    counters: report["counters"],
    models: requests.by_model,
  };
  return Object.fromEntries(Object.keys(want).map((key) => [key, all[key as keyof Want]]));
}

const slot = (func: string, task: number, message: string, id = 0): string =>
  `slot ${func.slice(0, 12).padStart(12)}: id ${String(id).padStart(2)} | task ${task} | ${message}`;
const srv = (func: string, message: string): string => `srv  ${func.slice(0, 12).padStart(12)}: ${message}`;
const figures = (prefillMs: string, prefill: string, decodeMs: string, decode: string, totalMs: string): string[] => [
  `prompt eval time = ${prefillMs.padStart(10)} ms / ${prefill.padStart(5)} tokens (    0.67 ms per token,  1489.69 tokens per second)`,
  `       eval time = ${decodeMs.padStart(10)} ms / ${decode.padStart(5)} tokens (   30.45 ms per token,    32.84 tokens per second)`,
  `      total time = ${totalMs.padStart(10)} ms / ${String(Number(prefill) + Number(decode)).padStart(5)} tokens`,
];
const A = figures("100.50", "20", "400.25", "10", "500.75");
const B = figures("1.00", "2", "3.00", "4", "4.00");
const launch = (task: number, id = 0): string => slot("launch_slot_", task, "processing task, is_child = 0", id);
const release = (task: number, id = 0): string =>
  slot("release", task, "stop processing: n_tokens = 29, truncated = 0", id);
const header = (task: number, id = 0): string => slot("print_timing", task, "", id);
const block2025 = (task: number, lines: readonly string[], id = 0): string[] => [
  release(task, id).replace("n_tokens", "n_past"),
  header(task, id),
  ...lines,
];
const block2026 = (task: number, lines: readonly string[], id = 0): string[] => [
  ...lines.map((line) => slot("print_timing", task, line, id)),
  slot("print_timing", task, "   graphs reused =        238", id),
  release(task, id),
];
const one = { requests: [1, 0, 0], prefill: [1, 100.5], decode: [1, 400.25], total: [1, 500.75] } as const;

const legacy = (func: string, message: string, fields: string, level = "INFO"): string =>
  `${level.padStart(4)} [${func.padStart(24)}] ${message} | tid="127983" timestamp=1723104000 ${fields}`;

const FORGED = [launch(900), ...block2025(900, A)];

const rows: Array<{ name: string; lines: readonly string[]; want: Want }> = [
  {
    name: "2024 text: three records, joined by task id, figures from the named fields",
    lines: [
      legacy("launch_slot_with_task", "slot is processing task", "id_slot=0 id_task=7"),
      legacy("update_slots", "kv cache rm [p0, end)", "id_slot=0 id_task=7 p0=5"),
      legacy(
        "print_timings",
        "prompt eval time     =     100.50 ms /    20 tokens (    5.02 ms per token,   199.00 tokens per second)",
        "id_slot=0 id_task=7 t_prompt_processing=100.504 n_prompt_tokens_processed=20 t_token=5.0252 n_tokens_second=199.0",
      ),
      legacy(
        "print_timings",
        "generation eval time =     400.25 ms /    10 runs   (   40.02 ms per token,    24.98 tokens per second)",
        "id_slot=0 id_task=7 t_token_generation=400.25 n_decoded=10 t_token=40.025 n_tokens_second=24.98",
      ),
      legacy(
        "print_timings",
        "          total time =     500.75 ms",
        "id_slot=0 id_task=7 t_prompt_processing=100.504 t_token_generation=400.25 t_total=500.754",
      ),
      legacy("update_slots", "slot released", "id_slot=0 id_task=7 n_ctx=4096 n_past=29 truncated=false"),
      legacy(
        "log_server_request",
        "request",
        'remote_addr="127.0.0.1" remote_port=52698 status=200 method="POST" path="/completion" params={"a":"b = c"}',
      ),
      legacy(
        "log_server_request",
        "request",
        'remote_addr="" remote_port=-1 status=200 method="GET" path="/health" params={}',
      ),
    ],
    want: {
      requests: [1, 0, 0],
      prefill: [1, 100.504],
      decode: [1, 400.25],
      total: [1, 500.754],
      processed: [1, 20],
      in: null,
      out: [1, 10],
      http: { "200": 1 },
      other: 1,
    },
  },
  {
    name: "2024 text of Ollama's runner: fields by the alphabet, older names",
    lines: [
      'DEBUG [print_timings] prompt eval time     =     100.50 ms /    20 tokens (…) | n_tokens_second=199.0 num_prompt_tokens_processed=20 slot_id=0 t_prompt_processing=100.5 t_token=5.0 task_id=3 tid="1" timestamp=1723104000',
      'DEBUG [print_timings] generation eval time =     400.25 ms /    10 runs   (…) | n_decoded=10 n_tokens_second=25.0 slot_id=0 t_token=40.0 t_token_generation=400.25 task_id=3 tid="1" timestamp=1723104000',
      'DEBUG [print_timings]           total time =     500.75 ms | slot_id=0 t_prompt_processing=100.5 t_token_generation=400.25 t_total=500.75 task_id=3 tid="1" timestamp=1723104000',
    ],
    want: { ...one, processed: [1, 20], out: [1, 10] },
  },
  {
    name: "2024 JSON: the same keys; null (NaN) is refused",
    lines: [
      { msg: "prompt eval time …", t_prompt_processing: 100.5, n_prompt_tokens_processed: 20, t_token: null },
      { msg: "generation eval time …", t_token_generation: null, n_decoded: 10 },
      { msg: "          total time …", t_total: 500.75 },
    ].map((fields) =>
      JSON.stringify({
        tid: "1279",
        timestamp: 1723104000,
        level: "INFO",
        function: "print_timings",
        line: 313,
        ...fields,
        id_slot: 0,
        id_task: 7,
      }),
    ),
    want: { ...one, decode: null, out: [1, 10], rejected: { "not-a-number": 1 } },
  },
  {
    name: "2024: a task error fails the request, and the error of the batch goes with it",
    lines: [
      legacy("launch_slot_with_task", "slot is processing task", "id_slot=0 id_task=7"),
      legacy(
        "update_slots",
        "failed to find free space in the KV cache, retrying with smaller batch size",
        "i=0 n_batch=512 ret=1",
        "WARN",
      ),
      legacy("update_slots", "failed to decode the batch: KV cache is full", "i=0 n_batch=1 ret=1", "ERR"),
      legacy(
        "send_error",
        "task error",
        'id_multi=-1 id_task=7 error="Input prompt is too big compared to KV size. Please try increasing KV size."',
        "ERR",
      ),
    ],
    want: { requests: [0, 1, 0], causes: { kv_cache_exhausted: 2 } },
  },
  {
    name: "October–December 2024: figure lines start with a carriage return",
    lines: [
      launch(0),
      release(0),
      header(0),
      ...A.map((line) => `\r${line}`),
      srv("log_server_r", "request: POST /x 127.0.0.1 200"),
    ],
    want: { ...one, http: { "200": 1 } },
  },
  {
    name: "2025: slots interleave, release comes before the block, the full prompt is of the same task",
    lines: [
      launch(5, 0),
      slot("update_slots", 5, "new prompt, n_ctx_slot = 4096, n_keep = 0, n_prompt_tokens = 25", 0),
      slot("update_slots", 5, "kv cache rm [5, end)", 0),
      launch(6, 1),
      slot("update_slots", 6, "new prompt, n_ctx_slot = 4096, n_keep = 0, n_prompt_tokens = 2", 1),
      slot("update_slots", 6, "kv cache rm [0, end)", 1),
      slot("update_slots", 5, "kv cache rm [20, end)", 0),
      ...block2025(6, B, 1),
      ...block2025(5, A, 0),
    ],
    want: { requests: [2, 0, 0], prefill: [2, 101.5], in: [2, 27], processed: [2, 22], cached: [2, 5], out: [2, 14] },
  },
  {
    name: "2025: the draft line under a second header, or bare under the first, is no second request",
    lines: [
      launch(1),
      ...block2025(1, A),
      header(1),
      "draft acceptance rate = 0.63636 (    7 accepted /    11 generated)",
      launch(2),
      ...block2025(2, A),
      "draft acceptance rate = 0.50000 (    1 accepted /     2 generated)",
    ],
    want: { requests: [2, 0, 0], counters: { draft_accepted: 8, draft_generated: 13 } },
  },
  {
    name: "--log-prefix --log-timestamps of 2025 and the interim of May 2026: only the header has the prefix",
    lines: [...[launch(0), release(0), header(0)].map((line) => `0.00.275.604 I ${line}`), ...A, "0.00.275.661 I "],
    want: one,
  },
  {
    name: "--log-prefix alone: a level letter in front",
    lines: [
      `I ${launch(0)}`,
      `I ${release(0)}`,
      `I ${header(0)}`,
      ...A,
      `W ${srv("stop", "cancel task, id_task = 9")}`,
    ],
    want: { ...one, requests: [1, 0, 1] },
  },
  {
    name: "2026: one line per figure, progress lines are none, figures of tasks may interleave",
    lines: [
      launch(0, 0),
      launch(1, 1),
      slot(
        "print_timing",
        0,
        "prompt processing, n_tokens =   2048, progress = 0.50, t =   3.10 s / 660.00 tokens per second",
      ),
      slot("print_timing", 0, "n_decoded =    100, tg =  33.10 t/s, tg_3s =  33.00 t/s"),
      slot("print_timing", 0, "n_gen =    200, tg =  33.10 t/s, tg_3s =  33.00 t/s"),
      slot("print_timing", 0, A[0] ?? ""),
      slot("print_timing", 1, B[0] ?? "", 1),
      slot("print_timing", 0, A[1] ?? ""),
      slot("print_timing", 1, B[1] ?? "", 1),
      slot("print_timing", 1, B[2] ?? "", 1),
      slot("print_timing", 0, A[2] ?? ""),
      slot("print_timing", 0, "draft acceptance = 0.78205 (  244 accepted /   312 generated), mean len =  3.35"),
      release(1, 1),
      release(0, 0),
    ].map((line, index) => `0.14.580.${String(index).padStart(3, "0")} I ${line}`),
    want: {
      requests: [2, 0, 0],
      prefill: [2, 101.5],
      in: null,
      processed: [2, 22],
      out: [2, 14],
      counters: { draft_accepted: 244, draft_generated: 312 },
    },
  },
  {
    name: "2026 with -lv 4: the full prompt is task.n_tokens, the cache `cached n_tokens`, whatever function says it",
    lines: [
      launch(0),
      slot("operator()", 0, "new prompt, n_ctx_slot = 8192, n_keep = 0, task.n_tokens = 25"),
      slot("operator()", 0, "cached n_tokens = 5, memory_seq_rm [5, end)"),
      ...block2026(0, A),
    ],
    want: { ...one, in: [1, 25], cached: [1, 5], processed: [1, 20] },
  },
  {
    name: "the line of the total was lost: the release ends the task",
    lines: [launch(0), ...block2026(0, A.slice(0, 2))],
    want: { ...one, total: null },
  },
  {
    name: "router: children's task ids collide, their access lines are inner hops, the port names the model",
    lines: [
      `0.01.000.100 I ${srv("load", "spawning server instance with name=gemma:Q4 on port 42027")}`,
      `0.01.000.100 I ${srv("proxy_request", "proxying request to model org/qwen on port 8081")}`,
      'cmd_child_to_router:state:{"state":"ready"}',
      '[42027] cmd_child_to_router:state:{"state":"ready"}',
      `[42027] 0.00.100.000 I ${launch(0)}`,
      `[ 8081] 0.00.100.000 I ${launch(0)}`,
      `[42027] 0.00.100.000 I ${slot("update_slots", 0, "new prompt, n_ctx_slot = 1, n_keep = 0, task.n_tokens = 25")}`,
      `[ 8081] 0.00.100.000 I ${slot("update_slots", 0, "new prompt, n_ctx_slot = 1, n_keep = 0, task.n_tokens = 3")}`,
      ...block2026(0, A).map((line) => `[42027] 0.00.200.000 I ${line}`),
      `[42027] 0.00.200.000 I ${srv("log_server_r", "done request: POST /v1/chat/completions 127.0.0.1 200")}`,
      `0.01.200.000 I ${srv("log_server_r", "done request: POST /v1/chat/completions 10.0.0.9 200")}`,
      `[ 8081] 0.00.300.000 E ${srv("send_error", "task id = 0, error: request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it")}`,
      `[ 8081] 0.00.300.000 W ${srv("stop", "cancel task, id_task = 0")}`,
      `[42027] 0.00.300.000 W ${srv("stop", "cancel task, id_task = 0")}`,
    ],
    want: {
      ...one,
      requests: [1, 1, 0],
      in: [1, 25],
      http: { "200": 1 },
      models: { "gemma:Q4": 1, "org/qwen": 1 },
      causes: { context_length_exceeded: 1, client_cancelled: 1 },
    },
  },
  {
    name: "router with the interim build: figure lines carry only the port, blocks of two children may interleave",
    lines: [
      `[42027] 0.00.341.002 I ${launch(3)}`,
      `[42028] 0.00.341.002 I ${launch(3)}`,
      `[42027] 0.00.341.002 I ${header(3)}`,
      `[42028] 0.00.341.002 I ${header(3)}`,
      ...[0, 1, 2].flatMap((index) => [`[42027] ${A[index]}`, `[42028] ${B[index]}`]),
    ],
    want: { requests: [2, 0, 0], prefill: [2, 101.5], total: [2, 504.75] },
  },
  {
    name: "colours: the reset code of a warning opens the next line",
    lines: [launch(0), ...block2026(0, A)].map(
      (line) => `\u001b[0m\u001b[34m0.00.004.648\u001b[0m \u001b[32mI \u001b[0m${line}`,
    ),
    want: one,
  },
  {
    name: "LM Studio indents the line under its own header",
    lines: [launch(0), ...block2026(0, A)].flatMap((line) => ["[2026-07-01 10:00:00][DEBUG] ", ` ${line}`]),
    want: one,
  },
  {
    name: "empty work: 0.00 ms for one token is kept, the rate is not looked at",
    lines: [
      launch(0),
      ...block2026(
        0,
        figures("0.72", "1", "0.00", "1", "0.72").map((line) => line.replace("32.84", "inf")),
      ),
    ],
    want: { requests: [1, 0, 0], prefill: [1, 0.72], decode: [1, 0], out: [1, 1] },
  },
  {
    name: "0.00 ms for several tokens is no measurement, and for none no work",
    lines: [
      launch(0),
      ...block2026(
        0,
        figures("0.00", "7", "0.00", "0", "0.00").map((line) => line.replace("32.84", "-nan")),
      ),
    ],
    want: { requests: [1, 0, 0], prefill: null, decode: null, processed: [1, 7], out: [1, 0] },
  },
  {
    name: "nan and inf as milliseconds are refused, negatives by the pipeline",
    lines: [
      launch(0),
      ...block2026(0, figures("-nan", "7", "inf", "3", "-4.00")),
      launch(1),
      ...block2026(1, figures("-1.00", "7", "nan(ind)", "-3", "5.00")),
    ],
    want: {
      requests: [2, 0, 0],
      prefill: null,
      decode: null,
      total: [1, 5],
      out: [1, 3],
      rejected: { "not-a-number": 3, "negative-duration": 2, "negative-tokens": 1 },
    },
  },
  {
    name: "February 2025, empty prompt: counts of the task before and the uptime as time of generation are refused",
    lines: [
      launch(0),
      ...block2025(0, A),
      launch(1),
      slot("update_slots", 1, "new prompt, n_ctx_slot = 1024, n_keep = 0, n_prompt_tokens = 0"),
      slot("update_slots", 1, "empty prompt - releasing slot"),
      ...block2025(1, figures("100.50", "20", "1400.00", "10", "1500.50")),
    ],
    want: { ...one, requests: [2, 0, 0], processed: [1, 20], out: [1, 10], rejected: { "implausible-duration": 1 } },
  },
  {
    name: "the same without the lines that tell of the empty prompt: by the figures",
    lines: [
      launch(0),
      ...block2025(0, A),
      ...block2025(1, figures("100.50", "20", "5319943.51", "10", "5320044.01")),
      ...block2025(2, figures("100.50", "20", "400000.00", "10", "400100.50")),
    ],
    want: { ...one, requests: [3, 0, 0], rejected: { "implausible-duration": 2 } },
  },
  {
    name: "a slow machine is not implausible",
    lines: [launch(0), ...block2025(0, figures("30000.00", "20", "59000.00", "10", "89000.00"))],
    want: { requests: [1, 0, 0], decode: [1, 59_000], rejected: {} },
  },
  {
    name: "the cancel line that follows a send_error is the server's clean-up",
    lines: [
      launch(9),
      srv(
        "send_error",
        "task id = 9, error: the request exceeds the available context size. try increasing the context size or enable context shift",
      ),
      release(9),
      srv("cancel_tasks", "cancel task, id_task = 9"),
      srv("cancel_tasks", "cancel task, id_task = 9"),
    ],
    want: { requests: [0, 1, 0], causes: { context_length_exceeded: 1 } },
  },
  {
    name: "a cancel without an error is a client that left: running, waiting for a slot, or known from an earlier log",
    lines: [
      launch(9),
      srv("stop", "cancel task, id_task = 9"),
      release(9),
      srv("stop", "cancel task, id_task = 12"),
      srv("update_slots", "all slots are idle"),
      launch(20),
      srv("stop", "cancel task, id_task = 20"),
    ],
    want: { requests: [0, 0, 3], causes: { client_cancelled: 3 } },
  },
  {
    name: "a cancel and the block in a race: finished, and the client left",
    lines: [launch(9), srv("cancel_tasks", "cancel task, id_task = 9"), ...block2025(9, A)],
    want: { ...one, requests: [1, 0, 0], causes: { client_cancelled: 1 } },
  },
  {
    name: "a cancel after the block: finished, and the client left",
    lines: [launch(9), ...block2025(9, A), srv("cancel_tasks", "cancel task, id_task = 9")],
    want: { requests: [1, 0, 0], causes: { client_cancelled: 1 } },
  },
  {
    name: "a stop after the block followed by an exception: the answer could not be made, nobody left",
    lines: [
      launch(9),
      ...block2026(9, A),
      srv("stop", "cancel task, id_task = 9"),
      srv(
        "operator()",
        'got exception: {"error":{"code":500,"message":"The model produced output that does not match the expected Content-only format","type":"server_error"}}',
      ),
    ],
    want: { requests: [1, 0, 0], causes: { internal_error: 1 } },
  },
  {
    name: "the same task id in a new run of the server is another task",
    lines: [
      launch(0),
      ...block2026(0, A),
      launch(1),
      srv("send_error", "task id = 1, error: Compute error."),
      "build: 5551 (1a2b3c4d) with cc (Debian 12.2.0-14) 12.2.0 for x86_64-linux-gnu",
      launch(0),
      ...block2026(0, A),
      launch(1),
      srv("stop", "cancel task, id_task = 1"),
      release(1),
    ],
    want: { requests: [2, 1, 1], prefill: [2, 201] },
  },
  {
    name: "two servers without a port in one stream have tasks of one number at once",
    lines: [
      launch(0),
      slot("update_slots", 0, "new prompt, n_ctx_slot = 8192, n_keep = 0, task.n_tokens = 25"),
      slot("update_slots", 0, "cached n_tokens = 5, memory_seq_rm [5, end)"),
      launch(0),
      slot("update_slots", 0, "new prompt, n_ctx_slot = 8192, n_keep = 0, task.n_tokens = 2"),
      slot("update_slots", 0, "cached n_tokens = 0, memory_seq_rm [0, end)"),
      ...block2026(0, B),
      ...block2026(0, A),
    ],
    want: { requests: [2, 0, 0], in: [2, 27], cached: [2, 5], processed: [2, 22] },
  },
  {
    name: "a run that ended in the middle of a task, and the next run's task of that number",
    lines: [
      launch(0),
      slot("update_slots", 0, "new prompt, n_ctx_slot = 4096, n_keep = 0, n_prompt_tokens = 900"),
      launch(0),
      slot("update_slots", 0, "new prompt, n_ctx_slot = 4096, n_keep = 0, n_prompt_tokens = 20"),
      ...block2026(0, A),
    ],
    want: { ...one, in: [1, 20] },
  },
  {
    name: "KV exhaustion: pressure is a record, each task lost a failed request, the batch's own errors go with them",
    lines: [
      `W ${srv("decode", "failed to find free space in the KV cache, retrying with smaller batch size, off = 0, n_batch = 256, ret = 1")}`,
      `E ${srv("decode", "Context size has been exceeded. off = 0, n_batch = 1, ret = 1")}`,
      `E ${srv("send_error", "task id = 1580, error: Context size has been exceeded.")}`,
      release(1580),
      `E ${srv("send_error", "task id = 1581, error: Context size has been exceeded.")}`,
      release(1581, 1),
      `E ${srv("update_slots", "decode() failed: Context size has been exceeded.")}`,
      `W ${srv("stop", "cancel task, id_task = 1580")}`,
      `W ${srv("stop", "cancel task, id_task = 1581")}`,
    ],
    want: { requests: [0, 2, 0], causes: { kv_cache_exhausted: 1, context_length_exceeded: 2 } },
  },
  {
    name: "a second error of one task is a second record, not a second failed request",
    lines: [
      srv("send_error", "task id = 4, error: context shift is disabled"),
      srv("send_error", "task id = 4, error: context shift is disabled"),
    ],
    want: { requests: [0, 1, 0], causes: { context_length_exceeded: 2 } },
  },
  {
    name: "embedding and ranking tasks have a release but no block: neither finished nor aborted",
    lines: [launch(0), release(0), srv("log_server_r", "request: POST /v1/embeddings 127.0.0.1 200")],
    want: { http: { "200": 1 }, prefill: null, out: null },
  },
  {
    name: "context shift and truncation: the shortened prompt is what the model saw",
    lines: [
      launch(0),
      slot("update_slots", 0, "new prompt, n_ctx_slot = 1024, n_keep = 0, n_prompt_tokens = 5000"),
      `W ${slot("update_slots", 0, "input truncated, n_ctx = 1024, n_keep = 0, n_left = 1024, n_prompt_tokens = 20")}`,
      `W ${slot("update_slots", 0, "slot context shift, n_keep = 1, n_left = 1022, n_discard = 511")}`,
      ...block2025(0, A).map((line) => line.replace("truncated = 0", "truncated = 1")),
    ],
    want: { ...one, in: [1, 20], counters: { prompts_truncated: 1 } },
  },
  {
    name: "n > 1 and several prompts: as many tasks, each with a block, one access line",
    lines: [
      slot("launch_slot_", 75, "processing task, is_child = 1", 0),
      launch(74, 2),
      ...block2026(75, A, 0),
      ...block2026(74, B, 2),
      srv("log_server_r", "done request: POST /v1/chat/completions 127.0.0.1 200"),
    ],
    want: { requests: [2, 0, 0], http: { "200": 1 } },
  },
  {
    name: "access lines: blanks in paths, no client (unix socket), IPv6, no status, queries; administrative POSTs apart",
    lines: [
      "request: GET /a b/c 127.0.0.1 404",
      "request: POST /completion  200",
      "done request: POST /v1/messages ::1 200",
      "request: POST /completion?x=1 127.0.0.1 500",
      "request: POST /completion 127.0.0.1 -1",
      "request: POST /tokenize 127.0.0.1 200",
      "request: POST /apply-template 127.0.0.1 200",
      "request: POST /slots/0 127.0.0.1 501",
      "request: OPTIONS /v1/chat/completions 127.0.0.1 200",
    ].map((message) => srv("log_server_request", message)),
    want: { http: { "200": 2, "500": 1 }, other: 5 },
  },
  {
    name: "-v: a malformed body with raw newlines forges a block; it ends at the response",
    lines: [
      launch(0),
      srv("log_server_r", 'request:  {"prompt": "'),
      ...FORGED,
      srv("log_server_r", 'response: {"error":{"code":500,"message":"parse error","type":"server_error"}}'),
      ...block2025(0, B),
    ],
    want: { requests: [1, 0, 0], prefill: [1, 1] },
  },
  {
    name: "-v: a body that is no JSON at all forges a block",
    lines: [
      srv("log_server_r", "request:  hello"),
      ...FORGED,
      srv("log_server_r", "response: "),
      launch(1),
      ...block2025(1, B),
    ],
    want: { requests: [1, 0, 0], prefill: [1, 1] },
  },
  {
    name: "-v: a forged response within the body does not help figures of a task that was never launched",
    lines: [
      srv("log_server_r", 'request:  {"prompt": "'),
      srv("log_server_r", "response: {}"),
      header(901),
      ...A,
      srv("log_server_r", "response: {}"),
    ],
    want: { prefill: null, out: null },
  },
  {
    name: "-v: with times printed, a response without one does not end the body",
    lines: [
      `0.00.100.000 D ${srv("log_server_r", 'request:  {"prompt": "')}`,
      srv("log_server_r", "response: {}"),
      ...FORGED,
      `0.00.100.000 D ${srv("log_server_r", "response: {}")}`,
    ],
    want: { prefill: null, out: null },
  },
  {
    name: "-v: a well-formed body of several lines ends where its JSON ends",
    lines: [
      launch(0),
      srv("log_server_r", "request:  {"),
      '  "prompt": "a \\" } b",',
      '  "n_predict": [1, {"x": 2}]',
      "}",
      ...block2025(0, A),
      srv("log_server_r", "response: {}"),
      srv("log_server_r", 'request:  {"prompt": "x"}'),
      launch(1),
      ...block2025(1, B),
    ],
    want: { requests: [2, 0, 0] },
  },
  {
    name: "an answer that is shown raw cannot end a task a second time, nor one that was not launched",
    lines: [
      launch(0),
      ...block2026(0, B),
      "W common_chat_peg_parse: unparsed Content-only output: see:",
      ...block2026(0, A),
      ...block2026(77, A),
    ],
    want: { requests: [1, 0, 0], prefill: [1, 1] },
  },
  {
    name: "the library's own timings are not the server's",
    lines: [
      srv("load_model", "loading model '/m/x.gguf'"),
      "llama_perf_context_print: prompt eval time =       0.00 ms /    12 tokens (    0.00 ms per token,      inf tokens per second)",
      "llama_print_timings:        eval time =    4178.32 ms /    31 runs   (  134.78 ms per token)",
      "llama_perf_context_print:       total time =    5211.06 ms",
    ],
    want: { prefill: null, decode: null, out: null },
  },
  {
    name: "a log that begins within a block: figures without their header belong to nobody",
    lines: [...A.slice(1), launch(4), ...block2025(4, B)],
    want: { requests: [1, 0, 0], decode: [1, 3] },
  },
  {
    name: "a log without launches (begun later, or filtered) still counts its blocks, twice for two runs",
    lines: [...block2026(4, A), ...block2026(5, A), ...block2026(4, B)],
    want: { requests: [3, 0, 0], prefill: [3, 202] },
  },
  {
    name: "GPU memory: the error with all its lines is one record, then the abort's stack",
    lines: [
      launch(0),
      "CUDA error: out of memory",
      "  current device: 0, in function alloc at /src/ggml-cuda.cu:401",
      "  cuMemCreate(&handle, reserve_size, &prop, 0)",
      "/src/ggml/src/ggml-cuda/ggml-cuda.cu:75: CUDA error",
      "[New LWP 17]",
      "#0  0x00007f3c in wait4 () from /lib/libc.so.6",
      launch(1),
      "0.00.100.000 E ggml_backend_cuda_buffer_type_alloc_buffer: allocating 9200.00 MiB on device 0: cudaMalloc failed: out of memory",
      `0.00.100.000 E ${srv("load_model", "failed to load model, '/m/x.gguf'")}`,
      "/src/ggml-backend.cpp:205: GGML_ASSERT(buffer) failed",
    ],
    want: { causes: { gpu_oom: 2, model_load_failed: 1, runner_crash: 1 } },
  },
  {
    name: "a device error by time-stamped lines is one record too",
    lines: [
      launch(0),
      "0.01.000.000 E CUDA error: an illegal memory access was encountered",
      "0.01.000.001 E   current device: 1, in function ggml_backend_cuda_synchronize at /src/ggml-cuda.cu:2400",
      "/src/ggml/src/ggml-cuda/ggml-cuda.cu:75: CUDA error",
    ],
    want: { causes: { cuda_kernel_fault: 1 } },
  },
  {
    name: "a grammar that does not parse: bare lines alone are the record, a failed task is it instead",
    lines: [
      launch(0),
      "parse: error parsing grammar: expecting ')' at ",
      "",
      "root ::= (",
      launch(1),
      "parse: error parsing grammar: expecting ')' at ",
      "",
      "root ::= (",
      "E failed to parse grammar",
      srv("send_error", "task id = 3, error: Failed to initialize samplers: failed to parse grammar"),
      `E ${srv("process_sing", "failed to launch slot with task, id_task = 3")}`,
    ],
    want: { requests: [0, 1, 0], causes: { invalid_request: 2 } },
  },
  {
    name: "exceptions of the HTTP layer by type and text",
    lines: [
      'got exception: {"code":500,"message":"[json.exception.parse_error.101] parse error at line 1","type":"server_error"}',
      `0.00.100.000 W got exception: {"code":400,"message":"\\"messages\\" is required","type":"invalid_request_error"}`,
      srv(
        "operator()",
        'got exception: {"error":{"code":400,"message":"request (9 tokens) exceeds the available context size (8 tokens), try increasing it","type":"exceed_context_size_error"}}',
      ),
      srv("operator()", 'got exception: {"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}'),
      srv(
        "operator()",
        'got exception: {"error":{"code":400,"message":"model name=foo is not found","type":"invalid_request_error"}}',
      ),
      "Unauthorized: Invalid API Key",
      `0.00.100.000 W ${srv("operator()", "unauthorized: Invalid API Key")}`,
    ],
    want: {
      causes: {
        invalid_request: 2,
        context_length_exceeded: 1,
        model_load_cold_start: 1,
        model_not_found: 1,
        auth_invalid_key: 2,
      },
    },
  },
  {
    name: "the end of each regular stop of February 2025 is no crash, and the template's example no lines of ours",
    lines: [
      "main: chat template, chat_template: {%- for m in messages %}, example_format: '<|im_start|>system",
      ...A,
      "'",
      srv("operator()", "operator(): cleaning up before exit..."),
      "terminate called without an active exception",
    ],
    want: { causes: {}, prefill: null },
  },
  {
    name: "models are named by their file; blobs are not",
    lines: [
      srv("load_model", "loading model '/models/Qwen3-30B-Q4_K_M-00001-of-00003.gguf'"),
      launch(0),
      ...block2026(0, A),
      srv("load_model", "loading model '/blobs/sha256-aaaa'"),
      launch(1),
      ...block2026(1, A),
    ],
    want: { models: { "Qwen3-30B-Q4_K_M": 2 } },
  },
];

test.for(rows)("llamacpp: $name", ({ lines, want }) => {
  expect(told(read(lines), want)).toEqual(want);
});
