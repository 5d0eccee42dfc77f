import { parseIso, type ZoneOffset } from "../../core/timestamp.ts";
import type { JsonObject, Line } from "../../model/line.ts";
import { balancedEnd, readFields } from "./fields.ts";

/** A span that an event happened in. */
export interface TracingSpan {
  readonly name: string;
  /** What stands between the braces in text; undefined when there are none, or in JSON. */
  readonly raw: string | undefined;
  readonly json: JsonObject | undefined;
}

/** One event of Rust's `tracing`, from text or JSON. */
export interface TracingEvent {
  readonly timeMs: number;
  readonly level: string;
  /** Outermost first. */
  readonly spans: readonly TracingSpan[];
  readonly target: string;
  /** Source position (`src/server.rs:432: `) cut off. */
  readonly message: string;
}

const LEVELS = ["INFO", "ERROR", "WARN", "DEBUG", "TRACE"];
const NAME = /[\w.-]{1,100}(?: [\w.-]{1,100})?(?=[{:])/y;
const TARGET = /[\w:]{1,200}(?=: )/y;
const POSITION = /[\w./-]{1,300}\.rs:\d{1,6}: /y;
const MAX_SPANS = 32;

/**
 * Reads `2026-05-12T09:15:47.123456Z  INFO outer{k=v}:inner{k="v"}: crate::module: src/file.rs:12: message`, the *full* and
 * *compact* formats of tracing-subscriber. Spans are stepped over as the bracketed, quoted values they are: a prompt inside one
 * cannot end it.
 *
 * @param crates What the target must begin with.
 * @see tokio-rs/tracing `tracing-subscriber/src/fmt/format/mod.rs` (0.3)
 */
export function parseTracingText(text: string, crates: string, zone: ZoneOffset): TracingEvent | undefined {
  // -, T
  if (text.charCodeAt(4) !== 45 || text.charCodeAt(10) !== 84) return undefined;
  const { timeMs, end } = parseIso(text, 0, zone);
  if (Number.isNaN(timeMs) || text.charCodeAt(end) !== 32) return undefined;
  let at = text.charCodeAt(end + 1) === 32 ? end + 2 : end + 1;
  const level = LEVELS.find((name) => text.startsWith(name, at));
  if (level === undefined || text.charCodeAt(at + level.length) !== 32) return undefined;
  at += level.length + 1;
  const spans: TracingSpan[] = [];
  while (!text.startsWith(crates, at)) {
    NAME.lastIndex = at;
    const name = NAME.exec(text)?.[0];
    if (name === undefined || spans.length >= MAX_SPANS) return undefined;
    at += name.length;
    let raw: string | undefined;
    if (text.charCodeAt(at) === 123) {
      const close = balancedEnd(text, at);
      if (close < 0) return undefined;
      raw = text.slice(at + 1, close - 1);
      at = close;
    }
    spans.push({ name, raw, json: undefined });
    if (text.charCodeAt(at) !== 58) return undefined;
    at += text.charCodeAt(at + 1) === 32 ? 2 : 1;
  }
  TARGET.lastIndex = at;
  const target = TARGET.exec(text)?.[0];
  if (target === undefined) return undefined;
  at += target.length + 2;
  POSITION.lastIndex = at;
  at += POSITION.exec(text)?.[0].length ?? 0;
  return { timeMs, level, spans, target, message: text.slice(at) };
}

/** Keys of which every JSON event has the one or the other. */
export const TRACING_JSON_KEYS = ["target"];

/**
 * Reads `{"timestamp": …, "level": …, "message": …, "target": …, "span": {…}, "spans": […]}`; unless the writer flattens its
 * events, the message stands in `fields`.
 */
export function parseTracingJson(json: JsonObject, crates: string, zone: ZoneOffset): TracingEvent | undefined {
  const {
    target,
    level,
    timestamp = json["time"],
    fields,
    span,
    spans,
  } = json as {
    readonly [key: string]: unknown;
  } & Partial<Record<"target" | "level" | "timestamp" | "fields" | "span" | "spans", unknown>>;
  if (typeof target !== "string" || !target.startsWith(crates)) return undefined;
  if (typeof level !== "string" || typeof timestamp !== "string") return undefined;
  const message = json["message"] ?? (isObject(fields) ? fields["message"] : undefined);
  const all = [...(Array.isArray(spans) ? spans : []), span].filter(isObject);
  return {
    timeMs: parseIso(timestamp, 0, zone).timeMs,
    level: level.toUpperCase(),
    spans: all.map((one) => ({ name: typeof one["name"] === "string" ? one["name"] : "", raw: undefined, json: one })),
    target,
    message: typeof message === "string" ? message : "",
  };
}

/** The event of a line in either form, when one of `crates` wrote it. */
export function tracingEvent(line: Line, crates: string, zone: ZoneOffset): TracingEvent | undefined {
  const { text } = line;
  const first = text.charCodeAt(0);
  if (first >= 48 && first <= 57) return parseTracingText(text, crates, zone);
  if (first !== 123 || line.json === undefined) return undefined;
  return parseTracingJson(line.json, crates, zone);
}

/** The innermost span that holds `key`, with all its fields. */
export function spanWith(
  event: TracingEvent,
  key: string,
): { readonly name: string; readonly fields: ReadonlyMap<string, string> } | undefined {
  for (let index = event.spans.length - 1; index >= 0; index--) {
    const span = event.spans[index];
    if (span === undefined) continue;
    if (span.json !== undefined) {
      if (!(key in span.json)) continue;
      const texts = Object.entries(span.json).filter((pair): pair is [string, string] => typeof pair[1] === "string");
      return { name: span.name, fields: new Map(texts) };
    }
    if (span.raw?.includes(key) !== true) continue;
    const fields = readFields(span.raw);
    if (fields.has(key)) return { name: span.name, fields };
  }
  return undefined;
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);
