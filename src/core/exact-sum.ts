/**
 * Sum of doubles whose rounding errors are carried along (Neumaier's variant of Kahan summation): exact to the last
 * bit of the result for any sum a log holds. Integers stay exact to 2^53 and are correctly rounded beyond.
 *
 * @see Neumaier (1974), doi:10.1002/zamm.19740540106
 */
export class ExactSum {
  #sum = 0;
  #carry = 0;

  add(value: number): void {
    const next = this.#sum + value;
    this.#carry += Math.abs(this.#sum) >= Math.abs(value) ? this.#sum - next + value : value - next + this.#sum;
    this.#sum = next;
  }

  get value(): number {
    return this.#sum + this.#carry;
  }

  /** The two parts, for a commit; {@link ExactSum.from} continues them. */
  get parts(): readonly [number, number] {
    return [this.#sum, this.#carry];
  }

  static from(parts: readonly [number, number]): ExactSum {
    const sum = new ExactSum();
    [sum.#sum, sum.#carry] = parts;
    return sum;
  }
}
