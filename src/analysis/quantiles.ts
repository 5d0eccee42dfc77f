import { ExactSum } from "../core/exact-sum.ts";
import { LogBins } from "./log-bins.ts";

/** Relative error of quantiles from bins. */
const ACCURACY = 0.005;
/** Up to this many values are kept and ranked exactly; bins take over beyond. */
const EXACT_LIMIT = 4096;

/** Count, exact sum, maximum and quantiles of one latency kind, in bounded memory. */
export class Distribution {
  count = 0;
  max = Number.NEGATIVE_INFINITY;
  min = Number.POSITIVE_INFINITY;
  readonly #sum = new ExactSum();
  #values: number[] | undefined = [];
  #bins: LogBins | undefined;
  #sorted = false;

  add(value: number): void {
    this.count++;
    this.#sum.add(value);
    if (value > this.max) this.max = value;
    if (value < this.min) this.min = value;
    if (this.#values === undefined) {
      this.#bins?.add(value);
      return;
    }
    this.#values.push(value);
    this.#sorted = false;
    if (this.#values.length > EXACT_LIMIT) {
      this.#bins = new LogBins(ACCURACY);
      for (const kept of this.#values) this.#bins.add(kept);
      this.#values = undefined;
    }
  }

  get sum(): number {
    return this.#sum.value;
  }

  /**
   * Nearest-rank quantile: exact up to 4,096 values, within 0.5 % of the order statistic beyond.
   *
   * @param q Fraction in (0, 1].
   * @returns NaN when nothing was added.
   */
  quantile(q: number): number {
    if (this.count === 0) return Number.NaN;
    if (this.#values !== undefined) {
      if (!this.#sorted) this.#values.sort((a, b) => a - b);
      this.#sorted = true;
      return this.#values[Math.max(0, Math.ceil(q * this.count) - 1)] ?? Number.NaN;
    }
    return Math.min(this.max, Math.max(this.min, this.#bins?.quantile(q) ?? Number.NaN));
  }

  /** Values (or bin centres) with weights, ascending: what a histogram is drawn from. */
  *bins(): Iterable<readonly [value: number, weight: number]> {
    if (this.#values !== undefined) {
      for (const value of this.#values) yield [value, 1];
      return;
    }
    let previous = 0;
    const steps = 200;
    for (let step = 1; step <= steps; step++) {
      const rank = Math.round((step / steps) * this.count);
      if (rank > previous) yield [this.quantile((step - 0.5) / steps), rank - previous];
      previous = rank;
    }
  }
}
