import { Latency } from "../../model/latency.ts";
import type { RejectReason, RequestRecord } from "../../model/record.ts";
import { isObject, type Values } from "./request-line.ts";
import { IMPLAUSIBLE_MS } from "./time-stats.ts";

export interface Finish {
  /** `stop`, `length`, …; undefined when the line does not tell. */
  readonly reason: string | undefined;
  /** Why the engine gave the request up; undefined when it ended well. */
  readonly aborted:
    | {
        readonly message: string;
        readonly status: number | undefined;
        /** Decided by the format: no status means that the client left. */
        readonly cause: string | undefined;
      }
    | undefined;
}

const REFUSED = /queue is full|overload|timed? ?out/i;
/** `str(FINISH_LENGTH)` of 2024. */
const CLASS_NAME = /^FINISH_(MATCHED|LENGTH|ABORT)/;
const CLASSES: Readonly<Record<string, string>> = { MATCHED: "stop", LENGTH: "length", ABORT: "abort" };

/** @see sglang `srt/managers/schedule_batch.py` `FINISH_ABORT` at 013a199bc */
export function finishOf(meta: Values): Finish {
  const reason = meta["finish_reason"];
  if (typeof reason === "string") {
    const type = CLASSES[CLASS_NAME.exec(reason)?.[1] ?? ""];
    return type === "abort" ? aborted({}) : { reason: type, aborted: undefined };
  }
  if (!isObject(reason)) return { reason: undefined, aborted: undefined };
  const type = reason["type"];
  if (type === "abort") return aborted(reason);
  return { reason: typeof type === "string" ? type : undefined, aborted: undefined };
}

function aborted(reason: Values): Finish {
  const message = typeof reason["message"] === "string" && reason["message"] !== "" ? reason["message"] : "Aborted";
  const status = typeof reason["status_code"] === "number" ? reason["status_code"] : undefined;
  const cause = message.startsWith("The request queue is full")
    ? "queue_overflow"
    : status === undefined && !REFUSED.test(message)
      ? "client_cancelled"
      : undefined;
  return { reason: "abort", aborted: { message, status, cause } };
}

/**
 * Puts the figures of `meta_info` into `record`. Durations there are seconds; times of `…_ts` are seconds since the epoch.
 *
 * @see sglang `srt/managers/tokenizer_manager.py`, `srt/observability/req_time_stats.py` at 00eef5422 (mid-2026)
 */
export function requestFigures(record: RequestRecord, meta: Values, reject: (reason: RejectReason) => void): void {
  const number = (key: string): number | undefined => {
    const value = meta[key];
    if (typeof value === "number") return value;
    if (value !== undefined && value !== null) reject("not-a-number");
    return undefined;
  };
  record.tokensIn = number("prompt_tokens");
  record.tokensOut = number("completion_tokens");
  record.tokensInCached = number("cached_tokens");
  record.tokensOutReasoning = number("reasoning_tokens");
  const duration = (kind: (typeof Latency)["e2e"], seconds: number | undefined): void => {
    if (seconds === undefined) return;
    // to the nanosecond: what multiplying by 1000 adds is not in the log
    const ms = Math.round(seconds * 1e9) / 1e6;
    if (ms > IMPLAUSIBLE_MS) reject("implausible-duration");
    else record.latencies.set(kind, ms);
  };
  duration(Latency.e2e, number("e2e_latency"));
  duration(Latency.queue, number("queue_time"));
  const receivedS = number("request_received_ts");
  const prefilledS = number("prefill_finished_ts");
  // 0 = never taken
  if (receivedS !== undefined && prefilledS !== undefined && receivedS > 0 && prefilledS > 0)
    duration(Latency.ttft, prefilledS - receivedS);
}
