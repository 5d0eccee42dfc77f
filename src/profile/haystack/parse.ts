import { parseIso } from "../../core/timestamp.ts";
import type { JsonObject, Line } from "../../model/line.ts";
import type { Parser, ParserContext } from "../profile.ts";
import { causeOfException, lastException } from "../rag/exception.ts";
import { httpOf, outboundFailure, parseHttpx } from "../rag/httpx.ts";
import { objectOf, textOf } from "../rag/value.ts";

/** A line of structlog as Haystack sets it up (haystack/logging.py), of whatever module. */
export function eventOf(line: Line): JsonObject | undefined {
  if (line.text.charCodeAt(0) !== 123 || !line.text.includes('"lineno"')) return undefined;
  const { json } = line;
  return typeof json?.["event"] === "string" && typeof json["module"] === "string" && typeof json["level"] === "string"
    ? json
    : undefined;
}

export const isOwn = (json: JsonObject): boolean => /^haystack(?:_\w+)?(?:\.|$)/.test(String(json["module"]));

export class HaystackParser implements Parser {
  state: undefined;
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const json = eventOf(line);
    if (json !== undefined) this.#event(json, line);
  }

  /** Its logging is set up for the whole process: in its stream, other modules' lines are its own. */
  continues(line: Line): boolean {
    const json = eventOf(line);
    if (json !== undefined) this.#event(json, line);
    return json !== undefined;
  }

  #event(json: JsonObject, line: Line): void {
    const event = String(json["event"]);
    const level = String(json["level"]).toLowerCase();
    const stamp = textOf(json["timestamp"]);
    const timeMs = stamp === undefined ? line.timeMs : parseIso(stamp, 0, this.#context.zone).timeMs;
    const call = parseHttpx(event);
    if (call !== undefined) {
      this.#context.emit(httpOf(call, timeMs));
      if (call.status >= 400) this.#context.emit(outboundFailure(call, timeMs, {}));
    } else if (level === "error" || level === "critical") {
      const { text: exception, errorClass } = exceptionOf(json["exception"]);
      const text = exception === "" ? event : `${event}\n${exception}`;
      const last = errorClass === undefined ? lastException(text) : { name: errorClass, package: "" };
      const cause = causeOfException(last, text);
      this.#context.emit({ kind: "failure", timeMs, text, cause, errorClass: last?.name });
    } else if (event.startsWith("Running component")) this.#count("component_runs", timeMs);
    else if (event.startsWith("Operation: ")) this.#count("operation_lines", timeMs);
    else if (json["tag_name"] !== undefined) this.#count("tag_lines", timeMs);
  }

  #count(name: string, timeMs: number): void {
    this.#context.emit({ kind: "count", timeMs, name, by: 1 });
  }
}

/** An exception as structlog's `ExceptionDictTransformer` prints it (a chain, the outermost first), or as text. */
function exceptionOf(value: unknown): { text: string; errorClass: string | undefined } {
  if (typeof value === "string") return { text: value, errorClass: undefined };
  if (!Array.isArray(value)) return { text: "", errorClass: undefined };
  const lines: string[] = [];
  let errorClass: string | undefined;
  for (const element of value.slice(0, 20)) {
    const exception = objectOf(element);
    const type = textOf(exception?.["exc_type"]);
    if (type === undefined) continue;
    errorClass ??= type;
    lines.push(`${type}: ${textOf(exception?.["exc_value"]) ?? ""}`);
  }
  return { text: lines.join("\n"), errorClass };
}
