import type { LatencyKind } from "../../model/latency.ts";
import type { FailureRecord } from "../../model/record.ts";

/** A failure seen inside a request whose end has not come. */
export interface PendingFailure {
  readonly record: FailureRecord;
  /** A tool that failed, a leak: a failure of its own, whatever becomes of the request. Others are the reason of the request's. */
  readonly own: boolean;
  /** One attempt at the model, which a retry or a fallback may heal. */
  readonly attempt: boolean;
}

/** Tokens and money of model calls, added up. */
export interface Usage {
  tokensIn: number | undefined;
  tokensInCached: number | undefined;
  tokensOut: number | undefined;
  tokensOutReasoning: number | undefined;
  costUsd: number | undefined;
}

/** What lines with the id of one request have said before its end. Plain data, part of a commit: what is unknown is left out. */
export interface OpenRequest {
  readonly id: string;
  /** The id may be shared by several requests (a trace, a conversation). */
  readonly loose: boolean;
  timeMs: number;
  /** Wall time of the last line, for the timeout in silence. */
  readMs: number;
  traceId?: string | undefined;
  model?: string | undefined;
  tenant?: string | undefined;
  service?: string | undefined;
  route?: string | undefined;
  method?: string | undefined;
  finishReason?: string | undefined;
  stream?: boolean | undefined;
  httpStatus?: number | undefined;
  ttftMs?: number | undefined;
  /** Usage of the chunks of the call that is running: cumulative, so that the last one stands. */
  running?: Usage | undefined;
  /** Usage of the calls that ended. */
  usage?: Usage | undefined;
  /** Durations of the calls that ended, milliseconds. */
  callsMs: number[];
  /** Model calls that ended well. */
  calls: number;
  /** Duration of the last call that failed, milliseconds. */
  failedMs?: number | undefined;
  /** Other durations of its model calls: kinds and milliseconds. */
  kinds: LatencyKind[];
  valuesMs: number[];
  /** Bit per latency kind that was emitted as a step of its own. */
  steps: number;
  scored: boolean;
  retries: number;
  leaked: boolean;
  pending: PendingFailure[];
}

export function newOpenRequest(id: string, loose: boolean): OpenRequest {
  return {
    id,
    loose,
    timeMs: Number.NaN,
    readMs: Number.NaN,
    callsMs: [],
    calls: 0,
    kinds: [],
    valuesMs: [],
    steps: 0,
    scored: false,
    retries: 0,
    leaked: false,
    pending: [],
  };
}

const sum = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined ? b : b === undefined ? a : a + b;

/** Usage of two calls together; what one of them does not tell is what the other tells. */
export function addUsage(total: Usage | undefined, call: Usage): Usage {
  if (total === undefined) return call;
  return {
    tokensIn: sum(total.tokensIn, call.tokensIn),
    tokensInCached: sum(total.tokensInCached, call.tokensInCached),
    tokensOut: sum(total.tokensOut, call.tokensOut),
    tokensOutReasoning: sum(total.tokensOutReasoning, call.tokensOutReasoning),
    costUsd: sum(total.costUsd, call.costUsd),
  };
}

/** The later of two reports of one call: figures it does not repeat are kept. */
export function replaceUsage(before: Usage | undefined, now: Usage): Usage {
  if (before === undefined) return now;
  return {
    tokensIn: now.tokensIn ?? before.tokensIn,
    tokensInCached: now.tokensInCached ?? before.tokensInCached,
    tokensOut: now.tokensOut ?? before.tokensOut,
    tokensOutReasoning: now.tokensOutReasoning ?? before.tokensOutReasoning,
    costUsd: now.costUsd ?? before.costUsd,
  };
}
