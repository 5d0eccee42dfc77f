import { putBounded, take } from "../../core/bounded-map.ts";
import { parseIso, UTC } from "../../core/timestamp.ts";
import type { Line } from "../../model/line.ts";
import type { FailureRecord } from "../../model/record.ts";
import type { Parser, ParserContext } from "../profile.ts";
import { causeOfException, lastException } from "../rag/exception.ts";
import {
  continueHeld,
  flushHeld,
  type HeldFailure,
  hasWaited,
  holdFailure,
  newHeldFailure,
  releaseHeld,
} from "../rag/held-failure.ts";
import { httpOf, outboundFailure, parseHttpx } from "../rag/httpx.ts";
import { type DifyEvent, isJson, parseJson, parseText } from "./event.ts";

/** Failed calls whose request may log why, by trace. */
const MAX_CALLS = 200;
/** A request logs why a call failed within this event time, milliseconds. */
const CALL_MS = 5000;
/** Workers that were killed for a timeout. */
const MAX_WORKERS = 50;
/** A worker that timed out is sent its signal within this event time, milliseconds. */
const SIGNAL_MS = 60_000;

interface State {
  failure: HeldFailure;
  calls: Map<string, { failure: FailureRecord; readMs: number }>;
  workers: Map<string, number>;
}

// gunicorn/glogging.py
const GUNICORN =
  /^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4})\] \[\d+\] \[(DEBUG|INFO|WARNING|ERROR|CRITICAL)\] (.*)$/s;
const WORKER_TIMEOUT = /^WORKER TIMEOUT \(pid:(\d+)\)/;
const WORKER_SIGNAL = /^Worker \(pid:(\d+)\) was sent SIG/;

export class DifyParser implements Parser {
  state: State = { failure: newHeldFailure(), calls: new Map(), workers: new Map() };
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const { json } = line;
    const event = json !== undefined && isJson(line) ? parseJson(json) : parseText(line.text);
    if (event === undefined) return;
    releaseHeld(this.state.failure, this.#emit);
    const { timeMs, message, traceId, tenant } = event;
    this.#passTime(timeMs);
    const call = parseHttpx(message);
    if (call !== undefined) {
      this.#context.emit(httpOf(call, timeMs));
      this.#context.emit({ kind: "count", timeMs, name: "outbound_calls", by: 1 });
      if (call.status >= 400)
        this.#failedCall(outboundFailure(call, timeMs, { tenant, requestId: traceId }), line.readMs);
      return;
    }
    if (event.level === "ERROR" || event.level === "CRITICAL") this.#error(event, line.readMs);
  }

  continues(line: Line): boolean {
    const { text } = line;
    // gunicorn runs many an application: its lines are Dify's only in Dify's stream
    if (text.charCodeAt(0) === 91) {
      const gunicorn = GUNICORN.exec(text);
      if (gunicorn !== null) {
        this.#gunicorn(gunicorn, line.readMs);
        return true;
      }
    }
    return continueHeld(this.state.failure, text, line.readMs, this.#emit);
  }

  flush(nowMs: number, final: boolean): void {
    flushHeld(this.state.failure, nowMs, final, this.#emit);
    for (const [traceId, { failure, readMs }] of this.state.calls) {
      if (!final && !hasWaited(readMs, nowMs)) continue;
      this.state.calls.delete(traceId);
      this.#context.emit(failure);
    }
  }

  /** A whole block: its exception decides, and Dify's own words for a failed indexing. */
  readonly #emit = (failure: FailureRecord): void => {
    const { text } = failure;
    const exception = lastException(text);
    const indexing = text.startsWith("consume document failed") ? "indexing_failed" : undefined;
    const cause = failure.cause ?? causeOfException(exception, text) ?? indexing;
    this.#context.emit({ ...failure, cause, errorClass: exception?.name });
  };

  /** A call that failed waits for its request's own error, if it can be known by a trace. */
  #failedCall(failure: FailureRecord, readMs: number): void {
    const { requestId } = failure;
    if (requestId === undefined) {
      this.#context.emit(failure);
      return;
    }
    const before = take(this.state.calls, requestId);
    if (before !== undefined) this.#context.emit(before.failure);
    const dropped = putBounded(this.state.calls, requestId, { failure, readMs }, MAX_CALLS);
    if (dropped !== undefined) this.#context.emit(dropped.failure);
  }

  #error(event: DifyEvent, readMs: number): void {
    const { timeMs, message, traceId, tenant, stack } = event;
    const call = traceId === undefined ? undefined : take(this.state.calls, traceId)?.failure;
    const text = stack === undefined ? message : `${message}\n${stack}`;
    const { cause, httpStatus, route } = call ?? {};
    const failure: FailureRecord = {
      kind: "failure",
      timeMs,
      text,
      cause,
      httpStatus,
      route,
      tenant,
      requestId: traceId,
    };
    holdFailure(this.state.failure, failure, readMs, this.#emit);
  }

  #passTime(timeMs: number): void {
    for (const [traceId, { failure }] of this.state.calls) {
      if (timeMs - failure.timeMs <= CALL_MS) break;
      this.state.calls.delete(traceId);
      this.#context.emit(failure);
    }
  }

  #gunicorn(found: RegExpExecArray, readMs: number): void {
    releaseHeld(this.state.failure, this.#emit);
    const [, stamp = "", level, message = ""] = found;
    if (level !== "ERROR" && level !== "CRITICAL") return;
    const { timeMs } = parseIso(stamp, 0, UTC);
    const signalled = WORKER_SIGNAL.exec(message)?.[1];
    const diedMs = signalled === undefined ? undefined : take(this.state.workers, signalled);
    // the signal is how a worker that timed out is ended, not a second failure
    if (diedMs !== undefined && timeMs - diedMs <= SIGNAL_MS) return;
    const worker = WORKER_TIMEOUT.exec(message)?.[1];
    if (worker !== undefined) putBounded(this.state.workers, worker, timeMs, MAX_WORKERS);
    const cause = worker === undefined ? undefined : "engine_hang_watchdog";
    holdFailure(this.state.failure, { kind: "failure", timeMs, text: message, cause }, readMs, this.#emit);
  }
}
