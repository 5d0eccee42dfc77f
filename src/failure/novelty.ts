import { putBounded } from "../core/bounded-map.ts";

/** When and how often one template or cause was seen. */
export interface Sighting {
  readonly firstMs: number;
  readonly lastMs: number;
  readonly count: number;
}

/** `new` = never seen before; `resurgent` = back after a silence; `known` = neither. */
export type Novelty = "new" | "resurgent" | "known";

/** Plain memory: id → sighting. Beyond the bound the one that was added first goes, and would be `new` again. */
export type Sightings = Map<string, Sighting>;

const MAX_SIGHTINGS = 20_000;
/** A silence after which something counts as back: a day, milliseconds. */
export const QUIET_MS = 24 * 3_600_000;

/**
 * Notes that a template was seen and says whether that is news. Event times may come a little out of order.
 *
 * @param timeMs Event time; a failure without one (NaN) is counted and is never news.
 */
export function noteSighting(sightings: Sightings, id: string, timeMs: number, quietMs = QUIET_MS): Novelty {
  const before = sightings.get(id);
  if (before === undefined) {
    putBounded(sightings, id, { firstMs: timeMs, lastMs: timeMs, count: 1 }, MAX_SIGHTINGS);
    return Number.isNaN(timeMs) ? "known" : "new";
  }
  const earliest = (a: number, b: number): number => (Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.min(a, b));
  const latest = (a: number, b: number): number => (Number.isNaN(a) ? b : Number.isNaN(b) ? a : Math.max(a, b));
  sightings.set(id, {
    firstMs: earliest(before.firstMs, timeMs),
    lastMs: latest(before.lastMs, timeMs),
    count: before.count + 1,
  });
  return timeMs - before.lastMs > quietMs ? "resurgent" : "known";
}
