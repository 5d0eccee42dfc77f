/**
 * What one log message of the proxy says, whatever carries it (text record or JSON object).
 * Only the beginning of a message is looked at: prompts and provider texts stand behind it.
 */
export type Meaning =
  | { readonly kind: "attempt-ok" }
  /** One upstream try failed; the router may retry or fall back. `error` is the exception text. */
  | { readonly kind: "attempt-failed"; readonly error: string; readonly retried: number }
  | { readonly kind: "fallback"; readonly step: "tried" | "succeeded" | "failed" }
  /** The client's request failed. */
  | { readonly kind: "client-error"; readonly error: string; readonly retried: number }
  | { readonly kind: "client-left" }
  | { readonly kind: "other" };

const OTHER: Meaning = { kind: "other" };
const ATTEMPT = /^litellm\.a?[a-z_]{4,40}\(model=[^)\n]{0,300}\)\s+(200 OK|Exception )/;
/** `litellm.proxy.proxy_server._handle_llm_api_exception(): Exception occured - ` (sic), with the endpoint in older versions, bare in some. */
const CLIENT_ERROR = /^(?:litellm\.proxy\.proxy_server\.\w{1,60}\(\): )?Exception occur+ed - /;
const CLIENT_LEFT = /^(?:litellm\.proxy\.proxy_server\.\w{1,60}\(\): )?client disconnected\b/i;
const FALLBACK_FAILED = /^(?:[\w.:()/ ]{1,120} - )?Error occurred while trying to do fallbacks/;
const RETRIED = /LiteLLM Retried: (\d{1,4}) times/g;
const TRACEBACK = "\nTraceback (most recent call last):";

/**
 * Reads one message.
 *
 * @see BerriAI/litellm `router.py`, `router_utils/fallback_event_handlers.py` at 0159f7ae, `proxy/common_request_processing.py`
 */
export function readMessage(message: string): Meaning {
  const first = message.charCodeAt(0);
  // l, E, e, c, C, T, S and the tries with a path in front of "Error occurred": nothing else begins a message of interest
  if (first === 108 /* l */ && message.startsWith("litellm.")) {
    const attempt = ATTEMPT.exec(message);
    if (attempt !== null) {
      if (attempt[1] === "200 OK") return { kind: "attempt-ok" };
      return { kind: "attempt-failed", error: message.slice(attempt[0].length), retried: retriesIn(message) };
    }
  }
  if (message.startsWith("Trying to fallback b/w models")) return { kind: "fallback", step: "tried" };
  if (message.startsWith("Successful fallback b/w models")) return { kind: "fallback", step: "succeeded" };
  if (FALLBACK_FAILED.test(message)) return { kind: "fallback", step: "failed" };
  const failed = CLIENT_ERROR.exec(message);
  if (failed !== null)
    return { kind: "client-error", error: message.slice(failed[0].length), retried: retriesIn(message) };
  if (CLIENT_LEFT.test(message)) return { kind: "client-left" };
  return OTHER;
}

/** The retry count that the router adds behind an exception: the last one, as an error text may quote another. */
function retriesIn(message: string): number {
  const traceback = message.indexOf(TRACEBACK);
  const text = traceback < 0 ? message : message.slice(0, traceback);
  let retried = 0;
  for (const [, count] of text.matchAll(RETRIED)) retried = Number(count);
  return retried;
}

/** The exception text in front of what router and proxy append: equal for the attempt and the client error it led to. */
export function coreOfError(error: string): string {
  const end = error.search(/\.? (?:Received Model Group=|LiteLLM Retried: |No fallback model group found)|\n/);
  return (end < 0 ? error : error.slice(0, end)).slice(0, 300);
}
