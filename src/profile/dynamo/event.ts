import { parseIso, type ZoneOffset } from "../../core/timestamp.ts";
import type { JsonObject, Line } from "../../model/line.ts";
import { parseTracingText } from "../tracing/event.ts";
import { quotedEnd, unquote } from "../tracing/fields.ts";

/** `dynamo_llm`, `dynamo_runtime`, `dynamo_kv_router`, … */
const CRATES = "dynamo_";
export const TRACE_SCHEMA = "dynamo.request.trace.v1";

/** One event of Dynamo's own processes, from text or JSON. */
export interface DynamoEvent {
  readonly timeMs: number;
  readonly level: string;
  readonly message: string;
  /** Fields of the event and of its spans; numbers may be strings. */
  field(key: string): unknown;
}

const REQUEST = /^request (?:received|completed)(?= |$)/;

/**
 * Reads `DYN_LOGGING_JSONL` records and the readable format, whose event fields come first and the span's after
 * (`request completed request_id=… model=… endpoint=… status=success elapsed_ms=1834 method=POST … model="…" ttft_ms="152.31"`).
 *
 * @see ai-dynamo/dynamo `lib/runtime/src/logging.rs` at 003174ad, `lib/llm/src/http/service/metrics.rs` at 0014908a
 */
export function parseDynamoEvent(line: Line, zone: ZoneOffset): DynamoEvent | undefined {
  const { text } = line;
  const first = text.charCodeAt(0);
  if (first >= 48 && first <= 57) {
    const event = parseTracingText(text, CRATES, zone);
    if (event === undefined) return undefined;
    const { timeMs, level, message } = event;
    const request = REQUEST.exec(message)?.[0];
    if (request === undefined) return { timeMs, level, message, field: () => undefined };
    const fields = readEventFields(message.slice(request.length + 1));
    return { timeMs, level, message: request, field: (key) => fields.get(key) };
  }
  if (first !== 123 || line.json === undefined || !isDynamoJson(line.json)) return undefined;
  const { json } = line;
  const { time, level, message } = json as { time?: unknown; level?: unknown; message?: unknown };
  return {
    timeMs: typeof time === "string" ? parseIso(time, 0, zone).timeMs : line.timeMs,
    level: typeof level === "string" ? level : "",
    message: typeof message === "string" ? message : "",
    field: (key) => json[key],
  };
}

/** Its own targets, and what its Python parts log through it (`target: "log"` with `log.target`). */
function isDynamoJson(json: JsonObject): boolean {
  const target = json["target"];
  if (typeof target !== "string" || typeof json["time"] !== "string") return false;
  return target.startsWith(CRATES) || (target === "log" && "log.target" in json);
}

const NEXT_KEY = / [A-Za-z_][\w.]*=/g;
const ENDPOINT = " endpoint=";
/** The event and its spans have about twenty. */
const MAX_FIELDS = 100;

/**
 * Fields of an event in the readable format; of equal keys the last wins. Values without quotes may hold spaces
 * (`error_detail=backend stream inactivity timeout`) and go on to the next key. The model is what the client sent: its value goes
 * on to the last ` endpoint=`, and a request id's to the model, so that keys written into either are no fields.
 */
export function readEventFields(text: string): Map<string, string> {
  const fields = new Map<string, string>();
  let at = 0;
  for (let count = 0; at < text.length && count < MAX_FIELDS; count++) {
    const equals = text.indexOf("=", at);
    if (equals < 0) break;
    const key = text.slice(Math.max(at, text.lastIndexOf(" ", equals) + 1), equals);
    const from = equals + 1;
    let end: number;
    if (text.charCodeAt(from) === 34) {
      end = quotedEnd(text, from);
      if (end < 0) break;
      fields.set(key, unquote(text.slice(from, end)));
    } else {
      const known = endOfClientText(text, key);
      NEXT_KEY.lastIndex = from;
      end = known >= from ? known : (NEXT_KEY.exec(text)?.index ?? text.length);
      fields.set(key, text.slice(from, end).trim());
    }
    at = end + 1;
  }
  return fields;
}

/** Where a value that the client chose ends: before the key that the writer prints next; −1 for other keys. */
function endOfClientText(text: string, key: string): number {
  if (key !== "model" && key !== "request_id") return -1;
  const endpoint = text.lastIndexOf(ENDPOINT);
  return key === "model" || endpoint < 0 ? endpoint : text.lastIndexOf(" model=", endpoint);
}
