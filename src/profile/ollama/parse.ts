import { parseDurationMs } from "../../core/duration.ts";
import type { ZoneOffset } from "../../core/timestamp.ts";
import { Latency } from "../../model/latency.ts";
import type { Line } from "../../model/line.ts";
import { type LogRecord, RequestRecord } from "../../model/record.ts";
import { isLlamaCppLine } from "../llamacpp/index.ts";
import { LlamaCppParser, type LlamaCppState } from "../llamacpp/parse.ts";
import type { Parser, ParserContext } from "../profile.ts";
import { failureCause, isFailure } from "./causes.ts";
import { type GinLine, isOllamaInference, readGin } from "./gin.ts";
import { isSlogLine, readSlog, type SlogLine } from "./slog.ts";

/** Figures of one completion of the embedded llama-server, waiting for the access line of its request. */
interface Completion {
  readonly timeMs: number;
  readonly prefillMs: number | undefined;
  readonly decodeMs: number | undefined;
  readonly engineMs: number | undefined;
  readonly tokensIn: number | undefined;
  readonly tokensInProcessed: number | undefined;
  readonly tokensInCached: number | undefined;
  readonly tokensOut: number | undefined;
}

interface OwnState {
  /** Oldest first. Log and requests share no id: they are paired by order. */
  completions: Completion[];
  /** Requests of llama-server that failed; their access lines follow. */
  failed: number;
  /** Clients that left while llama-server (0.30 and later) answered: the access line follows. */
  left: Array<{ readonly text: string }>;
  /** The same of older runners, already counted, as no access line can be told to be theirs. */
  leftCounted: number;
  /** Loads that were given up because the client left; the access line with 499 follows. */
  leftLoading: number;
  /** Zone of the last record that states one, minutes; the access lines are local and state none. */
  offsetMin: number;
  /** Last time seen: llama-server's lines have none. */
  lastMs: number;
}

export type OllamaState = OwnState & { server: LlamaCppState };

const MAX_WAITING = 64;
const STARTED = /^(?:llama runner|llama-server|runner) started in (\S{1,40})(?: (seconds))?$/;

/** Joins Ollama's records, gin's access lines and the lines of the llama.cpp server that runs inside. */
export class OllamaParser implements Parser {
  readonly #context: ParserContext;
  readonly #server: LlamaCppParser;
  #own: OwnState = {
    completions: [],
    failed: 0,
    left: [],
    leftCounted: 0,
    leftLoading: 0,
    offsetMin: Number.NaN,
    lastMs: Number.NaN,
  };
  readonly #zone: ZoneOffset = (utcMs) =>
    Number.isNaN(this.#own.offsetMin) ? this.#context.zone(utcMs) : this.#own.offsetMin;

  constructor(context: ParserContext) {
    this.#context = context;
    this.#server = new LlamaCppParser({ ...context, emit: (record) => this.#ofServer(record) });
  }

  get state(): OllamaState {
    return { ...this.#own, server: this.#server.state };
  }

  set state(state: OllamaState) {
    const { server, ...own } = state;
    this.#own = own;
    this.#server.state = server;
  }

  parse(line: Line): void {
    const { text } = line;
    this.#server.settle();
    if (text.startsWith("[GIN] ")) {
      const gin = readGin(text, this.#zone);
      if (gin !== undefined) this.#access(gin, line.timeMs);
      return;
    }
    const slog = readSlog(text, this.#context.zone);
    if (slog === undefined) return;
    if (!Number.isNaN(slog.timeMs)) this.#own.lastMs = slog.timeMs;
    if (!Number.isNaN(slog.offsetMin)) this.#own.offsetMin = slog.offsetMin;
    this.#record(slog, Number.isNaN(slog.timeMs) ? line.timeMs : slog.timeMs);
  }

  continues(line: Line): boolean {
    const { text } = line;
    if (text.startsWith("time=")) {
      // files that other programs have too are Ollama's in Ollama's stream
      if (!isSlogLine(text)) return false;
      this.parse(line);
      return true;
    }
    if (text.startsWith("[GIN")) return text.startsWith("[GIN-debug]");
    if (this.#server.continues(line)) return true;
    if (!isLlamaCppLine(line)) return false;
    this.#server.parse(line);
    return true;
  }

  flush(nowMs: number, final: boolean): void {
    this.#server.flush(nowMs, final);
    if (!final) return;
    // the access lines did not come before the end of the log
    for (const completion of this.#own.completions.splice(0)) this.#emitCompletion(completion);
    for (const { text } of this.#own.left.splice(0)) this.#aborted(text, this.#own.lastMs);
  }

  /** Takes what the embedded server's lines say: its requests are parts of Ollama's. */
  #ofServer(record: LogRecord): void {
    const timeMs = Number.isNaN(record.timeMs) ? this.#own.lastMs : record.timeMs;
    switch (record.kind) {
      case "http":
        // the inner hop
        return;
      case "failure":
        if (record.cause !== "client_cancelled") this.#context.emit({ ...record, timeMs, model: undefined });
        return;
      case "request":
        this.#inner(record, timeMs);
        return;
      default:
        this.#context.emit({ ...record, timeMs });
    }
  }

  #inner(record: RequestRecord, timeMs: number): void {
    if (record.outcome === "aborted") return;
    if (record.outcome === "error") {
      this.#own.failed = Math.min(this.#own.failed + 1, MAX_WAITING);
      if (record.failure !== undefined) this.#context.emit({ ...record.failure, timeMs, model: undefined });
      return;
    }
    const { completions } = this.#own;
    if (completions.length >= MAX_WAITING) this.#emitCompletion(completions.shift() as Completion);
    completions.push({
      timeMs,
      prefillMs: record.latencies.get(Latency.prefill),
      decodeMs: record.latencies.get(Latency.decode),
      engineMs: record.latencies.get(Latency.engine_total),
      tokensIn: record.tokensIn,
      tokensInProcessed: record.tokensInProcessed,
      tokensInCached: record.tokensInCached,
      tokensOut: record.tokensOut,
    });
  }

  #access(gin: GinLine, wrapperMs: number): void {
    const { status, route } = gin;
    const timeMs = Number.isNaN(gin.timeMs) ? wrapperMs : gin.timeMs;
    if (!Number.isNaN(timeMs)) this.#own.lastMs = timeMs;
    if (!isOllamaInference(gin.method, route)) {
      this.#context.emit({ kind: "http", timeMs, status, route, inference: false });
      return;
    }
    const own = this.#own;
    const leftCounted = own.leftCounted > 0;
    if (leftCounted) own.leftCounted--;
    if (status === 499 && leftCounted) {
      this.#context.emit({ kind: "http", timeMs, status, route, inference: true });
      return;
    }
    const request = new RequestRecord();
    request.timeMs = timeMs;
    request.route = route;
    request.httpStatus = status;
    const well = status >= 200 && status < 300;
    if (well) request.latencies.set(Latency.e2e, gin.durationMs);
    const left = own.left.shift();
    const completion = well || left !== undefined ? own.completions.shift() : undefined;
    if (completion !== undefined) addCompletion(request, completion);
    if (left !== undefined || status === 499) {
      request.outcome = "aborted";
      const counted = left === undefined && own.leftLoading > 0;
      if (counted) own.leftLoading--;
      else request.failure = leftFailure(left?.text ?? `${status} ${gin.method} ${route}`, timeMs, route);
    } else if (!well) {
      request.outcome = "error";
      if (own.failed > 0) own.failed--;
      // OLLAMA_MAX_QUEUE: the only use of this status
      if (status === 503) {
        const text = `503 ${gin.method} ${route}`;
        request.failure = { kind: "failure", timeMs, text, cause: "queue_overflow", httpStatus: status, route };
      }
    } else if (completion === undefined && own.failed > 0) {
      // the answer had begun when it failed
      own.failed--;
      request.outcome = "error";
    }
    this.#context.emit(request);
  }

  #record(slog: SlogLine, timeMs: number): void {
    const { message, error } = slog;
    const own = this.#own;
    const { emit } = this.#context;
    if (message.startsWith("aborting ") && message.includes("client closing the connection")) {
      if (slog.file === "llama_server.go") {
        if (own.left.length >= MAX_WAITING) own.left.shift();
        own.left.push({ text: message });
      } else {
        own.leftCounted = Math.min(own.leftCounted + 1, MAX_WAITING);
        this.#aborted(message, timeMs);
      }
    } else if (message.startsWith("client connection closed before server finished loading")) {
      own.leftLoading = Math.min(own.leftLoading + 1, MAX_WAITING);
      emit(leftFailure(message, timeMs, undefined));
    } else if (message === "truncating input prompt") emit({ kind: "count", timeMs, name: "prompts_truncated", by: 1 });
    else if (isFailure(slog)) {
      const text = error === undefined ? message : `${message}: ${error}`;
      emit({ kind: "failure", timeMs, text, cause: failureCause(slog) });
    } else {
      const started = STARTED.exec(message);
      if (started === null) return;
      const durationMs = started[2] === undefined ? parseDurationMs(started[1] ?? "") : Number(started[1]) * 1000;
      emit({ kind: "step", timeMs, step: Latency.model_load, durationMs });
    }
  }

  #aborted(text: string, timeMs: number): void {
    const request = new RequestRecord();
    request.timeMs = timeMs;
    request.outcome = "aborted";
    request.failure = leftFailure(text, timeMs, undefined);
    this.#context.emit(request);
  }

  #emitCompletion(completion: Completion): void {
    const request = new RequestRecord();
    request.timeMs = completion.timeMs;
    addCompletion(request, completion);
    this.#context.emit(request);
  }
}

function addCompletion(request: RequestRecord, completion: Completion): void {
  request.latencies.set(Latency.prefill, completion.prefillMs);
  request.latencies.set(Latency.decode, completion.decodeMs);
  request.latencies.set(Latency.engine_total, completion.engineMs);
  request.tokensIn = completion.tokensIn;
  request.tokensInProcessed = completion.tokensInProcessed;
  request.tokensInCached = completion.tokensInCached;
  request.tokensOut = completion.tokensOut;
}

const leftFailure = (text: string, timeMs: number, route: string | undefined) =>
  ({ kind: "failure", timeMs, text, cause: "client_cancelled", route }) as const;
