import {
  type BaselinePort,
  type ServiceKey,
  SIGNALS,
  type Signal,
  type WindowFigures,
  type WindowRole,
} from "../model/sla.ts";
import { codeOf, type SlotState, SlotTable } from "./slot-table.ts";
import { Thinner } from "./thinner.ts";
import { keyOf, LAYOUT } from "./value-key.ts";
import { WindowView } from "./window-view.ts";

const MINUTE_MS = 60_000;
const ROW = "baseline ";
const SERVICES_ROW = "baseline services";
/** Slots that still may get late lines keep room for them. */
const OPEN_SLOTS = 10;

export interface BaselineOptions {
  /** Length of the compared windows, whole minutes. */
  readonly windowMs: number;
  /** Labels that tell services apart; others are empty. */
  readonly by?: readonly string[];
  /** How far back slots are kept; Infinity keeps all. */
  readonly retentionMs: number;
  /** Services and models that are told apart; requests of further ones are counted and not kept. */
  readonly maxServices?: number;
  /** Buckets over all slots; beyond, the oldest slots are dropped. One takes 24 bytes. */
  readonly maxBuckets?: number;
}

interface Known {
  readonly key: ServiceKey;
  lastSlot: number;
  /** By signal and role. */
  readonly views: Array<WindowView | undefined>;
}

/** The minute that holds a time: slot k is (k − 1 min, k min]. */
export const slotOf = (timeMs: number): number => Math.ceil(timeMs / MINUTE_MS);

/**
 * Latencies of successful requests as sketches by service, model, signal and minute of event time. Windows slide over the
 * minutes; late lines go where their time belongs.
 */
export class Baselines implements BaselinePort {
  /** Requests not kept because of `maxServices`. */
  overflowed = 0;
  /** Slots dropped before their time because of `maxBuckets`. */
  droppedSlots = 0;
  /** Grows when the table of services changes. */
  version = 0;
  readonly key = SERVICES_ROW;
  readonly #options: Required<BaselineOptions>;
  readonly #width: number;
  readonly #slots = new Map<number, SlotTable>();
  readonly #known = new Map<number, Known>();
  readonly #ids = new Map<string, Map<string, number>>();
  readonly #dirty = new Set<number>();
  readonly #gone = new Set<number>();
  readonly #thinner: Thinner;
  /** No id below is free. */
  #freeId = 0;
  #sealedSlot = Number.NEGATIVE_INFINITY;

  constructor(options: BaselineOptions) {
    this.#options = { by: [], maxServices: 1000, maxBuckets: 16_000_000, ...options };
    this.#width = Math.round(options.windowMs / MINUTE_MS);
    this.#thinner = new Thinner(this.#slots, this.#width);
  }

  /** The id of a service and model; undefined beyond the limit. */
  idOf(service: string, model: string): number | undefined {
    let byModel = this.#ids.get(service);
    if (byModel === undefined) {
      byModel = new Map();
      this.#ids.set(service, byModel);
    }
    let id = byModel.get(model);
    if (id !== undefined) return id;
    if (this.#known.size >= this.#options.maxServices) {
      this.overflowed++;
      return undefined;
    }
    // ids of services that are gone are free: no bucket of theirs is left
    while (this.#known.has(this.#freeId)) this.#freeId++;
    id = this.#freeId;
    byModel.set(model, id);
    this.#known.set(id, { key: { service, model }, lastSlot: Number.NEGATIVE_INFINITY, views: [] });
    this.version++;
    return id;
  }

  /** One successful request's latency. @param ms At least 0. */
  add(id: number, signal: number, timeMs: number, ms: number): void {
    const known = this.#known.get(id);
    if (known === undefined) return;
    const slot = slotOf(timeMs);
    let table = this.#slots.get(slot);
    if (table === undefined) {
      table = new SlotTable();
      this.#slots.set(slot, table);
    }
    const ns = Math.round(ms * 1e6);
    const key = keyOf(ns);
    const series = id * SIGNALS.length + signal;
    table.add(codeOf(series, key), 1, ns, ns);
    this.#dirty.add(slot);
    if (slot > known.lastSlot) known.lastSlot = slot;
    for (let role = 0; role < 3; role++) {
      const view = known.views[signal * 3 + role];
      if (view?.contains(slot) === true) view.add(key, 1);
    }
  }

  *services(): Iterable<readonly [number, ServiceKey]> {
    for (const [id, { key }] of this.#known) yield [id, key];
  }

  window(id: number, signal: Signal, role: WindowRole, endMs: number): WindowFigures | undefined {
    const known = this.#known.get(id);
    if (known === undefined) return undefined;
    const end = slotOf(endMs);
    const index = SIGNALS.indexOf(signal);
    if (known.lastSlot <= end - this.#width) return undefined;
    const view = (known.views[index * 3 + role] ??= new WindowView(
      id * SIGNALS.length + index,
      this.#width,
      this.#slots,
    ));
    view.moveTo(end);
    return view.figures();
  }

  get buckets(): number {
    let sum = 0;
    for (const table of this.#slots.values()) sum += table.size;
    return sum;
  }

  get slotCount(): number {
    return this.#slots.size;
  }

  /**
   * Drops what is past the retention, gives back unused room, and thins out hours that no window will touch again.
   * Yields between its steps, each below some milliseconds.
   */
  *tidy(nowMs: number): Generator<void> {
    const now = slotOf(nowMs);
    const oldest = now - Math.ceil(this.#options.retentionMs / MINUTE_MS);
    for (const slot of this.#slots.keys()) if (slot < oldest) this.#drop(slot);
    for (const [id, { key, lastSlot }] of this.#known) {
      if (lastSlot >= oldest || lastSlot === Number.NEGATIVE_INFINITY) continue;
      this.#known.delete(id);
      this.#freeId = Math.min(this.#freeId, id);
      this.#ids.get(key.service)?.delete(key.model);
      this.version++;
    }
    const sealUpTo = now - OPEN_SLOTS;
    for (let slot = Math.max(this.#sealedSlot + 1, sealUpTo - 1440); slot <= sealUpTo; slot++)
      this.#slots.get(slot)?.seal();
    this.#sealedSlot = sealUpTo;
    yield;
    for (const slots of this.#thinner.thin(now - OPEN_SLOTS, this.#seriesIds())) {
      for (const slot of slots) this.#changed(slot);
      yield;
    }
    let over = this.buckets - this.#options.maxBuckets;
    if (over <= 0) return;
    for (const slot of [...this.#slots.keys()].sort((a, b) => a - b)) {
      if (over <= 0) break;
      over -= this.#slots.get(slot)?.size ?? 0;
      this.#drop(slot);
      this.droppedSlots++;
    }
  }

  /** A slot was rewritten: windows over it are to be added up anew. */
  #changed(slot: number): void {
    this.#dirty.add(slot);
    for (const { views } of this.#known.values())
      for (const view of views) if (view?.contains(slot) === true) view.end = Number.NaN;
  }

  #seriesIds(): number[] {
    return [...this.#known.keys()].flatMap((id) => SIGNALS.map((_, index) => id * SIGNALS.length + index));
  }

  #drop(slot: number): void {
    this.#slots.delete(slot);
    this.#dirty.delete(slot);
    this.#gone.add(slot);
  }

  /** The table of services, for a commit. */
  get state(): unknown {
    return {
      layout: this.#layout,
      thinnedSlot: this.#thinner.thinnedSlot,
      services: [...this.#known].map(([id, { key, lastSlot }]) => [id, key.service, key.model, lastSlot]),
    };
  }

  /** Slots that changed since the last call, as rows of a commit; undefined for one that is to go. */
  *changes(): Iterable<readonly [key: string, row: SlotState | undefined]> {
    for (const slot of this.#gone) yield [`${ROW}${slot}`, undefined];
    for (const slot of this.#dirty) {
      const table = this.#slots.get(slot);
      if (table !== undefined) yield [`${ROW}${slot}`, table.state];
    }
    this.#gone.clear();
    this.#dirty.clear();
  }

  /** The commit failed: everything is to be written again. */
  forgetCommit(): void {
    for (const slot of this.#slots.keys()) this.#dirty.add(slot);
  }

  /**
   * Puts back what the rows of a commit hold. Sketches of another layout are given up: what was thinned out for other
   * windows, or summed under other labels, would answer wrongly.
   *
   * @returns False when they were given up.
   */
  restore(rows: ReadonlyMap<string, unknown>): boolean {
    const saved = rows.get(SERVICES_ROW) as
      | {
          layout: string;
          thinnedSlot: number;
          services: Array<[number, string, string, number]>;
        }
      | undefined;
    if (saved === undefined) return true;
    if (saved.layout !== this.#layout) {
      for (const key of rows.keys()) if (!Number.isNaN(slotOfRow(key))) this.#gone.add(slotOfRow(key));
      return false;
    }
    this.#thinner.thinnedSlot = saved.thinnedSlot;
    for (const [id, service, model] of saved.services) {
      this.#known.set(id, { key: { service, model }, lastSlot: Number.NEGATIVE_INFINITY, views: [] });
      const byModel = this.#ids.get(service) ?? new Map<string, number>();
      this.#ids.set(service, byModel.set(model, id));
    }
    for (const [key, row] of rows) {
      const slot = slotOfRow(key);
      if (Number.isNaN(slot)) continue;
      const table = SlotTable.from(row as SlotState);
      this.#slots.set(slot, table);
      for (const series of table.series()) {
        const known = this.#known.get(Math.floor(series / SIGNALS.length));
        if (known !== undefined && slot > known.lastSlot) known.lastSlot = slot;
      }
    }
    return true;
  }

  get #layout(): string {
    return `${LAYOUT} ${this.#width} ${this.#options.by.join()}`;
  }
}

const slotOfRow = (key: string): number => (key.startsWith(ROW) ? Number(key.slice(ROW.length)) : Number.NaN);
