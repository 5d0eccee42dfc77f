/** Causes of a vector store's answers of which the access line holds the status and nothing else. */
const CAUSES: Readonly<Record<number, string>> = {
  400: "invalid_request",
  401: "auth_invalid_key",
  403: "permission_denied",
  // asked for by the name of a collection
  404: "vector_index_missing",
  408: "upstream_timeout",
  413: "request_too_large",
  422: "invalid_request",
  429: "rate_limited",
  499: "client_cancelled",
  500: "upstream_error",
  502: "upstream_unreachable",
  503: "upstream_overloaded",
  504: "upstream_timeout",
  507: "disk_full",
};

/** The cause that the HTTP status of a vector store names, or undefined. */
export function causeOfStoreStatus(status: number): string | undefined {
  return CAUSES[status] ?? (status >= 500 ? "upstream_error" : undefined);
}
