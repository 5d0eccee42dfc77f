import type { LocalTime } from "../core/local-time.ts";

export type PeriodKind = "1h" | "1d" | "1w" | "1mo";

export interface Period {
  readonly startMs: number;
  /** The instant at which the next one begins. */
  readonly endMs: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** 1970-01-01 was a Thursday: ISO weeks begin on the Monday before. */
const MONDAY_MS = -3 * DAY_MS;

/**
 * The local hour, date, ISO week or month that holds an instant. Days on which the clock is set have 23 or 25 hours; an hour
 * that the clock shows twice is two periods.
 */
export function periodAt(kind: PeriodKind, clock: LocalTime, timeMs: number): Period {
  const wall = clock.wallMs(timeMs);
  if (kind === "1h") {
    const startMs = timeMs - (((wall % HOUR_MS) + HOUR_MS) % HOUR_MS);
    return { startMs, endMs: startMs + HOUR_MS };
  }
  const [from, to] = wallBounds(kind, wall);
  return { startMs: clock.firstAt(from), endMs: clock.firstAt(to) };
}

function wallBounds(kind: "1d" | "1w" | "1mo", wall: number): readonly [from: number, to: number] {
  if (kind === "1d") {
    const from = Math.floor(wall / DAY_MS) * DAY_MS;
    return [from, from + DAY_MS];
  }
  if (kind === "1w") {
    const from = Math.floor((wall - MONDAY_MS) / (7 * DAY_MS)) * 7 * DAY_MS + MONDAY_MS;
    return [from, from + 7 * DAY_MS];
  }
  const date = new Date(wall);
  return [
    Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1),
    Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1),
  ];
}
