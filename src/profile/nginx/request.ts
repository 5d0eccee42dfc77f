import { Latency } from "../../model/latency.ts";
import { type HttpRecord, RequestRecord } from "../../model/record.ts";
import { isInference, pathOf } from "../access-line.ts";
import { outcomeOfStatus } from "../gateway/status.ts";

/** One access line, whatever its format. Undefined is not reported. */
export interface NginxAccess {
  /** End of the request, ms since the epoch; NaN if none. */
  readonly timeMs: number;
  readonly client: string | undefined;
  readonly method: string | undefined;
  /** With query string. */
  readonly target: string | undefined;
  readonly status: number;
  readonly durationMs: number | undefined;
  /** Until the response headers of the upstream that answered. */
  readonly headerMs: number | undefined;
  readonly retries: number | undefined;
  readonly requestId: string | undefined;
  readonly tenant: string | undefined;
}

/** The request of a line, or an HTTP record for what asks for no inference. Failures are the caller's to add. */
export function recordOf(access: NginxAccess): RequestRecord | HttpRecord {
  const { timeMs, status, method = "", target = "" } = access;
  const route = pathOf(target);
  if (!isInference(method, route)) return { kind: "http", timeMs, status, route, inference: false };
  const record = new RequestRecord();
  record.timeMs = timeMs;
  record.httpStatus = status;
  record.outcome = outcomeOfStatus(status);
  record.id = access.requestId;
  record.tenant = access.tenant;
  record.route = route;
  record.retries = access.retries;
  record.latencies.set(Latency.e2e, access.durationMs);
  // headers may go out long before the first token: never a TTFT
  if (record.outcome === "ok") record.latencies.set(Latency.ttfb, access.headerMs);
  return record;
}

/** Splits `POST /v1/chat/completions HTTP/1.1`; nothing for what is no request line (a TLS hello, an empty line). */
export function splitRequest(request: string | undefined): { method: string | undefined; target: string | undefined } {
  const found = request === undefined ? null : /^([A-Z]{2,16}) (\S{1,8192})(?: HTTP\/[\d.]+)?$/.exec(request);
  return { method: found?.[1], target: found?.[2] };
}
