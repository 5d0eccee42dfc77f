import { putBounded } from "../../core/bounded-map.ts";
import { parseDurationMs } from "../../core/duration.ts";
import { Latency } from "../../model/latency.ts";
import type { Line } from "../../model/line.ts";
import { type FailureRecord, type Outcome, RequestRecord } from "../../model/record.ts";
import type { Parser, ParserContext } from "../profile.ts";
import {
  continueHeld,
  flushHeld,
  type HeldFailure,
  holdFailure,
  newHeldFailure,
  releaseHeld,
} from "../rag/held-failure.ts";
import { isProbe, isRetrieval, type MilvusAccess, parseAccess } from "./access.ts";
import { causeOfMilvus } from "./causes.ts";
import { type ComponentEvent, isFailure, isSlow, parseComponent } from "./component.ts";

/** Traces remembered, to join access log and component log of one stream, and slow searches kept of one. */
const MAX_TRACES = 1000;
const MAX_SLOW = 8;
/** The access log measures the same call from outside: a little longer, never shorter. */
const OUTSIDE_MS = 500;

/** What the component log told of a trace before the access lines of its requests come. A trace may hold several requests. */
interface Told {
  slowMs: number[];
  /** Failed requests that the proxy warned of. */
  warnings: number;
  /** An error was written that no warning and no access line has repeated yet. */
  error: boolean;
}

interface State {
  failure: HeldFailure;
  traces: Map<string, Told>;
}

export class MilvusParser implements Parser {
  state: State = { failure: newHeldFailure(), traces: new Map() };
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const event = parseComponent(line, this.#context.zone);
    if (event !== undefined) {
      this.#component(event, line.readMs);
      return;
    }
    const access = parseAccess(line.text, this.#context.zone);
    if (access !== undefined) this.#access(access, line);
  }

  continues(line: Line): boolean {
    const { failure } = this.state;
    if (failure.block.open === undefined) return false;
    if (GO_STACK.test(line.text)) return continueHeld(failure, ` ${line.text}`, line.readMs, this.#context.emit);
    return continueHeld(failure, line.text, line.readMs, this.#context.emit);
  }

  flush(nowMs: number, final: boolean): void {
    flushHeld(this.state.failure, nowMs, final, this.#context.emit);
  }

  #component(event: ComponentEvent, readMs: number): void {
    const { emit } = this.#context;
    releaseHeld(this.state.failure, emit);
    const { timeMs, message } = event;
    if (isSlow(event)) {
      emit({ kind: "count", timeMs, name: "slow_searches", by: 1 });
      const durationMs = this.#durationMs(event.field("duration"));
      if (durationMs === undefined) return;
      const told = this.#told(event.field("traceID"));
      if (told !== undefined && told.slowMs.length < MAX_SLOW) told.slowMs.push(durationMs);
      emit({ kind: "step", timeMs, step: Latency.retrieval, durationMs, collection: event.field("collection") });
      return;
    }
    if (!isFailure(event)) return;
    const requestId = event.field("traceID");
    const told = this.#told(requestId);
    if (told !== undefined) {
      const repeated = event.level === "WARN" ? told.error : told.error || told.warnings > 0;
      if (event.level === "WARN") {
        told.warnings++;
        told.error = false;
      } else told.error = !repeated;
      if (repeated) return;
    }
    const error = event.field("error");
    const text = error === undefined ? message : `${message}: ${error}`;
    const cause = causeOfMilvus(undefined, undefined, error ?? message);
    holdFailure(this.state.failure, { kind: "failure", timeMs, text, cause, requestId }, readMs, emit);
  }

  #access(access: MilvusAccess, line: Line): void {
    const { emit } = this.#context;
    releaseHeld(this.state.failure, emit);
    const { method, traceId, collection } = access;
    const timeMs = Number.isNaN(access.timeMs) ? line.timeMs : access.timeMs;
    const outcome = outcomeOf(access);
    const tenant = access.database === "default" ? undefined : access.database;
    const failure = outcome === "ok" || this.#toldFailure(traceId) ? undefined : failureOf(access, timeMs, tenant);
    if (!isRetrieval(method)) {
      emit({ kind: "count", timeMs, name: "other_methods", by: 1 });
      if (failure !== undefined && !isProbe(method)) emit(failure);
      return;
    }
    const record = new RequestRecord();
    record.timeMs = timeMs;
    record.traceId = traceId;
    record.route = method;
    record.tenant = tenant;
    record.outcome = outcome;
    if (access.status?.startsWith("HttpError") === true) record.httpStatus = Number(access.status.slice(9));
    record.failure = failure;
    emit(record);
    const durationMs = this.#durationMs(access.timeCost);
    if (durationMs === undefined || this.#toldDuration(traceId, durationMs)) return;
    emit({ kind: "step", timeMs, step: Latency.retrieval, durationMs, collection, tenant, outcome });
  }

  #durationMs(took: string | undefined): number | undefined {
    if (took === undefined || took === "") return undefined;
    const durationMs = parseDurationMs(took);
    if (!Number.isNaN(durationMs)) return durationMs;
    this.#context.reject(Number.isNaN(Number(took)) ? "not-a-number" : "unknown-unit");
    return undefined;
  }

  #told(traceId: string | undefined): Told | undefined {
    if (traceId === undefined || /^0*$/.test(traceId)) return undefined;
    const { traces } = this.state;
    let told = traces.get(traceId);
    if (told === undefined) {
      told = { slowMs: [], warnings: 0, error: false };
      putBounded(traces, traceId, told, MAX_TRACES);
    }
    return told;
  }

  /** True when the component log gave this duration already. */
  #toldDuration(traceId: string | undefined, ms: number): boolean {
    const slowMs = traceId === undefined ? undefined : this.state.traces.get(traceId)?.slowMs;
    const at = slowMs?.findIndex((slow) => ms >= slow - 1 && ms <= slow + OUTSIDE_MS) ?? -1;
    if (at >= 0) slowMs?.splice(at, 1);
    return at >= 0;
  }

  /** True when the component log told this failure already. */
  #toldFailure(traceId: string | undefined): boolean {
    const told = traceId === undefined ? undefined : this.state.traces.get(traceId);
    if (told === undefined || (told.warnings === 0 && !told.error)) return false;
    if (told.warnings > 0) told.warnings--;
    told.error = false;
    return true;
  }
}

function failureOf(access: MilvusAccess, timeMs: number, tenant: string | undefined): FailureRecord {
  const { method, status, code, message, traceId } = access;
  const text = message ?? `${method} ${status ?? "failed"}`;
  const cause = causeOfMilvus(status, code, message);
  return { kind: "failure", timeMs, text, cause, tenant, route: method, requestId: traceId };
}

/** Lines of a Go stack that begin with text: functions, wrapped errors. */
const GO_STACK =
  /^(?:goroutine \d+ |created by |\[signal |panic: |Wraps: \(|Error types: \(|(?:[\w.-]+\/)+[\w.()*-]+(?:\(|\.[\w.()*]+))/;

function outcomeOf({ status, code }: MilvusAccess): Outcome {
  if (status === "Successful") return "ok";
  if (status === "GrpcCanceled") return "aborted";
  // REST without a code of its own, or a format that leaves the status out
  if (status === undefined) return code === undefined || code === 0 || code === 200 ? "ok" : "error";
  return "error";
}
