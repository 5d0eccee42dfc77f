import { bucketIndex } from "./buckets.ts";
import { CLOSED_LABELS, type HistogramDef, type MetricDef, type ValueDef } from "./catalogue.ts";

/** Label names and values of one series; a label whose value is unknown is absent. */
export type Labels = Readonly<Record<string, string>>;

/** One series of a counter or gauge. */
export interface ValueCell {
  readonly labels: Labels;
  value: number;
  /** The value in the last commit. */
  committed: number;
  /** Wall time of the last write, for gauges that go stale; milliseconds. */
  writtenMs: number;
  /** The value that the last look for idle series saw, and since when; NaN before. */
  seen: number;
  seenMs: number;
}

/** One series of a histogram: `counts[i]` observations ≤ `buckets[i]`, the last one is +Inf. Not cumulative. */
export interface HistogramCell {
  readonly labels: Labels;
  readonly buckets: readonly number[];
  readonly counts: Float64Array;
  count: number;
  /** The count in the last commit. */
  committed: number;
  /** By bucket: one request of it, renewed now and then. */
  exemplars: Array<Exemplar | undefined> | undefined;
  sum: number;
  /** As in {@link ValueCell}, of the count. */
  seen: number;
  seenMs: number;
}

/** One request that fell into a bucket: what leads from a slow bucket to its trace. */
export interface Exemplar {
  readonly traceId: string | undefined;
  readonly requestId: string | undefined;
  readonly value: number;
  /** Event time, milliseconds since the epoch; NaN if unknown. */
  readonly timeMs: number;
}

/** An exemplar stays this long (event time) before another of its bucket takes its place. */
const EXEMPLAR_MS = 10_000;

/** Remembers a request for the bucket that `value` falls into, unless one is fresh. */
export function exemplify(
  cell: HistogramCell,
  value: number,
  timeMs: number,
  traceId: string | undefined,
  requestId: string | undefined,
): void {
  const exemplars = (cell.exemplars ??= []);
  const index = bucketIndex(cell.buckets, value);
  const known = exemplars[index];
  if (known !== undefined && !(timeMs - known.timeMs >= EXEMPLAR_MS)) return;
  exemplars[index] = { traceId, requestId, value, timeMs };
}

/** Adds one observation. The caller has refused NaN, infinite and negative values. */
export function observe(cell: HistogramCell, value: number): void {
  const index = bucketIndex(cell.buckets, value);
  cell.counts[index] = (cell.counts[index] as number) + 1;
  cell.count++;
  cell.sum += value;
}

/** Label values longer than this are cut: a label is a name, not a text. */
const MAX_LABEL_CHARS = 256;
const OTHER = "other";
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
/** Names that Prometheus or the exposition keeps for itself. */
const RESERVED = new Set(["le", "quantile", "job", "instance"]);

/** All series of one metric, capped at insert. */
class Family<Cell extends { readonly labels: Labels }> {
  readonly cells = new Map<string, Cell>();
  /** Label sets that were summed under `other`. */
  overflowed = 0;
  readonly def: MetricDef;
  readonly #maxSeries: number;
  readonly #make: (labels: Labels) => Cell;

  constructor(def: MetricDef, maxSeries: number, make: (labels: Labels) => Cell) {
    this.def = def;
    this.#maxSeries = maxSeries;
    this.#make = make;
  }

  /**
   * The cell of a label set. Beyond the limit the metric's own open label values become `other`, so that sums stay exact;
   * where the source's labels alone are too many (pods come and go), theirs do too, beyond twice the limit.
   */
  cell(base: Labels, values: readonly (string | undefined)[]): Cell {
    const labels = this.#labels(base, values);
    const key = seriesKey(labels);
    const known = this.cells.get(key);
    if (known !== undefined) return known;
    if (this.cells.size < this.#maxSeries) return this.#put(key, labels);
    this.overflowed++;
    const folded = this.#labels(
      base,
      values.map((value, index) =>
        value === undefined || CLOSED_LABELS.has(this.def.labels[index] as string) ? value : OTHER,
      ),
    );
    const foldedKey = seriesKey(folded);
    const there = this.cells.get(foldedKey);
    if (there !== undefined) return there;
    if (this.cells.size < this.#maxSeries * 2) return this.#put(foldedKey, folded);
    const all = Object.fromEntries(
      Object.entries(folded).map(([name, value]) => [name, CLOSED_LABELS.has(name) ? value : OTHER]),
    );
    const allKey = seriesKey(all);
    return this.cells.get(allKey) ?? this.#put(allKey, all);
  }

  /** A series that begins at 0, while there is room: at most half of the limit goes to declared ones. */
  declare(base: Labels, values: readonly (string | undefined)[]): Cell | undefined {
    const labels = this.#labels(base, values);
    const key = seriesKey(labels);
    if (this.cells.has(key) || this.cells.size >= this.#maxSeries / 2) return this.cells.get(key);
    return this.#put(key, labels);
  }

  #put(key: string, labels: Labels): Cell {
    const cell = this.#make(labels);
    this.cells.set(key, cell);
    return cell;
  }

  /** The cell of labels that a commit holds: they were capped and cleaned when they came in. */
  restore(labels: Labels): Cell {
    return this.#put(seriesKey(labels), labels);
  }

  #labels(base: Labels, values: readonly (string | undefined)[]): Labels {
    const labels: Record<string, string> = {};
    for (const [name, value] of Object.entries(base)) if (value !== "") labels[name] = value;
    for (const [index, name] of this.def.labels.entries()) {
      const value = values[index];
      if (value !== undefined && value !== "") labels[name] = cleanLabelValue(value);
    }
    return labels;
  }
}

/** The order in which a set of names stands in a key; few sets occur, and each in few orders. */
const sortedNames = new Map<string, readonly string[]>();

function seriesKey(labels: Labels): string {
  const names = Object.keys(labels);
  const given = names.join();
  let sorted = sortedNames.get(given);
  if (sorted === undefined) {
    if (sortedNames.size > 10_000) sortedNames.clear();
    sorted = names.sort();
    sortedNames.set(given, sorted);
  }
  let key = "";
  for (const name of sorted) key += `${name}\u001f${labels[name]}\u001e`;
  return key;
}

/** A label value that any scraper takes: well-formed Unicode, no NUL, bounded length. */
export function cleanLabelValue(value: string): string {
  if (value.length <= MAX_LABEL_CHARS && value.isWellFormed() && !value.includes("\u0000")) return value;
  const cut = value.slice(0, MAX_LABEL_CHARS);
  return cut.toWellFormed().replaceAll("\u0000", "\ufffd");
}

/**
 * Why a label name from the configuration cannot be used, or undefined.
 */
export function labelNameFault(name: string): string | undefined {
  if (!LABEL_NAME.test(name)) return "must match [a-zA-Z_][a-zA-Z0-9_]*";
  if (name.startsWith("__") || RESERVED.has(name)) return "is reserved by Prometheus";
  return undefined;
}

type CellOf<Def extends MetricDef> = Def extends HistogramDef ? HistogramCell : ValueCell;

/**
 * The live series of all metrics. Writers fetch a cell once for a label set and keep it; adding to a cell allocates
 * nothing.
 */
export class MetricSet {
  readonly #families = new Map<string, Family<ValueCell> | Family<HistogramCell>>();
  readonly #maxSeries: number;
  /** Keys of series that vanished since the last commit. */
  #dropped: string[] = [];
  /** Series that began at 0 and never go idle. */
  readonly #declared = new WeakSet<ValueCell | HistogramCell>();

  /** @param options.maxSeries Series of one metric before new label values become `other`. */
  constructor(options: { maxSeries: number }) {
    this.#maxSeries = options.maxSeries;
  }

  /** @param values In the order of `def.labels`; undefined leaves the label out. */
  cell<Def extends MetricDef>(def: Def, base: Labels, ...values: (string | undefined)[]): CellOf<Def> {
    return this.#family(def).cell(base, values) as CellOf<Def>;
  }

  /** Begins a series at 0, so that its first event shows as an increase. No-op where series are many already. */
  declare(def: ValueDef, base: Labels, ...values: (string | undefined)[]): void {
    const cell = this.#family(def).declare(base, values);
    if (cell !== undefined) this.#declared.add(cell);
  }

  /**
   * Drops series whose value has not changed for `idleMs` (wall time, from one call to the next); those of the daemon itself
   * and declared ones stay. A counter that comes back begins at 0, which Prometheus takes for a restart.
   *
   * @returns How many went: cells that a writer keeps may be among them.
   */
  dropIdle(nowMs: number, idleMs: number): number {
    let gone = 0;
    for (const { def, cells } of this.#families.values()) {
      if (def.name.startsWith("tokentail_")) continue;
      for (const [key, cell] of cells as Map<string, ValueCell | HistogramCell>) {
        const now = "counts" in cell ? cell.count : cell.value;
        // a clock that was set back begins the wait anew
        if (cell.seen !== now || !(nowMs >= cell.seenMs)) {
          cell.seen = now;
          cell.seenMs = nowMs;
        } else if (nowMs - cell.seenMs >= idleMs && !this.#declared.has(cell)) {
          cells.delete(key);
          this.#dropped.push(storedKey(def, key));
          gone++;
        }
      }
    }
    return gone;
  }

  /** Every family that has a series, in the order of first use. */
  *families(): Iterable<{
    readonly def: MetricDef;
    readonly cells: Iterable<ValueCell | HistogramCell>;
    readonly overflowed: number;
  }> {
    for (const { def, cells, overflowed } of this.#families.values()) yield { def, cells: cells.values(), overflowed };
  }

  /** Drops gauge series not written since `sinceMs` (wall time): a silent engine's gauge is unknown, not its last value. */
  dropStale(defs: ReadonlySet<MetricDef>, sinceMs: number): void {
    for (const def of defs) {
      const family = this.#families.get(def.name) as Family<ValueCell> | undefined;
      if (family === undefined) continue;
      for (const [key, cell] of family.cells) {
        if (cell.writtenMs >= sinceMs) continue;
        family.cells.delete(key);
        this.#dropped.push(storedKey(def, key));
      }
    }
  }

  /** Series that changed since the last call, for a commit; undefined for one that vanished. */
  changes(): Array<readonly [key: string, series: StoredSeries | undefined]> {
    const changed: Array<readonly [string, StoredSeries | undefined]> = this.#dropped.map((key) => [key, undefined]);
    this.#dropped = [];
    for (const { def, cells } of this.#families.values()) {
      for (const [key, cell] of cells as Map<string, ValueCell | HistogramCell>) {
        const now = "counts" in cell ? cell.count : cell.value;
        if (cell.committed === now) continue;
        cell.committed = now;
        changed.push([storedKey(def, key), stored(def, cell)]);
      }
    }
    return changed;
  }

  /** A commit that failed: everything is to be written again. */
  forgetCommit(): void {
    for (const { cells } of this.#families.values()) for (const cell of cells.values()) cell.committed = Number.NaN;
  }

  /** Puts back the series of a commit. Call before anything is recorded. A series of another layout starts anew. */
  restore(series: Iterable<unknown>, defs: Iterable<MetricDef>): void {
    const byName = new Map([...defs].map((def) => [def.name, def]));
    for (const saved of series as Iterable<StoredSeries>) {
      const def = byName.get(saved.metric);
      if (def === undefined) continue;
      const cell = this.#family(def).restore(saved.labels);
      if ("counts" in cell) {
        if (saved.filled === undefined || saved.layout !== layoutOf(cell.buckets)) continue;
        for (let at = 0; at < saved.filled.length; at += 2)
          cell.counts[saved.filled[at] as number] = saved.filled[at + 1] as number;
        cell.count = saved.value;
        cell.sum = saved.sum ?? 0;
        cell.committed = cell.count;
      } else {
        cell.value = saved.value;
        cell.writtenMs = saved.writtenMs ?? 0;
        cell.committed = cell.value;
      }
    }
  }

  #family(def: MetricDef): Family<ValueCell> | Family<HistogramCell> {
    let family = this.#families.get(def.name);
    if (family === undefined) {
      family =
        def.kind === "histogram"
          ? new Family<HistogramCell>(def, this.#maxSeries, (labels) => newHistogram(labels, def.buckets))
          : new Family<ValueCell>(def, this.#maxSeries, (labels) => newValue(labels));
      this.#families.set(def.name, family);
    }
    return family;
  }
}

function newValue(labels: Labels): ValueCell {
  return { labels, value: 0, committed: 0, writtenMs: 0, seen: Number.NaN, seenMs: 0 };
}

function newHistogram(labels: Labels, buckets: readonly number[]): HistogramCell {
  return {
    labels,
    buckets,
    counts: new Float64Array(buckets.length + 1),
    count: 0,
    committed: 0,
    sum: 0,
    exemplars: undefined,
    seen: Number.NaN,
    seenMs: 0,
  };
}

/** One series as a commit holds it. */
export interface StoredSeries {
  readonly metric: string;
  readonly labels: Labels;
  /** Value of a counter or gauge, count of a histogram. */
  readonly value: number;
  readonly writtenMs?: number;
  readonly sum?: number;
  /** Which boundaries the histogram has, see {@link layoutOf}. */
  readonly layout?: string;
  /** Index and count of each bucket that holds something, in turns: most of a layout's buckets are empty. */
  readonly filled?: readonly number[];
}

const layouts = new WeakMap<readonly number[], string>();

/** A short name of boundaries that changes with any of them (FNV-1a over their text). */
function layoutOf(buckets: readonly number[]): string {
  let layout = layouts.get(buckets);
  if (layout === undefined) {
    let hash = 0x811c9dc5;
    for (const character of String(buckets)) hash = Math.imul(hash ^ character.charCodeAt(0), 0x01000193);
    layout = `${buckets.length}-${(hash >>> 0).toString(16)}`;
    layouts.set(buckets, layout);
  }
  return layout;
}

function filledOf(counts: Float64Array): number[] {
  const filled: number[] = [];
  for (let index = 0; index < counts.length; index++) {
    const count = counts[index] as number;
    if (count !== 0) filled.push(index, count);
  }
  return filled;
}

const storedKey = (def: MetricDef, key: string): string => `${def.name} ${key}`;

function stored(def: MetricDef, cell: ValueCell | HistogramCell): StoredSeries {
  const { labels } = cell;
  if (!("counts" in cell)) return { metric: def.name, labels, value: cell.value, writtenMs: cell.writtenMs };
  const { count: value, sum, buckets, counts } = cell;
  return { metric: def.name, labels, value, sum, layout: layoutOf(buckets), filled: filledOf(counts) };
}
