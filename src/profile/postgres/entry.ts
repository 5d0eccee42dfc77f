import type { ZoneOffset } from "../../core/timestamp.ts";
import type { JsonObject, Line } from "../../model/line.ts";
import { objectOf, textOf } from "../rag/value.ts";
import { parseStamp } from "./prefix.ts";

/** One record of the server's log, whatever its format; plain data. */
export interface PostgresEntry {
  timeMs: number;
  /** Process or session, `""` when unknown: what pairs a statement with its duration. */
  session: string;
  severity: string;
  sqlState: string | undefined;
  message: string;
  detail: string;
  hint: string;
  context: string;
  statement: string;
  database: string | undefined;
}

/** Characters kept of one part of a record: vectors as parameters are long, the tenant may stand behind them. */
export const MAX_PART_CHARS = 128 * 1024;

export const newEntry = (timeMs: number, session: string, severity: string, message: string): PostgresEntry => ({
  timeMs,
  session,
  severity,
  sqlState: undefined,
  message: message.slice(0, MAX_PART_CHARS),
  detail: "",
  hint: "",
  context: "",
  statement: "",
  database: undefined,
});

/** A line of jsonlog (PostgreSQL 15 and later), or the wrapper that CloudNativePG puts around csvlog; else undefined. */
export function parseJsonLine(line: Line, zone: ZoneOffset): PostgresEntry | undefined {
  if (!line.text.includes('"error_severity"')) return undefined;
  const { json } = line;
  if (json === undefined) return undefined;
  const record = json["logger"] === "postgres" ? objectOf(json["record"]) : undefined;
  if (record !== undefined) return fromCloudNative(record, zone);
  if (typeof json["timestamp"] !== "string" || json["backend_type"] === undefined) return undefined;
  return fromJson(json, zone);
}

function fromJson(json: JsonObject, zone: ZoneOffset): PostgresEntry | undefined {
  const severity = textOf(json["error_severity"]);
  if (severity === undefined) return undefined;
  const { pid } = json;
  const session = typeof pid === "number" ? String(pid) : (textOf(json["session_id"]) ?? "");
  const { timeMs } = parseStamp(String(json["timestamp"]), 0, zone);
  const entry = newEntry(timeMs, session, severity, part(json["message"]));
  entry.sqlState = textOf(json["state_code"]);
  entry.detail = part(json["detail"]);
  entry.hint = part(json["hint"]);
  entry.context = part(json["context"]);
  entry.statement = part(json["statement"]);
  entry.database = textOf(json["dbname"]);
  return entry;
}

function fromCloudNative(record: JsonObject, zone: ZoneOffset): PostgresEntry | undefined {
  const severity = textOf(record["error_severity"]);
  const time = textOf(record["log_time"]);
  if (severity === undefined || time === undefined) return undefined;
  const session = textOf(record["process_id"]) ?? textOf(record["session_id"]) ?? "";
  const entry = newEntry(parseStamp(time, 0, zone).timeMs, session, severity, part(record["message"]));
  entry.sqlState = textOf(record["sql_state_code"]);
  entry.detail = part(record["detail"]);
  entry.hint = part(record["hint"]);
  entry.context = part(record["context"]);
  entry.statement = part(record["query"]);
  entry.database = textOf(record["database_name"]);
  return entry;
}

const part = (value: unknown): string => (typeof value === "string" ? value.slice(0, MAX_PART_CHARS) : "");
