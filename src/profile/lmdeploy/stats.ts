import { parseIso, type ZoneOffset } from "../../core/timestamp.ts";
import type { GaugeName } from "../../model/record.ts";

/** A periodic line, whichever of its three wordings. */
export interface LmdeployStats {
  readonly timeMs: number;
  /** Data-parallel rank. */
  readonly rank: number;
  readonly values: Partial<Record<GaugeName, number>>;
  /** Tokens of speculative decoding since the line before. */
  readonly drafted: { readonly accepted: number; readonly generated: number } | undefined;
}

/** `[2026-02-05 17:01:53 DP0] `, since 2026-08 `[2026-08-21 17:01:53 Engine 000] `. */
const HEAD = /^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) (?:DP|Engine )(\d+)\] (?=Avg thr \(in\/out\): )/;
const RATES = /^Avg thr \(in\/out\): ([\d.]+|nan|inf) \/ ([\d.]+|nan|inf) tokens\/s/;
const ENGINE = /, Engine \(running\/waiting\): (\d+) \/ (\d+)(?:,|$)/;
const CACHE = /, KV cache: ([\d.]+)%/;
const HIT_RATE = /, Prefix cache hit rate: ([\d.]+)%/;
const DRAFTED = /, Accepted: (\d+) tokens, Drafted: (\d+) tokens/;
/** 2025, through the logger: like vLLM's. */
const OLD =
  /^DP: (\d+), Avg prompt throughput: ([\d.]+|nan|inf) tokens\/s, Avg generation throughput: ([\d.]+|nan|inf) tokens\/s, Running: (\d+) reqs, Waiting: (\d+) reqs, GPU KV cache usage: ([\d.]+)%/;
/** Longest line that is looked at, characters. */
const MAX_CHARS = 1000;

/** True for the line that `--enable-metrics` prints, past the logger. */
export const isPrintedStats = (text: string): boolean => text.charCodeAt(0) === 91 && HEAD.test(text);

/** @see lmdeploy `metrics/loggers.py` at 1263d5cd (0.16) and 0168eeda (2025-07) */
export function parsePrintedStats(text: string, zone: ZoneOffset): LmdeployStats | undefined {
  const head = HEAD.exec(text);
  if (head === null) return undefined;
  const rest = text.slice(head[0].length, MAX_CHARS);
  const rates = RATES.exec(rest);
  const engine = ENGINE.exec(rest);
  const drafted = DRAFTED.exec(rest);
  return {
    timeMs: parseIso(text, 1, zone).timeMs,
    rank: Number(head[2]),
    values: gauges({
      prompt_tokens_per_s: Number(rates?.[1]),
      generation_tokens_per_s: Number(rates?.[2]),
      running: Number(engine?.[1]),
      waiting: Number(engine?.[2]),
      kv_cache_usage_ratio: ratio(CACHE.exec(rest)?.[1]),
      prefix_cache_hit_ratio: ratio(HIT_RATE.exec(rest)?.[1]),
    }),
    drafted: drafted === null ? undefined : { accepted: Number(drafted[1]), generated: Number(drafted[2]) },
  };
}

export function parseLoggedStats(message: string, timeMs: number): LmdeployStats | undefined {
  const found = OLD.exec(message);
  if (found === null) return undefined;
  const [, rank, prompt, generation, running, waiting, cache] = found;
  return {
    timeMs,
    rank: Number(rank),
    values: gauges({
      prompt_tokens_per_s: Number(prompt),
      generation_tokens_per_s: Number(generation),
      running: Number(running),
      waiting: Number(waiting),
      kv_cache_usage_ratio: ratio(cache),
    }),
    drafted: undefined,
  };
}

/** Only what the line really said. */
const gauges = (values: Partial<Record<GaugeName, number>>): Partial<Record<GaugeName, number>> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => Number.isFinite(value)));

/** Percent to 0–1 without the noise of a division. */
const ratio = (percent: string | undefined): number => Number((Number(percent) / 100).toPrecision(12));
