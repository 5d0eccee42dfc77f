import { parseDurationMs } from "../../core/duration.ts";
import type { ParserContext } from "../profile.ts";

/** One line of a search slow log, of Elasticsearch or OpenSearch. */
export interface SlowEntry {
  readonly timeMs: number;
  /** Part of the work that the line measures: a shard's phase, or (OpenSearch) the whole request. */
  readonly part: "query" | "fetch" | "request";
  /** Undefined for a whole request, which may ask several. */
  readonly index: string | undefined;
  /** As written: `747.3micros`, rounded to one decimal of its unit. */
  readonly took: unknown;
  /** Whole milliseconds, cut off; a number or its text. */
  readonly tookMillis: unknown;
  /** The client's `X-Opaque-Id`. */
  readonly id: string | undefined;
  readonly traceId: string | undefined;
  /** `{total:3, successful:3, skipped:0, failed:0}` of a whole request. */
  readonly shards: string | undefined;
}

/** The part that a logger's name stands for, full (`index.search.slowlog.query`) or abbreviated (`i.s.s.query`). */
export function partOf(logger: string): SlowEntry["part"] | undefined {
  const found = /^(?:index\.search\.slowlog|i\.s\.s)\.(query|fetch)(?:\.|$)/.exec(logger);
  if (found !== null) return found[1] as "query" | "fetch";
  return logger === "c.s.r.slowlog" || logger === "cluster.search.request.slowlog" ? "request" : undefined;
}

/** The index of `[kb-acme][1]` (index and shard). */
export function indexOf(message: string): string | undefined {
  return /^\[([^\]]{1,255})\]\[\d+\]/.exec(message)?.[1];
}

/**
 * The duration in milliseconds: `took_millis`, except below one millisecond, where only `took` holds it.
 *
 * @returns Undefined when neither is there; what is no duration is refused and counted.
 */
export function tookMs(entry: SlowEntry, context: Pick<ParserContext, "reject">): number | undefined {
  const { took, tookMillis } = entry;
  const millis =
    typeof tookMillis === "number"
      ? tookMillis
      : typeof tookMillis === "string" && tookMillis.trim() !== ""
        ? Number(tookMillis)
        : Number.NaN;
  if (!Number.isNaN(millis) && millis !== 0) return millis;
  const exact = typeof took === "string" && took !== "" ? parseDurationMs(took) : Number.NaN;
  if (!Number.isNaN(exact)) return exact;
  if (millis === 0) return 0;
  if (took !== undefined || tookMillis !== undefined) context.reject("not-a-number");
  return undefined;
}
