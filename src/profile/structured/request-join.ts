import { putBounded, take } from "../../core/bounded-map.ts";
import { Latency } from "../../model/latency.ts";
import { type FailureRecord, RequestRecord } from "../../model/record.ts";
import type { ParserContext } from "../profile.ts";
import { isWide } from "./error-cause.ts";
import {
  addUsage,
  newOpenRequest,
  type OpenRequest,
  type PendingFailure,
  replaceUsage,
  type Usage,
} from "./open-request.ts";

/** Requests of which something is held, and ids remembered, at most. */
const MAX_OPEN = 2000;
const MAX_REMEMBERED = 2000;
/**
 * A model call is held this long for the end of its request, in event time and in silence; the longer time holds once the
 * stream has shown that such ends come. Without any end the call was the request.
 */
const HOLD_MS = 5000;
const HOLD_JOINED_MS = 60_000;
/** A request that has begun and of which nothing more is heard. */
const OPEN_MS = 15 * 60_000;

/** The memory of a {@link RequestJoin}. */
export interface JoinState {
  /** Requests that have begun: what their end will need. */
  open: Map<string, OpenRequest>;
  /** Requests that hold figures or failures which must not be lost, by the time of their last line. */
  waiting: Map<string, OpenRequest>;
  /** Ids counted without their end: an end that comes after all adds its duration only. */
  late: Map<string, true>;
  /** Ids whose failure was counted: further lines about it are the same failure. */
  failed: Map<string, true>;
  /** The stream has ends of requests besides its model calls. */
  joined: boolean;
}

/** Joins the lines of one request, by its id, into one record: each figure and each failure once. */
export class RequestJoin {
  state: JoinState = { open: new Map(), waiting: new Map(), late: new Map(), failed: new Map(), joined: false };
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  /** What is held of a request, for adding to it. */
  hold(id: string, loose: boolean, timeMs: number, readMs: number): OpenRequest {
    const { open, waiting } = this.state;
    let held = waiting.get(id) ?? open.get(id);
    if (held === undefined) {
      held = newOpenRequest(id, loose);
      this.#put(open, held);
    }
    if (timeMs === timeMs) held.timeMs = timeMs;
    held.readMs = readMs;
    return held;
  }

  /** The request now holds what must be told even if its end never comes. */
  wait(held: OpenRequest): void {
    const { open, waiting } = this.state;
    if (!open.delete(held.id)) waiting.delete(held.id);
    this.#put(waiting, held);
  }

  /** What is held of a request, if anything. */
  peek(id: string): OpenRequest | undefined {
    const { open, waiting } = this.state;
    return open.size + waiting.size === 0 ? undefined : (waiting.get(id) ?? open.get(id));
  }

  /** A model call ended well: its last report stands for all of its chunks. */
  addCall(held: OpenRequest, usage: Usage): void {
    const whole = replaceUsage(held.running, usage);
    held.running = undefined;
    held.usage = addUsage(held.usage, whole);
    held.calls++;
  }

  hasFailed(id: string): boolean {
    const { failed } = this.state;
    return failed.size > 0 && failed.has(id);
  }

  /** Takes the end of a request: adds what is held of it, and emits it. */
  end(record: RequestRecord, id: string | undefined, weakFailure: boolean): void {
    const { open, waiting, late, failed } = this.state;
    if (id !== undefined) {
      if (open.size + waiting.size > 0) {
        const held = take(waiting, id) ?? take(open, id);
        if (held !== undefined) this.#merge(record, held, weakFailure);
      }
      if (late.size > 0 && late.delete(id)) {
        this.#lateEnd(record);
        return;
      }
      if (record.failure !== undefined) {
        if (failed.has(id)) record.failure = undefined;
        else putBounded(failed, id, true, MAX_REMEMBERED);
      }
    }
    this.#context.emit(record);
  }

  /** Lets go of what has waited too long, by the time in the log. */
  expire(timeMs: number): void {
    const { open, waiting } = this.state;
    if (waiting.size > 0) this.#expireOf(waiting, timeMs - this.#holdMs);
    if (open.size > 0) this.#expireOf(open, timeMs - OPEN_MS);
  }

  /** Lets go of what has waited too long in silence; of everything when `final`. */
  flush(nowMs: number, final: boolean): void {
    const { open, waiting } = this.state;
    for (const held of waiting.values()) if (final || nowMs - held.readMs > this.#holdMs) this.#letGo(waiting, held);
    for (const held of open.values()) if (final || nowMs - held.readMs > OPEN_MS) this.#letGo(open, held);
  }

  /** Emits a held model call as the request that it was. */
  closeCalls(held: OpenRequest): void {
    this.#emitCalls(held);
    held.calls = 0;
    held.usage = undefined;
    held.running = undefined;
    held.callsMs = [];
    held.kinds = [];
    held.valuesMs = [];
    held.ttftMs = undefined;
  }

  get #holdMs(): number {
    return this.state.joined ? HOLD_JOINED_MS : HOLD_MS;
  }

  #put(map: Map<string, OpenRequest>, held: OpenRequest): void {
    const dropped = putBounded(map, held.id, held, MAX_OPEN);
    if (dropped !== undefined) this.#close(dropped);
  }

  #expireOf(map: Map<string, OpenRequest>, beforeMs: number): void {
    for (const held of map.values()) {
      if (!(held.timeMs < beforeMs)) return;
      this.#letGo(map, held);
    }
  }

  #letGo(map: Map<string, OpenRequest>, held: OpenRequest): void {
    map.delete(held.id);
    this.#close(held);
  }

  /** The end never came. */
  #close(held: OpenRequest): void {
    const attempts = held.pending.filter(({ attempt }) => attempt);
    if (held.calls > 0 || held.running !== undefined || attempts.length > 0) {
      this.#emitCalls(held);
      if (!held.loose) putBounded(this.state.late, held.id, true, MAX_REMEMBERED);
    } else if (held.ttftMs !== undefined) this.#step(held, Latency.ttft, held.ttftMs);
    for (const { record, attempt } of held.pending) {
      if (attempt) continue;
      this.#context.emit(record);
      putBounded(this.state.failed, held.id, true, MAX_REMEMBERED);
    }
  }

  #emitCalls(held: OpenRequest): void {
    const record = new RequestRecord();
    record.timeMs = held.timeMs;
    const { callsMs, calls } = held;
    const failed = held.pending.findLast(({ attempt }) => attempt);
    if (calls === 0 && failed !== undefined) {
      record.outcome = failed.record.cause === "client_cancelled" ? "aborted" : "error";
      record.failure = failed.record;
      record.httpStatus = failed.record.httpStatus;
      record.latencies.set(Latency.e2e, held.failedMs);
    } else {
      record.httpStatus = held.httpStatus;
      this.#recovered(held);
      // several calls under one id are no request that anyone timed
      if (calls === 1) record.latencies.set(Latency.e2e, callsMs.pop());
    }
    this.#fill(record, held);
    this.#context.emit(record);
  }

  /** Every figure of the end stands; what it leaves open is filled from the lines before it. */
  #merge(record: RequestRecord, held: OpenRequest, weakFailure: boolean): void {
    if (held.calls > 0 || held.running !== undefined || held.ttftMs !== undefined) this.state.joined = true;
    if (held.scored) record.scores = undefined;
    if (held.retries > 0) record.retries = undefined;
    for (let steps = held.steps; steps !== 0; steps &= steps - 1) {
      record.latencies.remove((31 - Math.clz32(steps & -steps)) as never);
    }
    if (held.callsMs.length > 0) record.latencies.remove(Latency.upstream_llm);
    if (record.outcome === "ok") {
      this.#recovered(held);
      for (const { record: failure, attempt } of held.pending) if (!attempt) this.#context.emit(failure);
    } else this.#explain(record, held, weakFailure);
    this.#fill(record, held);
  }

  /** Failed attempts that a retry or a fallback healed. */
  #recovered(held: OpenRequest): void {
    const by = held.pending.filter(({ attempt }) => attempt).length;
    if (by > 0) this.#context.emit({ kind: "count", timeMs: held.timeMs, name: "upstream_errors", by });
  }

  /** One failure for a failed request: the reason is what the step before it said, when the end itself says little. */
  #explain(record: RequestRecord, held: OpenRequest, weakFailure: boolean): void {
    let failure = record.failure;
    if (failure === undefined) return;
    const reason = reasonOf(held.pending, failure);
    if (reason !== undefined) {
      const { record: inner } = reason;
      const vague = weakFailure || failure.cause === undefined || isWide(failure.cause);
      if (vague) {
        const text = failure.text.includes(inner.text) ? failure.text : `${failure.text}: ${inner.text}`;
        const errorClass = inner.errorClass ?? failure.errorClass;
        failure = { ...failure, text, cause: inner.cause ?? (weakFailure ? undefined : failure.cause), errorClass };
      }
    }
    record.failure = failure;
    for (const { record: own, own: isOwn } of held.pending) {
      if (isOwn && own.cause !== failure.cause) this.#context.emit(own);
    }
  }

  #fill(record: RequestRecord, held: OpenRequest): void {
    record.id ??= held.loose ? undefined : held.id;
    record.traceId ??= held.traceId;
    record.model ??= held.model;
    record.tenant ??= held.tenant;
    record.service ??= held.service;
    record.route ??= held.route;
    record.stream ??= held.stream;
    if (record.outcome === "ok") record.finishReason ??= held.finishReason;
    const usage = held.running === undefined ? held.usage : addUsage(held.usage, held.running);
    if (usage !== undefined) fillUsage(record, usage);
    const { latencies } = record;
    if (latencies.get(Latency.ttft) === undefined) latencies.set(Latency.ttft, held.ttftMs);
    for (const [index, kind] of held.kinds.entries()) {
      if (latencies.get(kind) === undefined) latencies.set(kind, held.valuesMs[index]);
    }
    for (const callMs of held.callsMs) this.#step(held, Latency.upstream_llm, callMs);
  }

  /** The request was counted by its model call: only its own duration is news. */
  #lateEnd(record: RequestRecord): void {
    this.state.joined = true;
    const { timeMs, model, tenant } = record;
    const durationMs = record.latencies.get(Latency.e2e);
    if (durationMs !== undefined)
      this.#context.emit({ kind: "step", timeMs, step: Latency.e2e, durationMs, model, tenant });
  }

  #step(held: OpenRequest, step: typeof Latency.ttft, durationMs: number): void {
    const { timeMs, model, tenant } = held;
    this.#context.emit({ kind: "step", timeMs, step, durationMs, model, tenant });
  }
}

function fillUsage(record: RequestRecord, usage: Usage): void {
  // cached and reasoning tokens are parts: they belong to the figure that they are part of
  if (record.tokensIn === undefined) {
    record.tokensIn = usage.tokensIn;
    record.tokensInCached ??= usage.tokensInCached;
  } else if (record.tokensIn === usage.tokensIn) record.tokensInCached ??= usage.tokensInCached;
  if (record.tokensOut === undefined) {
    record.tokensOut = usage.tokensOut;
    record.tokensOutReasoning ??= usage.tokensOutReasoning;
  } else if (record.tokensOut === usage.tokensOut) record.tokensOutReasoning ??= usage.tokensOutReasoning;
  record.costUsd ??= usage.costUsd;
}

/** The pending failure that explains the request's: one of the same cause, else the last that is not a failure of its own. */
function reasonOf(pending: readonly PendingFailure[], failure: FailureRecord): PendingFailure | undefined {
  return (
    pending.find(({ record }) => record.cause !== undefined && record.cause === failure.cause) ??
    pending.findLast(({ own }) => !own) ??
    (failure.cause === undefined ? pending.at(-1) : undefined)
  );
}
