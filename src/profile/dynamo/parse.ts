import { putBounded } from "../../core/bounded-map.ts";
import { Latency } from "../../model/latency.ts";
import type { JsonObject, Line } from "../../model/line.ts";
import { RequestRecord } from "../../model/record.ts";
import { pathOf } from "../access-line.ts";
import {
  closeFailure,
  closeQuietFailure,
  continueFailure,
  type FailureBlockState,
  newFailureBlock,
  openFailure,
} from "../failure-block.ts";
import type { Parser, ParserContext } from "../profile.ts";
import { type DynamoEvent, parseDynamoEvent, TRACE_SCHEMA } from "./event.ts";

const MAX_IDS = 10_000;

/** `ErrorType` of a request that failed, in the taxonomy of failures. */
const CAUSES: Readonly<Record<string, string>> = {
  validation: "invalid_request",
  not_implemented: "invalid_request",
  not_found: "model_not_found",
  overload: "upstream_overloaded",
  unavailable: "upstream_unreachable",
  response_timeout: "upstream_timeout",
  internal: "internal_error",
};

interface State {
  block: FailureBlockState;
  /** Ends counted, by request id: the log line and the request trace may both tell one. */
  ended: Map<string, "log" | "trace">;
}

export class DynamoParser implements Parser {
  state: State = { block: newFailureBlock(), ended: new Map() };
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const { emit } = this.#context;
    closeFailure(this.state.block, emit);
    if (line.json?.["schema"] === TRACE_SCHEMA) {
      this.#trace(line.json);
      return;
    }
    const event = parseDynamoEvent(line, this.#context.zone);
    if (event === undefined) return;
    const { message, level, timeMs } = event;
    if (message === "request received") emit({ kind: "received", timeMs });
    else if (message === "request completed") this.#completed(event);
    else if (level === "ERROR")
      openFailure(this.state.block, { kind: "failure", timeMs, text: message }, emit, line.readMs);
  }

  continues(line: Line): boolean {
    if (this.state.block.open === undefined || line.text.charCodeAt(0) === 123) return false;
    return continueFailure(this.state.block, line.text, this.#context.emit);
  }

  flush(nowMs: number, final: boolean): void {
    closeQuietFailure(this.state.block, nowMs, final, this.#context.emit);
  }

  #completed(event: DynamoEvent): void {
    const record = new RequestRecord();
    record.timeMs = event.timeMs;
    record.id = text(event.field("request_id"));
    if (this.#toldBy("log", record.id)) return;
    record.traceId = text(event.field("trace_id"));
    record.model = text(event.field("model"));
    const uri = text(event.field("uri"));
    record.route = uri === undefined ? text(event.field("endpoint")) : pathOf(uri);
    const type = text(event.field("request_type"));
    record.stream = type === undefined ? undefined : type === "stream";
    const errorType = text(event.field("error_type"));
    const status = text(event.field("status"));
    if (status === "cancelled" || errorType === "cancelled") record.outcome = "aborted";
    else if (status !== "success") record.outcome = "error";
    if (record.outcome === "ok") this.#figures(record, (key) => event.field(key));
    else {
      const detail = [errorType, text(event.field("error_detail"))].filter((part) => part !== undefined).join(": ");
      record.failure = {
        kind: "failure",
        timeMs: event.timeMs,
        text: detail === "" ? `request completed status=${status ?? ""}` : detail,
        cause: record.outcome === "aborted" ? "client_cancelled" : CAUSES[errorType ?? ""],
        errorClass: errorType,
        model: record.model,
        route: record.route,
        requestId: record.id,
      };
    }
    this.#context.emit(record);
  }

  /** Unary requests have neither tokens nor TTFT; `elapsed_ms` is cut to whole milliseconds. */
  #figures(record: RequestRecord, field: (key: string) => unknown): void {
    const number = (key: string): number | undefined => this.#number(field(key));
    record.latencies.set(Latency.e2e, number("elapsed_ms") ?? number("total_time_ms"));
    record.latencies.set(Latency.ttft, number("ttft_ms"));
    record.latencies.set(Latency.itl, number("avg_itl_ms"));
    record.tokensIn = number("input_tokens");
    record.tokensOut = number("output_tokens");
    record.tokensInCached = number("cached_tokens");
  }

  /** `DYN_REQUEST_TRACE` records; of harness events (`tool_end`) nothing is an engine's. */
  #trace(json: JsonObject): void {
    const request = json["request"];
    if (json["event_type"] !== "request_end" || typeof request !== "object" || request === null) return;
    const fields = request as JsonObject;
    const record = new RequestRecord();
    record.timeMs = this.#number(json["event_time_unix_ms"]) ?? Number.NaN;
    record.id = text(fields["request_id"]);
    if (this.#toldBy("trace", record.id)) return;
    record.model = text(fields["model"]);
    const finish = text(fields["finish_reason"]);
    if (finish === "cancelled") record.outcome = "aborted";
    else if (finish === "error") record.outcome = "error";
    else {
      record.finishReason = finish;
      this.#figures(record, (key) => fields[key]);
      record.latencies.set(Latency.queue, this.#number(fields["prefill_wait_time_ms"]));
      record.latencies.set(Latency.prefill, this.#number(fields["prefill_time_ms"]));
    }
    this.#context.emit(record);
  }

  /** True when the other writer has told this end; an id that a client uses again is another request. */
  #toldBy(writer: "log" | "trace", id: string | undefined): boolean {
    if (id === undefined) return false;
    const before = this.state.ended.get(id);
    if (before !== undefined && before !== writer) {
      this.state.ended.delete(id);
      return true;
    }
    putBounded(this.state.ended, id, writer, MAX_IDS);
    return false;
  }

  #number(value: unknown): number | undefined {
    if (value === undefined || value === null) return undefined;
    const number =
      typeof value === "number" ? value : typeof value === "string" && value !== "" ? Number(value) : Number.NaN;
    if (!Number.isNaN(number)) return number;
    this.#context.reject("not-a-number");
    return undefined;
  }
}

const text = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);
