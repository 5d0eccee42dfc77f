import { parseIso, UTC, type ZoneOffset } from "../../core/timestamp.ts";
import { figureOf, textOf } from "../gateway/field.ts";
import type { ParserContext } from "../profile.ts";
import type { EnvoyAccess } from "./access.ts";

/**
 * Envoy's default text format, and Istio's with three fields more after the flags:
 * `[START] "METHOD PATH PROTO" CODE FLAGS [DETAILS TERMINATION "TRANSPORT"] RX TX DURATION SERVICE_TIME "XFF" …`.
 * Values are not escaped, so nothing is read behind the figures but the request id.
 */
const ACCESS =
  /^\[[^\]]{19,35}\] "(\S+) (\S+) [^"\s]+" (\d{1,3}|-) (\S{1,100})(?: (\S+) (\S+) "([^"]{0,500})")? (\d+|-) (\d+|-) (\S{1,20}) (\S{1,20})(?: |$)/;
/** A user's own format that begins alike: status and flags are sure, figures are not. */
const BEGINNING = /^\[[^\]]{19,35}\] "(\S+) (\S+) [^"\s]+" (\d{1,3}|-)(?: ([A-Z][A-Z,]{1,40}|-))?(?: |$)/;
const REQUEST_ID = / "([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})" "/;

/** True for the first characters of an access line in text: `[2026-03-02T11:00:01.478Z] "`. */
export function startsAccess(text: string): boolean {
  if (text.charCodeAt(0) !== 91 || text.charCodeAt(11) !== 84 || text.charCodeAt(5) !== 45) return false;
  const close = text.indexOf("]", 20);
  return close > 0 && close < 37 && text.charCodeAt(close + 1) === 32 && text.charCodeAt(close + 2) === 34;
}

/** Reads a line that {@link startsAccess} accepts; undefined when it is not of this form after all. */
export function readAccess(text: string, context: ParserContext): EnvoyAccess | undefined {
  const full = ACCESS.exec(text);
  const found = full ?? BEGINNING.exec(text);
  if (found === null) return undefined;
  const [whole, method, path, status, flags] = found;
  const [details, , transport, , , duration, service] = full === null ? [] : full.slice(5);
  return {
    startMs: parseIso(text, 1, UTC).timeMs,
    method: textOf(method),
    path: textOf(path),
    status: status === "-" ? 0 : Number(status),
    flags: textOf(flags),
    details: textOf(details),
    transportFailure: textOf(transport),
    durationMs: figureOf(duration, context),
    upstreamServiceMs: figureOf(service, context),
    requestId: REQUEST_ID.exec(text.slice(whole.length - 1, whole.length + 4000))?.[1],
    model: undefined,
    tenant: undefined,
  };
}

/** One line of Envoy's own log: `[2026-03-02 10:59:59.001][1][info][main] [source/…] text`, or Istio's TAB form. */
export interface EnvoyLogLine {
  readonly timeMs: number;
  readonly level: string;
  readonly component: string;
  readonly message: string;
}

const LOG = /^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d[.,]\d+)\]\[\d+\]\[(\w+)\]\[(\w+)\] (?:\[[^\]]{0,200}\] )?/;
const TABBED = /^(\d{4}-\d\d-\d\dT[\d:.]+Z)\t(\w+)\tenvoy ([\w ]{1,30}?)(?: \S+)?\t/;

/** True for the first characters of either form. */
export function startsLog(text: string): boolean {
  if (text.charCodeAt(0) === 91)
    return text.charCodeAt(11) === 32 && text.charCodeAt(5) === 45 && text.startsWith("][", text.indexOf("]", 20));
  return text.charCodeAt(10) === 84 && text.charCodeAt(4) === 45 && TABBED.test(text.slice(0, 300));
}

export function readLog(text: string, zone: ZoneOffset): EnvoyLogLine | undefined {
  const plain = LOG.exec(text.slice(0, 500));
  if (plain !== null) {
    const [whole, , level = "", component = ""] = plain;
    return { timeMs: parseIso(text, 1, zone).timeMs, level, component, message: text.slice(whole.length) };
  }
  const tabbed = TABBED.exec(text.slice(0, 500));
  if (tabbed === null) return undefined;
  const [whole, , level = "", component = ""] = tabbed;
  const rest = text.slice(whole.length);
  const thread = rest.lastIndexOf("\tthread=");
  return {
    timeMs: parseIso(text, 0, UTC).timeMs,
    level,
    component,
    message: thread < 0 ? rest : rest.slice(0, thread),
  };
}
