import type { Outcome } from "../../model/record.ts";

/** Causes of answers of which an access log holds the status and nothing else. */
const CAUSES: Readonly<Record<number, string>> = {
  0: "client_cancelled",
  400: "invalid_request",
  401: "auth_invalid_key",
  402: "quota_exhausted",
  403: "permission_denied",
  404: "model_not_found",
  408: "upstream_timeout",
  413: "request_too_large",
  422: "invalid_request",
  429: "rate_limited",
  499: "client_cancelled",
  500: "upstream_error",
  502: "upstream_unreachable",
  503: "upstream_overloaded",
  504: "upstream_timeout",
  // Cloudflare's own answers for an origin that fails
  520: "upstream_error",
  521: "upstream_unreachable",
  522: "upstream_unreachable",
  523: "upstream_unreachable",
  524: "upstream_timeout",
  // Anthropic
  529: "upstream_overloaded",
};

/**
 * The cause that a status names where nothing else is known of the failure.
 *
 * @param status HTTP status; 0 stands for "no answer was sent", 499 for nginx's "client closed request".
 */
export function causeOfStatus(status: number): string | undefined {
  return CAUSES[status] ?? (status >= 500 ? "upstream_error" : undefined);
}

/** What a status says of its request: 0 and 499 mean that the client left. */
export function outcomeOfStatus(status: number): Outcome {
  if (status === 0 || status === 499) return "aborted";
  return status >= 400 ? "error" : "ok";
}
