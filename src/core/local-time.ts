const QUARTER_MS = 15 * 60_000;
const DAY_MS = 86_400_000;
/** Quarter hours whose offset is remembered; enough for a tick's look-ups. */
const REMEMBERED = 4096;

/** Wall-clock time of a time zone, through the ICU data of the runtime. */
export class LocalTime {
  readonly zone: string;
  readonly #format: Intl.DateTimeFormat;
  readonly #offsets = new Map<number, number>();

  /** @throws {RangeError} When there is no such time zone. */
  constructor(zone: string) {
    this.zone = zone;
    this.#format = new Intl.DateTimeFormat("en-GB", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
    });
  }

  /** The wall-clock time at an instant, written as if it were UTC, milliseconds. */
  wallMs(timeMs: number): number {
    if (this.zone === "UTC") return timeMs;
    const quarter = Math.floor(timeMs / QUARTER_MS);
    let offset = this.#offsets.get(quarter);
    if (offset === undefined) {
      const at = quarter * QUARTER_MS;
      const parts: Record<string, number> = {};
      for (const { type, value } of this.#format.formatToParts(at)) parts[type] = Number(value);
      const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
      offset = Date.UTC(year, month - 1, day, hour, minute, second) - at;
      if (this.#offsets.size >= REMEMBERED) this.#offsets.clear();
      this.#offsets.set(quarter, offset);
    }
    return timeMs + offset;
  }

  /** The first instant at which the wall clock shows `wallMs` or later. */
  firstAt(wallMs: number): number {
    if (this.zone === "UTC") return wallMs;
    // offsets lie within ±15 h, and change on whole minutes
    let low = Math.floor((wallMs - DAY_MS) / 60_000);
    let high = Math.ceil((wallMs + DAY_MS) / 60_000);
    while (high - low > 1) {
      const middle = Math.floor((low + high) / 2);
      if (this.wallMs(middle * 60_000) >= wallMs) high = middle;
      else low = middle;
    }
    return high * 60_000;
  }

  /** The instant `beforeMs` earlier by the wall clock; by elapsed time where that local hour did not exist. */
  sameWallTimeBefore(timeMs: number, beforeMs: number): number {
    const elapsed = timeMs - beforeMs;
    const wanted = this.wallMs(timeMs) - beforeMs;
    if (this.wallMs(elapsed) === wanted) return elapsed;
    for (const shiftMs of [0, 4 * 3_600_000, -4 * 3_600_000]) {
      const near = elapsed + shiftMs;
      const candidate = wanted - (this.wallMs(near) - near);
      if (this.wallMs(candidate) === wanted) return candidate;
    }
    return elapsed;
  }
}

/** True when the runtime knows the time zone. */
export function isZone(zone: string): boolean {
  try {
    return Intl.DateTimeFormat("en", { timeZone: zone }).resolvedOptions().timeZone !== "";
  } catch {
    return false;
  }
}
