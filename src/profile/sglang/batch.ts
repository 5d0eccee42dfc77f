import type { GaugeName, GaugeRecord } from "../../model/record.ts";

export interface BatchLine {
  readonly gauges: GaugeRecord;
  /** Tokens of a prefill batch: true counts, warm-up and health checks included. */
  readonly newTokens: number | undefined;
  readonly cachedTokens: number | undefined;
}

const PAIR = /^[, ]*(?:\(mixed )?([#A-Za-z][^:]*?): (-?[\d.]+)(%?)\)?$/;

/**
 * Reads `Prefill batch, …` and `Decode batch, …` as `key: value` pairs in whatever order the version prints them.
 *
 * @see sglang `srt/managers/scheduler_metrics_mixin.py` at 013a199bc and `srt/observability/scheduler_metrics_mixin.py` (mid-2026)
 */
export function parseBatch(message: string, timeMs: number, engine: string | undefined): BatchLine | undefined {
  const prefill = message.startsWith("Prefill batch");
  if (!prefill && !message.startsWith("Decode batch")) return undefined;
  const values: Partial<Record<GaugeName, number>> = {};
  let newTokens: number | undefined;
  let cachedTokens: number | undefined;
  let mixedRunning: number | undefined;
  for (const part of message
    .slice(prefill ? 13 : 12)
    .replace(/^ ?\[\d+\]/, "")
    .split(/[,.] /)) {
    const pair = PAIR.exec(part.replace(/,$/, ""));
    if (pair === null) continue;
    const value = Number(pair[2]);
    if (!Number.isFinite(value)) continue;
    switch (pair[1]) {
      case "#running-req":
        if (part.includes("(mixed")) mixedRunning = value;
        else values.running = value;
        break;
      case "#queue-req":
        values.waiting = value;
        break;
      case "token usage":
      case "full token usage":
        values.kv_cache_usage_ratio = value;
        break;
      case "cache hit rate":
        values.prefix_cache_hit_ratio = pair[3] === "%" ? Number((value / 100).toPrecision(12)) : value;
        break;
      case "gen throughput (token/s)":
        values.generation_tokens_per_s = value;
        break;
      case "input throughput (token/s)":
        values.prompt_tokens_per_s = value;
        break;
      case "#new-token":
        newTokens = value;
        break;
      case "#cached-token":
        cachedTokens = value;
        break;
      default:
    }
  }
  if (values.running === undefined && mixedRunning !== undefined) values.running = mixedRunning;
  return { gauges: { kind: "gauges", timeMs, engine, values }, newTokens, cachedTokens };
}
