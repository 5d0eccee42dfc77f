import { parseIso, UTC, type ZoneOffset } from "../../core/timestamp.ts";
import { Field } from "./field.ts";
import { numberOf } from "./figure.ts";
import type { LineFields } from "./line-fields.ts";

/** Severity on one scale, whatever the logger counts in; `unknown` when the line names none. */
export const Severity = { unknown: 0, debug: 1, info: 2, warn: 3, error: 4 } as const;

const WORDS: Readonly<Record<string, number>> = {
  trace: Severity.debug,
  debug: Severity.debug,
  verbose: Severity.debug,
  silly: Severity.debug,
  info: Severity.info,
  http: Severity.info,
  information: Severity.info,
  informational: Severity.info,
  notice: Severity.info,
  success: Severity.info,
  log: Severity.info,
  warn: Severity.warn,
  warning: Severity.warn,
  wrn: Severity.warn,
  inf: Severity.info,
  dbg: Severity.debug,
  err: Severity.error,
  error: Severity.error,
  severe: Severity.error,
  fatal: Severity.error,
  ftl: Severity.error,
  critical: Severity.error,
  crit: Severity.error,
  panic: Severity.error,
  dpanic: Severity.error,
  alert: Severity.error,
  emerg: Severity.error,
  emergency: Severity.error,
};

/** Severity that a word names (`WARN`, `INFO+2` of slog, `warning` of logrus); `unknown` for other words. */
export function severityOf(word: string): number {
  const known = WORDS[word];
  if (known !== undefined) return known;
  if (word.length > 16) return Severity.unknown;
  const plain = word.toLowerCase().replace(/[+-]\d+$/, "");
  return Object.hasOwn(WORDS, plain) ? (WORDS[plain] ?? Severity.unknown) : Severity.unknown;
}

/** pino and bunyan count 10…60; GELF and journald under the same key 0…7, where less is worse. */
function severityOfNumber(level: number): number {
  if (level <= 7) return severityOfSyslog(level);
  if (level >= 50) return Severity.error;
  if (level >= 40) return Severity.warn;
  return level >= 30 ? Severity.info : Severity.debug;
}

function severityOfSyslog(level: number): number {
  if (level <= 3) return Severity.error;
  if (level === 4) return Severity.warn;
  return level <= 6 ? Severity.info : Severity.debug;
}

/** Python's `levelno` and loguru's `level.no` count 10…50. */
function severityOfPython(level: number): number {
  if (level >= 40) return Severity.error;
  if (level >= 30) return Severity.warn;
  return level >= 20 ? Severity.info : Severity.debug;
}

let lastLevel = "";
let lastNamed: number = Severity.unknown;

export function severity(fields: LineFields): number {
  const level = fields.value(Field.level);
  if (typeof level === "string") {
    // most lines have the level of the line before
    if (level !== lastLevel) {
      lastLevel = level;
      lastNamed = severityOf(level);
    }
    const named = lastNamed;
    if (named !== Severity.unknown) return named;
    const number = numberOf(level);
    if (number >= 0) return severityOfNumber(number);
  }
  if (typeof level === "number") return severityOfNumber(level);
  const python = Number(fields.text(Field.levelNumber));
  if (python > 0) return severityOfPython(python);
  const syslog = fields.text(Field.syslogLevel);
  const number = syslog === undefined ? Number.NaN : Number(syslog);
  return number >= 0 && number <= 7 ? severityOfSyslog(number) : Severity.unknown;
}

/** Milliseconds since the epoch of a number of seconds, milliseconds, microseconds or nanoseconds: their ranges do not meet. */
export function epochMs(value: number): number {
  if (!(value > 0)) return Number.NaN;
  if (value < 1e11) return value * 1000;
  if (value < 1e14) return value;
  return value < 1e17 ? value / 1e3 : value / 1e6;
}

const two = (text: string, at: number): number => {
  const high = text.charCodeAt(at) - 48;
  const low = text.charCodeAt(at + 1) - 48;
  return high >= 0 && high <= 9 && low >= 0 && low <= 9 ? high * 10 + low : Number.NaN;
};
/** `2026-03-02T10:00:` of the last time read in UTC, and its milliseconds: the next line is nearly always of the same minute. */
let minuteText = "none";
let minuteMs = Number.NaN;
const MINUTE_CHARS = 17;
/** Length of `2026-03-02T10:00:00.123Z`. */
const PLAIN_CHARS = 24;

/** The line's own time, milliseconds since the epoch; NaN when it holds none that can be read. */
export function timeMs(fields: LineFields, zone: ZoneOffset): number {
  const time = fields.value(Field.time);
  if (typeof time === "number") return epochMs(time);
  return typeof time === "string" ? timeOfText(time, zone) : Number.NaN;
}

/** Milliseconds since the epoch of a time as a logger prints it; NaN when it cannot be read. */
export function timeOfText(time: string, zone: ZoneOffset): number {
  const plain = time.length === PLAIN_CHARS && time.charCodeAt(23) === 90 && time.charCodeAt(19) === 46;
  if (plain && time.startsWith(minuteText)) {
    const ms = two(time, 17) * 1000 + two(time, 20) * 10 + (time.charCodeAt(22) - 48);
    if (ms >= 0 && ms < 60_000) return minuteMs + ms;
  }
  const read = parseIso(time, 0, zone);
  if (read.end === time.length) {
    if (plain) {
      minuteText = time.slice(0, MINUTE_CHARS);
      minuteMs = Math.floor(read.timeMs / 60_000) * 60_000;
    }
    return read.timeMs;
  }
  if (!Number.isNaN(read.timeMs)) {
    const rest = time.slice(read.end).trim();
    return rest === "UTC" || rest === "GMT" ? parseIso(time, 0, UTC).timeMs : read.timeMs;
  }
  return epochMs(numberOf(time));
}

const SLOG_LEVEL = /^(?:DEBUG|INFO|WARN|ERROR)(?:[+-]\d+)?$/;

/**
 * Milliseconds of one unit of a bare number, by the habit of the logger that wrote the line; 0 when no habit is known.
 *
 * @see zap `NewProductionEncoderConfig` 1.23 (SecondsDurationEncoder beside an epoch `ts`); zerolog 1.26
 * `DurationFieldUnit` (milliseconds, beside `time` and `message`); log/slog `JSONHandler` (nanoseconds, beside upper-case
 * levels and `msg`).
 */
export function habitualUnitMs(fields: LineFields, value: number): number {
  const time = fields.value(Field.time);
  const key = fields.key(Field.time);
  const message = fields.key(Field.message);
  const level = fields.value(Field.level);
  if (key === "ts" && message === "msg") return numberLike(time) && Number(time) < 1e11 ? 1000 : 0;
  if (key !== "time" || fields.has(Field.pid) || fields.has(Field.target)) return 0;
  const word = typeof level === "string" ? level : "";
  if (message === "msg") return SLOG_LEVEL.test(word) && Number.isInteger(value) ? 1e-6 : 0;
  const zerologLevel = level === undefined || (word !== "" && word === word.toLowerCase());
  return zerologLevel && (message === "message" || message === "") ? 1 : 0;
}

const numberLike = (value: unknown): boolean =>
  typeof value === "number" || (typeof value === "string" && numberOf(value) > 0);
