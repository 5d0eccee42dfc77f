import { UTC } from "../../core/timestamp.ts";
import { Latency } from "../../model/latency.ts";
import type { Line } from "../../model/line.ts";
import { RequestRecord } from "../../model/record.ts";
import { isInference, pathOf } from "../access-line.ts";
import type { Parser, ParserContext } from "../profile.ts";
import { parseTracingJson, parseTracingText, type TracingEvent } from "../tracing/event.ts";
import { readFields } from "../tracing/fields.ts";

const CRATE = "smg::";
const LEVEL = /^ {1,2}(?:INFO|WARN|ERROR|DEBUG|TRACE) /;

/**
 * The event of a line of the gateway's. Its times have no zone but are UTC.
 *
 * @see smg `model_gateway/src/observability/logging.rs`, `model_gateway/src/middleware` at 73da68ca (2026-08)
 */
export function smgEvent(line: Line): TracingEvent | undefined {
  const { text } = line;
  const first = text.charCodeAt(0);
  if (first === 123) return line.json === undefined ? undefined : parseTracingJson(line.json, CRATE, UTC);
  // "2026-08-20 10:00:00  INFO "
  if (text.charCodeAt(4) !== 45 || text.charCodeAt(10) !== 32 || text.charCodeAt(19) !== 32) return undefined;
  if (!LEVEL.test(text.slice(19, 28))) return undefined;
  return parseTracingText(`${text.slice(0, 10)}T${text.slice(11, 19)}Z${text.slice(19)}`, CRATE, UTC);
}

const END = /^(?:finished processing request|request failed with (?:client|server) error)$/;

export class SmgParser implements Parser {
  state = undefined;
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const event = smgEvent(line);
    if (event === undefined) return;
    const { timeMs, message } = event;
    const fields = requestFields(event);
    if (fields === undefined) {
      if (event.level === "ERROR") this.#context.emit({ kind: "failure", timeMs, text: message });
      return;
    }
    const route = pathOf(fields.get("uri") ?? "");
    const inference = isInference(fields.get("method") ?? "", route);
    if (message === "started processing request") {
      if (inference) this.#context.emit({ kind: "received", timeMs });
    } else if (END.test(message)) this.#end(fields, route, inference, timeMs);
    else if (event.level === "ERROR") {
      const requestId = fields.get("request_id");
      this.#context.emit({ kind: "failure", timeMs, text: message, requestId, route });
    }
  }

  #end(fields: ReadonlyMap<string, string>, route: string, inference: boolean, timeMs: number): void {
    const status = Number(fields.get("status_code"));
    if (!Number.isInteger(status)) return;
    if (!inference) {
      this.#context.emit({ kind: "http", timeMs, status, route, inference });
      return;
    }
    const record = new RequestRecord();
    record.timeMs = timeMs;
    record.id = fields.get("request_id");
    record.route = route;
    record.httpStatus = status;
    const latency = fields.get("latency");
    if (status >= 400) record.outcome = "error";
    // microseconds until the head of the answer
    else if (latency !== undefined) record.latencies.set(Latency.ttfb, Number(latency) / 1000);
    this.#context.emit(record);
  }
}

function requestFields(event: TracingEvent): ReadonlyMap<string, string> | undefined {
  const span = event.spans.find(({ name }) => name === "http_request");
  if (span === undefined) return undefined;
  if (span.raw !== undefined) return readFields(span.raw);
  return new Map(Object.entries(span.json ?? {}).map(([key, value]) => [key, String(value)]));
}
