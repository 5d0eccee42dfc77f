import { Latency } from "../../model/latency.ts";
import type { Line } from "../../model/line.ts";
import { type FailureRecord, type Outcome, type RejectReason, RequestRecord } from "../../model/record.ts";
import {
  closeFailure,
  continueFailure,
  type FailureBlockState,
  looksLikeContinuation,
  newFailureBlock,
  openFailure,
} from "../failure-block.ts";
import type { Parser, ParserContext } from "../profile.ts";
import { causeOfKind } from "./error-cause.ts";
import { errorOf, failureOf } from "./failure-text.ts";
import { Field } from "./field.ts";
import { LineFields } from "./line-fields.ts";
import { Severity, severity, timeMs as timeOf } from "./logger.ts";
import { type OpenRequest, replaceUsage, type Usage } from "./open-request.ts";
import { type JoinState, RequestJoin } from "./request-join.ts";
import { addLabels, addLatencies, addTokens, routeOf, scoresOf, settleUnits, strangeTenant } from "./request-of.ts";
import { emitStep, isStep } from "./step-line.ts";
import { readText, TextKind, textKind } from "./text-line.ts";
import { hasModelFigure, httpStatusOf, outcomeOf, type Standing, standingOf } from "./verdict.ts";
import { Phase, Subject, type Told, Vocabulary } from "./vocabulary.ts";

/** What may follow the last text line: nothing, a traceback, or a Go stack. */
const Tail = { none: 0, traceback: 1, goStack: 2 } as const;
const GO_FRAME = /^(?:\t\S.{0,400}:\d+|[\w./*()[\]{}-]{1,300})$/;
/** Durations of model calls that are kept for their request's end. */
const MAX_HELD_LATENCIES = 16;

interface State {
  readonly join: JoinState;
  readonly block: FailureBlockState;
  readonly tail: number;
}

/** What the parser knows of the line at hand. */
interface Seen {
  readonly timeMs: number;
  readonly readMs: number;
  readonly isText: boolean;
  told: Told;
  /** The words stand under a key for event names, as one word: they are the writer's verdict, not prose. */
  isEvent: boolean;
  message: string | undefined;
  severity: number;
  httpStatus: number | undefined;
  id: string | undefined;
  /** The id may belong to more than this request. */
  loose: boolean;
}

/** Reads structured lines of any application. */
export class StructuredParser implements Parser {
  readonly #context: ParserContext;
  readonly #fields = new LineFields();
  readonly #vocabulary = new Vocabulary();
  readonly #join: RequestJoin;
  #block = newFailureBlock();
  #tail: number = Tail.none;

  constructor(context: ParserContext) {
    this.#context = context;
    this.#join = new RequestJoin(context);
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
    this.#read(this.#look(timeMs, line.readMs, kind !== TextKind.none));
    if (kind === TextKind.columns && this.#tail === Tail.none) this.#tail = Tail.goStack;
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
    closeFailure(this.#block, this.#context.emit);
    this.#join.flush(nowMs, final);
  }

  #look(timeMs: number, readMs: number, isText: boolean): Seen {
    const fields = this.#fields;
    const event = fields.text(Field.event);
    const message = fields.text(Field.message);
    let told = this.#vocabulary.tell(event);
    let isEvent = event !== undefined && fields.rank(Field.event) % 10 <= 3 && !event.includes(" ");
    if (told.subject === Subject.none || told.phase === Phase.none) {
      const other = this.#vocabulary.tell(message);
      if (told.subject === Subject.none && told.phase === Phase.none) {
        told = other;
        isEvent &&= message === undefined;
      } else if (told.phase === Phase.none && other.phase !== Phase.none) {
        told = { ...told, phase: other.phase };
        isEvent = false;
      }
    }
    let id = fields.text(Field.requestId);
    let loose = fields.rank(Field.requestId) % 10 !== 0;
    if (id === undefined && isEvent) {
      id = fields.text(Field.traceId);
      loose = true;
    }
    return {
      timeMs,
      readMs,
      isText,
      told,
      isEvent,
      message: message ?? event,
      severity: severity(fields),
      httpStatus: httpStatusOf(fields),
      id,
      loose,
    };
  }

  #read(seen: Seen): void {
    const fields = this.#fields;
    const { told, httpStatus } = seen;
    const { phase, subject } = told;
    if (told.leak) {
      this.#leak(seen);
      return;
    }
    const timed = fields.has(Field.duration) || fields.has(Field.e2e);
    if (phase === Phase.retry || phase === Phase.fallback) {
      if (!fields.has(Field.tokensOut) && !(timed && httpStatus !== undefined)) {
        this.#again(seen);
        return;
      }
    }
    if (isStep(fields, told, httpStatus)) {
      this.#step(seen);
      return;
    }
    if (phase === Phase.firstToken && !fields.has(Field.tokensOut)) {
      this.#firstToken(seen);
      return;
    }
    const ended = timed || httpStatus !== undefined || fields.has(Field.finishReason);
    if (phase === Phase.chunk && !ended) {
      if (seen.id !== undefined && !seen.loose) this.#running(seen);
      return;
    }
    if (phase === Phase.start && !ended && !fields.has(Field.tokensOut)) {
      if (subject === Subject.request || subject === Subject.weakRequest) this.#start(seen);
      return;
    }
    const standing = standingOf(fields, told, { route: this.#routeOf(seen), httpStatus, isEvent: seen.isEvent });
    if (standing === "request") {
      if (seen.id !== undefined && this.#isCall(seen, ended)) this.#call(seen);
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

  #outcome(seen: Seen): Outcome {
    const { severity, httpStatus, isEvent } = seen;
    return outcomeOf(this.#fields, seen.told, { severity, httpStatus, error: errorOf(this.#fields), isEvent });
  }

  /** True when the message names no reason: `request failed`, `llm.failed`. */
  #isBare(seen: Seen): boolean {
    const message = this.#fields.text(Field.message);
    return message === undefined ? seen.told.bare || seen.isEvent : this.#vocabulary.tell(message).bare;
  }

  #failure(seen: Seen, cause?: string): FailureRecord {
    const { timeMs, message, httpStatus } = seen;
    const bare = this.#isBare(seen);
    const failure = failureOf(this.#fields, { timeMs, message, bare, httpStatus, cause });
    if (failure.cause === undefined && failure.errorClass === undefined && bare && seen.told.phase === Phase.timeout)
      return { ...failure, cause: "upstream_timeout" };
    return failure;
  }

  /** The end of a request. */
  #end(seen: Seen): void {
    const fields = this.#fields;
    const { reject } = this.#context;
    const record = new RequestRecord();
    record.timeMs = seen.timeMs;
    settleUnits(fields, reject);
    addLatencies(fields, record);
    addTokens(fields, record);
    addLabels(fields, record);
    record.httpStatus = seen.httpStatus;
    record.scores = scoresOf(fields);
    record.outcome = this.#outcome(seen);
    let weak = false;
    if (record.outcome !== "ok") {
      record.failure = this.#failure(seen, record.outcome === "aborted" ? "client_cancelled" : undefined);
      weak =
        this.#isBare(seen) &&
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
    if (strange !== undefined) this.#leak(seen, strange);
    this.#join.end(record, seen.id, weak);
    if (seen.isText && record.failure !== undefined) this.#tail = Tail.traceback;
  }

  /** The end of a model call inside a request. */
  #call(seen: Seen): void {
    const fields = this.#fields;
    const held = this.#hold(seen);
    const { latencies } = this.#measured(seen);
    const e2eMs = latencies.get(Latency.e2e) ?? latencies.get(Latency.upstream_llm);
    const outcome = this.#outcome(seen);
    if (outcome !== "ok") {
      const cause = outcome === "aborted" ? "client_cancelled" : undefined;
      held.pending.push({ record: this.#failure(seen, cause), own: false, attempt: true });
      held.failedMs = e2eMs;
      this.#join.wait(held);
      return;
    }
    const ended = e2eMs !== undefined || seen.httpStatus !== undefined || fields.has(Field.finishReason);
    if (!ended && seen.told.phase !== Phase.ok) {
      // figures so far
      held.running = replaceUsage(held.running, this.#usage());
      held.ttftMs = latencies.get(Latency.ttft) ?? held.ttftMs;
      this.#join.wait(held);
      return;
    }
    if (held.calls > 0 && held.loose) this.#join.closeCalls(held);
    this.#join.addCall(held, this.#usage());
    if (e2eMs !== undefined) held.callsMs.push(e2eMs);
    held.ttftMs = latencies.get(Latency.ttft) ?? held.ttftMs;
    held.httpStatus = seen.httpStatus ?? held.httpStatus;
    for (const [index, kind] of latencies.kinds.entries()) {
      if (kind === Latency.e2e || kind === Latency.ttft || kind === Latency.upstream_llm) continue;
      if (held.kinds.length >= MAX_HELD_LATENCIES) break;
      held.kinds.push(kind);
      held.valuesMs.push(latencies.valuesMs[index] as number);
    }
    this.#join.wait(held);
  }

  /** Usage in the middle of an answer: cumulative, so that it replaces what was known. */
  #running(seen: Seen): void {
    const fields = this.#fields;
    if (!hasModelFigure(fields)) return;
    const held = this.#hold(seen);
    held.running = replaceUsage(held.running, this.#usage());
    const ttftMs = this.#measured(seen).latencies.get(Latency.ttft);
    if (ttftMs !== undefined) held.ttftMs = ttftMs;
  }

  #firstToken(seen: Seen): void {
    const record = this.#measured(seen);
    const ttftMs = record.latencies.get(Latency.ttft) ?? record.latencies.get(Latency.e2e);
    if (ttftMs === undefined) return;
    if (seen.id === undefined || seen.loose) {
      const { timeMs, model, tenant } = record;
      this.#context.emit({ kind: "step", timeMs, step: Latency.ttft, durationMs: ttftMs, model, tenant });
      return;
    }
    const held = this.#hold(seen);
    held.ttftMs = ttftMs;
    this.#join.wait(held);
  }

  #start(seen: Seen): void {
    const route = routeOf(this.#fields);
    const { told, isEvent } = seen;
    if (route !== undefined && standingOf(this.#fields, told, { route, httpStatus: 200, isEvent }) === "other") {
      if (seen.id !== undefined) this.#hold(seen);
      return;
    }
    this.#context.emit({ kind: "received", timeMs: seen.timeMs });
    if (seen.id !== undefined) this.#hold(seen);
  }

  /** A retry or a fallback. */
  #again(seen: Seen): void {
    const { timeMs, told } = seen;
    const retry = told.phase === Phase.retry;
    this.#context.emit({ kind: "count", timeMs, name: retry ? "retries" : "fallbacks", by: 1 });
    const failed = seen.httpStatus !== undefined ? seen.httpStatus >= 400 : errorOf(this.#fields).any;
    if (retry && failed) this.#context.emit({ kind: "count", timeMs, name: "upstream_errors", by: 1 });
    if (seen.id !== undefined && retry && !seen.loose) this.#hold(seen).retries++;
  }

  #step(seen: Seen): void {
    const fields = this.#fields;
    const { told, timeMs } = seen;
    const { subject, phase } = told;
    if (phase === Phase.start || phase === Phase.chunk || phase === Phase.firstToken) return;
    const blocked = phase === Phase.blocked || (subject === Subject.guardrail && phase === Phase.failed);
    let outcome = this.#outcome(seen);
    if (phase === Phase.failed || phase === Phase.timeout || blocked) outcome = "error";
    const done = emitStep(fields, told, { timeMs, outcome }, this.#context);
    if (subject === Subject.guardrail) {
      if (!blocked) return;
      this.#context.emit({ kind: "count", timeMs, name: "guardrail_blocks", by: 1 });
    }
    if (seen.id !== undefined && (done.steps !== 0 || done.scored)) {
      const held = this.#hold(seen);
      held.steps |= done.steps;
      held.scored ||= done.scored;
    }
    if (outcome !== "ok") this.#stepFailure(seen, blocked);
    const strange = strangeTenant(fields, fields.text(Field.tenant));
    if (strange !== undefined) this.#leak(seen, strange);
  }

  #stepFailure(seen: Seen, blocked: boolean): void {
    const { subject, phase } = seen.told;
    const isTool = subject === Subject.tool;
    const kind = errorOf(this.#fields).kind;
    const named = kind === undefined ? undefined : causeOfKind(kind);
    let cause: string | undefined;
    if (isTool && (phase === Phase.timeout || named === "upstream_timeout")) cause = "tool_call_timeout";
    else if (blocked) {
      const rule = this.#fields.text(Field.rule);
      cause = (rule === undefined ? undefined : causeOfKind(rule)) ?? named ?? "content_policy_block";
    }
    this.#fail(seen, this.#failure(seen, cause), isTool);
  }

  /** Documents of another tenant: a failure of its own, once a request, whether or not the request goes on. */
  #leak(seen: Seen, found?: string): void {
    const { timeMs } = seen;
    const held = seen.id === undefined ? undefined : this.#hold(seen);
    if (held?.leaked === true) return;
    if (held !== undefined) held.leaked = true;
    this.#context.emit({ kind: "count", timeMs, name: "cross_tenant_leaks", by: 1 });
    const failure = this.#failure(seen, "cross_tenant_leak");
    const text = found === undefined ? failure.text : `${seen.message ?? "retrieval"}: documents of tenant ${found}`;
    const record: FailureRecord = { ...failure, text };
    if (held === undefined) this.#context.emit(record);
    else {
      held.pending.push({ record, own: true, attempt: false });
      this.#join.wait(held);
    }
  }

  /** A line that is no request's end. */
  #noRequest(seen: Seen, standing: Standing): void {
    const { timeMs, httpStatus } = seen;
    if (standing === "other" && httpStatus !== undefined) {
      const route = this.#routeOf(seen) ?? "";
      this.#context.emit({ kind: "http", timeMs, status: httpStatus, route, inference: false });
      return;
    }
    if (seen.severity < Severity.error) return;
    const failure = this.#failure(seen);
    if (seen.isText) {
      if (seen.id === undefined) openFailure(this.#block, failure, this.#context.emit);
      else this.#tail = Tail.traceback;
    }
    if (seen.id !== undefined || !seen.isText) this.#fail(seen, failure, false);
  }

  /** Emits a failure, or keeps it until its request has ended, so that it counts once. */
  #fail(seen: Seen, record: FailureRecord, own: boolean): void {
    if (seen.id === undefined || seen.loose) {
      this.#context.emit(record);
      return;
    }
    if (!own && this.#join.hasFailed(seen.id)) return;
    const held = this.#hold(seen);
    if (held.pending.length >= 8) return;
    if (record.cause !== undefined && held.pending.some(({ record: known }) => known.cause === record.cause)) return;
    held.pending.push({ record, own, attempt: false });
    this.#join.wait(held);
  }

  /** The request that the line belongs to, with what the line says of it. */
  #hold(seen: Seen): OpenRequest {
    const fields = this.#fields;
    const held = this.#join.hold(seen.id ?? "", seen.loose, seen.timeMs, seen.readMs);
    held.traceId ??= fields.text(Field.traceId);
    held.tenant ??= fields.text(Field.tenant);
    held.service ??= fields.text(Field.service);
    held.route ??= routeOf(fields);
    held.method ??= fields.text(Field.method);
    if (seen.told.subject === Subject.llm || seen.told.subject === Subject.request) {
      const record = new RequestRecord();
      addLabels(fields, record);
      held.model = record.model ?? held.model;
      held.finishReason = record.finishReason ?? held.finishReason;
      held.stream = record.stream ?? held.stream;
    }
    return held;
  }

  /** Durations and labels of the line, checked, for keeping. */
  #measured(seen: Seen): RequestRecord {
    const record = new RequestRecord();
    settleUnits(this.#fields, this.#context.reject);
    addLatencies(this.#fields, record);
    addLabels(this.#fields, record);
    record.timeMs = seen.timeMs;
    return record;
  }

  /** Tokens and money of the line, checked here because they are added up before anyone else sees them. */
  #usage(): Usage {
    const record = new RequestRecord();
    addTokens(this.#fields, record);
    const { costUsd } = record;
    const cost =
      costUsd !== undefined && !(costUsd >= 0) ? this.#refuse(costUsd < 0 ? "negative-cost" : "not-a-number") : costUsd;
    return {
      tokensIn: this.#count(record.tokensIn),
      tokensInCached: this.#count(record.tokensInCached),
      tokensOut: this.#count(record.tokensOut),
      tokensOutReasoning: this.#count(record.tokensOutReasoning),
      costUsd: cost,
    };
  }

  #count(value: number | undefined): number | undefined {
    if (value === undefined || (value >= 0 && Number.isInteger(value))) return value;
    return this.#refuse(value < 0 ? "negative-tokens" : Number.isFinite(value) ? "fractional-tokens" : "not-a-number");
  }

  #refuse(reason: RejectReason): undefined {
    this.#context.reject(reason);
    return undefined;
  }
}
