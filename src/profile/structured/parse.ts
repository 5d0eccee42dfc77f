import { putBounded } from "../../core/bounded-map.ts";
import { Latency } from "../../model/latency.ts";
import type { Line } from "../../model/line.ts";
import type { FailureRecord, RequestRecord } from "../../model/record.ts";
import { isInference } from "../access-line.ts";
import type { Parser, ParserContext } from "../profile.ts";
import { causeOfKind, causeOfStatus } from "./causes.ts";
import { type EventName, parseEventName } from "./events.ts";
import { scanPairs } from "./key-value.ts";
import { type Reading, Severity, StructuredReader } from "./reading.ts";

/** What was seen of a request whose own last line has not come. Plain data: part of a commit. */
interface OpenRequest {
  timeMs: number;
  /** Wall time of the last line, for the timeout. */
  readMs: number;
  id: string;
  traceId: string | undefined;
  model: string | undefined;
  tenant: string | undefined;
  route: string | undefined;
  finishReason: string | undefined;
  stream: boolean | undefined;
  status: number | undefined;
  ttftMs: number | undefined;
  llmMs: number | undefined;
  tokensIn: number | undefined;
  tokensInCached: number | undefined;
  tokensOut: number | undefined;
  tokensOutReasoning: number | undefined;
  costUsd: number | undefined;
  failed: boolean;
  failureKind: string | undefined;
  failureText: string | undefined;
  /** The model's own end was seen, so the request counts even if its own last line never comes. */
  ended: boolean;
}

/** Requests open at once, and ended ones remembered so that a late line does not count them again. */
const MAX_OPEN = 10_000;
/** A request whose last line does not follow its model's answer is counted after this long. */
const LATE_MS = 30_000;

interface State {
  open: Map<string, OpenRequest>;
  /** Causes counted of a request: a failed step and the failed request that it makes are one failure. */
  failures: Map<string, string>;
  /** Ids counted already. */
  ended: Map<string, true>;
}

export class StructuredParser implements Parser {
  state: State = { open: new Map(), failures: new Map(), ended: new Map() };
  readonly #context: ParserContext;
  readonly #reader: StructuredReader;

  constructor(context: ParserContext) {
    this.#context = context;
    this.#reader = new StructuredReader({ zone: context.zone, reject: context.reject });
  }

  parse(line: Line): void {
    const json = line.json ?? jsonTail(line.text);
    const reading = json === undefined ? this.#reader.readPairs(scanPairs(line.text)) : this.#reader.readJson(json);
    if (Number.isNaN(reading.record.timeMs)) reading.record.timeMs = line.timeMs;
    const event = reading.event === undefined ? undefined : parseEventName(reading.event);
    if (event !== undefined) this.#event(event, reading, line);
    else this.#plain(reading, line);
  }

  flush(nowMs: number, final: boolean): void {
    for (const [id, open] of this.state.open) {
      if (!final && nowMs - open.readMs < LATE_MS) continue;
      this.state.open.delete(id);
      if (open.ended) this.#emitOpen(open);
    }
  }

  /** A line without an event vocabulary: one request, one step, a failure, or nothing. */
  #plain(reading: Reading, line: Line): void {
    const { record } = reading;
    const { route } = record;
    if (isRequest(reading)) {
      this.#finish(reading, line);
      return;
    }
    if (record.httpStatus !== undefined && route !== undefined) {
      this.#context.emit({ kind: "http", timeMs: record.timeMs, status: record.httpStatus, route, inference: false });
      return;
    }
    this.#steps(reading);
    if (reading.severity === Severity.error) this.#context.emit(this.#failure(reading, line));
  }

  /** Durations of a line that is no request: each is a step of its own. */
  #steps(reading: Reading): void {
    const { record } = reading;
    const { kinds, valuesMs } = record.latencies;
    for (const [index, step] of kinds.entries()) {
      if (step === Latency.e2e) continue;
      const { collection, tool } = reading;
      const scores = step === Latency.retrieval ? record.scores : undefined;
      this.#context.emit({
        kind: "step",
        timeMs: record.timeMs,
        step,
        durationMs: valuesMs[index] as number,
        model: record.model,
        tenant: record.tenant,
        collection,
        tool,
        scores,
      });
    }
  }

  /** The line is the request's end. */
  #finish(reading: Reading, line: Line): void {
    const { record } = reading;
    record.outcome = outcomeOf(reading);
    if (record.outcome !== "ok") record.failure = this.#failure(reading, line);
    if (record.id !== undefined) {
      if (this.state.open.has(record.id)) this.#merge(record, this.state.open.get(record.id) as OpenRequest);
    }
    this.#context.emit(record);
  }

  #event(event: EventName, reading: Reading, line: Line): void {
    const { record } = reading;
    const { emit } = this.#context;
    switch (event.subject) {
      case "request":
        if (event.action === "completed" || event.action === "failed" || event.action === "timeout")
          this.#requestEnd(event, reading, line);
        else if (event.action === "retry") emit({ kind: "count", timeMs: record.timeMs, name: "retries", by: 1 });
        else if (event.action === "started") emit({ kind: "received", timeMs: record.timeMs });
        return;
      case "llm":
        this.#llm(event, reading, line);
        return;
      case "step":
        this.#step(event, reading, line);
        return;
      case "guardrail":
        if (event.action === "blocked") emit({ kind: "count", timeMs: record.timeMs, name: "guardrail_blocks", by: 1 });
        return;
      case "security":
        if (event.leak) this.#fail({ ...this.#failure(reading, line), cause: "cross_tenant_leak" });
        return;
    }
  }

  #requestEnd(event: EventName, reading: Reading, line: Line): void {
    const { record } = reading;
    record.outcome =
      event.action === "completed" ? outcomeOf(reading) : outcomeOf(reading) === "aborted" ? "aborted" : "error";
    if (record.outcome !== "ok") record.failure = this.#unlessCounted(this.#failure(reading, line));
    if (record.id === undefined) {
      this.#context.emit(record);
      return;
    }
    const open = this.state.open.get(record.id);
    if (open !== undefined) {
      this.state.open.delete(record.id);
      this.#merge(record, open);
    }
    if (this.state.ended.has(record.id)) return;
    putBounded(this.state.ended, record.id, true, MAX_OPEN);
    this.#context.emit(record);
  }

  #llm(event: EventName, reading: Reading, line: Line): void {
    const { record } = reading;
    const { emit } = this.#context;
    if (event.action === "retry") emit({ kind: "count", timeMs: record.timeMs, name: "retries", by: 1 });
    else if (event.action === "fallback") emit({ kind: "count", timeMs: record.timeMs, name: "fallbacks", by: 1 });
    else if (
      event.action === "completed" ||
      event.action === "chunk" ||
      event.action === "failed" ||
      event.action === "timeout"
    ) {
      if (record.id !== undefined) this.#remember(event, reading, record.id, line);
      else if (event.action !== "chunk") this.#requestEnd(event, reading, line);
    }
  }

  /** Keeps what a line about the model's answer says until the request's own last line. Usage in chunks is cumulative: the last one stands. */
  #remember(event: EventName, reading: Reading, id: string, line: Line): void {
    if (this.state.ended.has(id)) return;
    const { record } = reading;
    const known = this.state.open.get(id);
    const open: OpenRequest = known ?? newOpen(id);
    open.timeMs = record.timeMs;
    open.readMs = line.readMs;
    open.traceId ??= record.traceId;
    open.tenant ??= record.tenant;
    open.route ??= record.route;
    const failed = event.action === "failed" || event.action === "timeout";
    if (!failed) {
      open.model = record.model ?? open.model;
      open.finishReason = record.finishReason ?? open.finishReason;
      open.stream = record.stream ?? open.stream;
      open.ttftMs ??= record.latencies.get(Latency.ttft);
      open.tokensIn = record.tokensIn ?? open.tokensIn;
      open.tokensInCached = record.tokensInCached ?? open.tokensInCached;
      open.tokensOut = record.tokensOut ?? open.tokensOut;
      open.tokensOutReasoning = record.tokensOutReasoning ?? open.tokensOutReasoning;
      open.costUsd = record.costUsd ?? open.costUsd;
    }
    if (event.action !== "chunk") {
      open.ended = true;
      open.failed = failed;
      open.status = record.httpStatus ?? open.status;
      open.failureKind = failed ? reading.errorKind : undefined;
      open.failureText = failed ? (reading.errorText ?? reading.message ?? reading.event) : undefined;
      if (!failed) open.llmMs = record.latencies.get(Latency.e2e) ?? record.latencies.get(Latency.upstream_llm);
    }
    const dropped = putBounded(this.state.open, id, open, MAX_OPEN);
    if (dropped?.ended === true) this.#emitOpen(dropped);
  }

  #step(event: EventName, reading: Reading, line: Line): void {
    const { record, collection } = reading;
    const tool = reading.tool;
    const step = event.step ?? Latency.retrieval;
    const durationMs = record.latencies.get(step) ?? record.latencies.get(Latency.e2e);
    const failed = event.action === "failed" || event.action === "timeout";
    if (durationMs !== undefined && (event.action === "completed" || failed)) {
      const scores = step === Latency.retrieval ? record.scores : undefined;
      const outcome = failed ? "error" : "ok";
      this.#context.emit({
        kind: "step",
        timeMs: record.timeMs,
        step,
        durationMs,
        outcome,
        model: record.model,
        tenant: record.tenant,
        collection,
        tool,
        scores,
      });
    }
    if (event.action === "timeout") {
      this.#fail({
        ...this.#failure(reading, line),
        cause: step === Latency.tool ? "tool_call_timeout" : "upstream_timeout",
      });
    } else if (failed) this.#fail(this.#failure(reading, line));
    if (tool !== undefined && (event.action === "completed" || failed))
      this.#context.emit({ kind: "count", timeMs: record.timeMs, name: "tool_calls", by: 1 });
    if (record.tenant !== undefined && reading.docTenants?.some((tenant) => tenant !== record.tenant) === true) {
      this.#fail({ ...this.#failure(reading, line), cause: "cross_tenant_leak" });
    }
  }

  #fail(failure: FailureRecord): void {
    const fresh = this.#unlessCounted(failure);
    if (fresh !== undefined) this.#context.emit(fresh);
  }

  /** The failure, unless the same request has had it before. */
  #unlessCounted(failure: FailureRecord): FailureRecord | undefined {
    const { requestId, cause } = failure;
    if (requestId === undefined || cause === undefined) return failure;
    if (this.state.failures.get(requestId) === cause) return undefined;
    putBounded(this.state.failures, requestId, cause, MAX_OPEN);
    return failure;
  }

  /** Fills what the request's own line leaves open from its model's lines: every figure once. */
  #merge(record: RequestRecord, open: OpenRequest): void {
    record.traceId ??= open.traceId;
    record.model ??= open.model;
    record.tenant ??= open.tenant;
    record.route ??= open.route;
    record.finishReason ??= open.finishReason;
    record.stream ??= open.stream;
    record.tokensIn ??= open.tokensIn;
    record.tokensInCached ??= open.tokensInCached;
    record.tokensOut ??= open.tokensOut;
    record.tokensOutReasoning ??= open.tokensOutReasoning;
    record.costUsd ??= open.costUsd;
    if (record.latencies.get(Latency.ttft) === undefined) record.latencies.set(Latency.ttft, open.ttftMs);
    if (record.latencies.get(Latency.upstream_llm) === undefined)
      record.latencies.set(Latency.upstream_llm, open.llmMs);
  }

  /** The model's end was the last line of its request. */
  #emitOpen(open: OpenRequest): void {
    const reading = this.#reader.readPairs({ keys: [], values: [], count: 0 });
    const { record } = reading;
    record.id = open.id;
    record.timeMs = open.timeMs;
    record.httpStatus = open.status;
    this.#merge(record, { ...open, llmMs: undefined });
    record.latencies.set(Latency.e2e, open.llmMs);
    record.outcome = open.failed ? "error" : "ok";
    if (open.failed) {
      const cause = open.failureKind === undefined ? undefined : causeOfKind(open.failureKind);
      record.failure = {
        kind: "failure",
        timeMs: open.timeMs,
        text: open.failureText ?? "failed",
        cause,
        httpStatus: open.status,
        errorClass: open.failureKind,
        model: open.model,
        tenant: open.tenant,
        requestId: open.id,
      };
    }
    putBounded(this.state.ended, open.id, true, MAX_OPEN);
    this.#context.emit(record);
  }

  #failure(reading: Reading, line: Line): FailureRecord {
    const { record, errorKind, errorText, stack, message } = reading;
    const kind =
      errorKind ?? reading.rule ?? (errorText !== undefined && /^\w+$/.test(errorText) ? errorText : undefined);
    const said = [message ?? reading.event, errorText, stack].filter((part) => part !== undefined);
    const text = said.length > 0 ? said.join("\n") : line.text;
    let cause = kind === undefined ? undefined : causeOfKind(kind);
    if (
      cause === undefined &&
      record.httpStatus !== undefined &&
      errorText === undefined &&
      stack === undefined &&
      errorKind === undefined
    ) {
      cause = causeOfStatus(record.httpStatus);
    }
    return {
      kind: "failure",
      timeMs: record.timeMs,
      text,
      cause,
      httpStatus: record.httpStatus,
      errorClass: errorKind,
      model: record.model,
      tenant: record.tenant,
      route: record.route,
      requestId: record.id,
      gpu: record.gpu,
    };
  }
}

/** The JSON object at the end of a tab-separated line (zap's development encoder), or undefined. */
function jsonTail(text: string): Record<string, unknown> | undefined {
  if (!text.endsWith("}")) return undefined;
  const tab = text.lastIndexOf("\t{");
  if (tab < 0) return undefined;
  try {
    const [time, level, , message] = text.slice(0, tab).split("\t");
    return { time, level, msg: message, ...(JSON.parse(text.slice(tab + 1)) as Record<string, unknown>) };
  } catch {
    return undefined;
  }
}

function isRequest(reading: Reading): boolean {
  const { record, method } = reading;
  const { route, httpStatus } = record;
  const tokens = record.tokensIn !== undefined || record.tokensOut !== undefined;
  const ended =
    record.latencies.get(Latency.e2e) !== undefined ||
    record.latencies.get(Latency.ttft) !== undefined ||
    httpStatus !== undefined ||
    reading.statusWord !== undefined;
  if (tokens) return true;
  if (!ended) return false;
  if (reading.llm)
    return (
      record.model !== undefined ||
      record.latencies.get(Latency.ttft) !== undefined ||
      record.latencies.get(Latency.e2e) !== undefined
    );
  return (
    route !== undefined &&
    method !== undefined &&
    isInference(method, route) &&
    /\/(?:v\d+|api|generate|chat|completions?|embeddings?|rerank)/.test(route)
  );
}

const FAILED_WORDS = /^(?:error|errored|failed|failure|fail|timeout|exception)$/;
const ABORTED_WORDS = /^(?:cancell?ed|aborted|abort|client_disconnected|disconnected)$/;

function outcomeOf(reading: Reading): "ok" | "error" | "aborted" {
  const { record, statusWord } = reading;
  const status = record.httpStatus;
  const cause = reading.errorKind === undefined ? undefined : causeOfKind(reading.errorKind);
  if (status === 499 || cause === "client_cancelled" || (statusWord !== undefined && ABORTED_WORDS.test(statusWord)))
    return "aborted";
  if (status !== undefined) return status >= 400 ? "error" : reading.errorKind !== undefined ? "error" : "ok";
  if (statusWord !== undefined && FAILED_WORDS.test(statusWord)) return "error";
  return reading.hasError || reading.errorKind !== undefined || reading.severity === Severity.error ? "error" : "ok";
}

function newOpen(id: string): OpenRequest {
  return {
    timeMs: Number.NaN,
    readMs: Number.NaN,
    id,
    traceId: undefined,
    model: undefined,
    tenant: undefined,
    route: undefined,
    finishReason: undefined,
    stream: undefined,
    status: undefined,
    ttftMs: undefined,
    llmMs: undefined,
    tokensIn: undefined,
    tokensInCached: undefined,
    tokensOut: undefined,
    tokensOutReasoning: undefined,
    costUsd: undefined,
    failed: false,
    failureKind: undefined,
    failureText: undefined,
    ended: false,
  };
}
