/**
 * Bucket boundaries. Growth stays at or below 1.25 from 10 ms to 600 s, so that a quantile read from buckets is within a
 * few per cent; the layout is part of the metric's identity: changing it makes last week's buckets incomparable.
 */
const DECADE = [1, 1.2, 1.5, 1.8, 2.2, 2.7, 3.3, 4, 5, 6, 7.5, 9];
const decade = (scale: number): number[] => DECADE.map((value) => Number((value * scale).toPrecision(3)));

/** Seconds: request phases, retrieval, tools. */
export const LATENCY_SECONDS: readonly number[] = [
  0.0005,
  0.001,
  0.0015,
  0.0022,
  0.0033,
  0.005,
  0.0075,
  ...decade(0.01),
  ...decade(0.1),
  ...decade(1),
  ...decade(10),
  100,
  120,
  150,
  180,
  220,
  270,
  330,
  400,
  500,
  600,
  900,
  1800,
  3600,
];

/** Seconds per token or between chunks. */
export const TOKEN_SECONDS: readonly number[] = [
  0.0005,
  ...decade(0.001),
  ...decade(0.01),
  ...decade(0.1),
  1,
  1.5,
  2.5,
  5,
  10,
];

/** Tokens of one prompt or answer. */
export const TOKENS: readonly number[] = [
  1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072, 262_144, 524_288,
  1_048_576,
];

/** The same, to where the GenAI conventions end; holds every boundary that they recommend. */
export const USAGE_TOKENS: readonly number[] = [...TOKENS, 4_194_304, 16_777_216, 67_108_864];

/** Output tokens per second of one request. */
export const TOKEN_RATE: readonly number[] = [...decade(1), ...decade(10), ...decade(100), 1000, 2000, 5000];

/** Scores and ratios in 0–1. */
export const UNIT_SCORES: readonly number[] = [
  0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1,
];

/** Index of the first boundary ≥ `value`, or `boundaries.length` for the +Inf bucket. */
export function bucketIndex(boundaries: readonly number[], value: number): number {
  let low = 0;
  let high = boundaries.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((boundaries[middle] as number) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
