import { figureOf } from "../gateway/field.ts";
import type { ParserContext } from "../profile.ts";

/**
 * nginx writes one entry a tried upstream, `, ` between tries and ` : ` between internal redirects:
 * `"502, 200"`, `"-, 0.040"`, `"0.010 : 0.200"`.
 *
 * @see https://nginx.org/en/docs/http/ngx_http_upstream_module.html#var_upstream_status
 */
const REDIRECT = /\s+:\s+/;

/** Tries after the first; undefined when no upstream was asked. */
export function retriesOf(list: unknown): number | undefined {
  const text = typeof list === "number" ? String(list) : list;
  if (typeof text !== "string" || text.trim() === "" || text.trim() === "-") return undefined;
  let retries = 0;
  for (const group of text.split(REDIRECT)) retries += group.split(",").length - 1;
  return retries;
}

/** The last entry of a list of seconds, in milliseconds: the upstream that answered. `-` is not reported. */
export function lastSecondsMs(list: unknown, context: Pick<ParserContext, "reject">): number | undefined {
  if (typeof list !== "string") return secondsMs(list, context);
  const last = list.split(REDIRECT).at(-1)?.split(",").at(-1) ?? "";
  return secondsMs(last, context);
}

/** Seconds to milliseconds, without the noise of the multiplication: nginx prints three decimals. */
export function secondsMs(value: unknown, context: Pick<ParserContext, "reject">): number | undefined {
  const seconds = figureOf(value, context);
  return seconds === undefined ? undefined : Math.round(seconds * 1e9) / 1e6;
}
