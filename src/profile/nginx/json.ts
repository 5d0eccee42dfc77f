import { parseIso, UTC } from "../../core/timestamp.ts";
import type { JsonObject, Line } from "../../model/line.ts";
import { figureOf, firstText, textOf } from "../gateway/field.ts";
import type { ParserContext } from "../profile.ts";
import { parseCommonTime } from "./common-time.ts";
import { type NginxAccess, splitRequest } from "./request.ts";
import { lastSecondsMs, retriesOf, secondsMs } from "./upstream.ts";

/**
 * There is no JSON format of nginx: `log_format` gives each variable a name of the operator's choice. Nearly all keep the
 * variables' own names; common others are read too. How much a key speaks for nginx:
 */
const WEIGHTS: Readonly<Record<string, number>> = {
  request_time: 2,
  upstream_response_time: 2,
  upstream_header_time: 2,
  upstream_connect_time: 2,
  upstream_addr: 1,
  upstream_status: 1,
  body_bytes_sent: 1,
  time_iso8601: 1,
  time_local: 1,
  msec: 1,
  remote_addr: 1,
  remote_user: 1,
  http_user_agent: 1,
  http_referer: 1,
  http_referrer: 1,
  http_x_forwarded_for: 1,
  request_length: 1,
  request_uri: 1,
  request_method: 1,
  server_protocol: 1,
  bytes_sent: 1,
  connection_requests: 1,
  ssl_protocol: 1,
};
/** Variables of which a line of nginx holds some. */
export const VARIABLES: readonly string[] = Object.keys(WEIGHTS);
/** A line is nginx's from this weight on. */
const ENOUGH = 4;

const STATUS = ["status", "status_code", "response_status", "http_status"];
const METHOD = ["request_method", "method", "http_method", "verb"];
const TARGET = ["request_uri", "uri", "path", "url", "request_path", "document_uri"];
const CLIENT = ["remote_addr", "client_ip", "client", "remote_ip", "clientip", "realip_remote_addr"];
const TENANT = [
  "http_x_tenant_id",
  "x_tenant_id",
  "http_x_tenant",
  "tenant_id",
  "tenant",
  "http_x_org_id",
  "http_x_organization_id",
  "http_x_customer_id",
];
const REQUEST_ID = ["request_id", "req_id", "http_x_request_id", "x_request_id", "requestid"];
const DURATION = ["request_time", "req_time", "request_duration", "rt"];
const HEADER_TIME = ["upstream_header_time", "upstream_ttfb", "uht"];
const TRIES = ["upstream_status", "upstream_addr", "upstream_response_time"];
const TIME = ["time_iso8601", "time", "timestamp", "@timestamp", "time_local", "ts", "date"];

/** True for an object whose keys are nginx's variables. */
export function isAccess(object: JsonObject): boolean {
  if (!STATUS.some((key) => key in object)) return false;
  if (!("request" in object) && !TARGET.some((key) => key in object)) return false;
  let weight = 0;
  for (const key in object) {
    weight += WEIGHTS[key] ?? 0;
    if (weight >= ENOUGH) return true;
  }
  return false;
}

/** The object of a JSON line, also when the format lacks `escape=json`; undefined for lines of others. */
export function objectIn(line: Line): JsonObject | undefined {
  const { text } = line;
  if (text.charCodeAt(0) !== 123) return undefined;
  const object = line.json ?? repaired(text);
  return object !== undefined && isAccess(object) ? object : undefined;
}

export function readAccess(object: JsonObject, wrapperMs: number, context: ParserContext): NginxAccess {
  const request = splitRequest(textOf(object["request"]));
  const pick = (keys: readonly string[]): unknown => object[keys.find((key) => key in object) ?? ""];
  return {
    timeMs: timeOf(object, wrapperMs, context),
    client: firstText(object, CLIENT),
    method: request.method ?? firstText(object, METHOD),
    target: request.target ?? firstText(object, TARGET),
    status: figureOf(pick(STATUS), context) ?? 0,
    durationMs: secondsMs(pick(DURATION), context),
    headerMs: lastSecondsMs(pick(HEADER_TIME), context),
    retries: retriesOf(pick(TRIES)),
    requestId: firstText(object, REQUEST_ID),
    tenant: firstText(object, TENANT),
  };
}

function timeOf(object: JsonObject, wrapperMs: number, context: ParserContext): number {
  const msec = secondsMs(object["msec"], context);
  if (msec !== undefined) return msec;
  for (const key of TIME) {
    const text = textOf(object[key]);
    if (text === undefined) continue;
    if (/^\d{9,11}(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
    const iso = parseIso(text, 0, key === "time_iso8601" ? UTC : context.zone).timeMs;
    const timeMs = Number.isNaN(iso) ? parseCommonTime(text) : iso;
    if (!Number.isNaN(timeMs)) return timeMs;
  }
  return wrapperMs;
}

const MAX_REPAIR_CHARS = 64 * 1024;
/** A string, or a colon with nothing (or a bare `-`) for its value. */
const STRING_OR_GAP = /"[^"\\]*(?:\\.[^"\\]*)*"|:\s*-?\s*(?=[,}])/g;
const ESCAPED_BYTES = /(?:\\x[0-9A-Fa-f]{2})+/g;

/**
 * Mends what the default escape leaves: bytes as `\x22`, and nothing or `-` where an unquoted variable is empty.
 *
 * @see https://nginx.org/en/docs/http/ngx_http_log_module.html#log_format
 */
function repaired(text: string): JsonObject | undefined {
  if (text.length > MAX_REPAIR_CHARS || !text.endsWith("}")) return undefined;
  if (!text.includes("\\x") && !/:\s?-?\s?[,}]/.test(text)) return undefined;
  const mended = text.replace(STRING_OR_GAP, (found) =>
    found.startsWith('"')
      ? found.replace(ESCAPED_BYTES, (bytes) => JSON.stringify(decode(bytes)).slice(1, -1))
      : ":null",
  );
  try {
    return JSON.parse(mended) as JsonObject;
  } catch {
    return undefined;
  }
}

/** The text of `\xC3\xBC` and its like; invalid UTF-8 reads as U+FFFD. */
export function decode(escaped: string): string {
  return Buffer.from(escaped.replaceAll("\\x", ""), "hex").toString("utf8");
}
