import { Latency } from "../../model/latency.ts";
import { type FailureRecord, RequestRecord } from "../../model/record.ts";
import { isInference, pathOf } from "../access-line.ts";
import { outcomeOfStatus } from "../gateway/status.ts";
import type { ParserContext } from "../profile.ts";
import { causeOfAnswer, clientLeft, flagsOf } from "./flags.ts";

/** One access line of Envoy, whatever its format. Undefined is not reported. */
export interface EnvoyAccess {
  /** `%START_TIME%`, ms since the epoch; NaN if none. */
  readonly startMs: number;
  readonly method: string | undefined;
  /** Path with query string, as sent by the client. */
  readonly path: string | undefined;
  /** 0: the client left before an answer. */
  readonly status: number;
  readonly flags: string | undefined;
  readonly details: string | undefined;
  readonly transportFailure: string | undefined;
  /** To the last byte. */
  readonly durationMs: number | undefined;
  /** `x-envoy-upstream-service-time`: until the upstream's response headers. */
  readonly upstreamServiceMs: number | undefined;
  readonly requestId: string | undefined;
  readonly model: string | undefined;
  readonly tenant: string | undefined;
}

export function endOf(access: EnvoyAccess): number {
  return access.startMs + Math.max(0, access.durationMs ?? 0);
}

/** True when a line stands for a request to a model: it names one, or is a POST to no administrative path. */
export function asksForInference(access: EnvoyAccess): boolean {
  if (access.model !== undefined) return true;
  if (access.path === undefined) return access.method === undefined || access.method === "POST";
  return isInference(access.method ?? "POST", pathOf(access.path));
}

/** An HTTP line that is no request to a model. */
export function emitOther(access: EnvoyAccess, context: ParserContext): void {
  const route = access.path === undefined ? "" : pathOf(access.path);
  context.emit({ kind: "http", timeMs: endOf(access), status: access.status, route, inference: false });
}

/** The request of a line. A stream that its client left with status 200 counts as answered; see {@link countLeft}. */
export function requestOf(access: EnvoyAccess): RequestRecord {
  const record = new RequestRecord();
  const flags = flagsOf(access.flags);
  record.timeMs = endOf(access);
  record.httpStatus = access.status;
  record.outcome = outcomeOfStatus(access.status);
  if (access.status === 0 && flags.length > 0 && !clientLeft(flags)) record.outcome = "error";
  record.id = access.requestId;
  record.model = access.model;
  record.tenant = access.tenant;
  record.route = access.path === undefined ? undefined : pathOf(access.path);
  record.latencies.set(Latency.e2e, access.durationMs);
  if (record.outcome === "ok") record.latencies.set(Latency.ttfb, access.upstreamServiceMs);
  else record.failure = failureOf(access);
  return record;
}

/** Counts a client that left in mid-answer, when the status was out already. */
export function countLeft(access: EnvoyAccess, context: ParserContext): void {
  if (access.status > 0 && access.status < 400 && clientLeft(flagsOf(access.flags)))
    context.emit({ kind: "count", timeMs: endOf(access), name: "client_disconnects", by: 1 });
}

export function failureOf(access: EnvoyAccess): FailureRecord {
  const { status, flags, details, transportFailure } = access;
  const known = [`HTTP ${status}`, flags === "-" ? undefined : flags, details, transportFailure];
  return {
    kind: "failure",
    timeMs: endOf(access),
    text: known.filter((part) => part !== undefined).join(" "),
    cause: causeOfAnswer(status, flagsOf(flags), details ?? transportFailure),
    httpStatus: status,
    model: access.model,
    tenant: access.tenant,
    route: access.path === undefined ? undefined : pathOf(access.path),
    requestId: access.requestId,
  };
}
