import type { CountRecord, EstimateRecord, GaugeName, GaugeRecord } from "../../model/record.ts";

/** What a periodic line of any vLLM engine says. */
export interface EngineStats {
  readonly gauges: GaugeRecord;
  readonly estimates: readonly EstimateRecord[];
  /** Preemptions of the interval, where the line has them. */
  readonly preemptions: number | undefined;
  /** Known figures that are no numbers. */
  readonly refused: number;
}

const HEAD = /^(?:Engine (\d+): |\d+ Engines Aggregated: )?(?=Avg prompt t)/;
/** `key: value`; early V1 forgot the comma before `GPU KV cache usage`. */
const PAIR = /(?:^|, |reqs )(?:Reqs )?([A-Z][A-Za-z ]{0,40}): (-?[\d.]+|-?nan|-?inf)/g;
/** Longest line that is looked at, characters. */
const MAX_CHARS = 1000;

/** Seconds between two lines: `VLLM_LOG_STATS_INTERVAL` of V1, `_LOCAL_LOGGING_INTERVAL_SEC` of V0. */
const INTERVAL_S = { v1: 10, v0: 5 } as const;

const PERCENT: Readonly<Record<string, GaugeName>> = {
  "GPU KV cache usage": "kv_cache_usage_ratio",
  "GPU KV cache used": "kv_cache_usage_ratio",
  "KV cache usage": "kv_cache_usage_ratio",
  "CPU KV cache usage": "cpu_kv_cache_usage_ratio",
  "Prefix cache hit rate": "prefix_cache_hit_ratio",
};
const PLAIN: Readonly<Record<string, GaugeName>> = {
  Running: "running",
  Waiting: "waiting",
  Pending: "waiting",
  Swapped: "swapped",
  "Avg prompt throughput": "prompt_tokens_per_s",
  "Avg prompt tput": "prompt_tokens_per_s",
  "Avg generation throughput": "generation_tokens_per_s",
  "Avg generation tput": "generation_tokens_per_s",
};

/**
 * Reads the `Avg prompt throughput: …` line of V1, V0 and the Rust front end: `key: value` pairs in any order.
 *
 * Throughput becomes tokens by the logger's own interval, never by the gap between two lines: idle lines are not printed
 * while the window restarts.
 *
 * @param computedPrompt True when the version counts computed prompt tokens only (cached ones excluded, since 0.16).
 * @see vllm `v1/metrics/loggers.py` at 4ff865c38, `engine/metrics.py` at 9db713a1d, `vllm-rs` `log_stats.rs`
 */
export function parseStats(message: string, timeMs: number, computedPrompt: boolean): EngineStats | undefined {
  const head = HEAD.exec(message);
  if (head === null) return undefined;
  const values: Partial<Record<GaugeName, number>> = {};
  let preemptions: number | undefined;
  let v0 = false;
  let refused = 0;
  for (const [, key = "", figure = ""] of message.slice(head[0].length, MAX_CHARS).matchAll(PAIR)) {
    const value = Number(figure);
    const percent = PERCENT[key];
    const plain = PLAIN[key];
    if (!Number.isFinite(value)) {
      if (percent !== undefined || plain !== undefined) refused++;
    } else if (percent !== undefined) values[percent] = ratio(value);
    else if (plain !== undefined) {
      values[plain] = value;
      if (plain === "swapped") v0 = true;
    } else if (key === "Preemptions") preemptions = value;
  }
  const { prompt_tokens_per_s: prompt, generation_tokens_per_s: generation } = values;
  if (prompt === undefined && generation === undefined) return undefined;
  const estimates: EstimateRecord[] = [];
  const interval = v0 ? INTERVAL_S.v0 : INTERVAL_S.v1;
  const estimate = (direction: EstimateRecord["direction"], rate: number | undefined): void => {
    if (rate === undefined) return;
    // rates have one decimal: the product is exact to as many
    estimates.push({ kind: "estimate", timeMs, direction, tokens: Math.round(rate * interval * 10) / 10 });
  };
  estimate(v0 || !computedPrompt ? "prompt" : "prompt_computed", prompt);
  estimate("generation", generation);
  return { gauges: { kind: "gauges", timeMs, engine: head[1], values }, estimates, preemptions, refused };
}

const V0_HIT_RATE = /^Prefix cache hit rate: GPU: ([\d.]+)%, CPU: /;

/** V0's own line for the prefix cache. */
export function parseV0HitRate(message: string, timeMs: number): GaugeRecord | undefined {
  const percent = Number(V0_HIT_RATE.exec(message)?.[1] ?? Number.NaN);
  if (Number.isNaN(percent)) return undefined;
  return { kind: "gauges", timeMs, values: { prefix_cache_hit_ratio: ratio(percent) } };
}

const ACCEPTED = /, Accepted: (\d+) tokens, Drafted: (\d+) tokens(?:,|$)/;
const TRANSFERS = /(?:^|[:,] )Num (successful|failed) transfers=(\d+)(?=,|$)/g;

/**
 * Companions of the V1 line, counted since the one before: `SpecDecoding metrics: … Accepted: 77 tokens, Drafted: 99 tokens, …`
 * and `KV Transfer metrics: Num successful transfers=12, …` (keys by connector).
 *
 * @see vllm `v1/spec_decode/metrics.py`, `distributed/kv_transfer/kv_connector/v1/metrics.py` at 4ff865c38
 */
export function parseCompanion(message: string, timeMs: number): CountRecord[] {
  const counts: CountRecord[] = [];
  const count = (name: string, by: string | undefined): void => {
    counts.push({ kind: "count", timeMs, name, by: Number(by) });
  };
  if (message.startsWith("SpecDecoding metrics: ")) {
    const found = ACCEPTED.exec(message.slice(0, MAX_CHARS));
    if (found === null) return counts;
    count("draft_accepted", found[1]);
    count("draft_generated", found[2]);
  } else if (message.startsWith("KV Transfer metrics: ")) {
    for (const [, outcome, by] of message.slice(0, MAX_CHARS).matchAll(TRANSFERS))
      count(outcome === "failed" ? "kv_transfers_failed" : "kv_transfers", by);
  }
  return counts;
}

/** Percent to 0–1 without the noise of a division. */
const ratio = (percent: number): number => Number((percent / 100).toPrecision(12));
