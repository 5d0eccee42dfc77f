import { parseIso } from "../../core/timestamp.ts";
import type { JsonObject, Line } from "../../model/line.ts";
import { RequestRecord } from "../../model/record.ts";
import type { Parser, ParserContext } from "../profile.ts";
import { textOf } from "../rag/value.ts";

const RETRIEVAL = /(?:^|_)(?:search|query|recommend|discover|scroll)(?:_|$)/;

/** A line of `storage/audit/audit.*.log`, or undefined. */
export function auditOf(line: Line): JsonObject | undefined {
  const { text } = line;
  if (text.charCodeAt(0) !== 123 || !text.includes('"auth_type"')) return undefined;
  const { json } = line;
  if (json === undefined || typeof json["auth_type"] !== "string" || typeof json["method"] !== "string")
    return undefined;
  return json["result"] === "ok" || json["result"] === "denied" ? json : undefined;
}

export class QdrantAuditParser implements Parser {
  state: undefined;
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const json = auditOf(line);
    if (json === undefined) return;
    const stamp = textOf(json["timestamp"]);
    const timeMs = stamp === undefined ? line.timeMs : parseIso(stamp, 0, this.#context.zone).timeMs;
    const method = String(json["method"]);
    const denied = json["result"] === "denied";
    const tenant = textOf(json["subject"]);
    const requestId = textOf(json["tracing_id"]);
    const text = textOf(json["error"]) ?? `${method} denied`;
    const failure = denied
      ? ({ kind: "failure", timeMs, text, cause: "permission_denied", tenant, route: method, requestId } as const)
      : undefined;
    if (!RETRIEVAL.test(method.toLowerCase())) {
      this.#context.emit({ kind: "count", timeMs, name: "other_methods", by: 1 });
      if (failure !== undefined) this.#context.emit(failure);
      return;
    }
    const record = new RequestRecord();
    record.timeMs = timeMs;
    record.id = requestId;
    record.tenant = tenant;
    record.route = method;
    record.outcome = denied ? "error" : "ok";
    record.failure = failure;
    this.#context.emit(record);
  }
}
