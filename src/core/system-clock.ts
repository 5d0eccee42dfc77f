import { setTimeout as delay } from "node:timers/promises";
import type { Clock } from "./clock.ts";

/** The machine's clock. The only place, beside the I/O folders, that reads it. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  sleep: (ms, signal) => delay(ms, undefined, signal === undefined ? {} : { signal }),
};
