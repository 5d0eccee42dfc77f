import { type DuplicateFilter, REMEMBERED } from "../request/duplicate-filter.ts";

const CHUNK = 256;
const PREFIX = "duplicates ";

type Row = readonly [key: string, value: unknown];

/** Keeps the remembered keys as rows of some hundred each, so that a commit writes the new ones and not all of them. */
export class DuplicateRows {
  readonly #filter: DuplicateFilter;
  #generation = 0;
  #young: Set<string>;
  #written = 0;
  /** A commit failed: both generations are to be written again. */
  #again = false;

  constructor(filter: DuplicateFilter) {
    this.#filter = filter;
    this.#young = filter.state.young;
  }

  /** Puts back what the rows of a commit hold. */
  restore(rows: ReadonlyMap<string, unknown>): void {
    const generations = new Map<number, string[]>();
    const mine = [...rows]
      .filter(([key]) => key.startsWith(PREFIX))
      .map(([key, value]) => ({ at: key.slice(PREFIX.length).split(" ").map(Number), value: value as string[] }))
      .toSorted((a, b) => (a.at[0] ?? 0) - (b.at[0] ?? 0) || (a.at[1] ?? 0) - (b.at[1] ?? 0));
    for (const { at, value } of mine) generations.set(at[0] ?? 0, [...(generations.get(at[0] ?? 0) ?? []), ...value]);
    this.#generation = Math.max(0, ...generations.keys());
    this.#filter.state = {
      young: new Set(generations.get(this.#generation)),
      old: new Set(generations.get(this.#generation - 1)),
    };
    this.#young = this.#filter.state.young;
    this.#written = this.#young.size;
  }

  /** Rows that changed since the last call; undefined for one that is to go. */
  *changes(): Iterable<Row> {
    const { young, old } = this.#filter.state;
    if (young !== this.#young) yield* this.#turnOver(young, old);
    if (this.#again) {
      yield* this.#rows(old, 0, this.#generation - 1);
      yield* this.#drops(this.#generation - 2, REMEMBERED);
    }
    yield* this.#rows(young, this.#again ? 0 : this.#written);
    this.#written = young.size;
    this.#again = false;
  }

  /** The commit failed: all is to be written again. */
  forgetCommit(): void {
    this.#again = true;
  }

  /** The younger generation was full: it is the older one now, or is forgotten too when that happened twice. */
  *#turnOver(young: Set<string>, old: ReadonlySet<string>): Iterable<Row> {
    yield* this.#drops(this.#generation - 1, REMEMBERED);
    if (old === this.#young) yield* this.#rows(old, this.#written);
    else {
      yield* this.#drops(this.#generation, REMEMBERED);
      this.#generation++;
      yield* this.#rows(old, 0);
    }
    this.#generation++;
    this.#young = young;
    this.#written = 0;
    // an empty one has to be known as well
    if (young.size === 0) yield [`${PREFIX}${this.#generation} 0`, []];
  }

  *#drops(generation: number, keys: number): Iterable<Row> {
    for (let chunk = 0; chunk * CHUNK < keys; chunk++) yield [`${PREFIX}${generation} ${chunk}`, undefined];
  }

  *#rows(keys: ReadonlySet<string>, written: number, generation = this.#generation): Iterable<Row> {
    if (keys.size === written) return;
    const from = Math.floor(written / CHUNK);
    const list = [...keys];
    for (let chunk = from; chunk * CHUNK < list.length; chunk++)
      yield [`${PREFIX}${generation} ${chunk}`, list.slice(chunk * CHUNK, (chunk + 1) * CHUNK)];
  }
}
