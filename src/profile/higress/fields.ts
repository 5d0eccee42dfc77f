import type { JsonObject, Line } from "../../model/line.ts";

/**
 * Higress's access log is a text template that looks like JSON: all values are quoted, none is escaped, so a `"` in a user
 * agent breaks the object. Then the fields are looked up one by one.
 *
 * @see higress-group/higress `helm/core/templates/configmap.yaml` at 8e4041c9b
 */
const KEYS = [
  "ai_log",
  "bytes_sent",
  "duration",
  "method",
  "path",
  "request_id",
  "response_code",
  "response_code_details",
  "response_flags",
  "start_time",
  "trace_id",
  "upstream_service_time",
  "upstream_transport_failure_reason",
] as const;

/** The end of a value: another key, or the end of the object. */
const NEXT_KEY = /","[a-z_]{2,40}":"|"\}\s*$/g;

/** The fields of an access line; undefined for lines of others. */
export function readFields(line: Line): JsonObject | undefined {
  const { text } = line;
  if (text.charCodeAt(0) !== 123 || text.charCodeAt(1) !== 34) return undefined;
  const object = line.json;
  if (object !== undefined) return isAccess(object) ? object : undefined;
  if (!text.includes('"ai_log":"') || !text.includes('"response_code":"')) return undefined;
  const fields: Record<string, unknown> = {};
  for (const key of KEYS) fields[key] = fieldOf(text, key);
  return isAccess(fields) ? fields : undefined;
}

function isAccess(object: JsonObject): boolean {
  return (
    typeof object["ai_log"] === "string" && object["response_code"] !== undefined && object["duration"] !== undefined
  );
}

/** The first value of a key that stands at the start of the object or behind a comma. */
function fieldOf(text: string, key: string): string | undefined {
  const start = text.startsWith(`{"${key}":"`) ? 0 : text.indexOf(`,"${key}":"`);
  if (start < 0) return undefined;
  const from = start + key.length + 5;
  NEXT_KEY.lastIndex = from;
  const end = NEXT_KEY.exec(text)?.index;
  const value = end === undefined ? undefined : text.slice(from, end);
  // the plugin escapes what it puts in
  return key === "ai_log" && value !== undefined ? unescaped(value) : value;
}

function unescaped(value: string): string {
  try {
    return JSON.parse(`"${value}"`) as string;
  } catch {
    return value;
  }
}
