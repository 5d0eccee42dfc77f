import { intervalRanks } from "./order-rank.ts";
import type { SlotTable } from "./slot-table.ts";
import { KEYS } from "./value-key.ts";
import { WindowView } from "./window-view.ts";

/** Slots thinned out at a time. */
const BATCH = 60;
/** Largest values kept beyond those that the interval of the P99 needs, so that late lines do not reach the rest. */
const keptOf = (n: number): number => 2 * (n - intervalRanks(n)[0] + 1) + 8;

/**
 * Keeps of old minutes what a window's P99 and its interval can ever need: a value that is not among the largest of any window
 * over its minute becomes a mere count. On steady traffic some 5 % of the values stay.
 */
export class Thinner {
  /** Everything up to this slot has been thinned out. */
  thinnedSlot = Number.NEGATIVE_INFINITY;
  readonly #slots: Map<number, SlotTable>;
  readonly #width: number;

  constructor(slots: Map<number, SlotTable>, width: number) {
    this.#slots = slots;
    this.#width = width;
  }

  /** Thins what all windows up to `closedSlot` cover; yields the slots that changed, between steps of some milliseconds. */
  *thin(closedSlot: number, series: readonly number[]): Generator<readonly number[]> {
    const last = closedSlot - this.#width;
    if (!Number.isFinite(this.thinnedSlot)) {
      let first = last;
      for (const slot of this.#slots.keys()) first = Math.min(first, slot);
      this.thinnedSlot = first - 1;
    }
    while (last - this.thinnedSlot >= BATCH) {
      const from = this.thinnedSlot + 1;
      const to = from + BATCH - 1;
      const present = new Set<number>();
      for (let slot = from; slot <= to; slot++) {
        for (const id of this.#slots.get(slot)?.series() ?? []) present.add(id);
        yield [];
      }
      const limits = new Map<number, Uint16Array>();
      for (const id of series) {
        if (!present.has(id)) continue;
        limits.set(id, this.#limits(id, from, to));
        yield [];
      }
      for (let slot = from; slot <= to; slot++) {
        const thin = this.#slots.get(slot)?.thinned((id) => limits.get(id)?.[slot - from] ?? 0);
        if (thin === undefined) continue;
        this.#slots.set(slot, thin);
        yield [slot];
      }
      this.thinnedSlot = to;
    }
  }

  /** By slot of the batch: buckets below are in no window's largest. */
  #limits(series: number, from: number, to: number): Uint16Array {
    const view = new WindowView(series, this.#width, this.#slots);
    const keys = new Int32Array(BATCH + this.#width - 1);
    for (let end = from; end < to + this.#width; end++) {
      view.moveTo(end);
      const n = view.total;
      keys[end - from] = n === 0 ? KEYS : Math.max(0, view.keyFromTop(Math.min(n, keptOf(n))));
    }
    const limits = new Uint16Array(BATCH);
    for (let slot = 0; slot < BATCH; slot++) {
      let least = KEYS;
      for (let end = slot; end < slot + this.#width; end++) least = Math.min(least, keys[end] as number);
      limits[slot] = least;
    }
    return limits;
  }
}
