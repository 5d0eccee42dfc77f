import { putBounded } from "../../core/bounded-map.ts";
import { Latency } from "../../model/latency.ts";
import { type FailureRecord, type LogRecord, RequestRecord } from "../../model/record.ts";
import type { Payload } from "./payload.ts";

/** Failed attempts of one request whose end is not known yet. Plain data. */
export interface HeldAttempts {
  attempts: number;
  fallbacks: number;
  /** Start of the first attempt, ms since the epoch. */
  startMs: number | undefined;
  last: Payload;
  /** Wall time of the newest attempt, ms since the epoch. */
  heldAtMs: number;
}

export type HeldByTrace = Map<string, HeldAttempts>;

const MAX_HELD = 2000;
/** Longest pause between two tries of one request: backoff, or `Retry-After`. */
const MAX_PAUSE_MS = 120_000;
/** Event time after which a failed attempt is the request's end. */
const MAX_WAIT_MS = 300_000;
/** Wall time after which it is, when no more is written. */
const HOLD_MS = 60_000;
/** Clocks of two attempts may disagree this much. */
const SLACK_MS = 50;

/** Notes a failed attempt; yields the requests that by now are known to have failed. */
export function holdFailure(held: HeldByTrace, payload: Payload, nowMs: number): HeldAttempts[] {
  const over = expired(held, payload);
  const key = payload.traceId;
  if (key === undefined) return [...over, newHeld(payload, nowMs)];
  const known = held.get(key);
  if (known !== undefined && follows(known.last, payload)) {
    known.attempts++;
    if (known.last.modelGroup !== payload.modelGroup) known.fallbacks++;
    known.last = payload;
    known.heldAtMs = nowMs;
    return over;
  }
  if (known !== undefined) over.push(known);
  held.delete(key);
  const dropped = putBounded(held, key, newHeld(payload, nowMs), MAX_HELD);
  if (dropped !== undefined) over.push(dropped);
  return over;
}

/** Takes the failed attempts that this success ends, if there are any. */
export function takeAttempts(held: HeldByTrace, payload: Payload): HeldAttempts | undefined {
  if (payload.traceId === undefined) return undefined;
  const known = held.get(payload.traceId);
  if (known === undefined || !follows(known.last, payload)) return undefined;
  held.delete(payload.traceId);
  return known;
}

/** Requests whose last attempt failed longer before this payload than a retry waits. */
export function expired(held: HeldByTrace, payload: Payload): HeldAttempts[] {
  const over: HeldAttempts[] = [];
  if (payload.endMs === undefined) return over;
  for (const [key, entry] of held) {
    if (entry.last.endMs !== undefined && payload.endMs - entry.last.endMs <= MAX_WAIT_MS) break;
    if (key === payload.traceId) continue;
    held.delete(key);
    over.push(entry);
  }
  return over;
}

/** What has waited too long; everything when `final`. */
export function releaseHeld(held: HeldByTrace, nowMs: number, final: boolean): HeldAttempts[] {
  const over: HeldAttempts[] = [];
  for (const [key, entry] of held) {
    if (!final && nowMs - entry.heldAtMs < HOLD_MS) continue;
    held.delete(key);
    over.push(entry);
  }
  return over;
}

/** A retry begins after the try before it has ended, and soon. A trace id may also be a session's: then it does not. */
function follows(earlier: Payload, later: Payload): boolean {
  const [tries, laterTries] = [earlier.attemptedRetries, later.attemptedRetries];
  if (tries !== undefined && laterTries !== undefined && laterTries <= tries && earlier.modelGroup === later.modelGroup)
    return false;
  if (earlier.endMs === undefined || later.startMs === undefined) return true;
  const pauseMs = later.startMs - earlier.endMs;
  return pauseMs >= -SLACK_MS && pauseMs <= MAX_PAUSE_MS;
}

function newHeld(payload: Payload, nowMs: number): HeldAttempts {
  return { attempts: 1, fallbacks: 0, startMs: payload.startMs, last: payload, heldAtMs: nowMs };
}

/**
 * The request that ended with `payload`.
 *
 * @param startMs Start of its first attempt: what the client waited counts from there.
 */
export function requestOf(payload: Payload, startMs: number | undefined): RequestRecord {
  const record = new RequestRecord();
  record.timeMs = payload.endMs ?? Number.NaN;
  record.outcome = payload.ok ? "ok" : "error";
  record.id = payload.id;
  record.traceId = payload.traceId;
  record.model = payload.model;
  record.tenant = payload.tenant;
  record.route = payload.route;
  record.stream = payload.stream;
  record.tokensIn = payload.tokensIn;
  record.tokensInCached = payload.tokensInCached;
  if (payload.tokensIn !== undefined && payload.tokensInCached !== undefined)
    record.tokensInProcessed = payload.tokensIn - payload.tokensInCached;
  record.tokensOut = payload.tokensOut;
  record.tokensOutReasoning = payload.tokensOutReasoning;
  record.costUsd = payload.costUsd;
  record.httpStatus = payload.httpStatus;
  if (startMs !== undefined && payload.endMs !== undefined) record.latencies.set(Latency.e2e, payload.endMs - startMs);
  if (startMs !== undefined && isStreamed(payload) && !isSuspect(payload))
    record.latencies.set(Latency.ttft, (payload.firstTokenMs ?? Number.NaN) - startMs);
  // the same entry may stand in another file too, and there it has the same start
  if (payload.id !== undefined) record.dedupeKey = `${payload.id} ${payload.ok} ${payload.startMs}`;
  return record;
}

/** Only a stream has a first token; a row that does not say so shows it by a first token before the end. */
function isStreamed(payload: Payload): boolean {
  if (!payload.ok || payload.firstTokenMs === undefined) return false;
  return payload.stream ?? !isSuspect(payload);
}

/** A stream whose first token comes with its last: the time was taken at the end, it is no TTFT. */
export function isSuspect(payload: Payload): boolean {
  return payload.endMs !== undefined && Math.abs((payload.firstTokenMs ?? Number.NaN) - payload.endMs) < 1;
}

export function failureOf(payload: Payload): FailureRecord {
  return {
    kind: "failure",
    timeMs: payload.endMs ?? Number.NaN,
    text: payload.errorText || payload.errorClass || `HTTP ${payload.httpStatus ?? "error"}`,
    cause: payload.cause,
    httpStatus: payload.httpStatus,
    errorClass: payload.errorClass,
    model: payload.model,
    tenant: payload.tenant,
    route: payload.route,
    requestId: payload.id,
  };
}

/** Retrievals, tool calls and other things a payload tells beside its request. */
export function emitSteps(payload: Payload, emit: (record: LogRecord) => void): void {
  const timeMs = payload.endMs ?? Number.NaN;
  const { model, tenant, startMs, endMs } = payload;
  for (const { store, durationMs, scores } of payload.retrievals) {
    if (durationMs !== undefined)
      emit({ kind: "step", timeMs, step: Latency.retrieval, durationMs, tenant, collection: store, scores });
    else for (const value of scores) emit({ kind: "score", timeMs, name: "retrieval", value, tenant });
  }
  const durationMs = startMs === undefined || endMs === undefined ? undefined : endMs - startMs;
  const outcome = payload.ok ? "ok" : "error";
  if (payload.kind === "tool") {
    emit({ kind: "count", timeMs, name: "tool_calls", by: 1 });
    if (durationMs !== undefined)
      emit({ kind: "step", timeMs, step: Latency.tool, durationMs, outcome, tenant, tool: payload.tool });
  } else if (payload.kind === "retrieval" && payload.retrievals.length === 0 && durationMs !== undefined)
    emit({ kind: "step", timeMs, step: Latency.retrieval, durationMs, outcome, model, tenant });
}
