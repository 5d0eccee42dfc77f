import { parseIso, type ZoneOffset } from "../../core/timestamp.ts";
import { pathOf } from "../access-line.ts";
import { splitRequest } from "./request.ts";

/** One line of the error log that tells a failed try, a refusal or a client that left. Plain data. */
export interface ErrorLine {
  readonly timeMs: number;
  /** The message with its `client:`, `request:` and other fields. */
  readonly text: string;
  readonly cause: string | undefined;
  /** Joins it with the access line of its request; undefined when the line names no request. */
  readonly key: string | undefined;
  readonly route: string | undefined;
}

/** `2026/11/30 22:50:33 [error] 22076#22076: *15 `, local time. */
const PREFIX = /^(\d{4}\/\d\d\/\d\d \d\d:\d\d:\d\d) \[(\w+)\] \d+#\d+: (?:\*\d+ )?/;
const SEVERE = new Set(["error", "crit", "alert", "emerg"]);

/** True for the first characters of an error line. */
export function startsError(text: string): boolean {
  return text.charCodeAt(4) === 47 && text.charCodeAt(7) === 47 && text.charCodeAt(20) === 91 && PREFIX.test(text);
}

/** @see nginx `src/core/ngx_log.c`, `src/http/ngx_http_request.c` ngx_http_log_error (1.22.1) */
export function readError(text: string, zone: ZoneOffset): ErrorLine | undefined {
  const found = PREFIX.exec(text);
  if (found === null) return undefined;
  const [prefix, , level = ""] = found;
  const whole = text.slice(prefix.length);
  const fields = whole.indexOf(", client: ");
  const message = fields < 0 ? whole : whole.slice(0, fields);
  const cause = causeOf(message);
  // a client that leaves is told at level info; all else below error is chatter
  if (!SEVERE.has(level) && cause !== "client_cancelled") return undefined;
  const client = fields < 0 ? undefined : valueOf(whole, ", client: ", ",", fields);
  const request = fields < 0 ? undefined : valueOf(whole, ', request: "', '"', fields);
  const { method, target } = splitRequest(request);
  const route = target === undefined ? undefined : pathOf(target);
  return {
    timeMs: parseIso(text, 0, zone).timeMs,
    text: whole,
    cause,
    key: client === undefined || method === undefined ? undefined : keyOf(client, method, route ?? ""),
    route,
  };
}

/** What error line and access line of one request have in common. */
export function keyOf(client: string, method: string, route: string): string {
  return `${client} ${method} ${route}`;
}

function valueOf(text: string, label: string, end: string, from: number): string | undefined {
  const at = text.indexOf(label, from);
  if (at < 0) return undefined;
  const start = at + label.length;
  const stop = text.indexOf(end, start);
  return stop < 0 ? undefined : text.slice(start, stop);
}

/** nginx's own words; undefined where only the catalogue of texts can tell. */
function causeOf(message: string): string | undefined {
  if (/client (?:prematurely closed connection|closed connection while|timed out)/.test(message))
    return "client_cancelled";
  if (message.startsWith("upstream timed out")) return "upstream_timeout";
  if (/^(?:connect\(\)|\S+ could not be resolved|no resolver defined|host not found in upstream)/.test(message))
    return "upstream_unreachable";
  if (message.startsWith("no live upstreams")) return "upstream_overloaded";
  if (message.startsWith("client intended to send too large body")) return "request_too_large";
  if (/^(?:limiting (?:requests|connections)|delaying request)/.test(message)) return "rate_limited";
  if (/^(?:upstream prematurely closed connection|recv\(\) failed|readv\(\) failed)/.test(message))
    return / while reading response header/.test(message) ? "upstream_unreachable" : "stream_interrupted";
  if (message.startsWith("access forbidden by rule")) return "permission_denied";
  if (/^user ".*?"(?: was not found|: password mismatch)|^no user\/password was provided/.test(message.slice(0, 300)))
    return "auth_invalid_key";
  if (/No space left on device/.test(message)) return "disk_full";
  return undefined;
}
