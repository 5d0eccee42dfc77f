import type { Line } from "../../model/line.ts";
import { RequestRecord } from "../../model/record.ts";
import type { Asked } from "../asked-line.ts";
import {
  closeFailure,
  closeQuietFailure,
  continueFailure,
  type FailureBlockState,
  looksLikeContinuation,
  newFailureBlock,
  openFailure,
} from "../failure-block.ts";
import type { Parser, ParserContext } from "../profile.ts";
import { errorOf } from "./failure-text.ts";
import { Field } from "./field.ts";
import { LineLayouts } from "./layout/line-layouts.ts";
import { LineFields } from "./line-fields.ts";
import { Severity, timeMs as timeOf } from "./logger.ts";
import { type JoinState, RequestJoin } from "./request-join.ts";
import { addLabels, addLatencies, addTokens, routeOf, scoresOf, settleUnits, strangeTenant } from "./request-of.ts";
import { RequestParts } from "./request-parts.ts";
import { isBare, look, type Seen } from "./seen.ts";
import { isStep } from "./step-line.ts";
import { readText, TextKind, textKind } from "./text-line.ts";
import { type Standing, standingOf } from "./verdict.ts";
import { Phase, Subject, Vocabulary } from "./vocabulary.ts";

/** What may follow the last text line: nothing, a traceback, or a Go stack. */
const Tail = { none: 0, traceback: 1, goStack: 2 } as const;
const GO_FRAME = /^(?:\t\S.{0,400}:\d+|[\w./*()[\]{}-]{1,300})$/;
interface State {
  readonly join: JoinState;
  readonly block: FailureBlockState;
  readonly tail: number;
}

/** Reads structured lines of any application. */
export class StructuredParser implements Parser {
  readonly #context: ParserContext;
  readonly #fields = new LineFields();
  readonly #vocabulary = new Vocabulary();
  readonly #join: RequestJoin;
  readonly #parts: RequestParts;
  #block = newFailureBlock();
  #tail: number = Tail.none;
  readonly #layouts: LineLayouts;
  /** The record of the line just read, if nothing but the line itself went into it. */
  #plain: RequestRecord | undefined = undefined;

  constructor(context: ParserContext) {
    this.#context = context;
    this.#layouts = new LineLayouts(context.zone);
    this.#join = new RequestJoin(context);
    this.#parts = new RequestParts({ fields: this.#fields, vocabulary: this.#vocabulary, join: this.#join, context });
  }

  get state(): State {
    return { join: this.#join.state, block: this.#block, tail: this.#tail };
  }

  set state(state: State) {
    this.#join.state = state.join;
    this.#block = state.block;
    this.#tail = state.tail;
  }

  parse(line: Line): void {
    if (this.#block.open !== undefined) closeFailure(this.#block, this.#context.emit);
    this.#tail = Tail.none;
    this.#plain = undefined;
    const fields = this.#fields;
    fields.clear();
    const json = line.json;
    let kind: number = TextKind.none;
    if (json === undefined) {
      kind = textKind(line.text);
      readText(line.text, kind, fields);
    } else fields.addJson(json);
    const own = timeOf(fields, this.#context.zone);
    const timeMs = own === own ? own : line.timeMs;
    this.#join.expire(timeMs);
    const isText = kind !== TextKind.none;
    this.#read(look(fields, this.#vocabulary, { timeMs, readMs: line.readMs, isText }));
    if (kind === TextKind.columns && this.#tail === Tail.none) this.#tail = Tail.goStack;
  }

  repeat(line: Line): boolean {
    const record = this.#layouts.read(line);
    if (record === undefined) return false;
    const { id } = record;
    // lines before it have something to say of this request
    if (id !== undefined && this.#join.peek(id) !== undefined) return false;
    if (this.#block.open !== undefined) closeFailure(this.#block, this.#context.emit);
    this.#tail = Tail.none;
    this.#join.expire(record.timeMs);
    this.#join.end(record, id, false);
    return true;
  }

  learn(line: Line, asked: () => Asked | undefined): void {
    const record = this.#plain;
    if (!this.#layouts.learns || record === undefined) return;
    this.#plain = undefined;
    const others = asked();
    if (others !== undefined) this.#layouts.learn(line, record, others, (path) => this.#fields.nodeOf(path));
  }

  continues(line: Line): boolean {
    if (this.#tail === Tail.none && this.#block.open === undefined) return false;
    const { text } = line;
    if (text.charCodeAt(0) === 123) return false;
    if (this.#tail === Tail.goStack) {
      if (GO_FRAME.test(text)) return true;
      this.#tail = Tail.none;
    }
    if (this.#block.open !== undefined) return continueFailure(this.#block, text, this.#context.emit);
    if (this.#tail === Tail.traceback && looksLikeContinuation(text)) return true;
    this.#tail = Tail.none;
    return false;
  }

  flush(nowMs: number, final: boolean): void {
    closeQuietFailure(this.#block, nowMs, final, this.#context.emit);
    this.#join.flush(nowMs, final);
  }

  #read(seen: Seen): void {
    const fields = this.#fields;
    const { told, httpStatus } = seen;
    const { phase, subject } = told;
    if (told.leak) {
      this.#parts.leak(seen);
      return;
    }
    const timed = fields.has(Field.duration) || fields.has(Field.e2e);
    if (phase === Phase.retry || phase === Phase.fallback) {
      if (!fields.has(Field.tokensOut) && !(timed && httpStatus !== undefined)) {
        this.#parts.again(seen);
        return;
      }
    }
    if (isStep(fields, told, httpStatus)) {
      this.#parts.step(seen);
      return;
    }
    if (phase === Phase.firstToken && !fields.has(Field.tokensOut)) {
      this.#parts.firstToken(seen);
      return;
    }
    const ended = timed || httpStatus !== undefined || fields.has(Field.finishReason);
    if (phase === Phase.chunk && !ended) {
      if (seen.id !== undefined && !seen.loose) this.#parts.running(seen);
      return;
    }
    if (phase === Phase.start && !ended && !fields.has(Field.tokensOut)) {
      if (subject === Subject.request || subject === Subject.weakRequest) this.#parts.start(seen);
      return;
    }
    const standing = standingOf(fields, told, { route: this.#routeOf(seen), httpStatus, isEvent: seen.isEvent });
    if (standing === "request") {
      if (seen.id !== undefined && this.#isCall(seen, ended)) this.#parts.call(seen);
      else this.#end(seen);
      return;
    }
    this.#noRequest(seen, standing);
  }

  /** The route of the line, or of the request's beginning. */
  #routeOf(seen: Seen): string | undefined {
    const fields = this.#fields;
    const route = routeOf(fields);
    if (route !== undefined || seen.id === undefined) return route;
    const held = this.#join.peek(seen.id);
    // so that the method is asked for too
    if (held?.method !== undefined && !fields.has(Field.method)) fields.addAttribute("method", held.method);
    return held?.route;
  }

  /** True for the end of a model call that its request's own end may follow. */
  #isCall(seen: Seen, ended: boolean): boolean {
    const { subject, phase } = seen.told;
    if (subject === Subject.llm) return true;
    return subject === Subject.none && phase === Phase.none && !ended && !this.#fields.has(Field.ttft);
  }

  /** The end of a request. */
  #end(seen: Seen): void {
    const fields = this.#fields;
    const { reject } = this.#context;
    const record = new RequestRecord();
    record.timeMs = seen.timeMs;
    const settled = fields.unitless === 0 && !fields.has(Field.tokensCacheWritten);
    settleUnits(fields, reject);
    addLatencies(fields, record);
    addTokens(fields, record);
    addLabels(fields, record);
    record.httpStatus = seen.httpStatus;
    record.scores = scoresOf(fields);
    record.outcome = this.#parts.outcome(seen);
    let weak = false;
    if (record.outcome !== "ok") {
      record.failure = this.#parts.failure(seen, record.outcome === "aborted" ? "client_cancelled" : undefined);
      weak =
        isBare(seen, fields, this.#vocabulary) &&
        record.failure.errorClass === undefined &&
        record.outcome === "error" &&
        !errorOf(fields).any;
    }
    if (seen.isEvent && seen.id !== undefined && !seen.loose && seen.told.subject === Subject.request)
      record.dedupeKey = `${seen.id} ${record.outcome}`;
    if (record.tokensIn === undefined && record.tokensOut === undefined) {
      const total = fields.number(Field.tokensTotal);
      if (total !== undefined)
        this.#context.emit({ kind: "tokens", timeMs: seen.timeMs, type: "total", tokens: total });
    }
    const strange = strangeTenant(fields, record.tenant);
    if (strange !== undefined) this.#parts.leak(seen, strange);
    const { failure } = record;
    const alone = seen.id === record.id && (seen.id === undefined || this.#join.peek(seen.id) === undefined);
    const counted = record.tokensIn !== undefined || record.tokensOut !== undefined || !fields.has(Field.tokensTotal);
    if (
      settled &&
      alone &&
      counted &&
      record.outcome === "ok" &&
      record.dedupeKey === undefined &&
      strange === undefined
    )
      this.#plain = record.scores === undefined ? record : undefined;
    if (!seen.isText || failure === undefined) {
      this.#join.end(record, seen.id, weak);
      return;
    }
    // a traceback may follow a text line: it belongs to the failure
    if (seen.id === undefined) record.failure = undefined;
    this.#join.end(record, seen.id, weak);
    if (seen.id === undefined) openFailure(this.#block, failure, this.#context.emit, seen.readMs);
    else this.#tail = Tail.traceback;
  }

  /** A line that is no request's end. */
  #noRequest(seen: Seen, standing: Standing): void {
    const { timeMs, httpStatus } = seen;
    if (standing === "other" && httpStatus !== undefined) {
      const route = this.#routeOf(seen) ?? "";
      this.#context.emit({ kind: "http", timeMs, status: httpStatus, route, inference: false });
      return;
    }
    this.#parts.loneSteps(seen);
    if (seen.severity < Severity.error) return;
    const failure = this.#parts.failure(seen);
    if (seen.isText) {
      if (seen.id === undefined) openFailure(this.#block, failure, this.#context.emit, seen.readMs);
      else this.#tail = Tail.traceback;
    }
    if (seen.id !== undefined || !seen.isText) this.#parts.fail(seen, failure, false);
  }
}
