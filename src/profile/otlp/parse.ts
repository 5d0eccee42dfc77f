import { putBounded } from "../../core/bounded-map.ts";
import { Latency } from "../../model/latency.ts";
import type { JsonObject, Line } from "../../model/line.ts";
import { type FailureRecord, type Outcome, RequestRecord } from "../../model/record.ts";
import type { Parser, ParserContext } from "../profile.ts";
import { causeOfKind } from "../structured/error-cause.ts";
import { failureOf } from "../structured/failure-text.ts";
import { Field } from "../structured/field.ts";
import { LineFields } from "../structured/line-fields.ts";
import { addLabels, addLatencies, addTokens, scoresOf, settleUnits } from "../structured/request-of.ts";
import { httpStatusOf } from "../structured/verdict.ts";
import { listOf, plainAttributes } from "./any-value.ts";
import { durationMs, epochMs, hexId, isObject, type UnixNano, unixNano } from "./message.ts";
import { operationOf } from "./operation.ts";
import { errorOf, exceptionOf, flatScores, resourceOf, type Span, type SpanError, spansOf } from "./span.ts";

/** Span ids remembered of each sort. */
const MAX_IDS = 4000;
/** Spans on the way up from a model call that are marked as containing it. */
const MAX_ANCESTORS = 64;
const DETAILS = "gen_ai.client.inference.operation.details";
const EVALUATION = "gen_ai.evaluation.result";
/** SeverityNumber from which a record is an error. */
const ERROR_SEVERITY = 17;

interface State {
  /** Spans counted. */
  spans: Map<string, true>;
  /** Spans around a model call, marked by the call below them. */
  containers: Map<string, true>;
  /** Spans whose request was counted by the event that details it. */
  details: Map<string, true>;
  /** Spans whose failure was counted, by the span or by a log record of it. */
  failed: Map<string, true>;
}

/** Reads OTLP requests in JSON: spans and log records about GenAI operations. */
export class OtlpParser implements Parser {
  state: State = { spans: new Map(), containers: new Map(), details: new Map(), failed: new Map() };
  readonly #context: ParserContext;
  readonly #fields = new LineFields();

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const request = line.json;
    if (request === undefined) return;
    if (request["resourceSpans"] !== undefined) this.#spans(spansOf(request["resourceSpans"]));
    for (const group of listOf(request["resourceLogs"])) {
      if (!isObject(group)) continue;
      const resource = resourceOf(group);
      for (const scope of listOf(group["scopeLogs"])) {
        if (!isObject(scope)) continue;
        for (const record of listOf(scope["logRecords"])) if (isObject(record)) this.#logRecord(record, resource);
      }
    }
  }

  #spans(spans: readonly Span[]): void {
    const byId = new Map(spans.map((span) => [span.id, span]));
    const { containers } = this.state;
    for (const { id, parent, operation } of spans) {
      if (operation !== "inference" && !(id !== undefined && containers.has(id))) continue;
      // a call inside a call (an SDK's span inside a framework's) is the one that was made
      let above = parent;
      for (let depth = 0; above !== undefined && depth < MAX_ANCESTORS; depth++) {
        putBounded(containers, above, true, MAX_IDS);
        above = byId.get(above)?.parent;
      }
    }
    for (const span of spans) this.#span(span);
  }

  #span(span: Span): void {
    const { id, operation } = span;
    const start = unixNano(span.span["startTimeUnixNano"]);
    const end = unixNano(span.span["endTimeUnixNano"]);
    if (operation !== "other" && operation !== "container") {
      if (id !== undefined) {
        if (this.state.spans.has(id)) {
          this.#context.emit({ kind: "count", timeMs: epochMs(end), name: "duplicates_dropped", by: 1 });
          return;
        }
        putBounded(this.state.spans, id, true, MAX_IDS);
      }
      this.#fill(span.attributes, span.resource);
      const error = errorOf(span);
      for (const [key, value] of Object.entries(exceptionOf(span.span))) this.#fields.addAttribute(key, value);
      if (operation === "inference") {
        if (id === undefined || !this.state.containers.has(id)) this.#inference(span, start, end, error);
      } else this.#step(span, operation, start, end, error);
    }
    for (const event of listOf(span.span["events"])) {
      if (!isObject(event) || event["name"] !== EVALUATION) continue;
      this.#fill(plainAttributes(event["attributes"]), span.resource);
      this.#evaluation(plainAttributes(event["attributes"]), epochMs(unixNano(event["timeUnixNano"]) ?? end));
    }
  }

  #inference(span: Span, start: UnixNano | undefined, end: UnixNano | undefined, error: SpanError): void {
    const timeMs = epochMs(end ?? start);
    this.#fields.drop(Field.e2e);
    this.#fields.drop(Field.duration);
    const record = this.#request(timeMs);
    record.latencies.set(Latency.e2e, durationMs(start, end));
    record.traceId = hexId(span.span["traceId"]);
    if (error.failed) this.#failRequest(record, span.id, error.message);
    if (span.id !== undefined && this.state.details.has(span.id)) {
      // counted by its event: what only the span knows is how long it took
      const { kinds, valuesMs } = record.latencies;
      const { model, tenant, outcome } = record;
      for (const [index, step] of kinds.entries()) {
        this.#context.emit({
          kind: "step",
          timeMs,
          step,
          durationMs: valuesMs[index] as number,
          model,
          tenant,
          outcome,
        });
      }
      return;
    }
    this.#context.emit(record);
  }

  #step(
    span: Span,
    operation: "tool" | "retrieval" | "rerank",
    start: UnixNano | undefined,
    end: UnixNano | undefined,
    error: SpanError,
  ): void {
    const fields = this.#fields;
    const timeMs = epochMs(end ?? start);
    const isTool = operation === "tool";
    const outcome: Outcome = error.failed ? "error" : "ok";
    const duration = durationMs(start, end);
    if (duration !== undefined) {
      this.#context.emit({
        kind: "step",
        timeMs,
        step: Latency[operation],
        durationMs: duration,
        outcome,
        model: fields.text(Field.model),
        tenant: fields.text(Field.tenant),
        collection: fields.text(Field.collection),
        tool: isTool ? fields.text(Field.toolName) : undefined,
        scores: operation === "retrieval" ? (scoresOf(fields) ?? flatScores(span.attributes)) : undefined,
      });
    }
    if (isTool) this.#context.emit({ kind: "count", timeMs, name: "tool_calls", by: 1 });
    if (!error.failed) return;
    const failure = this.#failure(timeMs, error.message);
    const timedOut = failure.cause === "upstream_timeout";
    this.#fail(span.id, isTool && timedOut ? { ...failure, cause: "tool_call_timeout" } : failure);
  }

  #logRecord(record: JsonObject, resource: Record<string, unknown>): void {
    const attributes = plainAttributes(record["attributes"]);
    const name = record["eventName"] ?? attributes["event.name"];
    const timeMs = epochMs(unixNano(record["timeUnixNano"]) ?? unixNano(record["observedTimeUnixNano"]));
    this.#fill(attributes, resource);
    if (name === EVALUATION) {
      this.#evaluation(attributes, timeMs);
      return;
    }
    const id = hexId(record["spanId"]);
    if (name === DETAILS) {
      if (operationOf(attributes, "") === "inference") this.#details(record, id, timeMs);
      return;
    }
    if (!isErrorSeverity(record)) return;
    const body = isObject(record["body"]) ? record["body"]["stringValue"] : undefined;
    this.#fail(id, this.#failure(timeMs, typeof body === "string" ? body : undefined));
  }

  /** The event that details a model call: a request without duration. */
  #details(record: JsonObject, id: string | undefined, timeMs: number): void {
    if (id !== undefined) {
      if (this.state.spans.has(id) || this.state.details.has(id)) return;
      putBounded(this.state.details, id, true, MAX_IDS);
    }
    const request = this.#request(timeMs);
    request.traceId = hexId(record["traceId"]);
    if (this.#fields.has(Field.errorKind) || isErrorSeverity(record)) this.#failRequest(request, id, undefined);
    this.#context.emit(request);
  }

  #evaluation(attributes: Readonly<Record<string, unknown>>, timeMs: number): void {
    this.#context.emit({ kind: "count", timeMs, name: "evaluations", by: 1 });
    const value = attributes["gen_ai.evaluation.score.value"];
    const name = attributes["gen_ai.evaluation.name"];
    if (value === undefined) return;
    this.#context.emit({
      kind: "score",
      timeMs,
      name: typeof name === "string" && name !== "" ? name.slice(0, 100) : "evaluation",
      value: typeof value === "number" ? value : Number.NaN,
      model: this.#fields.text(Field.model),
      tenant: this.#fields.text(Field.tenant),
    });
  }

  /** Attributes of the span or record, and of its resource who serves whom. */
  #fill(attributes: Readonly<Record<string, unknown>>, resource: Readonly<Record<string, unknown>>): void {
    const fields = this.#fields;
    fields.clear();
    for (const [key, value] of Object.entries(attributes)) fields.addAttribute(key, value);
    for (const [key, value] of Object.entries(resource)) {
      const field = fields.fieldOf(key);
      if (field === Field.service || (field === Field.tenant && !fields.has(Field.tenant)))
        fields.addAttribute(key, value);
    }
  }

  #request(timeMs: number): RequestRecord {
    const fields = this.#fields;
    const record = new RequestRecord();
    record.timeMs = timeMs;
    settleUnits(fields, this.#context.reject);
    addLatencies(fields, record);
    addTokens(fields, record);
    addLabels(fields, record);
    record.httpStatus = httpStatusOf(fields);
    return record;
  }

  #failRequest(record: RequestRecord, id: string | undefined, message: string | undefined): void {
    const failure = this.#failure(record.timeMs, message);
    record.outcome = failure.cause === "client_cancelled" ? "aborted" : "error";
    if (id !== undefined) {
      if (this.state.failed.has(id)) return;
      putBounded(this.state.failed, id, true, MAX_IDS);
    }
    record.failure = failure;
  }

  #fail(id: string | undefined, failure: FailureRecord): void {
    if (id !== undefined) {
      if (this.state.failed.has(id)) return;
      putBounded(this.state.failed, id, true, MAX_IDS);
    }
    this.#context.emit(failure);
  }

  #failure(timeMs: number, message: string | undefined): FailureRecord {
    const kind = this.#fields.text(Field.errorKind);
    // a status message that only repeats the kind says nothing more
    const bare = message === undefined || message === kind || causeOfKind(message) !== undefined;
    const failure = failureOf(this.#fields, { timeMs, message, bare, httpStatus: httpStatusOf(this.#fields) });
    const cause = failure.cause ?? (bare && message !== undefined ? causeOfKind(message) : undefined);
    return { ...failure, cause, text: failure.text === "" ? "error" : failure.text };
  }
}

function isErrorSeverity(record: JsonObject): boolean {
  const { severityNumber, severityText } = record as { severityNumber?: unknown; severityText?: unknown };
  if (typeof severityNumber === "number") return severityNumber >= ERROR_SEVERITY;
  const name = typeof severityNumber === "string" ? severityNumber : severityText;
  return typeof name === "string" && /^(?:SEVERITY_NUMBER_)?(?:ERROR|FATAL|CRITICAL)/i.test(name);
}
