import { putBounded, take } from "../../core/bounded-map.ts";
import { Latency } from "../../model/latency.ts";
import type { Line } from "../../model/line.ts";
import { type FailureRecord, RequestRecord } from "../../model/record.ts";
import type { Parser, ParserContext } from "../profile.ts";
import { hasWaited } from "../rag/held-failure.ts";
import { figureOf } from "../rag/value.ts";
import { causeOfPostgres } from "./causes.ts";
import { isCsvHead, leavesOpen, parseCsvRecord } from "./csv.ts";
import { MAX_PART_CHARS, newEntry, type PostgresEntry, parseJsonLine } from "./entry.ts";
import { parseMessage } from "./message.ts";
import { parseTextLine, type TextLine } from "./prefix.ts";
import { isVectorSearch, maskLiterals, parameterOf, tableOf, tenantParameter } from "./sql.ts";

/** Records whose DETAIL, STATEMENT or further lines may follow. */
const MAX_OPEN = 16;
/** Sessions whose statement waits for its duration. */
const MAX_PENDING = 1000;
/** A csvlog record is given up at this size: a quote was lost. */
const MAX_CSV_CHARS = 256 * 1024;
const MAX_CSV_LINES = 5000;
/** Characters of a statement shown with a failure. */
const MAX_SHOWN = 2000;

type Part = "message" | "detail" | "hint" | "context" | "statement" | "other";
interface Open {
  entry: PostgresEntry;
  /** The part that a line beginning with a tab goes on. */
  part: Part;
  readMs: number;
}
/** What a vector search is known by before it ends. */
interface Search {
  tenant: string | undefined;
  collection: string | undefined;
}

interface State {
  open: Map<string, Open>;
  /** Session of the line before, for lines that begin with a tab. */
  last: string | undefined;
  pending: Map<string, Search | "other">;
  csv: { text: string; lines: number; readMs: number } | undefined;
}

const PARTS: Readonly<Record<string, Part>> = {
  DETAIL: "detail",
  HINT: "hint",
  CONTEXT: "context",
  STATEMENT: "statement",
};
const TABBED = /^(?:\[\d+-\d+\] )?(?:\t|#011)/;

export class PostgresParser implements Parser {
  state: State = { open: new Map(), last: undefined, pending: new Map(), csv: undefined };
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const { text } = line;
    this.state.last = undefined;
    if (text.charCodeAt(0) === 123) {
      const entry = parseJsonLine(line, this.#context.zone);
      if (entry !== undefined) this.#finish(entry);
    } else if (isCsvHead(text)) {
      if (leavesOpen(text, false) && !line.cut) this.state.csv = { text, lines: 1, readMs: line.readMs };
      else this.#csv(text);
    } else {
      const read = parseTextLine(text, this.#context.zone);
      if (read !== undefined) this.#text(read, line);
    }
  }

  continues(line: Line): boolean {
    const { csv, last } = this.state;
    if (csv !== undefined) {
      if (csv.text.length < MAX_CSV_CHARS) csv.text += `\n${line.text}`;
      csv.lines++;
      csv.readMs = line.readMs;
      const full = csv.lines > MAX_CSV_LINES || csv.text.length >= MAX_CSV_CHARS;
      if (leavesOpen(line.text, true) && !full && !line.cut) return true;
      this.state.csv = undefined;
      this.#csv(csv.text);
      return true;
    }
    const open = last === undefined ? undefined : this.state.open.get(last);
    if (open === undefined) return false;
    const tab = TABBED.exec(line.text);
    if (tab === null) return false;
    append(open, `\n${line.text.slice(tab[0].length)}`);
    open.readMs = line.readMs;
    return true;
  }

  flush(nowMs: number, final: boolean): void {
    const { csv, open } = this.state;
    if (csv !== undefined && (final || hasWaited(csv.readMs, nowMs))) {
      this.state.csv = undefined;
      this.#csv(csv.text);
    }
    for (const [session, { entry, readMs }] of open) {
      if (!final && !hasWaited(readMs, nowMs)) continue;
      open.delete(session);
      this.#finish(entry);
    }
  }

  #csv(text: string): void {
    const entry = parseCsvRecord(text, this.#context.zone);
    if (entry !== undefined) this.#finish(entry);
  }

  #text(read: TextLine, line: Line): void {
    const { open } = this.state;
    const { session, severity } = read;
    this.state.last = session;
    if (read.part) {
      const whole = open.get(session);
      if (whole === undefined) return;
      whole.part = PARTS[severity] ?? "other";
      append(whole, read.message);
      whole.readMs = line.readMs;
      return;
    }
    const before = take(open, session);
    if (before !== undefined) this.#finish(before.entry);
    const timeMs = Number.isNaN(read.timeMs) ? line.timeMs : read.timeMs;
    const entry = newEntry(timeMs, session, severity, read.message);
    const dropped = putBounded(open, session, { entry, part: "message", readMs: line.readMs }, MAX_OPEN);
    if (dropped !== undefined) this.#finish(dropped.entry);
  }

  /** A record with all its parts. */
  #finish(entry: PostgresEntry): void {
    const { severity } = entry;
    if (severity === "ERROR" || severity === "FATAL" || severity === "PANIC") this.#failure(entry);
    else if (severity === "LOG") this.#log(entry);
  }

  #log(entry: PostgresEntry): void {
    const said = parseMessage(entry.message);
    const { timeMs, session } = entry;
    if (said === undefined) {
      if (CRASH.test(entry.message)) this.#context.emit(failureOf(entry));
      return;
    }
    const { step, duration, sql } = said;
    const { pending } = this.state;
    if (step === "parse" || step === "bind") this.#count("bind_or_parse_lines", timeMs);
    else if (step === "plan") this.#count("explain_plans", timeMs);
    else if (step === "fetch") this.#count("fetch_lines", timeMs);
    else if (step === "none") {
      const search = take(pending, session);
      if (search !== undefined) this.#ended(search, duration, timeMs);
    } else {
      const search = searchOf(sql, entry.detail);
      if (duration !== undefined) this.#ended(search, duration, timeMs);
      // logged when it begins; its duration follows in a line of its own
      else if (session !== "") putBounded(pending, session, search, MAX_PENDING);
    }
  }

  #ended(search: Search | "other", duration: string | undefined, timeMs: number): void {
    if (search === "other") {
      this.#count("other_statements", timeMs);
      return;
    }
    const record = new RequestRecord();
    record.timeMs = timeMs;
    record.tenant = search.tenant;
    this.#context.emit(record);
    this.#count("vector_searches", timeMs);
    const durationMs = figureOf(duration, this.#context);
    if (durationMs === undefined) return;
    this.#context.emit({ kind: "step", timeMs, step: Latency.retrieval, durationMs, outcome: "ok", ...search });
  }

  #failure(entry: PostgresEntry): void {
    const { timeMs, session } = entry;
    this.state.pending.delete(session);
    const failure = failureOf(entry);
    const search = entry.statement === "" ? "other" : searchOf(entry.statement, entry.context || entry.detail);
    if (search === "other") {
      this.#context.emit(failure);
      return;
    }
    const record = new RequestRecord();
    record.timeMs = timeMs;
    record.tenant = search.tenant;
    record.outcome = failure.cause === "client_cancelled" ? "aborted" : "error";
    record.failure = { ...failure, tenant: search.tenant };
    this.#context.emit(record);
  }

  #count(name: string, timeMs: number): void {
    this.#context.emit({ kind: "count", timeMs, name, by: 1 });
  }
}

/** The end of a server process, which is logged as LOG. */
const CRASH = /^server process \(PID \d+\) (?:was terminated by (?:signal|exception)|exited with exit code [1-9])/;
const PREPARED = /^prepare: prepare \S{1,80}\s*(?:\([^)]{0,500}\))? as\s/i;

function searchOf(sql: string, detail: string): Search | "other" {
  // `execute s(1)`: the detail shows what was prepared
  const prepared = /^\s*execute\b/i.test(sql) ? PREPARED.exec(detail) : null;
  const whole = prepared === null ? sql : detail.slice(prepared[0].length);
  const masked = maskLiterals(whole);
  if (!isVectorSearch(masked)) return "other";
  const number = tenantParameter(whole, masked);
  return {
    tenant: number === undefined ? undefined : parameterOf(detail, number),
    collection: tableOf(masked),
  };
}

function append({ entry, part }: Open, text: string): void {
  if (part !== "other") entry[part] += text.slice(0, Math.max(0, MAX_PART_CHARS - entry[part].length));
}

function failureOf(entry: PostgresEntry): FailureRecord {
  const { timeMs, message, sqlState } = entry;
  const parts = [
    message,
    entry.detail && `DETAIL:  ${entry.detail}`,
    entry.hint && `HINT:  ${entry.hint}`,
    entry.context && `CONTEXT:  ${entry.context.slice(0, MAX_SHOWN)}`,
    entry.statement && `STATEMENT:  ${entry.statement.slice(0, MAX_SHOWN)}`,
  ];
  const text = parts.filter((part) => part !== "").join("\n");
  const cause = causeOfPostgres(message, sqlState);
  return { kind: "failure", timeMs, text, cause, errorClass: sqlState };
}
