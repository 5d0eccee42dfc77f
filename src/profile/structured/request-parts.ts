import { Latency } from "../../model/latency.ts";
import { type FailureRecord, type Outcome, type RejectReason, RequestRecord } from "../../model/record.ts";
import type { ParserContext } from "../profile.ts";
import { causeOfKind } from "./error-cause.ts";
import { errorOf, failureOf } from "./failure-text.ts";
import { Field } from "./field.ts";
import type { LineFields } from "./line-fields.ts";
import { type OpenRequest, replaceUsage, type Usage } from "./open-request.ts";
import type { RequestJoin } from "./request-join.ts";
import { addLabels, addLatencies, addTokens, routeOf, settleUnits, strangeTenant } from "./request-of.ts";
import { isBare, type Seen } from "./seen.ts";
import { emitStages, emitStep } from "./step-line.ts";
import { hasModelFigure, outcomeOf, standingOf } from "./verdict.ts";
import { Phase, Subject, type Vocabulary } from "./vocabulary.ts";

/** Durations of model calls that are kept for their request's end. */
const MAX_HELD_LATENCIES = 16;
/** Failures kept of one request. */
const MAX_PENDING = 8;

/** Reads the lines that are parts of a request: model calls, chunks, steps, retries, leaks. */
export class RequestParts {
  readonly #fields: LineFields;
  readonly #vocabulary: Vocabulary;
  readonly #join: RequestJoin;
  readonly #context: ParserContext;

  constructor(options: {
    readonly fields: LineFields;
    readonly vocabulary: Vocabulary;
    readonly join: RequestJoin;
    readonly context: ParserContext;
  }) {
    this.#fields = options.fields;
    this.#vocabulary = options.vocabulary;
    this.#join = options.join;
    this.#context = options.context;
  }

  /** The end of a model call inside a request. */
  call(seen: Seen): void {
    const fields = this.#fields;
    const held = this.#hold(seen);
    const { latencies } = this.#measured(seen);
    const e2eMs = latencies.get(Latency.e2e) ?? latencies.get(Latency.upstream_llm);
    const outcome = this.outcome(seen);
    if (outcome !== "ok") {
      const cause = outcome === "aborted" ? "client_cancelled" : undefined;
      held.pending.push({ record: this.failure(seen, cause), own: false, attempt: true });
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
  running(seen: Seen): void {
    const fields = this.#fields;
    if (!hasModelFigure(fields)) return;
    const held = this.#hold(seen);
    held.running = replaceUsage(held.running, this.#usage());
    const ttftMs = this.#measured(seen).latencies.get(Latency.ttft);
    if (ttftMs !== undefined) held.ttftMs = ttftMs;
  }

  firstToken(seen: Seen): void {
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

  start(seen: Seen): void {
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
  again(seen: Seen): void {
    const { timeMs, told } = seen;
    const retry = told.phase === Phase.retry;
    this.#context.emit({ kind: "count", timeMs, name: retry ? "retries" : "fallbacks", by: 1 });
    const failed = seen.httpStatus !== undefined ? seen.httpStatus >= 400 : errorOf(this.#fields).any;
    if (retry && failed) this.#context.emit({ kind: "count", timeMs, name: "upstream_errors", by: 1 });
    if (seen.id !== undefined && retry && !seen.loose) this.#hold(seen).retries++;
  }

  step(seen: Seen): void {
    const fields = this.#fields;
    const { told, timeMs } = seen;
    const { subject, phase } = told;
    if (phase === Phase.start || phase === Phase.chunk || phase === Phase.firstToken) return;
    const blocked = phase === Phase.blocked || (subject === Subject.guardrail && phase === Phase.failed);
    let outcome = this.outcome(seen);
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
    if (strange !== undefined) this.leak(seen, strange);
  }

  /** Durations of stages on a line that is about no request and no step: each is a step. */
  loneSteps(seen: Seen): void {
    const steps = emitStages(this.#fields, seen.timeMs, this.#context);
    if (steps !== 0 && seen.id !== undefined) this.#hold(seen).steps |= steps;
  }

  /** Documents of another tenant: a failure of its own, once a request, whether or not the request goes on. */
  leak(seen: Seen, found?: string): void {
    const { timeMs } = seen;
    const held = seen.id === undefined ? undefined : this.#hold(seen);
    if (held?.leaked === true) return;
    if (held !== undefined) held.leaked = true;
    this.#context.emit({ kind: "count", timeMs, name: "cross_tenant_leaks", by: 1 });
    const failure = this.failure(seen, "cross_tenant_leak");
    const text = found === undefined ? failure.text : `${seen.message ?? "retrieval"}: documents of tenant ${found}`;
    const record: FailureRecord = { ...failure, text };
    if (held === undefined) this.#context.emit(record);
    else {
      held.pending.push({ record, own: true, attempt: false });
      this.#join.wait(held);
    }
  }

  /** Emits a failure, or keeps it until its request has ended, so that it counts once. */
  fail(seen: Seen, record: FailureRecord, own: boolean): void {
    if (seen.id === undefined || seen.loose) {
      this.#context.emit(record);
      return;
    }
    if (!own && this.#join.hasFailed(seen.id)) return;
    const held = this.#hold(seen);
    if (held.pending.length >= MAX_PENDING) return;
    if (record.cause !== undefined && held.pending.some(({ record: known }) => known.cause === record.cause)) return;
    held.pending.push({ record, own, attempt: false });
    this.#join.wait(held);
  }

  outcome(seen: Seen): Outcome {
    const { severity, httpStatus, isEvent } = seen;
    return outcomeOf(this.#fields, seen.told, { severity, httpStatus, error: errorOf(this.#fields), isEvent });
  }

  failure(seen: Seen, cause?: string): FailureRecord {
    const { timeMs, message, httpStatus } = seen;
    const bare = isBare(seen, this.#fields, this.#vocabulary);
    const failure = failureOf(this.#fields, { timeMs, message, bare, httpStatus, cause });
    if (failure.cause === undefined && failure.errorClass === undefined && bare && seen.told.phase === Phase.timeout)
      return { ...failure, cause: "upstream_timeout" };
    return failure;
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
    this.fail(seen, this.failure(seen, cause), isTool);
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
