import type { ZoneOffset } from "../../core/timestamp.ts";
import { MAX_PART_CHARS, newEntry, type PostgresEntry } from "./entry.ts";
import { parseStamp } from "./prefix.ts";

/** Columns of csvlog: 23 up to 12, 24 in 13, 26 since 14 (jsonlog.c, csvlog.c of PostgreSQL 15). */
const Column = {
  time: 0,
  database: 2,
  pid: 3,
  session: 5,
  severity: 11,
  sqlState: 12,
  message: 13,
  detail: 14,
  hint: 15,
  context: 18,
  statement: 19,
} as const;

// time, user, database, pid, client, session id, line number: up to here no field holds a newline
const HEAD =
  /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})? [A-Z+-][\w+:-]{0,7},(?:"(?:[^"]|"")*")?,(?:"(?:[^"]|"")*")?,\d*,(?:"(?:[^"]|"")*")?,[0-9a-f]+\.[0-9a-f]+,\d+,/;

/** True for the first line of a csvlog record. */
export const isCsvHead = (text: string): boolean => HEAD.test(text);

/** True when `text` leaves a quoted field open, given whether one was open before it. */
export function leavesOpen(text: string, open: boolean): boolean {
  let inside = open;
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) === 34) inside = !inside;
  return inside;
}

/** Reads one whole record; `""` inside a quoted field is one quote. */
export function parseCsvRecord(text: string, zone: ZoneOffset): PostgresEntry | undefined {
  const fields = splitFields(text, Column.statement + 1);
  const severity = fields[Column.severity];
  if (severity === undefined || severity === "") return undefined;
  const { timeMs } = parseStamp(fields[Column.time] ?? "", 0, zone);
  const session = fields[Column.pid] || fields[Column.session] || "";
  const entry = newEntry(timeMs, session, severity, fields[Column.message] ?? "");
  entry.sqlState = fields[Column.sqlState];
  entry.detail = fields[Column.detail]?.slice(0, MAX_PART_CHARS) ?? "";
  entry.hint = fields[Column.hint] ?? "";
  entry.context = fields[Column.context]?.slice(0, MAX_PART_CHARS) ?? "";
  entry.statement = fields[Column.statement]?.slice(0, MAX_PART_CHARS) ?? "";
  entry.database = fields[Column.database] || undefined;
  return entry;
}

function splitFields(text: string, limit: number): string[] {
  const fields: string[] = [];
  let at = 0;
  while (fields.length < limit && at <= text.length) {
    if (text.charCodeAt(at) !== 34) {
      const comma = text.indexOf(",", at);
      const end = comma < 0 ? text.length : comma;
      fields.push(text.slice(at, end));
      at = end + 1;
      continue;
    }
    let end = at + 1;
    for (; end < text.length; end++) {
      if (text.charCodeAt(end) !== 34) continue;
      if (text.charCodeAt(end + 1) !== 34) break;
      end++;
    }
    fields.push(text.slice(at + 1, end).replaceAll('""', '"'));
    at = end + 2;
  }
  return fields;
}
