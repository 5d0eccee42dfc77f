import { parseIso, UTC } from "../../core/timestamp.ts";
import type { JsonObject, Line } from "../../model/line.ts";
import { objectOf, textOf } from "../rag/value.ts";

/** One event of Dify's API or worker. */
export interface DifyEvent {
  readonly timeMs: number;
  readonly level: string;
  readonly message: string;
  readonly traceId: string | undefined;
  readonly tenant: string | undefined;
  /** JSON only: text lines carry it as further lines. */
  readonly stack: string | undefined;
}

// `%(asctime)s.%(msecs)03d %(levelname)s [%(threadName)s] [%(filename)s:%(lineno)d] %(trace_id)s - %(message)s`;
// without LOG_DATEFORMAT the time holds the milliseconds itself, and they stand twice
const HEAD =
  /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:,\d{3})?(?:\.\d{1,3})? (DEBUG|INFO|WARNING|ERROR|CRITICAL) \[.{1,120}?\] \[[^\]\s]{1,120}:\d{1,6}\] /s;
// releases differ in the column before the dash, and excerpts of old ones have none
const COLUMN = /^(?:([0-9a-f]{0,64}) )?- /;

/** Reads the head of a text line; undefined for lines of others. */
export function parseText(text: string): DifyEvent | undefined {
  const head = HEAD.exec(text);
  if (head === null) return undefined;
  let message = text.slice(head[0].length);
  const column = COLUMN.exec(message);
  if (column !== null) message = message.slice(column[0].length);
  const traceId = column?.[1];
  return {
    // LOG_TZ, which is UTC unless it is set
    timeMs: parseIso(text, 0, UTC).timeMs,
    level: head[1] ?? "",
    message,
    traceId: traceId === "" ? undefined : traceId,
    tenant: undefined,
    stack: undefined,
  };
}

const CALLER = /^[\w.<>-]{1,120}:\d{1,6}$/;

/** True for a line of `LOG_OUTPUT_FORMAT=json` (core/logging/structured_formatter.py). */
export function isJson(line: Line): boolean {
  if (!line.text.includes('"severity"') || !line.text.includes('"caller"')) return false;
  const { json } = line;
  return (
    typeof json?.["ts"] === "string" &&
    typeof json["severity"] === "string" &&
    typeof json["service"] === "string" &&
    typeof json["message"] === "string" &&
    typeof json["caller"] === "string" &&
    CALLER.test(json["caller"])
  );
}

export function parseJson(json: JsonObject): DifyEvent {
  return {
    timeMs: parseIso(String(json["ts"]), 0, UTC).timeMs,
    level: String(json["severity"]),
    message: String(json["message"]),
    traceId: textOf(json["trace_id"]),
    tenant: textOf(objectOf(json["identity"])?.["tenant_id"]),
    stack: textOf(json["stack_trace"])?.trimEnd(),
  };
}
