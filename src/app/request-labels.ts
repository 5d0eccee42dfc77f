import type { Usage } from "../budget/ledger.ts";
import type { RequestRecord } from "../model/record.ts";
import type { StreamInfo } from "../model/stream.ts";

/** Before this a clock was never set. */
const EPOCH_2000_MS = 946_684_800_000;

/** Why a request cannot be placed in time. */
export type Unplaced = "no-time" | "unset-clock" | "clock-ahead";

/** @param latestMs Times after it are a clock that runs ahead. @returns Undefined when the time can be used. */
export function unplaced(timeMs: number, latestMs: number): Unplaced | undefined {
  if (Number.isNaN(timeMs)) return "no-time";
  if (timeMs < EPOCH_2000_MS) return "unset-clock";
  return timeMs > latestMs ? "clock-ahead" : undefined;
}

/** Who asked whom, and what it took: the request's own word goes before the labels of its stream. */
export function usageOf(record: RequestRecord, { labels }: StreamInfo): Usage {
  const { tokensIn, tokensInProcessed, tokensInCached } = record;
  return {
    service: record.service ?? labels["service_name"] ?? "",
    model: record.model ?? labels["model"] ?? "",
    tenant: record.tenant ?? labels["tenant"] ?? "",
    route: record.route ?? "",
    input: tokensIn ?? (tokensInProcessed === undefined ? undefined : tokensInProcessed + (tokensInCached ?? 0)),
    cached: tokensInCached,
    output: record.tokensOut,
  };
}
