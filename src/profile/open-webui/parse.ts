import type { Line } from "../../model/line.ts";
import { type FailureRecord, RequestRecord } from "../../model/record.ts";
import { parseAccessLine } from "../access-line.ts";
import type { Parser, ParserContext } from "../profile.ts";
import {
  type AnswerPair,
  flushPair,
  newAnswerPair,
  offerAnswer,
  offerReason,
  type PairSinks,
  passTime,
} from "../rag/answer-pair.ts";
import { causeOfException, lastException } from "../rag/exception.ts";
import {
  continueHeld,
  flushHeld,
  type HeldFailure,
  holdFailure,
  newHeldFailure,
  releaseHeld,
} from "../rag/held-failure.ts";
import { auditOf, emitAudit } from "./audit.ts";
import { causeOfAnswer } from "./causes.ts";
import { isAsked, parseJson, parseText, type WebuiEvent } from "./event.ts";

interface Answer {
  readonly timeMs: number;
  readonly status: number;
  readonly route: string;
  readonly asked: boolean;
}

interface State {
  failure: HeldFailure;
  pair: AnswerPair<Answer>;
}

/** What loguru appends when a line carries extras. */
const EXTRA = / - \{.*\}$/s;

export class OpenWebuiParser implements Parser {
  state: State = { failure: newHeldFailure(), pair: newAnswerPair() };
  readonly #context: ParserContext;
  readonly #sinks: PairSinks<Answer>;

  constructor(context: ParserContext) {
    this.#context = context;
    this.#sinks = {
      answer: (answer, reason) => this.#answer(answer, reason),
      failure: (record) => context.emit(record),
    };
  }

  parse(line: Line): void {
    const audit = auditOf(line);
    if (audit !== undefined) {
      emitAudit(audit, this.#context);
      return;
    }
    const event = this.#read(line);
    if (event !== undefined) this.#event(event, line);
  }

  /** In its stream, any module's line in the same layout belongs to it. */
  continues(line: Line): boolean {
    const event = this.#read(line);
    if (event !== undefined) {
      this.#event(event, line);
      return true;
    }
    // loguru marks the frame that logged
    const text = line.text.startsWith("> File ") ? `  ${line.text.slice(2)}` : line.text;
    return continueHeld(this.state.failure, text, line.readMs, this.#reason(line.readMs));
  }

  flush(nowMs: number, final: boolean): void {
    flushHeld(this.state.failure, nowMs, final, this.#reason(nowMs));
    flushPair(this.state.pair, nowMs, final, this.#sinks);
  }

  #read(line: Line): WebuiEvent | undefined {
    const first = line.text.charCodeAt(0);
    if (first === 123) return parseJson(line, this.#context.zone);
    return first >= 48 && first <= 57 ? parseText(line.text, this.#context.zone) : undefined;
  }

  #event(event: WebuiEvent, line: Line): void {
    const { message, level } = event;
    const { readMs } = line;
    const timeMs = Number.isNaN(event.timeMs) ? line.timeMs : event.timeMs;
    releaseHeld(this.state.failure, this.#reason(readMs));
    passTime(this.state.pair, timeMs, this.#sinks);
    if (event.module.startsWith("uvicorn.protocols")) {
      const access = parseAccessLine(message.replace(EXTRA, ""));
      if (access !== undefined) {
        const { status, route, method } = access;
        const answer: Answer = { timeMs, status, route, asked: isAsked(method, route) };
        if (status >= 500) offerAnswer(this.state.pair, answer, timeMs, readMs, this.#sinks);
        else this.#answer(answer, undefined);
        return;
      }
    }
    if (level !== "ERROR" && level !== "CRITICAL" && level !== "FATAL") return;
    const text = event.error === undefined ? message : `${message}\n${event.error}`;
    holdFailure(this.state.failure, { kind: "failure", timeMs, text }, readMs, this.#reason(readMs));
  }

  /** A whole error block becomes the reason of the answer beside it. */
  #reason(readMs: number): (failure: FailureRecord) => void {
    return (failure) => {
      const exception = lastException(failure.text);
      const cause = causeOfException(exception, failure.text);
      offerReason(this.state.pair, { ...failure, cause, errorClass: exception?.name }, readMs, this.#sinks);
    };
  }

  #answer(answer: Answer, reason: FailureRecord | undefined): void {
    const { timeMs, status, route, asked } = answer;
    let failure: FailureRecord | undefined;
    if (status >= 400) {
      const text = reason?.text ?? `${route} answered ${status}`;
      const cause = reason?.cause ?? causeOfAnswer(status, reason?.text);
      failure = { kind: "failure", timeMs, text, cause, httpStatus: status, route, errorClass: reason?.errorClass };
    }
    if (!asked) {
      this.#context.emit({ kind: "http", timeMs, status, route, inference: false });
      if (reason !== undefined && failure !== undefined) this.#context.emit(failure);
      return;
    }
    const record = new RequestRecord();
    record.timeMs = timeMs;
    record.route = route;
    record.httpStatus = status;
    record.outcome = failure === undefined ? "ok" : status === 499 ? "aborted" : "error";
    record.failure = failure;
    this.#context.emit(record);
  }
}
