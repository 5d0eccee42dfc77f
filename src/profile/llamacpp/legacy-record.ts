import type { JsonObject, Line } from "../../model/line.ts";

/** One record of the logger that the server had up to September 2024, from its text or its JSON form. */
export interface LegacyRecord {
  readonly level: string;
  readonly message: string;
  /** `id_task`, `t_prompt_processing`, …; values as JSON has them. */
  readonly fields: JsonObject;
  /** The record's own time, milliseconds since the epoch; NaN if there is none. */
  readonly timeMs: number;
}

const LEVELS = ["INFO [", "WARN [", "VERB [", "ERR [", "ERROR [", "DEBUG ["];
const FIELDS = " | ";
/** Every record has its thread: first among the fields, or where the alphabet puts it (Ollama up to 0.3). */
const THREAD = ' tid="';
const MAX_FIELDS = 32;
const MAX_CHARS = 64 * 1024;
/** Columns within which the function's closing bracket stands: the name is padded to 24, never cut. */
const HEAD = 96;

/** True for `INFO [           print_timings] message | tid="…" timestamp=…`, without reading it. */
export function isLegacyText(text: string): boolean {
  const at = text.charCodeAt(0) === 32 ? 1 : 0;
  if (!LEVELS.some((level) => text.startsWith(level, at))) return false;
  const close = text.indexOf("] ", at);
  if (close < 0 || close > HEAD) return false;
  const bar = text.indexOf(FIELDS, close);
  return bar > 0 && text.indexOf(THREAD, bar) > 0;
}

/** True for the same record as a JSON object. */
export function isLegacyJson(line: Line): boolean {
  const { json } = line;
  return (
    json !== undefined &&
    typeof json["function"] === "string" &&
    typeof json["level"] === "string" &&
    typeof json["line"] === "number" &&
    typeof json["timestamp"] === "number" &&
    typeof (json["msg"] ?? json["message"]) === "string"
  );
}

/**
 * Reads a line for which {@link isLegacyText} or {@link isLegacyJson} is true.
 *
 * @see ggml-org/llama.cpp examples/server/utils.hpp `server_log` at fc54ef0d1 (August 2024)
 */
export function readLegacy(line: Line): LegacyRecord {
  const { json, text } = line;
  if (json !== undefined) {
    const message = String(json["msg"] ?? json["message"]);
    return { level: String(json["level"]), message, fields: json, timeMs: epochMs(json["timestamp"]) };
  }
  const open = text.indexOf("[");
  const close = text.indexOf("] ", open);
  const bar = text.indexOf(FIELDS, close);
  const fields = readFields(text, bar + FIELDS.length);
  return {
    level: text.slice(0, open).trim(),
    message: text.slice(close + 2, bar),
    fields,
    timeMs: epochMs(fields["timestamp"]),
  };
}

const epochMs = (seconds: unknown): number => (typeof seconds === "number" ? seconds * 1000 : Number.NaN);

/** `key=value key=value`: strings are JSON strings, the rest is taken up to the next blank outside of brackets. */
function readFields(text: string, from: number): JsonObject {
  const fields: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  const limit = Math.min(text.length, from + MAX_CHARS);
  let at = from;
  for (let count = 0; count < MAX_FIELDS && at < limit; count++) {
    const equals = text.indexOf("=", at);
    if (equals < 0) break;
    const end = valueEnd(text, equals + 1, limit);
    fields[text.slice(at, equals)] = valueOf(text.slice(equals + 1, end));
    at = end + 1;
  }
  return fields;
}

function valueEnd(text: string, from: number, limit: number): number {
  let depth = 0;
  let quoted = false;
  for (let at = from; at < limit; at++) {
    const code = text.charCodeAt(at);
    if (quoted) {
      if (code === 92) at++;
      else if (code === 34) quoted = false;
    } else if (code === 34) quoted = true;
    else if (code === 123 || code === 91) depth++;
    else if (code === 125 || code === 93) depth--;
    else if (code === 32 && depth <= 0) return at;
  }
  return limit;
}

function valueOf(text: string): unknown {
  if (text.startsWith("{") || text.startsWith("[")) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
