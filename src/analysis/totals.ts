import { ExactSum } from "../core/exact-sum.ts";
import { LATENCY_NAMES, Latency, type LatencyKind } from "../model/latency.ts";
import type {
  FailureRecord,
  GaugeRecord,
  LogRecord,
  RejectReason,
  RequestRecord,
  StepRecord,
} from "../model/record.ts";
import { Distribution } from "./quantiles.ts";

/** The four request counts that a log can tell; the words of `RequestCount` in `profile/`. */
type RequestCount = "received" | "finished" | "failed" | "aborted";

export type TokenKey = "in" | "in_processed" | "in_cached" | "out" | "out_reasoning" | "embedding" | "total";

export interface TokenTotal {
  count: number;
  readonly sum: ExactSum;
}

/** One cause with what a reader wants to see of it. */
export interface CauseTotal {
  readonly cause: string;
  count: number;
  readonly example: string;
  firstMs: number;
  lastMs: number;
}

/** The slowest requests, kept for the report. */
export interface SlowRequest {
  readonly e2eMs: number;
  readonly timeMs: number;
  readonly id: string | undefined;
  readonly model: string | undefined;
  readonly route: string | undefined;
  readonly ttftMs: number | undefined;
  readonly tokensIn: number | undefined;
  readonly tokensOut: number | undefined;
}

const SLOWEST = 5;
/** Distinct values of a breakdown (models, tenants, routes, …) kept apart; later ones are summed under `other`. */
const BREAKDOWN_LIMIT = 1000;

/** Adds up records of any number of streams: exact counts and sums, bounded memory. */
export class Totals {
  readonly requests: Record<RequestCount, number | undefined> = {
    received: undefined,
    finished: undefined,
    failed: undefined,
    aborted: undefined,
  };
  readonly byModel = new Breakdown();
  readonly byTenant = new Breakdown();
  readonly byRoute = new Breakdown();
  readonly byFinishReason = new Breakdown();
  readonly http = new Map<number, number>();
  httpOther = 0;
  readonly latencies: Array<Distribution | undefined> = LATENCY_NAMES.map(() => undefined);
  readonly tokens = new Map<TokenKey, TokenTotal>();
  readonly estimated = new Map<string, ExactSum>();
  readonly counters = new Map<string, number>();
  /** Last gauges by engine; key `""` where the line names no engine. */
  readonly gauges = new Map<string, Record<string, number>>();
  readonly scores = new Map<string, Distribution>();
  readonly causes = new Map<string, CauseTotal>();
  readonly rejected = new Map<RejectReason, number>();
  readonly slowest: SlowRequest[] = [];
  cost: ExactSum | undefined;
  firstMs = Number.POSITIVE_INFINITY;
  lastMs = Number.NEGATIVE_INFINITY;
  /** The list noted last: nearly always the next record's. */
  #told: readonly RequestCount[] | undefined = undefined;

  /** @param tells The request counts that the writer of this record can tell: known to be 0 from now on, if none was seen. */
  add(record: LogRecord, tells: readonly RequestCount[]): void {
    if (record.timeMs < this.firstMs) this.firstMs = record.timeMs;
    if (record.timeMs > this.lastMs) this.lastMs = record.timeMs;
    switch (record.kind) {
      case "request":
        this.#request(record, tells);
        return;
      case "received":
        this.#tell(tells);
        this.#count("received");
        this.#tokens("in", record.tokensIn);
        return;
      case "http":
        if (record.inference) bump(this.http, record.status);
        else this.httpOther++;
        return;
      case "step":
        this.#step(record);
        return;
      case "gauges":
        this.#gauges(record);
        return;
      case "count":
        bump(this.counters, record.name, record.by);
        return;
      case "tokens":
        this.#tokens(record.type, record.tokens);
        return;
      case "estimate": {
        const sum = this.estimated.get(record.direction) ?? new ExactSum();
        sum.add(record.tokens);
        this.estimated.set(record.direction, sum);
        return;
      }
      case "score":
        this.#score(record.name, record.value);
        return;
      case "failure":
        this.#failure(record);
    }
  }

  reject(reason: RejectReason): void {
    bump(this.rejected, reason);
  }

  #tell(tells: readonly RequestCount[]): void {
    if (tells === this.#told) return;
    this.#told = tells;
    for (const count of tells) this.requests[count] ??= 0;
  }

  #count(count: RequestCount): void {
    this.requests[count] = (this.requests[count] ?? 0) + 1;
  }

  #request(record: RequestRecord, tells: readonly RequestCount[]): void {
    this.#tell(tells);
    this.#count(record.outcome === "ok" ? "finished" : record.outcome === "error" ? "failed" : "aborted");
    if (record.model !== undefined) this.byModel.add(record.model);
    if (record.tenant !== undefined) this.byTenant.add(record.tenant);
    if (record.route !== undefined) this.byRoute.add(record.route);
    if (record.finishReason !== undefined && record.outcome === "ok") this.byFinishReason.add(record.finishReason);
    if (record.httpStatus !== undefined) bump(this.http, record.httpStatus);
    const { kinds, valuesMs } = record.latencies;
    let e2eMs = Number.NaN;
    for (let index = 0; index < kinds.length; index++) {
      const kind = kinds[index] as LatencyKind;
      const ms = valuesMs[index] as number;
      if (kind === Latency.e2e) e2eMs = ms;
      this.#latency(kind, ms);
    }
    this.#tokens("in", record.tokensIn);
    this.#tokens("in_processed", record.tokensInProcessed);
    this.#tokens("in_cached", record.tokensInCached);
    this.#tokens("out", record.tokensOut);
    this.#tokens("out_reasoning", record.tokensOutReasoning);
    if (record.costUsd !== undefined) {
      this.cost ??= new ExactSum();
      this.cost.add(record.costUsd);
    }
    if (record.scores !== undefined) for (const score of record.scores) this.#score("retrieval", score);
    if (record.retries !== undefined && record.retries > 0) bump(this.counters, "retries", record.retries);
    if (e2eMs === e2eMs) this.#slow(record, e2eMs);
  }

  #slow(record: RequestRecord, e2eMs: number): void {
    if (this.slowest.length === SLOWEST && e2eMs <= (this.slowest[SLOWEST - 1]?.e2eMs ?? 0)) return;
    const { timeMs, id, model, route, tokensIn, tokensOut } = record;
    const ttftMs = record.latencies.get(Latency.ttft);
    this.slowest.push({ e2eMs, timeMs, id, model, route, ttftMs, tokensIn, tokensOut });
    this.slowest.sort((a, b) => b.e2eMs - a.e2eMs);
    if (this.slowest.length > SLOWEST) this.slowest.pop();
  }

  #step(record: StepRecord): void {
    this.#latency(record.step, record.durationMs);
    if (record.scores !== undefined) for (const score of record.scores) this.#score("retrieval", score);
  }

  #latency(kind: LatencyKind, ms: number): void {
    const known = this.latencies[kind];
    if (known === undefined) (this.latencies[kind] = new Distribution()).add(ms);
    else known.add(ms);
  }

  #tokens(key: TokenKey, tokens: number | undefined): void {
    if (tokens === undefined) return;
    let total = this.tokens.get(key);
    if (total === undefined) {
      total = { count: 0, sum: new ExactSum() };
      this.tokens.set(key, total);
    }
    total.count++;
    total.sum.add(tokens);
  }

  #score(name: string, value: number): void {
    let scores = this.scores.get(name);
    if (scores === undefined) {
      scores = new Distribution();
      this.scores.set(name, scores);
    }
    scores.add(value);
  }

  #gauges(record: GaugeRecord): void {
    const engine = record.engine ?? "";
    const known = this.gauges.get(engine);
    if (known === undefined) this.gauges.set(engine, { ...record.values });
    else Object.assign(known, record.values);
  }

  #failure(record: FailureRecord): void {
    const { cause = "unknown", text, timeMs } = record;
    const known = this.causes.get(cause);
    if (known === undefined) {
      this.causes.set(cause, { cause, count: 1, example: text, firstMs: timeMs, lastMs: timeMs });
      return;
    }
    known.count++;
    // a record without a time leaves the span as it is; one with a time replaces an unknown span
    if (Number.isNaN(timeMs)) return;
    if (!(known.firstMs <= timeMs)) known.firstMs = timeMs;
    if (!(known.lastMs >= timeMs)) known.lastMs = timeMs;
  }
}

function bump<K>(map: Map<K, number>, key: K, by = 1): void {
  map.set(key, (map.get(key) ?? 0) + by);
}

interface Cell {
  readonly name: string;
  count: number;
}

/** Counts by a name. Consecutive records mostly repeat a name, so the last cell is tried before the table. */
export class Breakdown {
  readonly #cells = new Map<string, Cell>();
  #last: Cell | undefined;

  add(name: string): void {
    if (this.#last?.name === name) {
      this.#last.count++;
      return;
    }
    const cell = this.#cells.get(name) ?? this.#newCell(name);
    cell.count++;
    this.#last = cell;
  }

  #newCell(name: string): Cell {
    const key = this.#cells.size < BREAKDOWN_LIMIT ? name : "other";
    let cell = this.#cells.get(key);
    if (cell === undefined) {
      cell = { name: key, count: 0 };
      this.#cells.set(key, cell);
    }
    return cell;
  }

  get size(): number {
    return this.#cells.size;
  }

  /** Most frequent first. */
  get sorted(): Array<readonly [name: string, count: number]> {
    return [...this.#cells.values()]
      .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
      .map(({ name, count }) => [name, count]);
  }
}
