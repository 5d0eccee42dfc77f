import { parseDurationMs } from "../../core/duration.ts";
import type { GaugeName } from "../../model/record.ts";

/** One forward step of one rank. Durations are milliseconds; undefined where the line has none or says `N/A`. */
export interface Iteration {
  readonly rank: number | undefined;
  readonly hostStepMs: number | undefined;
  /** Of the step before; after an idle one it holds the idle gap. */
  readonly deviceStepMs: number | undefined;
  readonly contextTokens: number | undefined;
  readonly generationTokens: number | undefined;
  readonly gauges: Readonly<Partial<Record<GaugeName, number>>>;
}

const MAX_CHARS = 2000;
const PAIR = /'?\b(\w{1,40})'?(?: = |: )([^,{}]+)/g;

/**
 * Reads `iter = 1, global_rank = 0, rank = 0, …, host_step_time = 38.4ms, prev_device_step_time = N/A, …, states = {'num_ctx_tokens':
 * 412, …}` by name: the order and `num_scheduled_requests: N` against `= N` changed between 1.1 and 1.2.
 *
 * @see tensorrt_llm `_torch/pyexecutor/py_executor.py` `_profiler` at 00043967 (mid-2026), with `print_iter_log: true`
 */
export function parseIteration(message: string): Iteration | undefined {
  if (!message.startsWith("iter = ")) return undefined;
  const values = new Map<string, string>();
  for (const [, key = "", value = ""] of message.slice(0, MAX_CHARS).matchAll(PAIR)) values.set(key, value.trim());
  const gauges: Partial<Record<GaugeName, number>> = {};
  const gauge = (name: GaugeName, key: string): void => {
    const value = count(values.get(key));
    if (value !== undefined && value >= 0) gauges[name] = value;
  };
  gauge("scheduled", "num_scheduled_requests");
  gauge("kv_cache_usage_ratio", "kv_cache_util");
  gauge("prefix_cache_hit_ratio", "kv_hit_rate");
  return {
    rank: count(values.get("global_rank") ?? values.get("rank")),
    hostStepMs: duration(values.get("host_step_time")),
    deviceStepMs: duration(values.get("prev_device_step_time")),
    contextTokens: count(values.get("num_ctx_tokens")),
    generationTokens: count(values.get("num_generation_tokens")),
    gauges,
  };
}

function count(text: string | undefined): number | undefined {
  const value = Number(text ?? "x");
  return Number.isFinite(value) ? value : undefined;
}

function duration(text: string | undefined): number | undefined {
  return text === undefined || text.startsWith("N/A") || text === "None" ? undefined : parseDurationMs(text);
}
