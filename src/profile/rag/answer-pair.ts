import type { FailureRecord } from "../../model/record.ts";
import { hasWaited } from "./held-failure.ts";

/** A failed answer and the error that tells why stand this near to each other, milliseconds of event time. */
const PAIR_MS = 1000;

/**
 * Joins the access line of a failed answer with the error line that tells why, whichever comes first, so that one
 * failure is counted once. `Answer` is plain data; the whole is part of a parser's state.
 */
export interface AnswerPair<Answer> {
  /** A failed answer whose reason may follow. */
  answer: { what: Answer; timeMs: number; readMs: number } | undefined;
  /** A reason whose answer may follow. */
  reason: { failure: FailureRecord; readMs: number } | undefined;
}

/** What becomes of the two halves. */
export interface PairSinks<Answer> {
  answer(what: Answer, reason: FailureRecord | undefined): void;
  failure(record: FailureRecord): void;
}

export const newAnswerPair = <Answer>(): AnswerPair<Answer> => ({ answer: undefined, reason: undefined });

/** Times of a second's resolution, and none at all, are near to anything beside them. */
const near = (a: number, b: number): boolean => !(Math.abs(a - b) > PAIR_MS);

/** Call with the time of each event, before it is offered: halves that nothing can join any more are delivered. */
export function passTime<Answer>(pair: AnswerPair<Answer>, timeMs: number, sinks: PairSinks<Answer>): void {
  if (pair.answer !== undefined && !(Math.abs(timeMs - pair.answer.timeMs) <= PAIR_MS)) releaseAnswer(pair, sinks);
  if (pair.reason !== undefined && !(Math.abs(timeMs - pair.reason.failure.timeMs) <= PAIR_MS)) {
    releaseReason(pair, sinks);
  }
}

export function offerReason<Answer>(
  pair: AnswerPair<Answer>,
  failure: FailureRecord,
  readMs: number,
  sinks: PairSinks<Answer>,
): void {
  const { answer } = pair;
  if (answer !== undefined && near(answer.timeMs, failure.timeMs)) {
    pair.answer = undefined;
    sinks.answer(answer.what, failure);
    return;
  }
  releaseReason(pair, sinks);
  pair.reason = { failure, readMs };
}

export function offerAnswer<Answer>(
  pair: AnswerPair<Answer>,
  what: Answer,
  timeMs: number,
  readMs: number,
  sinks: PairSinks<Answer>,
): void {
  const { reason } = pair;
  if (reason !== undefined && near(reason.failure.timeMs, timeMs)) {
    pair.reason = undefined;
    sinks.answer(what, reason.failure);
    return;
  }
  releaseAnswer(pair, sinks);
  pair.answer = { what, timeMs, readMs };
}

export function flushPair<Answer>(
  pair: AnswerPair<Answer>,
  nowMs: number,
  final: boolean,
  sinks: PairSinks<Answer>,
): void {
  if (pair.answer !== undefined && (final || hasWaited(pair.answer.readMs, nowMs))) releaseAnswer(pair, sinks);
  if (pair.reason !== undefined && (final || hasWaited(pair.reason.readMs, nowMs))) releaseReason(pair, sinks);
}

function releaseAnswer<Answer>(pair: AnswerPair<Answer>, sinks: PairSinks<Answer>): void {
  const { answer } = pair;
  pair.answer = undefined;
  if (answer !== undefined) sinks.answer(answer.what, undefined);
}

function releaseReason<Answer>(pair: AnswerPair<Answer>, sinks: PairSinks<Answer>): void {
  const { reason } = pair;
  pair.reason = undefined;
  if (reason !== undefined) sinks.failure(reason.failure);
}
