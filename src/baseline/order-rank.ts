/** 1-based nearest rank of the 99th percentile: the smallest value with at least 99 % of the sample at or below it. */
export const pointRank = (n: number): number => Math.ceil((n * 99) / 100);

const Q = 0.01;
const remembered = new Map<number, readonly [lower: number, upper: number]>();
const REMEMBERED = 100_000;

/**
 * 1-based ranks of the two-sided 90 % order-statistic interval of the P99 of `n` values. The number K of values above the
 * true P99 is Bin(n, 0.01). `lower` is the largest l with P(K ≥ n − l + 1) ≤ 5 %; `upper` the smallest u with
 * P(K ≤ n − u) ≤ 5 %, `n + 1` when the sample is too small (n < 299) to have one.
 *
 * @see David & Nagaraja (2003), Order Statistics, section 7.1
 */
export function intervalRanks(n: number): readonly [lower: number, upper: number] {
  let ranks = remembered.get(n);
  if (ranks === undefined) {
    ranks = compute(n);
    if (remembered.size >= REMEMBERED) remembered.clear();
    remembered.set(n, ranks);
  }
  return ranks;
}

function compute(n: number): readonly [lower: number, upper: number] {
  // beyond some 70,000 values P(K = 0) underflows: the sum starts where the terms matter
  const start = Math.max(0, Math.floor(n * Q - 14 * Math.sqrt(n * Q * (1 - Q))));
  let logTerm = logBinomial(n, start) + start * Math.log(Q) + (n - start) * Math.log1p(-Q);
  let cumulated = Math.exp(logTerm);
  let upper = 0;
  for (let k = start; ; ) {
    if (upper === 0 && cumulated > 0.05) upper = n - k + 1;
    if (cumulated >= 0.95) return [n - k, upper];
    k++;
    logTerm += Math.log((n - k + 1) / k) + Math.log(Q / (1 - Q));
    cumulated += Math.exp(logTerm);
  }
}

/** ln of n over k, by Stirling's series for large k. */
function logBinomial(n: number, k: number): number {
  return k === 0 ? 0 : logFactorial(n) - logFactorial(k) - logFactorial(n - k);
}

function logFactorial(n: number): number {
  if (n < 32) {
    let sum = 0;
    for (let factor = 2; factor <= n; factor++) sum += Math.log(factor);
    return sum;
  }
  const x = n + 1;
  return (x - 0.5) * Math.log(x) - x + 0.5 * Math.log(2 * Math.PI) + 1 / (12 * x) - 1 / (360 * x ** 3);
}
