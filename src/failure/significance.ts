/**
 * G statistic of a 2 × 2 table: how far `hits` of `size` and `otherHits` of `otherSize` are from one common share.
 * Distributed as χ² with one degree of freedom when there is no difference.
 *
 * @returns Not negative; in no unit.
 * @see Sokal & Rohlf, Biometry, 3rd ed. (1995), chapter 17
 */
export function gStatistic(hits: number, size: number, otherHits: number, otherSize: number): number {
  const total = size + otherSize;
  const withIt = hits + otherHits;
  const cell = (observed: number, row: number, column: number): number =>
    observed === 0 ? 0 : observed * Math.log((observed * total) / (row * column));
  const sum =
    cell(hits, size, withIt) +
    cell(size - hits, size, total - withIt) +
    cell(otherHits, otherSize, withIt) +
    cell(otherSize - otherHits, otherSize, total - withIt);
  return Math.max(0, 2 * sum);
}

/**
 * Natural logarithm of the probability that χ² with one degree of freedom is at least `statistic`. Logarithmic, because
 * strong drivers go far below the smallest double.
 */
export function logChiSquareTail(statistic: number): number {
  if (statistic <= 0) return 0;
  const z = Math.sqrt(statistic);
  // two-sided normal tail: erfc for the body, the asymptotic series beyond
  if (z < 5) return Math.log(Math.max(erfc(z / Math.SQRT2), Number.MIN_VALUE));
  const inverse = 1 / statistic;
  const series = 1 - inverse + 3 * inverse ** 2 - 15 * inverse ** 3;
  return -statistic / 2 - Math.log(z) - 0.5 * Math.log(Math.PI / 2) + Math.log(series);
}

/** Complementary error function, fractional error below 1.2e-7 (Numerical Recipes, `erfcc`). */
function erfc(x: number): number {
  const t = 1 / (1 + 0.5 * Math.abs(x));
  const poly =
    -1.26551223 +
    t *
      (1.00002368 +
        t *
          (0.37409196 +
            t *
              (0.09678418 +
                t *
                  (-0.18628806 +
                    t * (0.27886807 + t * (-1.13520398 + t * (1.48851587 + t * (-0.82215223 + t * 0.17087277))))))));
  const tail = t * Math.exp(-x * x + poly);
  return x >= 0 ? tail : 2 - tail;
}

/**
 * Benjamini–Hochberg: which of several findings hold while at most the share `rate` of those kept is false.
 *
 * @param logP Natural logarithms of the p-values, any order.
 * @returns For each, in the order given, whether it is kept.
 */
export function benjaminiHochberg(logP: readonly number[], rate: number): boolean[] {
  const order = logP.map((_, index) => index).sort((a, b) => (logP[a] ?? 0) - (logP[b] ?? 0));
  let kept = 0;
  for (const [rank, index] of order.entries()) {
    if ((logP[index] ?? 0) <= Math.log((rate * (rank + 1)) / logP.length)) kept = rank + 1;
  }
  const result = logP.map(() => false);
  for (const index of order.slice(0, kept)) result[index] = true;
  return result;
}
