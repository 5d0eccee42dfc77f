import type { EstimateRecord, GaugeName, GaugeRecord } from "../../model/record.ts";

/** What a periodic line of any vLLM engine says. */
export interface EngineStats {
  readonly gauges: GaugeRecord;
  readonly estimates: readonly EstimateRecord[];
  /** Preemptions of the interval, where the line has them. */
  readonly preemptions: number | undefined;
}

const HEAD =
  /^(?:Engine (\d+): |\d+ Engines Aggregated: )?Avg prompt (?:throughput|tput): ([\d.]+) tok(?:en)?s\/s, Avg generation (?:throughput|tput): ([\d.]+) tok(?:en)?s\/s(?:, |$)/;
const PAIR = /^(?:Reqs )?([A-Z][\w ]*?): (-?[\d.]+|nan|inf)(%| reqs)?\.?$/;

/** Seconds between two lines: `VLLM_LOG_STATS_INTERVAL` of V1, `_LOCAL_LOGGING_INTERVAL_SEC` of V0. */
const INTERVAL_S = { v1: 10, v0: 5 } as const;

/**
 * Reads the `Avg prompt throughput: …` line of V1, V0 and the Rust front end: `key: value` pairs in any order.
 *
 * @see vllm `v1/metrics/loggers.py` at 4ff865c38, `engine/metrics.py` at 9db713a1d, `vllm-rs` `log_stats.rs`
 */
export function parseStats(message: string, timeMs: number): EngineStats | undefined {
  const head = HEAD.exec(message);
  if (head === null) return undefined;
  const values: Partial<Record<GaugeName, number>> = {
    prompt_tokens_per_s: Number(head[2]),
    generation_tokens_per_s: Number(head[3]),
  };
  let preemptions: number | undefined;
  let generation: "v0" | "v1" = "v1";
  for (const part of message.slice(head[0].length).split(", ")) {
    const pair = PAIR.exec(part);
    if (pair === null) continue;
    const value = Number(pair[2]);
    if (!Number.isFinite(value)) continue;
    switch (pair[1]) {
      case "Running":
        values.running = value;
        break;
      case "Waiting":
        values.waiting = value;
        break;
      case "Pending":
        values.waiting = value;
        generation = "v0";
        break;
      case "Swapped":
        values.swapped = value;
        generation = "v0";
        break;
      case "GPU KV cache usage":
      case "GPU KV cache used":
        values.kv_cache_usage_ratio = ratio(value);
        break;
      case "CPU KV cache usage":
        values.cpu_kv_cache_usage_ratio = ratio(value);
        break;
      case "Prefix cache hit rate":
        values.prefix_cache_hit_ratio = ratio(value);
        break;
      case "Preemptions":
        preemptions = value;
        break;
      default:
    }
  }
  const estimate = (direction: EstimateRecord["direction"], rate: number): EstimateRecord => ({
    kind: "estimate",
    timeMs,
    direction,
    tokens: Math.round(rate * INTERVAL_S[generation] * 10) / 10,
  });
  return {
    gauges: { kind: "gauges", timeMs, engine: head[1], values },
    estimates: [
      estimate(generation === "v0" ? "prompt" : "prompt_computed", Number(head[2])),
      estimate("generation", Number(head[3])),
    ],
    preemptions,
  };
}

const V0_HIT_RATE = /^Prefix cache hit rate: GPU: ([\d.]+)%, CPU: [\d.]+%/;

/** V0's own line for the prefix cache. */
export function parseV0HitRate(message: string, timeMs: number): GaugeRecord | undefined {
  const found = V0_HIT_RATE.exec(message);
  return found === null
    ? undefined
    : { kind: "gauges", timeMs, values: { prefix_cache_hit_ratio: ratio(Number(found[1])) } };
}

/** Percent to 0–1 without the noise of a division. */
const ratio = (percent: number): number => Number((percent / 100).toPrecision(12));
