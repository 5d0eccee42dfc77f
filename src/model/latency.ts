/**
 * Every kind of duration that a log can hold, by the key it has under `latency_ms` in `analyze --json`.
 * A profile uses a kind only where the writer means it: time to first byte is `ttfb`, never `ttft`.
 */
export const LATENCY_NAMES = [
  "e2e",
  "ttft",
  "ttfb",
  "queue",
  "prefill",
  "decode",
  "tpot",
  "itl",
  "engine_total",
  "forward",
  "inference",
  "validation",
  "tokenization",
  "upstream_llm",
  "llm",
  "retrieval",
  "rerank",
  "embedding",
  "tool",
  "shard_query",
  "shard_fetch",
  "retrieval_shard",
  "retrieve_chain",
  "llamaindex_query",
  "host_step",
  "device_step",
  "iteration",
  "model_load",
] as const;

export type LatencyName = (typeof LATENCY_NAMES)[number];

/** Index into {@link LATENCY_NAMES}: what {@link Latencies} stores. */
export type LatencyKind = number & { readonly brand: "LatencyKind" };

export const Latency = Object.fromEntries(LATENCY_NAMES.map((name, index) => [name, index])) as {
  readonly [Name in LatencyName]: LatencyKind;
};

/** The durations of one request or step: parallel arrays, so that a consumer loops over what is there and nothing else. */
export class Latencies {
  readonly kinds: LatencyKind[];
  readonly valuesMs: number[];

  /** Both arrays are kept: `valuesMs[i]` is of `kinds[i]`. */
  constructor(kinds: LatencyKind[] = [], valuesMs: number[] = []) {
    this.kinds = kinds;
    this.valuesMs = valuesMs;
  }

  /** Notes `ms` under `kind`; undefined means "not in the log" and notes nothing. NaN and negatives are refused later, and counted. */
  set(kind: LatencyKind, ms: number | undefined): void {
    if (ms === undefined) return;
    this.kinds.push(kind);
    this.valuesMs.push(ms);
  }

  get(kind: LatencyKind): number | undefined {
    const at = this.kinds.indexOf(kind);
    return at < 0 ? undefined : this.valuesMs[at];
  }

  remove(kind: LatencyKind): void {
    const at = this.kinds.indexOf(kind);
    if (at < 0) return;
    this.kinds.splice(at, 1);
    this.valuesMs.splice(at, 1);
  }
}
