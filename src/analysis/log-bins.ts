/** Smallest magnitude that is not counted as zero: what a double holds in full. */
const SMALLEST = 2 ** -1022;
const FIRST_BINS = 512;

/**
 * Counts of values in bins that grow by a constant factor: quantiles with a bounded relative error, at the cost of a
 * logarithm a value.
 *
 * @see Masson, Rim and Lee (2019), DDSketch, doi:10.14778/3352063.3352135: unbounded, with its logarithmic mapping.
 */
export class LogBins {
  count = 0;
  #zeros = 0;
  readonly #positive = new Bins();
  readonly #negative = new Bins();
  readonly #perLog2: number;
  /** From the upper end of a bin to the value that stands for it. */
  readonly #middle: number;

  /** @param accuracy Relative error of a quantile, in (0, 1). */
  constructor(accuracy: number) {
    const growth = (2 * accuracy) / (1 - accuracy);
    this.#perLog2 = (1 / Math.log1p(growth)) * Math.log(2);
    this.#middle = 2 / (2 + growth);
  }

  /** @param value Finite. */
  add(value: number): void {
    this.count++;
    if (value > SMALLEST) this.#positive.add(Math.ceil(Math.log2(value) * this.#perLog2));
    else if (value < -SMALLEST) this.#negative.add(Math.ceil(Math.log2(-value) * this.#perLog2));
    else this.#zeros++;
  }

  /**
   * @param q Fraction in [0, 1].
   * @returns The value at rank `q × (count − 1)`; NaN when nothing was added.
   */
  quantile(q: number): number {
    if (this.count === 0) return Number.NaN;
    const rank = q * (this.count - 1);
    const negative = this.#negative.count;
    if (rank < negative) return -this.#valueOf(this.#negative.keyAtLeast(negative - rank));
    if (rank < negative + this.#zeros) return 0;
    return this.#valueOf(this.#positive.keyAbove(rank - negative - this.#zeros));
  }

  #valueOf(key: number): number {
    return 2 ** (key / this.#perLog2) * this.#middle;
  }
}

/** Counts by integer key, dense between the least and the greatest. */
class Bins {
  count = 0;
  #bins = new Float64Array(0);
  /** Key of the first bin. */
  #first = 0;

  add(key: number): void {
    let at = key - this.#first;
    if (at < 0 || at >= this.#bins.length) {
      this.#grow(key);
      at = key - this.#first;
    }
    this.#bins[at] = (this.#bins[at] as number) + 1;
    this.count++;
  }

  /** The first key up to which more than `rank` values lie. */
  keyAbove(rank: number): number {
    let below = 0;
    let last = 0;
    for (const [at, bin] of this.#bins.entries()) {
      if (bin === 0) continue;
      last = at;
      below += bin;
      if (below > rank) break;
    }
    return last + this.#first;
  }

  /** The first key up to which `rank` values lie. */
  keyAtLeast(rank: number): number {
    let below = 0;
    let last = 0;
    for (const [at, bin] of this.#bins.entries()) {
      if (bin === 0) continue;
      last = at;
      below += bin;
      if (below >= rank) break;
    }
    return last + this.#first;
  }

  #grow(key: number): void {
    const { length } = this.#bins;
    const first = length === 0 ? key - FIRST_BINS / 2 : Math.min(this.#first, key - FIRST_BINS / 2);
    const end = length === 0 ? key + FIRST_BINS / 2 : Math.max(this.#first + length, key + FIRST_BINS / 2);
    const bins = new Float64Array(end - first);
    if (length > 0) bins.set(this.#bins, this.#first - first);
    this.#bins = bins;
    this.#first = first;
  }
}
