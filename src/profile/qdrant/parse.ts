import { Latency } from "../../model/latency.ts";
import type { Line } from "../../model/line.ts";
import { type FailureRecord, type Outcome, RequestRecord } from "../../model/record.ts";
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
import {
  continueHeld,
  flushHeld,
  type HeldFailure,
  holdFailure,
  newHeldFailure,
  releaseHeld,
} from "../rag/held-failure.ts";
import { causeOfStoreStatus } from "../rag/store-status.ts";
import { figureOf } from "../rag/value.ts";
import { causeOfGrpc, type GrpcAccess, parseGrpc, parseRest, type RestAccess } from "./access.ts";
import { parseEvent, type QdrantEvent } from "./header.ts";

/** Writes why an answer has status 500, beside its access line. */
const REASONS = "qdrant::actix::helpers";

interface Answer {
  readonly access: RestAccess;
  readonly timeMs: number;
}

interface State {
  failure: HeldFailure;
  pair: AnswerPair<Answer>;
}

export class QdrantParser implements Parser {
  state: State = { failure: newHeldFailure(), pair: newAnswerPair() };
  readonly #context: ParserContext;
  readonly #sinks: PairSinks<Answer>;

  constructor(context: ParserContext) {
    this.#context = context;
    this.#sinks = {
      answer: ({ access, timeMs }, reason) => this.#answer(access, timeMs, reason),
      failure: (record) => context.emit(record),
    };
  }

  parse(line: Line): void {
    const event = parseEvent(line, this.#context.zone);
    if (event === undefined) return;
    const { pair } = this.state;
    passTime(pair, event.timeMs, this.#sinks);
    if (event.target.endsWith("middleware::logger")) {
      const access = parseRest(event.message);
      if (access !== undefined) this.#rest(access, event.timeMs, line.readMs);
      return;
    }
    const grpc = parseGrpc(event.message);
    if (grpc !== undefined) this.#grpc(grpc, event.timeMs);
    else if (event.level !== "ERROR") releaseHeld(this.state.failure, this.#context.emit);
    else if (event.target !== REASONS) this.#error(event, line.readMs);
    else {
      const { timeMs, message } = event;
      offerReason(pair, { kind: "failure", timeMs, text: message }, line.readMs, this.#sinks);
    }
  }

  continues(line: Line): boolean {
    return continueHeld(this.state.failure, line.text, line.readMs, this.#context.emit);
  }

  flush(nowMs: number, final: boolean): void {
    flushPair(this.state.pair, nowMs, final, this.#sinks);
    flushHeld(this.state.failure, nowMs, final, this.#context.emit);
  }

  #rest(access: RestAccess, timeMs: number, readMs: number): void {
    if (access.status >= 500) offerAnswer(this.state.pair, { access, timeMs }, timeMs, readMs, this.#sinks);
    else this.#answer(access, timeMs, undefined);
  }

  #answer(access: RestAccess, timeMs: number, reason: FailureRecord | undefined): void {
    const { status, route, collection } = access;
    if (!access.retrieval) {
      this.#context.emit({ kind: "http", timeMs, status, route, inference: false });
      if (status < 400) {
        if (isWrite(access)) this.#context.emit({ kind: "count", timeMs, name: "writes", by: 1 });
      } else if (reason !== undefined || isWrite(access)) this.#context.emit(restFailure(access, timeMs, reason));
      return;
    }
    const record = new RequestRecord();
    record.timeMs = timeMs;
    record.route = route;
    record.httpStatus = status;
    record.outcome = status >= 400 ? "error" : "ok";
    if (status >= 400) record.failure = restFailure(access, timeMs, reason);
    this.#context.emit(record);
    this.#retrieval(access.seconds, timeMs, record.outcome, collection);
  }

  #grpc(access: GrpcAccess, timeMs: number): void {
    const { route, code, message } = access;
    let failure: FailureRecord | undefined;
    if (code !== undefined) {
      const text = `gRPC ${route} failed with ${code}: ${message}`;
      failure = { kind: "failure", timeMs, text, cause: causeOfGrpc(code, message), route };
      this.#context.emit({ kind: "count", timeMs, name: "grpc_failures", by: 1 });
    }
    if (!access.retrieval) {
      if (failure !== undefined) this.#context.emit(failure);
      return;
    }
    const record = new RequestRecord();
    record.timeMs = timeMs;
    record.route = route;
    record.failure = failure;
    if (access.cancelled || failure?.cause === "client_cancelled") record.outcome = "aborted";
    else if (failure !== undefined) record.outcome = "error";
    this.#context.emit(record);
    this.#retrieval(access.seconds, timeMs, record.outcome, undefined);
  }

  #retrieval(seconds: string, timeMs: number, outcome: Outcome, collection: string | undefined): void {
    const figure = figureOf(seconds, this.#context);
    if (figure === undefined) return;
    const durationMs = figure * 1000;
    this.#context.emit({ kind: "step", timeMs, step: Latency.retrieval, durationMs, outcome, collection });
  }

  #error(event: QdrantEvent, readMs: number): void {
    const { failure } = this.state;
    const { timeMs, message: text } = event;
    // a panic is written as two records: its backtrace, then where it happened
    const open = failure.block.open;
    if (text.startsWith("Panic occurred in file") && open?.head.text.startsWith("Panic backtrace") === true) {
      open.lines.unshift(text);
      releaseHeld(failure, this.#context.emit);
    } else holdFailure(failure, { kind: "failure", timeMs, text }, readMs, this.#context.emit);
  }
}

const isWrite = ({ method, route }: RestAccess): boolean =>
  method !== "GET" && method !== "HEAD" && route.startsWith("/collections/");

function restFailure(access: RestAccess, timeMs: number, reason: FailureRecord | undefined): FailureRecord {
  const { status, route, method } = access;
  const text = reason?.text ?? `${method} ${route} answered ${status}`;
  // a full disk or memory, or a wrong vector size, is told by the words of the reason
  const cause = reason !== undefined && /space|memory|dim/i.test(text) ? undefined : causeOfStoreStatus(status);
  return { kind: "failure", timeMs, text, cause, httpStatus: status, route };
}
