/** Causes of answers of which the status is all that is known. */
const BY_STATUS: Readonly<Record<number, string>> = {
  401: "auth_invalid_key",
  403: "permission_denied",
  408: "upstream_timeout",
  413: "request_too_large",
  422: "invalid_request",
  429: "rate_limited",
  499: "client_cancelled",
  500: "internal_error",
  502: "upstream_unreachable",
  503: "upstream_overloaded",
  504: "upstream_timeout",
};

/** The cause of a failed answer; the words of a 400, 404, 429 or 5xx decide where there are any. */
export function causeOfAnswer(status: number, words: string | undefined): string | undefined {
  if (words !== undefined && /^model not found/i.test(words)) return "model_not_found";
  if (words !== undefined && status !== 401 && status !== 403 && status !== 499) return undefined;
  return BY_STATUS[status] ?? (status >= 500 ? "internal_error" : undefined);
}
