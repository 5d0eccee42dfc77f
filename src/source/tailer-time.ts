/** A step of the wall clock longer than this between two passes is the clock being set, or the machine asleep. */
const MAX_STEP_MS = 10_000;

/** Time that only goes forward, made of wall times that may jump: waits neither expire in a storm nor stall. */
export class TailerTime {
  nowMs = 0;
  #wallMs = Number.NaN;

  advance(wallMs: number): number {
    const stepMs = wallMs - this.#wallMs;
    if (stepMs > 0) this.nowMs += Math.min(stepMs, MAX_STEP_MS);
    this.#wallMs = wallMs;
    return this.nowMs;
  }
}
