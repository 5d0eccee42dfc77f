import type { FailureRecord, HttpRecord } from "../../model/record.ts";
import { pathOf } from "../access-line.ts";

/** A call that an application made: model, reranker, embedding or store. The line holds its status, no duration. */
export interface OutboundCall {
  readonly method: string;
  readonly host: string;
  /** Path without query; ids in it are put aside. */
  readonly route: string;
  readonly status: number;
}

// encode/httpx 0.27 `_client.py`: `HTTP Request: %s %s "%s %d %s"`
const CALL = /^HTTP Request: ([A-Z]{3,10}) (\S{1,2000}) "HTTP\/[\d.]+ (\d{3})(?: [^"]{0,80})?"$/;
const URL_PARTS = /^[a-z]+:\/\/([^/?#]+)([^?#]*)/i;
const ID = /\/(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{24,}|\d{4,})(?=\/|$)/gi;

/** Reads the line that httpx writes at INFO for each answer. */
export function parseHttpx(message: string): OutboundCall | undefined {
  const found = CALL.exec(message);
  if (found === null) return undefined;
  const url = URL_PARTS.exec(found[2] ?? "");
  const route = pathOf(url?.[2] ?? found[2] ?? "").replace(ID, "/{id}");
  return { method: found[1] ?? "", host: url?.[1] ?? "", route, status: Number(found[3]) };
}

export const httpOf = ({ method, route, status }: OutboundCall, timeMs: number): HttpRecord => ({
  kind: "http",
  timeMs,
  status,
  route,
  inference: method === "POST",
});

/** What a failed call says by its status alone; 400, 404 and 422 need the words that came with them. */
const CAUSES: Readonly<Record<number, string>> = {
  401: "auth_invalid_key",
  403: "permission_denied",
  408: "upstream_timeout",
  413: "request_too_large",
  429: "rate_limited",
  502: "upstream_unreachable",
  503: "upstream_overloaded",
  504: "upstream_timeout",
  529: "upstream_overloaded",
};

export function outboundFailure(
  call: OutboundCall,
  timeMs: number,
  labels: { tenant?: string | undefined; requestId?: string | undefined },
): FailureRecord {
  const { method, host, route, status } = call;
  const cause = CAUSES[status] ?? (status >= 500 ? "upstream_error" : undefined);
  const text = `${method} ${host}${route} answered ${status}`;
  return { kind: "failure", timeMs, text, cause, httpStatus: status, route, ...labels };
}
