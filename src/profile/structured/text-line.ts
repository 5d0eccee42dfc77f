import { parseIso, UTC } from "../../core/timestamp.ts";
import type { JsonObject } from "../../model/line.ts";
import { DURATION_FIELDS, Field } from "./field.ts";
import { scanPairs } from "./key-value.ts";
import { LineFields } from "./line-fields.ts";
import { Severity, severityOf } from "./logger.ts";

/** How a text line carries its fields. */
export const TextKind = {
  none: 0,
  /** logfmt, or pairs at the end of a message. */
  pairs: 1,
  /** zap's console encoder: TAB-separated columns and a JSON object at the end. */
  columns: 2,
  /** winston's `simple` format, or a time and level with a JSON object behind them. */
  tail: 3,
} as const;

/** Columns of a head that may stand before its message. */
const MAX_HEAD_WORDS = 8;
const MAX_HEAD_CHARS = 200;
const CALLER = /^[\w./@-]+\.go:\d+$/;
const WINSTON_LEVEL = /^(?:error|warn|info|http|verbose|debug|silly): /;
/** Fields that open a logfmt line: the logger's own. */
const LOGGER_FIELDS: ReadonlySet<number> = new Set([Field.level, Field.message, Field.event, Field.time]);

/** Meanings of keys, for {@link textKind}, which has no parser yet. */
const KEYS = new LineFields();

/** Which text lines are structured ones: cheap for all others, which hold neither `=` nor end in `}`. */
export function textKind(text: string): number {
  if (text !== judged) {
    judged = text;
    judgedKind = judge(text);
  }
  return judgedKind;
}

/** The last line judged: it is asked about once to be claimed and once to be read. */
let judged: string | undefined;
let judgedKind: number = TextKind.none;

function judge(text: string): number {
  const first = text.charCodeAt(0);
  if (first === 123) return TextKind.none;
  if (text.charCodeAt(text.length - 1) === 125) {
    const brace = text.indexOf("{");
    if (text.charCodeAt(brace - 1) === 9 && isColumns(text)) return TextKind.columns;
    if (WINSTON_LEVEL.test(text.slice(0, 12)) || (brace < MAX_HEAD_CHARS && isHead(text, brace))) {
      if (tailOf(text) !== undefined) return TextKind.tail;
    }
  } else if (text.indexOf("\t") > 0 && isColumns(text)) return TextKind.columns;
  return text.includes("=") && hasPairs(text) ? TextKind.pairs : TextKind.none;
}

function hasPairs(text: string): boolean {
  const { keys, values, count, logfmt } = scanPairs(text);
  for (let index = 0; index < count; index++) {
    const key = keys[index] ?? "";
    const field = KEYS.fieldOf(key);
    if (field < 0) continue;
    if (logfmt && LOGGER_FIELDS.has(field)) return true;
    if (field < DURATION_FIELDS || (field >= Field.tokensIn && field <= Field.cost)) {
      const code = values[index]?.charCodeAt(0) ?? 0;
      // a figure, not a word: digit, sign, point; NaN and Inf are figures to refuse
      if ((code >= 48 && code <= 57) || code === 45 || code === 46 || code === 43 || code === 78 || code === 73)
        return true;
    }
  }
  return false;
}

/** `TIME \t LEVEL \t …` with a Go caller or a JSON object, as zap's development encoder writes. */
function isColumns(text: string): boolean {
  const tab = text.indexOf("\t");
  if (tab < 10 || tab > 40) return false;
  const time = parseIso(text, 0, UTC);
  if (Number.isNaN(time.timeMs) || time.end !== tab) return false;
  const second = text.indexOf("\t", tab + 1);
  if (second < 0 || severityOf(text.slice(tab + 1, second)) === Severity.unknown) return false;
  if (text.charCodeAt(text.length - 1) === 125 && text.lastIndexOf("\t{") > second) return true;
  const third = text.indexOf("\t", second + 1);
  return CALLER.test(text.slice(second + 1, third < 0 ? text.length : third));
}

/** True when nothing but a time, a level and a logger's name stands before `end`. */
function isHead(text: string, end: number): boolean {
  const head = readHead(text, end);
  return (
    head.timeEnd > 0 && head.level !== undefined && !/["'=]/.test(text.slice(head.timeEnd, end)) && head.words <= 4
  );
}

/** The object at the end of a line, from its first brace on; undefined when it is none. */
function tailOf(text: string): JsonObject | undefined {
  const brace = text.indexOf("{");
  if (brace < 0) return undefined;
  try {
    return JSON.parse(text.slice(brace)) as JsonObject;
  } catch {
    return undefined;
  }
}

export interface Head {
  /** 0 when the line does not begin with a time. */
  timeEnd: number;
  timeStart: number;
  level: string | undefined;
  /** Where the message begins. */
  messageAt: number;
  /** Words between time and `end`. */
  words: number;
}

/** Reads time and level at the beginning of a text: `2026-03-02 10:00:00,123 INFO …`, `[…] [info] …`, `INFO:rag:…`. */
export function readHead(text: string, end: number): Head {
  const head: Head = { timeEnd: 0, timeStart: 0, level: undefined, messageAt: 0, words: 0 };
  let at = text.charCodeAt(0) === 91 ? 1 : 0;
  const time = parseIso(text, at, UTC);
  if (!Number.isNaN(time.timeMs)) {
    head.timeStart = at;
    head.timeEnd = time.end;
    head.messageAt = time.end;
    at = time.end;
  }
  const stop = Math.min(end, at + MAX_HEAD_CHARS);
  while (at < stop && head.words < MAX_HEAD_WORDS) {
    while (at < stop && isHeadSeparator(text.charCodeAt(at))) at++;
    const start = at;
    while (at < stop && !isHeadSeparator(text.charCodeAt(at))) at++;
    if (at === start) break;
    head.words++;
    if (head.level !== undefined) continue;
    const word = text.slice(start, at);
    if (severityOf(word) === Severity.unknown) continue;
    // in prose `error` is a word; a level is in capitals, in brackets, or followed by a colon
    const marked = text.charCodeAt(start - 1) === 91 || text.charCodeAt(at) === 58 || text.charCodeAt(start - 1) === 9;
    if (!marked && word !== word.toUpperCase()) continue;
    head.level = word;
    while (at < stop && isHeadSeparator(text.charCodeAt(at))) at++;
    head.messageAt = at;
  }
  return head;
}

const isHeadSeparator = (code: number): boolean =>
  code === 32 || code === 9 || code === 91 || code === 93 || code === 124 || code === 58 || code === 45 || code === 44;

/** Blanks, comma, semicolon, bar and opening brackets between a message and its pairs. */
const isMessageEnd = (code: number): boolean =>
  code === 32 || code === 9 || code === 44 || code === 59 || code === 124 || code === 40 || code === 91 || code === 123;

/** Fills `fields` from a text line of the given kind. */
export function readText(text: string, kind: number, fields: LineFields): void {
  if (kind === TextKind.pairs) readPairs(text, fields);
  else if (kind === TextKind.columns) readColumns(text, fields);
  else {
    const tail = tailOf(text);
    if (tail !== undefined) fields.addJson(tail);
    addHead(text, text.indexOf("{"), fields);
  }
}

function readPairs(text: string, fields: LineFields): void {
  const { keys, values, count, logfmt, firstAt } = scanPairs(text);
  fields.addPairs(keys, values, count);
  if (!logfmt) addHead(text, firstAt, fields);
}

function addHead(text: string, end: number, fields: LineFields): void {
  const head = readHead(text, end);
  // a key that no logger's habit hangs on
  if (head.timeEnd > 0) fields.addAttribute("timestamp", text.slice(head.timeStart, head.timeEnd));
  if (head.level !== undefined) fields.addAttribute("level", head.level);
  let stop = end;
  while (stop > head.messageAt && isMessageEnd(text.charCodeAt(stop - 1))) stop--;
  const message = text.slice(head.messageAt, stop);
  if (message !== "") fields.addAttribute("message", message);
}

function readColumns(text: string, fields: LineFields): void {
  const columns = text.split("\t", 12);
  const last = columns.at(-1) ?? "";
  const brace = text.lastIndexOf("\t{");
  let object: JsonObject | undefined;
  if (last.startsWith("{") && brace > 0) {
    try {
      object = JSON.parse(text.slice(brace + 1)) as JsonObject;
    } catch {
      object = undefined;
    }
  }
  if (object !== undefined) fields.addJson(object);
  fields.addAttribute("timestamp", columns[0]);
  fields.addAttribute("level", columns[1]);
  const rest = columns.slice(2, object === undefined ? undefined : -1);
  const message = rest.findLast((column) => !CALLER.test(column));
  if (message !== undefined) fields.addAttribute("message", message);
}
