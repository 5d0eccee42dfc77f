import { readFileSync } from "node:fs";
import path from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { FailureRecord, LogRecord } from "../../../src/model/record.ts";
import { readLog } from "../../support/read-log.ts";
import { readWithRestarts } from "../../support/restarts.ts";

const V1 = "(APIServer pid=1) INFO 05-12 09:15:47";
const at = (place: string, message: string, level = "INFO"): string =>
  `(APIServer pid=1) ${level} 05-12 09:15:47 [${place}] ${message}`;
const failures = (log: string): FailureRecord[] => readLog(log).records.filter((record) => record.kind === "failure");
const kinds = (log: string): Array<LogRecord["kind"]> => readLog(log).records.map((record) => record.kind);

const STATS =
  "Avg prompt throughput: 131.4 tokens/s, Avg generation throughput: 42.7 tokens/s, Running: 2 reqs, Waiting: 1 reqs, GPU KV cache usage: 1.3%, Prefix cache hit rate: 12.5%";
const GAUGES = {
  prompt_tokens_per_s: 131.4,
  generation_tokens_per_s: 42.7,
  running: 2,
  waiting: 1,
  kv_cache_usage_ratio: 0.013,
  prefix_cache_hit_ratio: 0.125,
};

describe("vllm statistics", () => {
  test.for([
    {
      name: "engine 000 alone is the stream's engine",
      lines: [`${V1} [loggers.py:271] Engine 000: ${STATS}`],
      gauges: GAUGES,
      profile: "vllm-v1",
    },
    {
      name: "several engines keep their numbers",
      lines: [`${V1} [loggers.py:271] Engine 000: ${STATS}`, `${V1} [loggers.py:271] Engine 001: ${STATS}`],
      gauges: { "000": GAUGES, "001": GAUGES },
      profile: "vllm-v1",
    },
    {
      name: "aggregated engines, path shortened at level DEBUG",
      lines: [`(APIServer pid=66) INFO 09-02 08:46:23 [v1/metrics/loggers.py:271] 2 Engines Aggregated: ${STATS}`],
      gauges: GAUGES,
      profile: "vllm-v1",
    },
    {
      name: "first months of V1: no bracket, no engine, a comma forgotten",
      lines: [`INFO 02-10 12:00:00 loggers.py:72] ${STATS.replace("reqs, GPU", "reqs GPU")}`],
      gauges: GAUGES,
      profile: "vllm-v1",
    },
    {
      name: "deferred, corrupted, external and multimodal figures stand between",
      lines: [
        `${V1} [loggers.py:271] Engine 000: ${STATS.replace("Waiting: 1 reqs", "Waiting: 1 reqs, Deferred: 1 reqs")}, Corrupted: 0 reqs, External prefix cache hit rate: 33.3%, MM cache hit rate: 66.7%`,
      ],
      gauges: GAUGES,
      profile: "vllm-v1",
    },
    {
      name: "process part in colour",
      lines: [`\u001b[1;36m(EngineCore_0 pid=9)\u001b[0;0m INFO 05-12 09:15:47 [loggers.py:271] Engine 000: ${STATS}`],
      gauges: GAUGES,
      profile: "vllm-v1",
    },
    {
      name: "everything in colour",
      lines: [
        `\u001b[36m(APIServer pid=1)\u001b[0;0m \u001b[32mINFO\u001b[0m \u001b[90m05-12 09:15:47\u001b[0m \u001b[90m[loggers.py:271]\u001b[0m Engine 000: ${STATS}`,
      ],
      gauges: GAUGES,
      profile: "vllm-v1",
    },
    {
      name: "worker rank of mid-2025",
      lines: [`(VllmWorker rank=0 pid=311) INFO 05-12 09:15:47 [loggers.py:271] Engine 000: ${STATS}`],
      gauges: GAUGES,
      profile: "vllm-v1",
    },
    {
      name: "copied by a Ray driver",
      lines: [
        `(ServeReplica:default:LLMServer:m pid=811, ip=10.8.0.4) (EngineCore_0 pid=840) INFO 05-12 09:15:47 [loggers.py:271] Engine 000: ${STATS}`,
      ],
      gauges: GAUGES,
      profile: "vllm-v1",
    },
    {
      name: "a prefix of the user's",
      lines: [`[node-a] INFO 05-12 09:15:47 [loggers.py:271] Engine 000: ${STATS}`],
      gauges: GAUGES,
      profile: "vllm-v1",
    },
    {
      name: "V0: swapped, pending, CPU cache and a full stop",
      lines: [
        "INFO 11-25 13:03:05 metrics.py:449] Avg prompt throughput: 1.8 tokens/s, Avg generation throughput: 9.6 tokens/s, Running: 1 reqs, Swapped: 2 reqs, Pending: 3 reqs, GPU KV cache usage: 0.1%, CPU KV cache usage: 50.0%.",
        "INFO 11-25 13:03:05 metrics.py:465] Prefix cache hit rate: GPU: 12.90%, CPU: 7.00%",
      ],
      gauges: {
        prompt_tokens_per_s: 1.8,
        generation_tokens_per_s: 9.6,
        running: 1,
        swapped: 2,
        waiting: 3,
        kv_cache_usage_ratio: 0.001,
        cpu_kv_cache_usage_ratio: 0.5,
        prefix_cache_hit_ratio: 0.129,
      },
      profile: "vllm-v0",
    },
    {
      name: "V0 with brackets",
      lines: [
        "INFO 04-25 13:03:05 [metrics.py:489] Avg prompt throughput: 1.8 tokens/s, Avg generation throughput: 9.6 tokens/s, Running: 1 reqs, Swapped: 0 reqs, Pending: 3 reqs, GPU KV cache usage: 0.1%, CPU KV cache usage: 0.0%.",
      ],
      gauges: {
        prompt_tokens_per_s: 1.8,
        generation_tokens_per_s: 9.6,
        running: 1,
        swapped: 0,
        waiting: 3,
        kv_cache_usage_ratio: 0.001,
        cpu_kv_cache_usage_ratio: 0,
      },
      profile: "vllm-v0",
    },
    {
      name: "Rust front end",
      lines: [
        "(RustFrontend pid=9) INFO 05-29 18:01:06 [log_stats.rs:153] Avg prompt tput: 52.3 toks/s, Avg generation tput: 15.3 toks/s, Reqs Running: 2, Waiting: 0, GPU KV cache used: 3.1%, Prefix cache hit rate: 0.0%",
      ],
      gauges: {
        prompt_tokens_per_s: 52.3,
        generation_tokens_per_s: 15.3,
        running: 2,
        waiting: 0,
        kv_cache_usage_ratio: 0.031,
        prefix_cache_hit_ratio: 0,
      },
      profile: "vllm-rust",
    },
    {
      name: "JSON of a logging configuration",
      lines: [
        JSON.stringify({
          asctime: "2026-05-12 09:15:47,123",
          name: "vllm.v1.metrics.loggers",
          levelname: "INFO",
          message: `Engine 000: ${STATS}`,
        }),
      ],
      gauges: GAUGES,
      profile: "vllm-v1",
    },
    {
      name: "JSON of a Ray replica around vLLM's own line",
      lines: [
        JSON.stringify({
          asctime: "2026-05-12 09:15:47,123",
          levelname: "INFO",
          deployment: "LLMServer",
          replica: "r",
          message: `INFO 05-12 09:15:47 [loggers.py:271] Engine 000: ${STATS}`,
        }),
      ],
      gauges: GAUGES,
      profile: "vllm-v1",
    },
  ])("gauges: $name", ({ lines, gauges, profile }) => {
    const { report, profiles } = readLog(`${lines.join("\n")}\n`);
    expect(report["gauges_last"]).toEqual(gauges);
    expect(profiles).toEqual({ [profile]: lines.length });
  });

  test.for([
    {
      name: "V1 is ten seconds of computed prompt tokens",
      head: "",
      estimated: { prompt_computed: 1314, generation: 427 },
    },
    {
      name: "before 0.16 the prompt counts whole",
      head: "(EngineCore_0 pid=2) INFO 05-12 09:15:01 [core.py:69] Initializing a V1 LLM engine (v0.10.1) with config: model='m'",
      estimated: { prompt: 1314, generation: 427 },
    },
    {
      name: "since 0.16 without what the cache held",
      head: "(EngineCore pid=2) INFO 05-12 09:15:01 [core.py:69] Initializing a V1 LLM engine (v0.20.2) with config: model='m'",
      estimated: { prompt_computed: 1314, generation: 427 },
    },
  ])("estimates: $name", ({ head, estimated }) => {
    const { report } = readLog(`${head}\n${V1} [loggers.py:271] Engine 000: ${STATS}\n`);
    expect(report["tokens_estimated"]).toEqual(estimated);
    expect(report["tokens"]).toEqual({});
    expect(report["requests"].finished).toBeNull();
  });

  test.for([
    {
      name: "speculative decoding counts what was drafted and accepted, whatever the rates",
      line: at(
        "metrics.py:86",
        "SpecDecoding metrics: Mean acceptance length: nan, Accepted throughput: 7.70 tokens/s, Drafted throughput: 9.90 tokens/s, Accepted: 77 tokens, Drafted: 99 tokens, Per-position acceptance rate: 0.939, 0.788, 0.606, Avg Draft acceptance rate: nan%",
      ),
      counters: { draft_accepted: 77, draft_generated: 99 },
    },
    {
      name: "KV transfers by outcome, whatever the connector adds",
      line: at(
        "metrics.py:103",
        "KV Transfer metrics: Num successful transfers=12, Avg xfer time (ms)=4.113, Num failed transfers=1, Throughput (MB/s)=nan",
      ),
      counters: { kv_transfers: 12, kv_transfers_failed: 1 },
    },
    {
      name: "iterations with their tokens",
      line: "(EngineCore pid=2) INFO 05-12 09:15:47 [core.py:400] Iteration(1040): 2 context requests, 900 context tokens, 3 generation requests, 3 generation tokens, iteration elapsed time: 41.25 ms",
      counters: { iterations: 1, context_tokens: 900, generation_tokens: 3 },
    },
    {
      name: "dummy iterations are no work",
      line: "(EngineCore pid=2) INFO 05-12 09:15:47 [core.py:400] Iteration(1041): 0 context requests, 0 context tokens, 0 generation requests, 0 generation tokens, iteration elapsed time: 1.25 ms (dummy)",
      counters: {},
    },
    {
      name: "preemptions of a V1 line, should it have some",
      line: `${V1} [loggers.py:271] Engine 000: ${STATS.replace(", GPU", ", Preemptions: 3, GPU")}`,
      counters: { preemptions: 3 },
    },
  ])("counts: $name", ({ line, counters }) => {
    expect(readLog(`${line}\n`).report["counters"]).toEqual(counters);
  });

  test("figures that are none are refused and counted, the others kept", () => {
    const { report, rejected } = readLog(
      `${V1} [loggers.py:271] Engine 000: ${STATS.replace("12.5%", "nan%").replace("42.7", "nan")}\n`,
    );
    expect(rejected).toEqual(["not-a-number", "not-a-number"]);
    expect(report["gauges_last"]).toEqual({
      prompt_tokens_per_s: 131.4,
      running: 2,
      waiting: 1,
      kv_cache_usage_ratio: 0.013,
    });
    expect(report["tokens_estimated"]).toEqual({ prompt_computed: 1314 });
  });

  test("V0 preemptions are the printed total, and start again with the engine", () => {
    const line = (total: number): string =>
      `WARNING 11-25 13:03:31 scheduler.py:1536] Sequence group chat-3 is preempted by PreemptionMode.RECOMPUTE mode because there is not enough KV cache space. total_num_cumulative_preemption=${total}\n`;
    expect(readLog(line(1) + line(51) + line(101) + line(1)).report["counters"]).toEqual({ preemptions: 102 });
  });
});

const RECEIVED = "Received request chatcmpl-a: params: SamplingParams(n=1, stop=[]), lora_request: None.";

describe("vllm requests", () => {
  test.for([
    {
      name: "one abort is told twice, with two ids",
      lines: ["Aborted request(s) chatcmpl-a-1a2b3c4d.", "Request chatcmpl-a aborted."],
      requests: { aborted: 1, failed: 0 },
    },
    {
      name: "also the other way round",
      lines: ["Request chatcmpl-a aborted.", "Aborted request(s) chatcmpl-a-1a2b3c4d."],
      requests: { aborted: 1, failed: 0 },
    },
    {
      name: "2025: both lines have the client's id",
      lines: ["Aborted request chatcmpl-a.", "Request chatcmpl-a aborted."],
      requests: { aborted: 1, failed: 0 },
    },
    {
      name: "ids that end in eight digits of the client's are not one request",
      lines: [
        "Aborted request(s) req-00000001.",
        "Request req-00000001 aborted.",
        "Aborted request(s) req-00000002.",
        "Request req-00000002 aborted.",
      ],
      requests: { aborted: 2, failed: 0 },
    },
    {
      name: "several ids in one line",
      lines: ["Aborted request(s) cmpl-a-0-1a2b3c4d,cmpl-a-1-5e6f7a8b."],
      requests: { aborted: 2, failed: 0 },
    },
    {
      name: "an id used again is a new request",
      lines: [RECEIVED, "Request chatcmpl-a aborted.", RECEIVED, "Request chatcmpl-a aborted."],
      requests: { received: 2, aborted: 2, failed: 0 },
    },
    {
      name: "failed in all words",
      lines: [
        "Request a failed (engine dead).",
        "Request b failed (bad request): too long.",
        "Request c failed due to ValueError: x.",
        "Request d failed.",
        "Request e failed (input error): y.",
      ],
      requests: { aborted: 0, failed: 5 },
    },
    {
      name: "added is not received",
      lines: ["Added request chatcmpl-a-1a2b3c4d."],
      requests: { received: null, aborted: null, failed: null },
    },
    {
      name: "logged outputs are ends, parts of a stream are not",
      lines: [
        "Generated response a (streaming delta): output: 'x', output_token_ids: [1], finish_reason: None",
        "Generated response a (streaming complete): output: 'xy', output_token_ids: None, finish_reason: streaming_complete",
        "Generated response b: output: 'xy', output_token_ids: [1, 2, 3], finish_reason: length",
      ],
      requests: { finished: 2, by_finish_reason: { length: 1 } },
    },
  ])("$name", ({ lines, requests }) => {
    const { report } = readLog(`${lines.map((line) => at("async_llm.py:415", line)).join("\n")}\n`);
    expect(report["requests"]).toMatchObject(requests);
  });

  test.for([
    {
      name: "the ids of an arrival are its prompt tokens",
      message:
        "Received request a: prompt: 'Hi', params: SamplingParams(n=1), prompt_token_ids: [1, 2, 3], prompt_embeds shape: None, lora_request: None.",
      tokens: 3,
    },
    {
      name: "a list in the prompt is not",
      message:
        "Received request a: prompt: ', prompt_token_ids: [1, 2], lora_request', params: SamplingParams(n=1), prompt_token_ids: None, prompt_embeds shape: None, lora_request: None.",
      tokens: undefined,
    },
    {
      name: "nor one in a stop string of a line without prompt",
      message: "Received request a: params: SamplingParams(stop=[', prompt_token_ids: [1, 2], ']), lora_request: None.",
      tokens: undefined,
    },
    {
      name: "2024: sampling_params before the ids",
      message:
        "Received request a: prompt: 'Hi', sampling_params: SamplingParams(n=1), prompt_token_ids: [1], lora_request: None.",
      tokens: 1,
    },
    {
      name: "2023: other words for the ids",
      message: "Received request a: prompt: 'Hi', sampling params: SamplingParams(n=1), prompt token ids: [1, 2].",
      tokens: 2,
    },
    {
      name: "a line that was cut within the list",
      message: "Received request a: prompt: 'Hi', params: SamplingParams(n=1), prompt_token_ids: [1, 2",
      tokens: undefined,
    },
    {
      name: "an empty list is no token",
      message: "Received request a: prompt: '', params: SamplingParams(n=1), prompt_token_ids: [], lora_request: None.",
      tokens: 0,
    },
  ])("prompt tokens: $name", ({ message, tokens }) => {
    const [record] = readLog(`${at("logger.py:68", message)}\n`).records;
    expect(record).toMatchObject({ kind: "received", tokensIn: tokens });
  });

  test("prompt tokens: the DEBUG line before an arrival lists them", () => {
    const details = at(
      "entrypoints/logger.py:50",
      "Request chatcmpl-a details: prompt: 'Hi', prompt_token_ids: [1, 2, 3], prompt_embeds shape: None.",
      "DEBUG",
    );
    const { report } = readLog(`${details}\n${at("entrypoints/logger.py:60", RECEIVED)}\n`);
    expect(report["tokens"]).toEqual({ in: { count: 1, sum: 3 } });
  });

  test("prompt tokens: a list cut by --max-log-len is no count", () => {
    const log = [
      at("utils.py:278", "non-default args: {'model_tag': 'm', 'max_log_len': 3}"),
      at(
        "logger.py:68",
        "Received request a: prompt: 'Hel', params: SamplingParams(n=1), prompt_token_ids: [1, 2, 3], lora_request: None.",
      ),
      at(
        "logger.py:68",
        "Received request b: prompt: 'Hi', params: SamplingParams(n=1), prompt_token_ids: [1, 2], lora_request: None.",
      ),
    ];
    expect(readLog(`${log.join("\n")}\n`).report["tokens"]).toEqual({ in: { count: 1, sum: 2 } });
  });

  test.for([
    {
      name: "a prompt that holds whole lines",
      line: at(
        "logger.py:37",
        `Received request a: prompt: 'x\\nINFO 05-12 09:15:47 [async_llm.py:1] Aborted request b.', params: SamplingParams(n=1), prompt_token_ids: None, lora_request: None.`,
      ),
      records: ["received"],
    },
    {
      name: "a foreign line with vLLM's words in the middle",
      line: `user asked: INFO 05-12 09:15:47 [loggers.py:271] Engine 000: ${STATS}`,
      records: [],
    },
    { name: "a quotation of a line", line: `"INFO 05-12 09:15:47 [loggers.py:271] Engine 000: ${STATS}"`, records: [] },
    {
      name: "a Rust id that closes the span",
      line: `(RustFrontend pid=9) INFO 05-29 18:01:00 [chat_completions.rs:115] chat_completions{request_id=x}: chat completion finished model=m prompt_tokens=9 output_tokens=9 finish_reason="stop" engine_request_id=y}: chat completion started`,
      records: [],
    },
  ])("hostile: $name", ({ line, records }) => {
    expect(kinds(`${line}\n`)).toEqual(records);
  });

  test.for([
    {
      name: "chat",
      tail: `chat_completions{request_id=chatcmpl-8b engine_request_id=chatcmpl-8b-d85c524e}: chat completion finished model=m prompt_tokens=68 output_tokens=25 finish_reason="stop"`,
      record: { id: "chatcmpl-8b", model: "m", stream: false, tokensIn: 68, tokensOut: 25, finishReason: "stop" },
    },
    {
      name: "streamed",
      tail: `chat_completions{request_id=chatcmpl-8b engine_request_id=chatcmpl-8b-d85c524e}: chat completion finished stream=true model=m prompt_tokens=68 output_tokens=25 finish_reason="tool_calls"`,
      record: { stream: true, finishReason: "tool_calls" },
    },
    {
      name: "completion",
      tail: `completions{request_id=cmpl-1 engine_request_id=cmpl-1-d85c524e}: completion finished model=m prompt_tokens=1 output_tokens=2 finish_reason="length"`,
      record: { id: "cmpl-1", tokensIn: 1, tokensOut: 2 },
    },
    {
      name: "generate",
      tail: `generate{request_id=g-1 engine_request_id=g-1-d85c524e}: generate finished model="a b" prompt_tokens=1 output_tokens=2`,
      record: { model: "a b", finishReason: undefined },
    },
    {
      name: "a figure that is not there stays unknown",
      tail: "generate{request_id=g-1}: generate finished model=m",
      record: { tokensIn: undefined, tokensOut: undefined },
    },
  ])("Rust end: $name", ({ tail, record }) => {
    const { records, report } = readLog(`INFO 05-29 18:01:00 [x.rs:115] ${tail}\n`);
    expect(records).toHaveLength(1);
    expect(records[0]).toMatchObject({ kind: "request", outcome: "ok", ...record });
    expect(report["requests"]).toMatchObject({ received: null, finished: 1, failed: 0, aborted: null });
  });
});

const TRACEBACK = [
  "Traceback (most recent call last):",
  '  File "/opt/vllm/x.py", line 1, in f',
  "    output = g()",
  "torch.OutOfMemoryError: CUDA out of memory.",
];
const worker = (rank: number, message: string): string =>
  `(Worker_TP${rank} pid=${rank}) ERROR 05-12 09:16:47 [multiproc_executor.py:966] ${message}`;
const record = ["WorkerProc hit an exception.", ...TRACEBACK];

describe("vllm failures", () => {
  test.for([
    {
      name: "physical lines of one record, carriage returns kept",
      log: record.map((text) => worker(1, text)).join("\r\n"),
      texts: [record.join("\n")],
    },
    {
      name: "carriage returns removed",
      log: record.map((text) => worker(1, text)).join("\n"),
      texts: [record.join("\n")],
    },
    {
      name: "workers write in between",
      log: record.flatMap((text) => [worker(0, text), worker(1, text)]).join("\n"),
      texts: [record.join("\n"), record.join("\n")],
    },
    {
      name: "two records of one place in one second, carriage returns kept",
      log: [
        ...record.map((text) => `${worker(1, text)}\r`).slice(0, -1),
        worker(1, record.at(-1) ?? ""),
        worker(1, "WorkerProc hit an exception."),
      ].join("\n"),
      texts: [record.join("\n"), "WorkerProc hit an exception."],
    },
    {
      name: "two records of one place in one second, carriage returns removed",
      log: [...record, ...record].map((text) => worker(1, text)).join("\n"),
      texts: [record.join("\n"), record.join("\n")],
    },
    {
      name: "every line ends in CR LF: the mark means nothing",
      log: [
        '(APIServer pid=1) INFO:     10.0.0.7:1 - "GET /health HTTP/1.1" 200 OK',
        at("serving.py:217", "Error with model a", "ERROR"),
        at("serving.py:217", "Error with model b", "ERROR"),
        "",
      ].join("\r\n"),
      texts: ["Error with model a", "Error with model b"],
    },
    {
      name: "a message of several lines",
      log: [at("serving.py:217", "First", "ERROR"), at("serving.py:217", "second", "ERROR")].join("\r\n"),
      texts: ["First\nsecond"],
    },
    {
      name: "a traceback printed outside of logging",
      log: TRACEBACK.map((text) => `(EngineCore pid=2) ${text}`).join("\n"),
      texts: [TRACEBACK.join("\n")],
    },
    {
      name: "uvicorn's error with its traceback",
      log: ["ERROR:    Exception in ASGI application", ...TRACEBACK]
        .map((text) => `(APIServer pid=1) ${text}`)
        .join("\n"),
      texts: [["Exception in ASGI application", ...TRACEBACK].join("\n")],
    },
    {
      name: "a traceback printed after a logged record that has ended is a record of its own",
      log: [
        ...record.slice(0, -1).map((text) => `${worker(1, text)}\r`),
        worker(1, record.at(-1) ?? ""),
        "(Worker_TP1 pid=1) Process Worker_TP1:",
        ...TRACEBACK.map((text) => `(Worker_TP1 pid=1) ${text}`),
      ].join("\n"),
      texts: [record.join("\n"), TRACEBACK.join("\n")],
    },
    {
      name: "a start-up crash without any prefix",
      log: [
        "INFO 11-25 13:02:20 llm_engine.py:249] Initializing an LLM engine (v0.6.4) with config: model='m'",
        ...TRACEBACK,
      ].join("\n"),
      texts: [TRACEBACK.join("\n")],
    },
    {
      name: "bare lines go on with the last failure",
      log: [at("x.py:1", "Boom", "ERROR"), ...TRACEBACK].join("\n"),
      texts: [["Boom", ...TRACEBACK].join("\n")],
    },
    {
      name: "what is dumped beside a fatal error belongs to it",
      log: ["Dumping input data for V1 LLM engine (v0.20.2)", "more of it"]
        .map((text) => `(EngineCore pid=2) ERROR 05-12 09:16:47 [dump_input.py:72] ${text}`)
        .join("\r\n"),
      texts: [],
    },
    {
      name: "a traceback in a JSON field",
      log: JSON.stringify({
        name: "vllm.v1.engine.core",
        levelname: "ERROR",
        message: "EngineCore encountered a fatal error.",
        exc_info: TRACEBACK.join("\n"),
      }),
      texts: [["EngineCore encountered a fatal error.", ...TRACEBACK].join("\n")],
    },
    {
      name: "a continuation never reads as an event",
      log: ["Request a failed (bad request): x", "Aborted request(s) b."]
        .map((text) => at("async_llm.py:601", text))
        .join("\r\n"),
      texts: ["Request a failed (bad request): x"],
    },
    {
      name: "victims of a dead engine are no further failures",
      log: [
        at("async_llm.py:704", "AsyncLLM output_handler failed.", "ERROR"),
        at("async_llm.py:601", "Request a failed (engine dead)."),
        at("async_llm.py:601", "Request b failed (engine dead)."),
      ].join("\n"),
      texts: ["AsyncLLM output_handler failed."],
    },
    {
      name: "unless the engine's own record is missing",
      log: [
        at("async_llm.py:601", "Request a failed (engine dead)."),
        at("async_llm.py:601", "Request b failed (engine dead)."),
      ].join("\n"),
      texts: ["Request a failed (engine dead)."],
    },
    {
      name: "V0 prompts that are too long are warnings",
      log: "WARNING 11-25 13:03:31 scheduler.py:900] Input prompt (5000 tokens) is too long and exceeds limit of 4096\n",
      texts: ["Input prompt (5000 tokens) is too long and exceeds limit of 4096"],
    },
    { name: "warnings are chatter", log: at("x.py:1", "The tokenizer is slow", "WARNING"), texts: [] },
  ])("$name", ({ log, texts }) => {
    expect(failures(`${log}\n`).map(({ text }) => text)).toEqual(texts);
  });

  test("a failure of a worker names its GPU", () => {
    expect(failures(`${worker(1, "WorkerProc hit an exception.")}\n`)[0]?.gpu).toBe("1");
  });

  test("times without a year are the latest that are not in the future", () => {
    const [failure] = failures(`${at("x.py:1", "Boom", "ERROR")}\n`);
    expect(new Date(failure?.timeMs ?? 0).toISOString()).toBe("2026-05-12T09:15:47.000Z");
  });
});

describe("vllm V0 or V1", () => {
  const arrival = (bracket: string): string =>
    `INFO 03-20 13:03:00 ${bracket}logger.py:37] Received request a: prompt: 'x', params: P(), prompt_token_ids: None, lora_request: None.`;
  test.for([
    { name: "brackets alone say V1", lines: [arrival("[")], profiles: { "vllm-v1": 1 }, finished: null },
    { name: "no brackets alone say V0", lines: [arrival("")], profiles: { "vllm-v0": 1 }, finished: 0 },
    {
      name: "V0 kept its engine after brackets came",
      lines: [
        "INFO 03-20 13:02:00 [llm_engine.py:249] Initializing a V0 LLM engine (v0.8.1) with config: model='m'",
        arrival("["),
        "INFO 03-20 13:03:01 [async_llm_engine.py:176] Finished request a.",
      ],
      profiles: { "vllm-v0": 3 },
      finished: 1,
    },
    {
      name: "V1 began before brackets came",
      lines: [
        "INFO 02-10 13:02:00 core.py:51] Initializing a V1 LLM engine (v0.7.2) with config: model='m'",
        arrival(""),
      ],
      profiles: { "vllm-v1": 2 },
      finished: null,
    },
  ])("$name", ({ lines, profiles, finished }) => {
    const log = readLog(`${lines.join("\n")}\n`);
    expect(log.profiles).toEqual(profiles);
    expect(log.report["requests"].finished).toBe(finished);
  });
});

const golden = ["vllm-v1", "vllm-v0", "vllm-rust"].map((name) => ({
  name,
  log: readFileSync(path.join(import.meta.dirname, `../../golden/vllm/${name}.log`)),
}));

describe("vllm properties", () => {
  test.for(golden)("$name: any cut of the bytes gives the same figures", ({ log }) => {
    const whole = readLog(log).report;
    fc.assert(
      fc.property(fc.array(fc.nat(log.length), { maxLength: 8 }), (cuts) => {
        expect(readLog(log, { cuts }).report).toEqual(whole);
      }),
      { numRuns: 30 },
    );
  });

  test.for(golden)("$name: a restart after any line goes on exactly", ({ log }) => {
    const whole = readLog(log).report;
    const restarted = readWithRestarts(log);
    for (const key of ["requests", "http", "tokens", "tokens_estimated", "gauges_last", "counters", "errors"])
      expect(restarted[key]).toEqual(whole[key]);
  });

  test("no mutation of a line takes long", () => {
    const lines = golden.flatMap(({ log }) => log.toString().split("\n"));
    fc.assert(
      fc.property(
        fc.constantFrom(...lines),
        fc.nat(200),
        fc.string({ maxLength: 20 }),
        fc.nat(3000),
        (line, place, text, times) => {
          const mutated = `${line.slice(0, place)}${text.repeat(times)}${line.slice(place)}\n`;
          const start = performance.now();
          readLog(mutated);
          expect(performance.now() - start).toBeLessThan(100);
        },
      ),
      { numRuns: 200 },
    );
  });
});
