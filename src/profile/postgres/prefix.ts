import { fromLocal, parseIso, UTC, type ZoneOffset } from "../../core/timestamp.ts";

/** Words that stand between `log_line_prefix` and the message. */
const SEVERITIES: ReadonlySet<string> = new Set(
  "DEBUG DEBUG1 DEBUG2 DEBUG3 DEBUG4 DEBUG5 INFO NOTICE WARNING LOG ERROR FATAL PANIC DETAIL HINT QUERY CONTEXT LOCATION BACKTRACE STATEMENT".split(
    " ",
  ),
);
/** Further lines of the record before. */
const PARTS: ReadonlySet<string> = new Set("DETAIL HINT QUERY CONTEXT LOCATION BACKTRACE STATEMENT".split(" "));
/** What other loggers print in front of a message of their own; without a prefix they are not taken for PostgreSQL's. */
const COMMON: ReadonlySet<string> = new Set("INFO NOTICE WARNING DEBUG DEBUG1 DEBUG2 DEBUG3 DEBUG4 DEBUG5".split(" "));

/** Longest prefix that is looked at; `%a`, the application's name, is at most 63 bytes. */
const MAX_PREFIX = 300;

/** One line of the text log that begins a record or a part of one. */
export interface TextLine {
  readonly timeMs: number;
  /** Process or session of the line, `""` when the prefix names neither. */
  readonly session: string;
  readonly severity: string;
  /** True for `DETAIL`, `STATEMENT`, …: a part of the record before. */
  readonly part: boolean;
  readonly message: string;
}

/**
 * Reads a line of the text log under any common `log_line_prefix`: `%m [%p] ` (default), `%m [%p] %q%u@%d ` (Debian),
 * `%t [%p]: user=%u,db=%d,app=%a,client=%h ` (pgBadger), `%t:%r:%u@%d:[%p]:` (RDS), `%t-%c-` (Azure), `<%m>`, `%n`, empty;
 * with the counter `[3-1] ` that syslog puts in front.
 *
 * The severity is the word before the first `:` and two blanks: prefixes hold none, messages only behind it.
 */
export function parseTextLine(text: string, zone: ZoneOffset): TextLine | undefined {
  const colon = text.indexOf(":  ");
  if (colon < 3 || colon > MAX_PREFIX || text.charCodeAt(colon + 3) === 32 || colon + 3 >= text.length)
    return undefined;
  let from = colon;
  while (from > 0 && isWord(text.charCodeAt(from - 1))) from--;
  const severity = text.slice(from, colon);
  if (!SEVERITIES.has(severity)) return undefined;
  const prefix = parsePrefix(text.slice(0, from), zone);
  if (prefix === undefined || (!prefix.sure && COMMON.has(severity))) return undefined;
  const { timeMs, session } = prefix;
  return { timeMs, session, severity, part: PARTS.has(severity), message: text.slice(colon + 3) };
}

// A–Z, 0–9
const isWord = (code: number): boolean => (code >= 65 && code <= 90) || (code >= 48 && code <= 57);

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

const SYSLOG_COUNTER = /^\[\d+-\d+\] /;
const EPOCH = /^(\d{10})(?:\.(\d{3}))? /;
const PID = /\[(\d+)(?:-\d+)?\]|\bpid=(\d+)|^ ?(\d{1,7})(?=[ :,])/;
const SESSION = /\b([0-9a-f]{6,16}\.[0-9a-f]{1,8})\b/;

interface Prefix {
  readonly timeMs: number;
  readonly session: string;
  /** It looks like PostgreSQL's beyond doubt: a time or a process in it. */
  readonly sure: boolean;
}

function parsePrefix(whole: string, zone: ZoneOffset): Prefix | undefined {
  const text = whole.replace(SYSLOG_COUNTER, "");
  if (text === "") return { timeMs: Number.NaN, session: "", sure: false };
  // messages of others: JSON, quotes
  if (/["{}\\]/.test(text)) return undefined;
  let at = 0;
  while (at < 2 && (text[at] === "<" || text[at] === "[" || text[at] === " ")) at++;
  let { timeMs, end } = parseStamp(text, at, zone);
  if (end === at) {
    const epoch = EPOCH.exec(text.slice(at));
    if (epoch !== null) {
      timeMs = Number(epoch[1]) * 1000 + Number(epoch[2] ?? 0);
      end = at + epoch[0].length - 1;
    }
  }
  const timed = end > at;
  const rest = text.slice(timed ? end : 0);
  const pid = PID.exec(rest);
  const session = pid?.[1] ?? pid?.[2] ?? (timed ? pid?.[3] : undefined) ?? SESSION.exec(rest)?.[1] ?? "";
  if (!timed && session === "" && !/^\S{1,64}@\S{1,64} $/.test(text)) return undefined;
  return { timeMs, session, sure: timed || session !== "" };
}

/** Hours ahead of UTC by abbreviation; those with two meanings (CST, IST, BST in Asia …) are read in the given zone. */
const ZONE_HOURS: Readonly<Record<string, number>> = {
  UTC: 0,
  GMT: 0,
  Z: 0,
  WET: 0,
  WEST: 1,
  CET: 1,
  CEST: 2,
  EET: 2,
  EEST: 3,
  MSK: 3,
  EST: -5,
  EDT: -4,
  CDT: -5,
  MST: -7,
  MDT: -6,
  PST: -8,
  PDT: -7,
  AKST: -9,
  AKDT: -8,
  HST: -10,
  JST: 9,
  KST: 9,
  AEST: 10,
  AEDT: 11,
  NZST: 12,
  NZDT: 13,
};
const ZONE = /^ ?(?:([A-Z]{1,5})\b|([+-])(\d\d)(?::?(\d\d))?)/;

/** Reads `2026-03-02 11:00:01.720 CET`: PostgreSQL prints the zone's abbreviation, or its offset where it has none. */
export function parseStamp(text: string, at: number, zone: ZoneOffset): { timeMs: number; end: number } {
  let length = 19;
  if (text.charCodeAt(at + length) === 46)
    do length++;
    while (isDigit(text.charCodeAt(at + length)));
  const naiveMs = parseIso(text.slice(at, at + length), 0, UTC).timeMs;
  if (Number.isNaN(naiveMs)) return { timeMs: Number.NaN, end: at };
  const end = at + length;
  const found = ZONE.exec(text.slice(end, end + 8));
  if (found === null) return { timeMs: fromLocal(naiveMs, zone), end };
  const [all, name, sign, hours = "0", minutes = "0"] = found;
  if (name === undefined) {
    const ahead = (Number(hours) * 60 + Number(minutes)) * (sign === "-" ? -1 : 1);
    return { timeMs: naiveMs - ahead * 60_000, end: end + all.length };
  }
  const ahead = ZONE_HOURS[name];
  const timeMs = ahead === undefined ? fromLocal(naiveMs, zone) : naiveMs - ahead * 3_600_000;
  return { timeMs, end: end + all.length };
}
