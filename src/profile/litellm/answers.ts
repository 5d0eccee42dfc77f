import type { LogRecord } from "../../model/record.ts";
import { RequestRecord } from "../../model/record.ts";
import { failureOf, type HeldAttempts, type HeldByTrace, requestOf } from "./attempts.ts";
import type { Payload } from "./payload.ts";

/** An answer that went out, by its access line. Plain data. */
export interface Answer {
  readonly status: number;
  readonly route: string;
  readonly timeMs: number;
  /** Wall time of reading it, ms since the epoch. */
  readonly readMs: number;
}

/**
 * What joins the two lines that the proxy may write for one request: uvicorn's access line (status) and the payload
 * (figures). They carry no common id and come in either order, so they are matched by number: each request is counted
 * once, and with its figures where a payload exists.
 */
export interface AnswerState {
  /** Payloads of answered requests seen so far. */
  payloads: number;
  /** Answers below 400 whose payload may still come, oldest first. */
  waiting: Answer[];
  /** Payloads counted as requests whose access line may still come. */
  credit: number;
  /** Failed answers counted as requests whose payload may still come, by status. */
  failedCredit: Record<string, number>;
  /** Client errors that were told in words and belong to no counted request yet. */
  errorsTold: number;
}

export const newAnswers = (): AnswerState => ({ payloads: 0, waiting: [], credit: 0, failedCredit: {}, errorsTold: 0 });

type Emit = (record: LogRecord) => void;

const MAX_CREDIT = 1000;
/** Answers that wait where payloads are written, and where none was seen yet. */
const MAX_WAITING = 512;
const MAX_WAITING_UNSEEN = 8;
/** A payload comes when the stream has ended. */
const WAIT_MS = 600_000;
const WAIT_UNSEEN_MS = 5000;

/** Takes the access line of a request for inference. */
export function takeAnswer(state: AnswerState, held: HeldByTrace, answer: Answer, emit: Emit): void {
  if (answer.status >= 400) {
    failedAnswer(state, held, answer, emit);
    return;
  }
  if (state.credit > 0) {
    state.credit--;
    emitHttp(answer, emit);
    return;
  }
  state.waiting.push(answer);
  while (state.waiting.length > (state.payloads === 0 ? MAX_WAITING_UNSEEN : MAX_WAITING)) emitOldest(state, emit);
}

/** A payload was counted as a request: the access line of the same request must not be. */
export function paidByPayload(state: AnswerState, emit: Emit): void {
  state.payloads++;
  const answer = state.waiting.shift();
  if (answer === undefined) state.credit = Math.min(state.credit + 1, MAX_CREDIT);
  else emitHttp(answer, emit);
}

function failedAnswer(state: AnswerState, held: HeldByTrace, answer: Answer, emit: Emit): void {
  for (const [key, attempts] of held) {
    const { httpStatus } = attempts.last;
    if (httpStatus !== undefined && httpStatus !== answer.status) continue;
    held.delete(key);
    emitFailed(state, attempts, emit, answer);
    return;
  }
  if (state.errorsTold > 0) state.errorsTold--;
  const status = String(answer.status);
  state.failedCredit[status] = Math.min((state.failedCredit[status] ?? 0) + 1, MAX_CREDIT);
  emit(requestOfAnswer(answer));
}

/** True when this failed attempt belongs to a request that its access line has counted already. */
export function isAnswered(state: AnswerState, payload: Payload): boolean {
  const status = String(payload.httpStatus);
  const credit = state.failedCredit[status] ?? 0;
  if (credit === 0) return false;
  state.failedCredit[status] = credit - 1;
  return true;
}

/** Emits a request whose attempts all failed; its error in words only if the log has not told it already. */
export function emitFailed(state: AnswerState, attempts: HeldAttempts, emit: Emit, answer?: Answer): RequestRecord {
  const record = requestOf(attempts.last, attempts.startMs);
  record.httpStatus = answer?.status ?? record.httpStatus;
  if (answer !== undefined) record.route = answer.route;
  if (answer?.status === 499) record.outcome = "aborted";
  record.retries = attempts.attempts - 1 - attempts.fallbacks;
  if (state.errorsTold > 0) state.errorsTold--;
  else record.failure = failureOf(attempts.last);
  emit(record);
  return record;
}

/** Counts answers for which no payload came. */
export function releaseAnswers(state: AnswerState, nowMs: number, final: boolean, emit: Emit): void {
  const waitMs = state.payloads === 0 ? WAIT_UNSEEN_MS : WAIT_MS;
  while (state.waiting.length > 0) {
    const oldest = state.waiting[0];
    if (!final && oldest !== undefined && nowMs - oldest.readMs < waitMs) return;
    emitOldest(state, emit);
  }
}

function emitOldest(state: AnswerState, emit: Emit): void {
  const answer = state.waiting.shift();
  if (answer !== undefined) emit(requestOfAnswer(answer));
}

function emitHttp({ status, route, timeMs }: Answer, emit: Emit): void {
  emit({ kind: "http", timeMs, status, route, inference: true });
}

function requestOfAnswer({ status, route, timeMs }: Answer): RequestRecord {
  const record = new RequestRecord();
  record.timeMs = timeMs;
  record.route = route;
  record.httpStatus = status;
  record.outcome = status === 499 ? "aborted" : status >= 400 ? "error" : "ok";
  return record;
}
