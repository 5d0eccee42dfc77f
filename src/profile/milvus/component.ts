import { parseIso, type ZoneOffset } from "../../core/timestamp.ts";
import type { Line } from "../../model/line.ts";
import { textOf } from "../rag/value.ts";
import { isTime } from "./access.ts";
import { cutPieces, unquote } from "./groups.ts";

/** One event of a component's log. */
export interface ComponentEvent {
  readonly timeMs: number;
  readonly level: string;
  /** Package and file, `proxy/impl.go:2901`. */
  readonly caller: string;
  readonly message: string;
  readonly field: (key: string) => string | undefined;
}

const LEVELS: ReadonlySet<string> = new Set(["DEBUG", "INFO", "WARN", "ERROR", "DPANIC", "PANIC", "FATAL"]);
const CALLER = /^[\w./-]{1,120}\.(?:go|cpp|cc|rs|h):\d+$/;

/** Reads `[time] [LEVEL] [file:line] ["message"] [key=value]…` (pingcap/log text encoder), or the same as JSON. */
export function parseComponent(line: Line, zone: ZoneOffset): ComponentEvent | undefined {
  const { text } = line;
  if (text.charCodeAt(0) === 123) return parseJson(line, zone);
  const [time, level, caller, message, ...rest] = cutPieces(text);
  if (time === undefined || level === undefined || caller === undefined) return undefined;
  if (!isTime(time.text) || !LEVELS.has(level.text) || !CALLER.test(caller.text)) return undefined;
  const fields = new Map<string, string>();
  let said = unquote(message?.text ?? "");
  // sub-loggers put their name in front: `[tr/Search] [traceID=…] [msg="…"]`
  for (const { text: piece } of rest) {
    const equals = piece.indexOf("=");
    if (equals <= 0) continue;
    const key = unquote(piece.slice(0, equals));
    const value = piece.slice(equals + 1);
    if (key === "msg" && said.startsWith("tr/")) said = unquote(value);
    else if (!fields.has(key)) fields.set(key, value);
  }
  const { timeMs } = parseIso(time.text, 0, zone);
  const field = (key: string): string | undefined => {
    const value = fields.get(key);
    return value === undefined ? undefined : unquote(value);
  };
  return { timeMs, level: level.text, caller: caller.text, message: said, field };
}

/** `log.format: json`. */
function parseJson(line: Line, zone: ZoneOffset): ComponentEvent | undefined {
  if (!line.text.includes('"caller"')) return undefined;
  const { json } = line;
  const level = textOf(json?.["level"]);
  const caller = textOf(json?.["caller"]);
  const stamp = textOf(json?.["time"]);
  if (json === undefined || level === undefined || caller === undefined || stamp === undefined) return undefined;
  if (!isTime(stamp) || !LEVELS.has(level) || !CALLER.test(caller)) return undefined;
  const field = (key: string): string | undefined => {
    const value = json[key];
    return typeof value === "number" ? String(value) : textOf(value);
  };
  const message = textOf(json["message"]) ?? textOf(json["msg"]) ?? "";
  return { timeMs: parseIso(stamp, 0, zone).timeMs, level, caller, message, field };
}

const SLOW = /^(?:hybrid_?search|search|query)[ _-]?slow$|^slow (?:hybrid_?search|search|query)$/i;
/** `rpcSlow(method)` of the proxy: a search or query above `proxy.slowQuerySpanInSeconds`. */
export const isSlow = (event: ComponentEvent): boolean => SLOW.test(event.message);

// the proxy warns once for each client request that fails; other warnings are retries and chatter
const FAILED_REQUEST = /^[A-Z]\w{2,40} failed to \w+/;
export function isFailure(event: ComponentEvent): boolean {
  if (event.level === "WARN")
    return (
      event.caller.startsWith("proxy/impl.go") &&
      FAILED_REQUEST.test(event.message) &&
      event.field("error") !== undefined
    );
  return event.level !== "INFO" && event.level !== "DEBUG";
}
