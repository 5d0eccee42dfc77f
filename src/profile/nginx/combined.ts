import { textOf } from "../gateway/field.ts";
import type { ParserContext } from "../profile.ts";
import { parseCommonTime } from "./common-time.ts";
import { type NginxAccess, splitRequest } from "./request.ts";
import { lastSecondsMs, retriesOf, secondsMs } from "./upstream.ts";

/** `IP - USER [02/Mar/2026:12:30:00 +0000] "REQUEST" STATUS BYTES "REFERER" "AGENT"`; quotes in values are `\x22`. */
const COMBINED =
  /^(\S{1,64}) - ([^[]{0,128}) \[(\d\d\/\w{3}\/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\] "((?:[^"\\]|\\.){0,8192})" (\d{3}) (?:\d+|-)(?: |$)/;
/** ingress-nginx: `LENGTH TIME [UPSTREAM] [ALTERNATIVE] ADDR… LENGTH… TIME… STATUS… ID` behind the agent. */
const INGRESS = /" \d+ (\d+\.\d+) \[[^\]]{0,200}\] \[[^\]]{0,200}\] (\S.{0,2000}) ([0-9a-f]{32})$/;
/** The labelled times of nginx's own guide, `rt=0.123 uct="0.000" uht="0.040" urt="0.051"`. */
const LABELLED = /\b(rt|uht|urt)="?([-\d., :]{1,200}?)"?(?= \w{2,4}=|$)/g;
/** Where the fields behind the agent stand at most, from the end. */
const TAIL_CHARS = 3000;

/** True for the first characters of a combined line: a client, then ` - `, then a bracketed date with slashes. */
export function startsCombined(text: string): boolean {
  const dash = text.indexOf(" - ");
  if (dash < 1 || dash > 64) return false;
  const bracket = text.indexOf("[", dash);
  return (
    bracket > 0 &&
    bracket < dash + 135 &&
    text.charCodeAt(bracket + 3) === 47 &&
    text.charCodeAt(bracket + 7) === 47 &&
    COMBINED.test(text.slice(0, 9000))
  );
}

/**
 * Reads a combined line.
 *
 * @see https://nginx.org/en/docs/http/ngx_http_log_module.html#log_format, kubernetes/ingress-nginx `log-format-upstream`
 */
export function readCombined(text: string, context: ParserContext): NginxAccess | undefined {
  const found = COMBINED.exec(text.slice(0, 9000));
  if (found === null) return undefined;
  const [whole, client, , time = "", request, status] = found;
  const tail = text.slice(Math.max(whole.length, text.length - TAIL_CHARS));
  const extra = ingressOf(tail, context) ?? labelledOf(tail, context);
  const { method, target } = splitRequest(request);
  return {
    timeMs: parseCommonTime(time),
    client,
    method,
    target,
    status: Number(status),
    durationMs: undefined,
    headerMs: undefined,
    retries: undefined,
    requestId: undefined,
    tenant: undefined,
    ...extra,
  };
}

function ingressOf(tail: string, context: ParserContext): Partial<NginxAccess> | undefined {
  const found = INGRESS.exec(tail);
  if (found === null) return undefined;
  const [, time, upstream = "", requestId] = found;
  // four lists, each with a blank behind its commas
  const lists = upstream
    .replace(/([,:]) /g, "$1")
    .replace(/ :/g, ":")
    .split(" ");
  return { durationMs: secondsMs(time, context), retries: retriesOf(lists.at(-1)), requestId: textOf(requestId) };
}

function labelledOf(tail: string, context: ParserContext): Partial<NginxAccess> {
  const labelled = new Map<string, string>();
  for (const [, label = "", value = ""] of tail.matchAll(LABELLED)) labelled.set(label, value);
  if (!labelled.has("rt")) return {};
  return {
    durationMs: secondsMs(labelled.get("rt"), context),
    headerMs: lastSecondsMs(labelled.get("uht"), context),
    retries: retriesOf(labelled.get("urt")),
  };
}
