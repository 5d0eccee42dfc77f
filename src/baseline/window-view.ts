import type { WindowFigures } from "../model/sla.ts";
import { intervalRanks, pointRank } from "./order-rank.ts";
import type { SlotTable } from "./slot-table.ts";
import { KEYS, middleOf, OVERFLOW_KEY, REST_KEY } from "./value-key.ts";

/** The slots of all series by minute: slot k holds the times in (k − 1 min, k min]. */
export type Slots = ReadonlyMap<number, SlotTable>;

/** Values remembered: the P99 and the ends of its interval, before and after a small move. */
const ASKED = 6;

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
  /** Buckets whose value was asked for lately, with it; -1 = none. It holds until a value of the bucket comes or goes. */
  readonly #askedKeys = new Int32Array(ASKED).fill(-1);
  readonly #askedNs = new Float64Array(ASKED);
  #nextAsked = 0;
  /** Where the last walk from the top stands, and how many values it passed, those of its bucket included. */
  #passedKey = 0;
  #passed = 0;
  readonly #enter = (key: number, count: number): void => this.add(key, count);
  readonly #leave = (key: number, count: number): void => {
    this.#counts[key] = (this.#counts[key] as number) - count;
    this.total -= count;
    this.#forget(key);
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
    this.#forget(key);
  }

  #forget(key: number): void {
    for (let at = 0; at < ASKED; at++) if (this.#askedKeys[at] === key) this.#askedKeys[at] = -1;
  }

  moveTo(end: number): void {
    if (end === this.end) return;
    const step = end - this.end;
    if (!(step > 0 && step < this.#width)) {
      this.#counts.fill(0);
      this.#askedKeys.fill(-1);
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
    this.#passedKey = this.#top;
    this.#passed = this.#counts[this.#top] as number;
    return this.#keyBelow(place);
  }

  /** As {@link keyFromTop}, going on from its last answer; `place` does not become smaller. */
  #keyBelow(place: number): number {
    while (this.#passed < place && this.#passedKey > 0) this.#passed += this.#counts[--this.#passedKey] as number;
    return this.#passedKey;
  }

  figures(): WindowFigures | undefined {
    const n = this.total;
    if (n === 0) return undefined;
    const [lower, upper] = intervalRanks(n);
    const upperOrTop = this.keyFromTop(Math.max(1, n - upper + 1));
    const upperKey = upper > n ? OVERFLOW_KEY : upperOrTop;
    const p99Key = this.#keyBelow(n - pointRank(n) + 1);
    const lowerKey = lower < 1 ? REST_KEY : this.#keyBelow(n - lower + 1);
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
    for (let at = 0; at < ASKED; at++) if (this.#askedKeys[at] === key) return this.#askedNs[at] as number;
    const ns = this.#lookUp(key);
    this.#askedKeys[this.#nextAsked] = key;
    this.#askedNs[this.#nextAsked] = ns;
    this.#nextAsked = (this.#nextAsked + 1) % ASKED;
    return ns;
  }

  #lookUp(key: number): number {
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
