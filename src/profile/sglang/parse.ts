import { putBounded, take } from "../../core/bounded-map.ts";
import { parseIso } from "../../core/timestamp.ts";
import { Latency } from "../../model/latency.ts";
import type { JsonObject, Line } from "../../model/line.ts";
import { type FailureRecord, RequestRecord } from "../../model/record.ts";
import { isInference, parseAccessLine } from "../access-line.ts";
import {
  closeFailure,
  continueFailure,
  type FailureBlockState,
  newFailureBlock,
  openFailure,
} from "../failure-block.ts";
import type { Parser, ParserContext } from "../profile.ts";
import { parseBatch } from "./batch.ts";
import { parseSglangLine, type SglangLine, sglangTimeMs } from "./prefix.ts";
import { parsePythonLiteral } from "./python-literal.ts";
import { parseTimeStats, type TimeStats } from "./time-stats.ts";

const MAX_IDS = 10_000;
/** `Req Time Stats` without a `Finish` of the same rid is a request of its own after this long. */
const STATS_WAIT_MS = 30_000;
const ACCESS_COLUMNS = 10;

interface HeldStats extends TimeStats {
  timeMs: number;
  readMs: number;
}

interface State {
  block: FailureBlockState;
  stats: Map<string, HeldStats>;
  /** rids whose Finish came: a later Req Time Stats adds its durations, not a request. */
  ended: Map<string, true>;
  model: string | undefined;
}

type Values = { readonly [key: string]: unknown };

/** Reads SGLang's text and JSON lines, which share one stream. */
export class SglangParser implements Parser {
  state: State = { block: newFailureBlock(), stats: new Map(), ended: new Map(), model: undefined };
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const parsed = parseSglangLine(line.text);
    if (parsed === undefined) {
      if (line.json !== undefined) this.#json(line.json, line);
      return;
    }
    this.#message(parsed, line, sglangTimeMs(parsed, line, this.#context.zone));
  }

  continues(line: Line): boolean {
    const { text } = line;
    if (text === "Killed") {
      closeFailure(this.state.block, this.#context.emit);
      this.#context.emit(this.#failure(text, line.timeMs, { cause: "host_oom_killed" }));
      return true;
    }
    if (this.state.block.open === undefined || parseSglangLine(text) !== undefined || text.startsWith("{"))
      return false;
    return continueFailure(this.state.block, text, this.#context.emit);
  }

  flush(nowMs: number, final: boolean): void {
    closeFailure(this.state.block, this.#context.emit);
    for (const [rid, held] of this.state.stats) {
      if (!final && nowMs - held.readMs < STATS_WAIT_MS) continue;
      this.state.stats.delete(rid);
      this.#emitStats(rid, held);
    }
  }

  #message(parsed: SglangLine, line: Line, timeMs: number): void {
    const { message } = parsed;
    const { emit } = this.#context;
    const batch = parseBatch(message, timeMs, parsed.dataParallelRank);
    if (batch !== undefined) {
      emit(batch.gauges);
      if (batch.newTokens !== undefined)
        emit({ kind: "count", timeMs, name: "prefill_new_tokens", by: batch.newTokens });
      if (batch.cachedTokens !== undefined)
        emit({ kind: "count", timeMs, name: "prefill_cached_tokens", by: batch.cachedTokens });
      return;
    }
    if (message.startsWith("INFO: ") || message.startsWith("WARNING: ") || message.startsWith("ERROR: ")) {
      this.#access(message, timeMs);
      return;
    }
    closeFailure(this.state.block, emit);
    if (message.startsWith("Finish: obj=")) this.#finish(message, timeMs);
    else if (message.startsWith("Receive: obj=")) {
      if (!ridOf(message).startsWith("HEALTH_CHECK")) emit({ kind: "received", timeMs });
    } else if (message.startsWith("Req Time Stats(")) this.#timeStats(message, line, timeMs);
    else if (message.startsWith("server_args="))
      this.state.model = /served_model_name='([^']+)'/.exec(message)?.[1] ?? /model_path='([^']+)'/.exec(message)?.[1];
    else this.#trouble(message, timeMs);
  }

  #access(message: string, timeMs: number): void {
    const access = parseAccessLine(message.slice(ACCESS_COLUMNS));
    if (access !== undefined) {
      const { route, status } = access;
      const inference = isInference(access.method, route);
      this.#context.emit({ kind: "http", timeMs, status, route, inference });
      // a full queue is told by the status alone
      if (inference && status === 503)
        this.#context.emit(
          this.#failure("The request queue is full.", timeMs, { cause: "queue_overflow", httpStatus: status, route }),
        );
    } else if (message.startsWith("ERROR: "))
      openFailure(this.state.block, this.#failure(message.slice(ACCESS_COLUMNS), timeMs, {}), this.#context.emit);
  }

  #trouble(message: string, timeMs: number): void {
    const retracted =
      /^(?:KV cache pool is full\. Retract requests\.|Decode out of memory happened\.) #retracted_reqs: (\d+)/.exec(
        message,
      );
    if (retracted !== null) {
      this.#context.emit({ kind: "count", timeMs, name: "retractions", by: Number(retracted[1]) });
      return;
    }
    if (message.startsWith("[http_server] Error: ")) this.#context.emit(this.#failure(message.slice(21), timeMs, {}));
    else if (TROUBLE.test(message))
      openFailure(this.state.block, this.#failure(message, timeMs, {}), this.#context.emit);
  }

  /** The end of a request: the dictionary after the last `'meta_info': ` that really is one. */
  #finish(message: string, timeMs: number): void {
    const rid = ridOf(message);
    if (rid.startsWith("HEALTH_CHECK")) return;
    for (let at = message.lastIndexOf("'meta_info': {"); at >= 0; at = message.lastIndexOf("'meta_info': {", at - 1)) {
      const meta = parsePythonLiteral(message, at + 13);
      if (meta !== undefined && isObject(meta) && ("id" in meta || "finish_reason" in meta)) {
        this.#end(rid, meta, timeMs);
        return;
      }
    }
  }

  #json(json: JsonObject, line: Line): void {
    const { rid, event, out, timestamp } = json as {
      rid?: unknown;
      event?: unknown;
      out?: unknown;
      timestamp?: unknown;
    };
    if (typeof rid !== "string" || rid.startsWith("HEALTH_CHECK")) return;
    const timeMs = typeof timestamp === "string" ? parseIso(timestamp, 0, this.#context.zone).timeMs : line.timeMs;
    if (event === "request.received") this.#context.emit({ kind: "received", timeMs });
    else if (event === "request.finished" && isObject(out) && isObject(out["meta_info"]))
      this.#end(rid, out["meta_info"], timeMs);
  }

  #end(rid: string, meta: Values, timeMs: number): void {
    const record = this.#record(rid, timeMs);
    const reason = isObject(meta["finish_reason"]) ? meta["finish_reason"] : undefined;
    const type = typeof reason?.["type"] === "string" ? reason["type"] : undefined;
    const stats = take(this.state.stats, rid);
    putBounded(this.state.ended, rid, true, MAX_IDS);
    if (type === "abort") {
      const said = typeof reason?.["message"] === "string" ? reason["message"] : "Aborted";
      const status = typeof reason?.["status_code"] === "number" ? reason["status_code"] : undefined;
      record.outcome = "aborted";
      const byClient = status === undefined && !/queue is full|overload|timed? ?out/i.test(said);
      record.failure = this.#failure(said, timeMs, {
        requestId: rid,
        httpStatus: status,
        ...(byClient ? { cause: "client_cancelled" } : {}),
      });
      this.#context.emit(record);
      return;
    }
    record.finishReason = type;
    record.tokensIn = number(meta["prompt_tokens"]);
    record.tokensOut = number(meta["completion_tokens"]);
    record.tokensInCached = number(meta["cached_tokens"]);
    record.tokensOutReasoning = number(meta["reasoning_tokens"]);
    record.latencies.set(Latency.e2e, milliseconds(meta["e2e_latency"]));
    const queueMs = milliseconds(meta["queue_time"]);
    record.latencies.set(Latency.queue, queueMs ?? stats?.queueMs);
    record.latencies.set(Latency.forward, stats?.forwardMs);
    const received = number(meta["request_received_ts"]);
    const prefilled = number(meta["prefill_finished_ts"]);
    if (received !== undefined && prefilled !== undefined && received > 0 && prefilled > 0)
      record.latencies.set(Latency.ttft, rounded((prefilled - received) * 1000));
    this.#context.emit(record);
  }

  #timeStats(message: string, line: Line, timeMs: number): void {
    const found = parseTimeStats(message);
    if (found === undefined || found.rid.startsWith("HEALTH_CHECK")) return;
    const { rid, stats, implausible } = found;
    if (implausible) this.#context.reject("implausible-duration");
    if (this.state.ended.has(rid)) {
      for (const [step, durationMs] of [
        [Latency.queue, stats.queueMs],
        [Latency.forward, stats.forwardMs],
      ] as const) {
        if (durationMs !== undefined) this.#context.emit({ kind: "step", timeMs, step, durationMs });
      }
      return;
    }
    const dropped = putBounded(this.state.stats, rid, { ...stats, timeMs, readMs: line.readMs }, MAX_IDS);
    if (dropped !== undefined) this.#emitStats("", dropped);
  }

  /** Time stats without request logging: the line is all there is of that request. */
  #emitStats(rid: string, held: HeldStats): void {
    const record = this.#record(rid, held.timeMs);
    record.tokensIn = held.tokensIn;
    record.tokensOut = held.tokensOut;
    record.latencies.set(Latency.queue, held.queueMs);
    record.latencies.set(Latency.forward, held.forwardMs);
    putBounded(this.state.ended, rid, true, MAX_IDS);
    this.#context.emit(record);
  }

  #record(rid: string, timeMs: number): RequestRecord {
    const record = new RequestRecord();
    record.timeMs = timeMs;
    record.id = rid;
    record.model = this.state.model;
    return record;
  }

  #failure(text: string, timeMs: number, more: Partial<FailureRecord>): FailureRecord {
    return { kind: "failure", timeMs, text, model: this.state.model, ...more };
  }
}

const TROUBLE =
  /^(?:\w* ?hit an exception|Scheduler hit an exception|Traceback \(most recent|Prefill out of memory|Decode out of memory|Watchdog|Subprocess \S+ .*crash|Exception in |Error in |Error: |Failed to |Fail to |RuntimeError|torch\.)/i;

const ridOf = (message: string): string =>
  /^\w+: obj=\w+\(rid=(?:'([^']*)'|"([^"]*)")/.exec(message.slice(0, 400))?.[1] ?? "";

const isObject = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const number = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined);
/** Seconds of the meta dictionary in milliseconds, to the nanosecond. */
const milliseconds = (value: unknown): number | undefined =>
  typeof value === "number" ? rounded(value * 1000) : undefined;
const rounded = (ms: number): number => Math.round(ms * 1e6) / 1e6;
