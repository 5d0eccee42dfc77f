import type { Latencies } from "../model/latency.ts";
import type { LogRecord, RejectReason, RequestRecord } from "../model/record.ts";

/**
 * Refuses impossible figures of a record before anyone counts them: NaN, infinite and negative durations, fractional or
 * negative token counts, negative cost. The figure becomes unknown, the rest of the record stays.
 *
 * @returns False when nothing of the record is left.
 */
export function checkRecord(record: LogRecord, reject: (reason: RejectReason) => void): boolean {
  switch (record.kind) {
    case "request":
      checkRequest(record, reject);
      return true;
    case "step": {
      const reason = refuseDuration(record.durationMs);
      if (reason !== undefined) reject(reason);
      return reason === undefined;
    }
    case "tokens":
    case "estimate":
      return checkTokens(record.tokens, reject, record.kind === "estimate") !== undefined;
    case "count":
      return Number.isFinite(record.by) && record.by >= 0;
    case "score":
      if (!Number.isFinite(record.value)) reject("not-a-number");
      return Number.isFinite(record.value);
    case "received":
    case "http":
    case "gauges":
    case "failure":
      return true;
  }
}

function checkRequest(record: RequestRecord, reject: (reason: RejectReason) => void): void {
  checkLatencies(record.latencies, reject);
  const { tokensIn, tokensInProcessed, tokensInCached, tokensOut, tokensOutReasoning } = record;
  if (tokensIn !== undefined) record.tokensIn = checkTokens(tokensIn, reject, false);
  if (tokensInProcessed !== undefined) record.tokensInProcessed = checkTokens(tokensInProcessed, reject, false);
  if (tokensInCached !== undefined) record.tokensInCached = checkTokens(tokensInCached, reject, false);
  if (tokensOut !== undefined) record.tokensOut = checkTokens(tokensOut, reject, false);
  if (tokensOutReasoning !== undefined) record.tokensOutReasoning = checkTokens(tokensOutReasoning, reject, false);
  const cost = record.costUsd;
  if (cost !== undefined && !(cost >= 0 && cost !== Number.POSITIVE_INFINITY)) {
    reject(cost < 0 ? "negative-cost" : "not-a-number");
    record.costUsd = undefined;
  }
}

function checkLatencies(latencies: Latencies, reject: (reason: RejectReason) => void): void {
  const { valuesMs, kinds } = latencies;
  for (let index = valuesMs.length - 1; index >= 0; index--) {
    const reason = refuseDuration(valuesMs[index] ?? Number.NaN);
    if (reason === undefined) continue;
    reject(reason);
    valuesMs.splice(index, 1);
    kinds.splice(index, 1);
  }
}

function refuseDuration(ms: number): RejectReason | undefined {
  if (ms >= 0 && ms !== Number.POSITIVE_INFINITY) return undefined;
  return ms < 0 ? "negative-duration" : "not-a-number";
}

function checkTokens(value: number, reject: (reason: RejectReason) => void, fraction: boolean): number | undefined {
  if (value >= 0 && value !== Number.POSITIVE_INFINITY && (fraction || Number.isInteger(value))) return value;
  reject(value < 0 ? "negative-tokens" : Number.isFinite(value) ? "fractional-tokens" : "not-a-number");
  return undefined;
}
