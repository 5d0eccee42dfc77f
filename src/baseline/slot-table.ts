import { KEYS, REST_KEY } from "./value-key.ts";

/** What a commit holds of a slot: entries in ascending order of their code. */
export interface SlotState {
  readonly codes: Uint32Array;
  readonly counts: Uint32Array;
  readonly mins: Float64Array;
  readonly maxs: Float64Array;
}

/** Series and bucket in one number, so that a sorted column serves both. */
export const codeOf = (series: number, key: number): number => series * KEYS + key;

/**
 * The sketches of all series for one minute: sparse buckets as columns. Each bucket keeps its smallest and largest value, so
 * that equal values come back exactly.
 */
export class SlotTable {
  size = 0;
  #codes: Uint32Array = new Uint32Array(16);
  #counts: Uint32Array = new Uint32Array(16);
  #mins: Float64Array = new Float64Array(16);
  #maxs: Float64Array = new Float64Array(16);
  #sorted = true;
  /** Places by code, while values come in. */
  #places: Map<number, number> | undefined = new Map();

  static from({ codes, counts, mins, maxs }: SlotState): SlotTable {
    const table = new SlotTable();
    table.size = codes.length;
    table.#codes = codes;
    table.#counts = counts;
    table.#mins = mins;
    table.#maxs = maxs;
    table.#places = undefined;
    return table;
  }

  /** Adds `count` values between `min` and `max` to a bucket. */
  add(code: number, count: number, min: number, max: number): void {
    const places = (this.#places ??= this.#index());
    const at = places.get(code);
    if (at !== undefined) {
      this.#counts[at] = (this.#counts[at] as number) + count;
      if (min < (this.#mins[at] as number)) this.#mins[at] = min;
      if (max > (this.#maxs[at] as number)) this.#maxs[at] = max;
      return;
    }
    if (this.size === this.#codes.length) this.#grow();
    const place = this.size++;
    this.#codes[place] = code;
    this.#counts[place] = count;
    this.#mins[place] = min;
    this.#maxs[place] = max;
    this.#sorted &&= place === 0 || (this.#codes[place - 1] as number) < code;
    places.set(code, place);
  }

  /** Calls back with each bucket of a series. */
  each(series: number, visit: (key: number, count: number) => void): void {
    this.#sort();
    const end = codeOf(series + 1, 0);
    for (let at = this.#find(codeOf(series, 0)); at < this.size; at++) {
      const code = this.#codes[at] as number;
      if (code >= end) return;
      visit(code - end + KEYS, this.#counts[at] as number);
    }
  }

  /** Place of a bucket, or -1. Valid until the next `add`. */
  placeOf(series: number, key: number): number {
    this.#sort();
    const code = codeOf(series, key);
    const at = this.#find(code);
    return at < this.size && this.#codes[at] === code ? at : -1;
  }

  minAt(place: number): number {
    return this.#mins[place] as number;
  }

  maxAt(place: number): number {
    return this.#maxs[place] as number;
  }

  /** Every series that has a bucket, ascending. */
  *series(): Iterable<number> {
    this.#sort();
    let end = 0;
    for (let at = 0; at < this.size; at++) {
      const code = this.#codes[at] as number;
      if (code < end) continue;
      const series = Math.floor(code / KEYS);
      end = codeOf(series + 1, 0);
      yield series;
    }
  }

  /**
   * The same values with all below a series' limit key merged into its rest. Undefined when nothing would change.
   *
   * @param limitOf By series; 0 keeps all.
   */
  thinned(limitOf: (series: number) => number): SlotTable | undefined {
    this.#sort();
    const { size } = this;
    const codes = new Uint32Array(size);
    const counts = new Uint32Array(size);
    const mins = new Float64Array(size);
    const maxs = new Float64Array(size);
    let to = -1;
    let series = -1;
    let limit = 0;
    for (let at = 0; at < size; at++) {
      const code = this.#codes[at] as number;
      if (code >= codeOf(series + 1, 0)) {
        series = Math.floor(code / KEYS);
        limit = limitOf(series);
      }
      const kept = code - codeOf(series, 0) >= limit ? code : codeOf(series, REST_KEY);
      if (to >= 0 && codes[to] === kept) {
        counts[to] = (counts[to] as number) + (this.#counts[at] as number);
        mins[to] = Math.min(mins[to] as number, this.minAt(at));
        maxs[to] = Math.max(maxs[to] as number, this.maxAt(at));
        continue;
      }
      to++;
      codes[to] = kept;
      counts[to] = this.#counts[at] as number;
      mins[to] = this.minAt(at);
      maxs[to] = this.maxAt(at);
    }
    const end = to + 1;
    if (end === size) return undefined;
    return SlotTable.from({
      codes: codes.slice(0, end),
      counts: counts.slice(0, end),
      mins: mins.slice(0, end),
      maxs: maxs.slice(0, end),
    });
  }

  /** Gives back the room for more values. */
  seal(): void {
    this.#sort();
    this.#places = undefined;
    if (this.#codes.length === this.size) return;
    const { codes, counts, mins, maxs } = this.state;
    this.#codes = codes;
    this.#counts = counts;
    this.#mins = mins;
    this.#maxs = maxs;
  }

  /** A copy. */
  get state(): SlotState {
    this.#sort();
    const { size } = this;
    return {
      codes: this.#codes.slice(0, size),
      counts: this.#counts.slice(0, size),
      mins: this.#mins.slice(0, size),
      maxs: this.#maxs.slice(0, size),
    };
  }

  /** Index of the first code that is not below `code`. */
  #find(code: number): number {
    let low = 0;
    let high = this.size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#codes[middle] as number) < code) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #index(): Map<number, number> {
    const places = new Map<number, number>();
    for (let at = 0; at < this.size; at++) places.set(this.#codes[at] as number, at);
    return places;
  }

  #grow(): void {
    const room = Math.max(16, this.size * 2);
    const grown = <T extends Uint32Array | Float64Array>(from: T, to: T): T => {
      to.set(from);
      return to;
    };
    this.#codes = grown(this.#codes, new Uint32Array(room));
    this.#counts = grown(this.#counts, new Uint32Array(room));
    this.#mins = grown(this.#mins, new Float64Array(room));
    this.#maxs = grown(this.#maxs, new Float64Array(room));
  }

  #sort(): void {
    if (this.#sorted) return;
    const { size } = this;
    // code and place in one double: the native sort of a typed array needs no comparator
    const places = 2 ** 20;
    if (size > places) throw new RangeError(`A slot holds ${size} buckets`);
    const order = new Float64Array(size);
    for (let at = 0; at < size; at++) order[at] = (this.#codes[at] as number) * places + at;
    order.sort();
    const [codes, counts, mins, maxs] = [this.#codes, this.#counts, this.#mins, this.#maxs];
    this.#codes = new Uint32Array(codes.length);
    this.#counts = new Uint32Array(codes.length);
    this.#mins = new Float64Array(codes.length);
    this.#maxs = new Float64Array(codes.length);
    for (let to = 0; to < size; to++) {
      const from = (order[to] as number) % places;
      this.#codes[to] = codes[from] as number;
      this.#counts[to] = counts[from] as number;
      this.#mins[to] = mins[from] as number;
      this.#maxs[to] = maxs[from] as number;
    }
    this.#sorted = true;
    this.#places = undefined;
  }
}
