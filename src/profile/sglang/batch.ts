import type { GaugeName, GaugeRecord } from "../../model/record.ts";

export interface BatchLine {
  readonly gauges: GaugeRecord;
  /** Tokens of a prefill batch: true counts, warm-up and health checks included. */
  readonly newTokens: number | undefined;
  readonly cachedTokens: number | undefined;
}

const PAIR = /^([#A-Za-z][^:]*): (-?[\d.]+)(%?)\)?,?$/;
const MIXED = "(mixed ";
/** Longest batch line looked at; they are about 300 characters. */
const MAX_CHARS = 2000;

const GAUGES: Readonly<Record<string, GaugeName>> = {
  "#running-req": "running",
  "#queue-req": "waiting",
  "token usage": "kv_cache_usage_ratio",
  // hybrid models print one usage a pool; the full-attention pool is the one that the whole context needs
  "full token usage": "kv_cache_usage_ratio",
  "gen throughput (token/s)": "generation_tokens_per_s",
  "input throughput (token/s)": "prompt_tokens_per_s",
};

/**
 * Reads `Prefill batch, …` and `Decode batch, …` as `key: value` pairs in whatever order the version prints them; `batch` may be
 * followed by a comma, a period (until September 2025), ` [iteration]`, or `(mixed #running-req: 2)` (2024).
 *
 * @see sglang `srt/managers/scheduler_metrics_mixin.py` at 013a199bc and `srt/observability/scheduler_metrics_mixin.py` (mid-2026)
 */
export function parseBatch(message: string, timeMs: number, engine: string | undefined): BatchLine | undefined {
  if (!message.startsWith(" batch", 7) && !message.startsWith(" batch", 6)) return undefined;
  const prefill = message.startsWith("Prefill");
  if (!prefill && !message.startsWith("Decode")) return undefined;
  const values: Partial<Record<GaugeName, number>> = {};
  let newTokens: number | undefined;
  let cachedTokens: number | undefined;
  let mixedRunning: number | undefined;
  for (let part of message.slice(prefill ? 13 : 12, MAX_CHARS).split(/[,.] /)) {
    const mixed = part.startsWith(MIXED);
    if (mixed) part = part.slice(MIXED.length);
    const pair = PAIR.exec(part);
    if (pair === null) continue;
    const key = pair[1] ?? "";
    const value = Number(pair[2]);
    if (!(value >= 0)) continue;
    if (mixed) mixedRunning = value;
    else if (key === "#new-token") newTokens = value;
    else if (key === "#cached-token") cachedTokens = value;
    else if (key === "cache hit rate") {
      // a percentage, on the same line as the fractions
      values.prefix_cache_hit_ratio = pair[3] === "%" ? Number((value / 100).toPrecision(12)) : value;
    } else {
      const gauge = Object.hasOwn(GAUGES, key) ? GAUGES[key] : undefined;
      if (gauge !== undefined) values[gauge] = value;
    }
  }
  if (values.running === undefined && mixedRunning !== undefined) values.running = mixedRunning;
  return { gauges: { kind: "gauges", timeMs, engine, values }, newTokens, cachedTokens };
}
