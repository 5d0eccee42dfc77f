import { Random } from "./random.ts";
import type { FailureKind, Server, Trip } from "./traffic.ts";

/** One physical line (or several of one record) of one log. */
export interface LogEntry {
  readonly timeMs: number;
  readonly server: Server;
  /** Lines with their newlines. */
  readonly text: string;
}

const iso = (timeMs: number): string => new Date(timeMs).toISOString();
const clock = (timeMs: number): string => iso(timeMs).slice(0, 19).replace("T", " ");

/** Everything one request leaves in the log of its server. */
export function entriesOf(trip: Trip): LogEntry[] {
  const random = new Random(Number.parseInt(trip.id.slice(0, 8), 16));
  const at = (timeMs: number, ...lines: string[]): LogEntry => ({
    timeMs,
    server: trip.server,
    text: lines.map((line) => `${line}\n`).join(""),
  });
  switch (trip.server) {
    case "vllm":
      return vllm(trip, random, at);
    case "sglang":
      return sglang(trip, random, at);
    case "rag-api":
      return [at(trip.endMs, ragApi(trip, random))];
  }
}

type At = (timeMs: number, ...lines: string[]) => LogEntry;

/** vLLM V1 (0.20) with request logging: arrivals, access lines, aborts, tracebacks; no finish line and no latency. */
function vllm(trip: Trip, random: Random, at: At): LogEntry[] {
  const prefix = (timeMs: number, place: string, level = "INFO", process = "APIServer pid=1"): string =>
    `(${process}) ${level} ${clock(timeMs).slice(5)} [${place}] `;
  const { startMs, endMs, route } = trip;
  const id = `${route.includes("chat") ? "chatcmpl" : "cmpl"}-${trip.id.slice(0, 16)}`;
  const access = (status: string): string =>
    `(APIServer pid=1) INFO:     10.0.${random.integer(0, 3)}.${random.integer(2, 250)}:${random.integer(32_768, 60_999)} - "POST ${route} HTTP/1.1" ${status}`;
  if (trip.failure === "model_not_found") {
    return [
      at(
        startMs,
        `${prefix(startMs, "serving.py:217", "ERROR")}Error with model error=ErrorInfo(message='The model \`example/unknown\` does not exist.', type='NotFoundError', param='model', code=404)`,
        access("404 Not Found"),
      ),
    ];
  }
  const received = at(
    startMs,
    `${prefix(startMs, "logger.py:68")}Received request ${id}: params: SamplingParams(n=1, temperature=0.7, top_p=0.9, stop=[], max_tokens=4096), lora_request: None.`,
    `${prefix(startMs, "async_llm.py:415")}Added request ${id}-${random.hex(8)}.`,
  );
  const headersMs = Math.min(endMs, startMs + Math.ceil(trip.ttftMs));
  if (trip.failure === "gpu_oom") {
    const oom = (line: string): string =>
      `${prefix(headersMs, "multiproc_executor.py:966", "ERROR", "Worker_TP1 pid=212")}${line}`;
    return [
      received,
      at(
        headersMs,
        oom("WorkerProc hit an exception."),
        oom("Traceback (most recent call last):"),
        oom(
          '  File "/opt/venv/lib/python3.12/site-packages/vllm/v1/executor/multiproc_executor.py", line 960, in worker_busy_loop',
        ),
        oom("    output = func(*args, **kwargs)"),
        oom(
          "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.16 GiB. GPU 1 has a total capacity of 79.11 GiB of which 643.94 MiB is free.",
        ),
        access("500 Internal Server Error"),
      ),
    ];
  }
  const answered = at(headersMs, access("200 OK"));
  if (trip.failure !== "client_cancelled") return [received, answered];
  return [
    received,
    answered,
    at(
      endMs,
      `${prefix(endMs, "async_llm.py:721")}Aborted request(s) ${id}-${random.hex(8)}.`,
      `${prefix(endMs, "async_llm.py:595")}Request ${id} aborted.`,
    ),
  ];
}

/** SGLang 0.5.9 with `--log-requests --enable-metrics`: one Finish line a request, seconds in a Python dictionary. */
function sglang(trip: Trip, random: Random, at: At): LogEntry[] {
  const { startMs, endMs, id } = trip;
  const stamp = (timeMs: number): string => `[${clock(timeMs)}] `;
  const object = `GenerateReqInput(rid='${id}', sampling_params={'temperature': 0.6, 'max_new_tokens': 4096}, stream=True, log_metrics=True, modalities=[])`;
  const received = at(startMs, `${stamp(startMs)}Receive: obj=${object}`);
  const access = (status: string): string =>
    `INFO:     10.3.0.${random.integer(2, 250)}:${random.integer(32_768, 60_999)} - "POST ${trip.route} HTTP/1.1" ${status}`;
  if (trip.failure === "context_length_exceeded") {
    return [
      at(
        startMs,
        `${stamp(startMs)}[http_server] Error: The input (${trip.inputTokens} tokens) is longer than the model's context length (32768 tokens).`,
        `${stamp(startMs)}${access("400 Bad Request")}`,
      ),
    ];
  }
  const finish = (out: string): string =>
    `${stamp(endMs)}Finish: obj=${object}, out={'meta_info': {'id': '${id}', ${out}}}`;
  if (trip.failure !== undefined) {
    return [
      received,
      at(
        endMs,
        finish(
          `'finish_reason': {'type': 'abort', 'message': 'Client disconnected', 'status_code': None}, 'weight_version': 'default', 'total_retractions': 0, 'completion_tokens': ${trip.outputTokens}`,
        ),
      ),
    ];
  }
  const seconds = (ms: number): string => String(Number((ms / 1000).toFixed(6)));
  const receivedSeconds = startMs / 1000;
  const reason =
    trip.finishReason === "stop" ? "{'type': 'stop', 'matched': 151645}" : "{'type': 'length', 'length': 4096}";
  return [
    received,
    at(startMs + Math.ceil(trip.ttftMs), `${stamp(startMs + Math.ceil(trip.ttftMs))}${access("200 OK")}`),
    at(
      endMs,
      finish(
        `'finish_reason': ${reason}, 'prompt_tokens': ${trip.inputTokens}, 'weight_version': 'default', 'total_retractions': 0, 'queue_time': ${seconds(trip.queueMs)}, ` +
          `'prefill_finished_ts': ${(receivedSeconds + trip.ttftMs / 1000).toFixed(6)}, 'completion_tokens': ${trip.outputTokens}, 'cached_tokens': ${trip.cachedTokens}, ` +
          `'e2e_latency': ${seconds(trip.e2eMs)}, 'request_received_ts': ${receivedSeconds.toFixed(6)}`,
      ),
    ),
  ];
}

const RAG_FAILURES: Partial<
  Record<FailureKind, { readonly status: number; readonly kind: string; readonly error: string }>
> = {
  rate_limited: {
    status: 429,
    kind: "rate_limit",
    error: "Rate limit reached for requests per min (RPM): Limit 500, Used 500. Please try again in 120ms.",
  },
  upstream_timeout: {
    status: 504,
    kind: "upstream_timeout",
    error: "Request timed out: no response from upstream within 30s",
  },
  auth_invalid_key: { status: 401, kind: "auth", error: "Incorrect API key provided" },
  vector_index_missing: {
    status: 404,
    kind: "index_missing",
    error: "Not found: Collection `kb_archive` doesn't exist!",
  },
  prompt_injection_block: { status: 403, kind: "prompt_injection", error: "jailbreak: detected True, filtered True" },
  content_policy_block: { status: 400, kind: "content_policy", error: "violence: filtered True, severity: medium" },
};

/** An application's own JSON line (pino), one a request. */
function ragApi(trip: Trip, random: Random): string {
  const base = {
    level: trip.failure === undefined ? 30 : 50,
    time: trip.endMs,
    msg: trip.failure === undefined ? "chat completed" : "chat failed",
    tenant: trip.tenant,
    model: trip.model,
    route: trip.route,
    request_id: trip.id,
  };
  const failed = trip.failure === undefined ? undefined : RAG_FAILURES[trip.failure];
  if (failed !== undefined) {
    return JSON.stringify({
      ...base,
      status: failed.status,
      error_kind: failed.kind,
      error: failed.error,
      duration_ms: trip.ttftMs,
    });
  }
  const retrievalMs = Math.round(random.lognormal(25, 0.6) * 1000) / 1000;
  return JSON.stringify({
    ...base,
    status: 200,
    duration_ms: trip.e2eMs,
    ttft_ms: trip.ttftMs,
    retrieval_ms: retrievalMs,
    scores: [0.9, 0.7, 0.5].map((score) => Math.round((score + random.next() * 0.09) * 1000) / 1000),
    usage: {
      prompt_tokens: trip.inputTokens,
      completion_tokens: trip.outputTokens,
      prompt_tokens_details: { cached_tokens: trip.cachedTokens },
    },
    cost_usd: Number((trip.inputTokens * 1.5e-7 + trip.outputTokens * 6e-7).toFixed(8)),
  });
}

/** vLLM's periodic line, every 10 s. */
export function vllmStats(timeMs: number, running: number, promptTokens: number, outputTokens: number): LogEntry {
  const usage = Math.min(99, running * 2.3).toFixed(1);
  return {
    timeMs,
    server: "vllm",
    text: `(APIServer pid=1) INFO ${clock(timeMs).slice(5)} [loggers.py:271] Engine 000: Avg prompt throughput: ${(promptTokens / 10).toFixed(1)} tokens/s, Avg generation throughput: ${(outputTokens / 10).toFixed(1)} tokens/s, Running: ${running} reqs, Waiting: 0 reqs, GPU KV cache usage: ${usage}%, Prefix cache hit rate: 21.4%\n`,
  };
}

/** What each server prints when it starts. */
export function startEntries(timeMs: number): LogEntry[] {
  const vllmLines = [
    `(EngineCore pid=147) INFO ${clock(timeMs).slice(5)} [core.py:112] Initializing a V1 LLM engine (v0.20.2) with config: model='llama-3.1-8b-instruct', dtype=torch.bfloat16, max_seq_len=32768`,
    "(APIServer pid=1) INFO:     Application startup complete.",
    '(APIServer pid=1) INFO:     10.0.0.7:34943 - "GET /health HTTP/1.1" 200 OK',
  ];
  const sglangLines = [
    `[${clock(timeMs)}] server_args=ServerArgs(model_path='qwen-2.5-72b', enable_metrics=True, log_requests=True)`,
    `[${clock(timeMs)}] The server is fired up and ready to roll!`,
  ];
  const ragLine = JSON.stringify({ level: 30, time: timeMs, msg: "listening", port: 8080 });
  return [
    { timeMs, server: "vllm", text: vllmLines.map((line) => `${line}\n`).join("") },
    { timeMs, server: "sglang", text: sglangLines.map((line) => `${line}\n`).join("") },
    { timeMs, server: "rag-api", text: `${ragLine}\n` },
  ];
}
