import type { WindowFigures } from "../model/sla.ts";
import { intervalRanks, pointRank } from "./order-rank.ts";
import type { SlotTable } from "./slot-table.ts";
import { KEYS, middleOf, OVERFLOW_KEY, REST_KEY } from "./value-key.ts";

/** The slots of all series by minute: slot k holds the times in (k − 1 min, k min]. */
export type Slots = ReadonlyMap<number, SlotTable>;

/** Bucket counts of one series over a window of `width` slots that slides on with the ticks. */
export class WindowView {
  total = 0;
  /** Last slot of the window; NaN while it stands nowhere. */
  end = Number.NaN;
  readonly #counts = new Uint32Array(KEYS);
  /** No bucket above this one holds anything. */
  #top = 0;
  readonly #series: number;
  readonly #width: number;
  readonly #slots: Slots;
  readonly #enter = (key: number, count: number): void => this.add(key, count);
  readonly #leave = (key: number, count: number): void => {
    this.#counts[key] = (this.#counts[key] as number) - count;
    this.total -= count;
  };

  constructor(series: number, width: number, slots: Slots) {
    this.#series = series;
    this.#width = width;
    this.#slots = slots;
  }

  contains(slot: number): boolean {
    return slot <= this.end && slot > this.end - this.#width;
  }

  add(key: number, count: number): void {
    this.#counts[key] = (this.#counts[key] as number) + count;
    this.total += count;
    if (key > this.#top) this.#top = key;
  }

  moveTo(end: number): void {
    if (end === this.end) return;
    const step = end - this.end;
    if (!(step > 0 && step < this.#width)) {
      this.#counts.fill(0);
      this.total = 0;
      this.#top = 0;
      this.#each(end - this.#width + 1, end, this.#enter);
    } else {
      this.#each(this.end - this.#width + 1, end - this.#width, this.#leave);
      this.#each(this.end + 1, end, this.#enter);
    }
    this.end = end;
  }

  /** Bucket of the value that `place` values are not below (1 = the largest). */
  keyFromTop(place: number): number {
    while (this.#top > 0 && this.#counts[this.#top] === 0) this.#top--;
    let seen = 0;
    for (let key = this.#top; key >= 0; key--) {
      seen += this.#counts[key] as number;
      if (seen >= place) return key;
    }
    return -1;
  }

  figures(): WindowFigures | undefined {
    const n = this.total;
    if (n === 0) return undefined;
    const [lower, upper] = intervalRanks(n);
    const p99Key = this.keyFromTop(n - pointRank(n) + 1);
    const lowerKey = lower < 1 ? REST_KEY : this.keyFromTop(n - lower + 1);
    const upperKey = upper > n ? OVERFLOW_KEY : this.keyFromTop(n - upper + 1);
    const overflow = p99Key === OVERFLOW_KEY || p99Key <= REST_KEY;
    const p99Ns = this.#valueOf(p99Key);
    return {
      samples: n,
      p99Ns,
      lowerNs: lowerKey <= REST_KEY ? 0 : lowerKey === p99Key ? p99Ns : this.#valueOf(lowerKey),
      upperNs:
        upperKey === OVERFLOW_KEY ? Number.POSITIVE_INFINITY : upperKey === p99Key ? p99Ns : this.#valueOf(upperKey),
      overflow,
    };
  }

  /** The middle of a bucket, held between the smallest and the largest value that the window has in it. */
  #valueOf(key: number): number {
    let min = Number.POSITIVE_INFINITY;
    let max = Number.NEGATIVE_INFINITY;
    for (let slot = this.end - this.#width + 1; slot <= this.end; slot++) {
      const table = this.#slots.get(slot);
      if (table === undefined) continue;
      const place = table.placeOf(this.#series, key);
      if (place < 0) continue;
      min = Math.min(min, table.minAt(place));
      max = Math.max(max, table.maxAt(place));
    }
    return Math.min(max, Math.max(min, middleOf(key)));
  }

  #each(from: number, to: number, visit: (key: number, count: number) => void): void {
    for (let slot = from; slot <= to; slot++) this.#slots.get(slot)?.each(this.#series, visit);
  }
}
