import { putBounded, take } from "../../core/bounded-map.ts";
import { parseIso } from "../../core/timestamp.ts";
import { Latency } from "../../model/latency.ts";
import type { JsonObject, Line } from "../../model/line.ts";
import { type FailureRecord, RequestRecord } from "../../model/record.ts";
import { isInference, parseAccessLine } from "../access-line.ts";
import {
  closeFailure,
  closeQuietFailure,
  continueFailure,
  type FailureBlockState,
  newFailureBlock,
  openFailure,
} from "../failure-block.ts";
import type { Parser, ParserContext } from "../profile.ts";
import { parseBatch } from "./batch.ts";
import { finishOf, requestFigures } from "./meta-info.ts";
import { isForeign, parseSglangLine, type SglangLine, sglangTimeMs } from "./prefix.ts";
import { isObject, parseRequestLine, type Values } from "./request-line.ts";
import { parseTimeStats, type TimeStats } from "./time-stats.ts";

const MAX_IDS = 10_000;
/** `Req Time Stats` without a `Finish` of the same rid is a request of its own after this long. */
const STATS_WAIT_MS = 30_000;
const ACCESS_COLUMNS = 10;
const HTTP_ERROR = "[http_server] Error: ";

interface HeldStats extends TimeStats {
  timeMs: number;
  readMs: number;
}

interface State {
  block: FailureBlockState;
  stats: Map<string, HeldStats>;
  /** rids whose end was counted; `ok`: a `Req Time Stats` that comes later still adds its durations. */
  ended: Map<string, "ok" | "aborted">;
  /** Refusals told by their own line whose 503 access line has not come yet. */
  refusals: number;
  /** A child process failed and the server ends itself: a `Killed` after that is not the host's doing. */
  ending: boolean;
  model: string | undefined;
}

/** Reads SGLang's text and JSON lines, which share one stream. */
export class SglangParser implements Parser {
  state: State = {
    block: newFailureBlock(),
    stats: new Map(),
    ended: new Map(),
    refusals: 0,
    ending: false,
    model: undefined,
  };
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const parsed = parseSglangLine(line.text);
    if (parsed !== undefined) this.#message(parsed, line);
    else if (line.json !== undefined) this.#json(line.json, line);
  }

  continues(line: Line): boolean {
    const { text } = line;
    if (text === "Killed") {
      closeFailure(this.state.block, this.#context.emit);
      const cause = this.state.ending ? "worker_node_lost" : "host_oom_killed";
      this.#context.emit(this.#failure(text, line.timeMs, { cause }));
      return true;
    }
    const parsed = parseSglangLine(text);
    if (parsed !== undefined) {
      if (isForeign(parsed.message)) return false;
      this.#message(parsed, line);
      return true;
    }
    if (this.state.block.open === undefined || text.charCodeAt(0) === 123) return false;
    return continueFailure(this.state.block, text, this.#context.emit);
  }

  flush(nowMs: number, final: boolean): void {
    closeQuietFailure(this.state.block, nowMs, final, this.#context.emit);
    for (const [rid, held] of this.state.stats) {
      if (!final && nowMs - held.readMs < STATS_WAIT_MS) continue;
      this.state.stats.delete(rid);
      this.#emitStats(rid, held);
    }
  }

  #message(parsed: SglangLine, line: Line): void {
    const { message } = parsed;
    const { emit } = this.#context;
    const timeMs = sglangTimeMs(parsed, line, this.#context.zone);
    const batch = parseBatch(message, timeMs, parsed.dataParallelRank);
    if (batch !== undefined) {
      if (parsed.echo) return;
      emit(batch.gauges);
      const { newTokens, cachedTokens } = batch;
      if (newTokens !== undefined) emit({ kind: "count", timeMs, name: "prefill_new_tokens", by: newTokens });
      if (cachedTokens !== undefined) emit({ kind: "count", timeMs, name: "prefill_cached_tokens", by: cachedTokens });
      return;
    }
    if (UVICORN.test(message)) {
      this.#uvicorn(message, line, timeMs);
      return;
    }
    closeFailure(this.state.block, emit);
    const request = parseRequestLine(message);
    if (request !== undefined) {
      const rids = request.rids.filter((rid) => !rid.startsWith("HEALTH_CHECK"));
      if (rids.length === 0 && request.rids.length > 0) return;
      if (request.finished) this.#end(rids[0], request.meta ?? {}, timeMs);
      else for (let count = Math.max(1, rids.length); count > 0; count--) emit({ kind: "received", timeMs });
    } else if (message.startsWith("Req Time Stats(")) this.#timeStats(message, line, timeMs);
    else if (message.startsWith("server_args="))
      this.state.model =
        /\bserved_model_name='([^']+)'/.exec(message)?.[1] ?? /\bmodel_path='([^']+)'/.exec(message)?.[1];
    else this.#trouble(parsed, line, timeMs);
  }

  #uvicorn(message: string, line: Line, timeMs: number): void {
    const access = parseAccessLine(message.slice(ACCESS_COLUMNS));
    if (access === undefined) {
      if (!message.startsWith("ERROR:") && !message.startsWith("CRITICAL:")) return;
      openFailure(
        this.state.block,
        this.#failure(message.slice(ACCESS_COLUMNS), timeMs, {}),
        this.#context.emit,
        line.readMs,
      );
      return;
    }
    const { route, status } = access;
    const inference = isInference(access.method, route);
    this.#context.emit({ kind: "http", timeMs, status, route, inference });
    if (!inference || status !== 503) return;
    if (this.state.refusals > 0) this.state.refusals--;
    // without request logging a full queue is told by the status alone
    else
      this.#context.emit(
        this.#failure("The request queue is full.", timeMs, { cause: "queue_overflow", httpStatus: status, route }),
      );
  }

  #trouble({ message, echo }: SglangLine, line: Line, timeMs: number): void {
    const { emit } = this.#context;
    const retracted = RETRACTED.exec(message);
    if (retracted !== null) {
      if (!echo) emit({ kind: "count", timeMs, name: "retractions", by: Number(retracted[1]) });
    } else if (message.startsWith("SIGQUIT received")) this.state.ending = true;
    else if (message.startsWith("The server is fired up")) this.state.ending = false;
    else if (TRUNCATED.test(message)) emit({ kind: "count", timeMs, name: "truncated_prompts", by: 1 });
    else if (message.startsWith(HTTP_ERROR) || QUEUE_FULL.test(message)) {
      const text = message.startsWith(HTTP_ERROR) ? message.slice(HTTP_ERROR.length) : message;
      const full = QUEUE_FULL.test(text);
      if (full) this.#refused();
      openFailure(
        this.state.block,
        this.#failure(text, timeMs, full ? { cause: "queue_overflow" } : {}),
        emit,
        line.readMs,
      );
    } else if (TROUBLE.test(message))
      openFailure(this.state.block, this.#failure(message, timeMs, {}), emit, line.readMs);
  }

  #json(json: JsonObject, line: Line): void {
    const { rid, event, out, timestamp } = json as {
      rid?: unknown;
      event?: unknown;
      out?: unknown;
      timestamp?: unknown;
    };
    const rids = (Array.isArray(rid) ? rid : [rid]).filter((one): one is string => typeof one === "string");
    const real = rids.filter((one) => !one.startsWith("HEALTH_CHECK"));
    if (real.length === 0) return;
    const timeMs = typeof timestamp === "string" ? parseIso(timestamp, 0, this.#context.zone).timeMs : line.timeMs;
    closeFailure(this.state.block, this.#context.emit);
    if (event === "request.received") for (const _ of real) this.#context.emit({ kind: "received", timeMs });
    else if (event === "request.finished") {
      const meta = isObject(out) ? out["meta_info"] : undefined;
      this.#end(real[0], isObject(meta) ? meta : {}, timeMs);
    }
  }

  #end(rid: string | undefined, meta: Values, timeMs: number): void {
    const record = this.#record(rid, timeMs);
    const finish = finishOf(meta);
    const stats = rid === undefined ? undefined : take(this.state.stats, rid);
    if (rid !== undefined) putBounded(this.state.ended, rid, finish.aborted === undefined ? "ok" : "aborted", MAX_IDS);
    if (finish.aborted === undefined) {
      record.finishReason = finish.reason;
      requestFigures(record, meta, this.#context.reject);
      if (record.latencies.get(Latency.queue) === undefined) record.latencies.set(Latency.queue, stats?.queueMs);
      record.latencies.set(Latency.forward, stats?.forwardMs);
    } else {
      // figures of a request that was cut short would stand among those of whole ones
      const { message, status, cause } = finish.aborted;
      if (status === 503) this.#refused();
      record.outcome = "aborted";
      record.failure = this.#failure(message, timeMs, { requestId: rid, httpStatus: status, cause });
    }
    if (rid !== undefined) record.dedupeKey = entryKey(rid, meta, finish.aborted?.message);
    this.#context.emit(record);
  }

  #timeStats(message: string, line: Line, timeMs: number): void {
    const found = parseTimeStats(message);
    if (found === undefined || found.rid.startsWith("HEALTH_CHECK")) return;
    const { rid, stats } = found;
    for (let count = found.implausible; count > 0; count--) this.#context.reject("implausible-duration");
    const ended = this.state.ended.get(rid);
    // the other half of a disaggregated request, or a line after its Finish: durations, no further request
    if (ended !== undefined || this.state.stats.has(rid)) {
      if (ended === "aborted") return;
      for (const [step, durationMs] of [
        [Latency.queue, stats.queueMs],
        [Latency.forward, stats.forwardMs],
      ] as const) {
        if (durationMs !== undefined) this.#context.emit({ kind: "step", timeMs, step, durationMs });
      }
      return;
    }
    const oldest = this.state.stats.size >= MAX_IDS ? this.state.stats.entries().next().value : undefined;
    putBounded(this.state.stats, rid, { ...stats, timeMs, readMs: line.readMs }, MAX_IDS);
    if (oldest !== undefined) this.#emitStats(...oldest);
  }

  /** Time stats without request logging: the line is all there is of that request. */
  #emitStats(rid: string, held: HeldStats): void {
    const record = this.#record(rid, held.timeMs);
    record.tokensIn = held.tokensIn;
    record.tokensOut = held.tokensOut;
    record.latencies.set(Latency.queue, held.queueMs);
    record.latencies.set(Latency.forward, held.forwardMs);
    putBounded(this.state.ended, rid, "ok", MAX_IDS);
    this.#context.emit(record);
  }

  #refused(): void {
    this.state.refusals = Math.min(this.state.refusals + 1, MAX_IDS);
  }

  #record(rid: string | undefined, timeMs: number): RequestRecord {
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

/** The same entry in two targets (`--log-requests-target stdout DIR`) is one request; a rid that a client uses again is not. */
const entryKey = (rid: string, meta: Values, aborted = ""): string =>
  `${rid} ${meta["e2e_latency"] as string} ${meta["completion_tokens"] as string} ${aborted}`;

const UVICORN = /^(?:INFO|WARNING|ERROR|CRITICAL): {1,5}\S/;
const RETRACTED =
  /^(?:KV cache pool is full\. Retract requests\.|Decode out of memory happened\.) #retracted_reqs: (\d{1,9})\b/;
const TRUNCATED = /^Request length is longer than the KV cache pool size or the max context length\. Truncated/;
const QUEUE_FULL = /^The request queue is full\b/;
const TROUBLE =
  /^(?:\w+ hit an exception|Traceback \(most recent|Prefill out of memory|Decode out of memory|(?:\w+ )?[Ww]atchdog (?:TIMEOUT|timeout)|Subprocess \S+ .*crash|Health check failed\. Server couldn't|Exception in |Error in |Error: |Failed to |Fail to |[A-Z]\w*Error\b|torch\.\S*Error)/;
