import { nearestDay, type ZoneOffset } from "../../core/timestamp.ts";
import type { Line } from "../../model/line.ts";

/** A text record being read: it ends where the next one begins. Plain data. */
export interface OpenRecord {
  /** False for DEBUG, which dumps whole requests: nothing of it is kept. */
  readonly wanted: boolean;
  readonly isError: boolean;
  readonly timeMs: number;
  /** Wall time at which its newest line was read, ms since the epoch. */
  readMs: number;
  lines: string[];
  chars: number;
}

const MAX_LINES = 400;
const MAX_CHARS = 64 * 1024;
/**
 * `HH:MM:SS - LOGGER:LEVEL: file.py:123 - `, where the file is missing in old versions and the last blank at an empty message.
 *
 * @see BerriAI/litellm `_logging.py` at 01191be4
 */
const PREFIX =
  /^(\d\d):(\d\d):(\d\d) - LiteLLM(?: Router| Proxy(?:\.stdout)?)?:(DEBUG|INFO|WARNING|ERROR|CRITICAL): (?:[\w./<>-]{1,120}:\d+ -(?: |$))?/;
/** Only with `request_correlation_in_logs`. */
const CORRELATION = / \[trace_id=\S{0,200} session_id=\S{0,200}\]$/;

/** True for the first line of a record, by its first characters. */
export function startsRecord(text: string): boolean {
  return text.charCodeAt(2) === 58 && text.charCodeAt(5) === 58 && text.startsWith(" - LiteLLM", 8);
}

/**
 * Opens the record that begins with this line; undefined when it is none after all.
 *
 * @param lastMs Time of the record before, for the day: the line holds a time and no date. NaN if there is none.
 */
export function openRecord(line: Line, lastMs: number, zone: ZoneOffset): OpenRecord | undefined {
  const { text } = line;
  const found = PREFIX.exec(text);
  if (found === null) return undefined;
  const [prefix, hours, minutes, seconds, level] = found;
  const ofDay = Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds);
  const wanted = level !== "DEBUG";
  const message = wanted ? text.slice(prefix.length, prefix.length + MAX_CHARS).replace(CORRELATION, "") : "";
  return {
    wanted,
    isError: level === "ERROR" || level === "CRITICAL",
    timeMs: timeOf(line, ofDay, lastMs, zone),
    readMs: line.readMs,
    lines: [message],
    chars: message.length,
  };
}

/** Adds a continuation line; what is beyond the bounds is passed over. */
export function addToRecord(record: OpenRecord, { text, readMs }: Line): void {
  record.readMs = readMs;
  if (!record.wanted || record.lines.length >= MAX_LINES || record.chars + text.length > MAX_CHARS) return;
  record.lines.push(text.replace(CORRELATION, ""));
  record.chars += text.length + 1;
}

/** The message; some begin with a newline, which is not part of it. */
export function messageOf(record: OpenRecord): string {
  const { lines } = record;
  let [first, last] = [0, lines.length];
  while (first < last && lines[first]?.trim() === "") first++;
  while (last > first && lines[last - 1]?.trim() === "") last--;
  return lines.slice(first, last).join("\n");
}

const HALF_DAY_MS = 12 * 3_600_000;

/**
 * The wrapper's time, or the printed time on the day after 23:59 → 00:00, or on the day nearest to the reading.
 * A log of several days read in one go is dated from the reading time onwards: the days are right relative to each other.
 */
function timeOf(line: Line, secondsOfDay: number, lastMs: number, zone: ZoneOffset): number {
  if (!Number.isNaN(line.timeMs)) return line.timeMs;
  const near = line.readMs - lastMs < HALF_DAY_MS ? lastMs : line.readMs;
  return nearestDay(secondsOfDay, near, zone);
}

/** Lines of other writers, which begin with their own time or level, never go on a record. */
const FOREIGN =
  /^(?:\[?\d{4}[-/]\d\d[-/]\d\d[T ]|\d\d:\d\d:\d\d[ .,]|(?:INFO|WARNING|ERROR|DEBUG|WARN|CRITICAL|TRACE)[: ] ?\d|\[\d|\[(?:GIN|rank)|\(\w+ pid=\d|time=|ts=|level=|\{")/;

/** True for a line that may go on an open record: a traceback, a second paragraph, a provider's answer. */
export function mayContinue(text: string): boolean {
  return !FOREIGN.test(text);
}
