import type { Decimal } from "../core/decimal.ts";
import type { LocalTime } from "../core/local-time.ts";
import type { BaselinePort, Signal, WindowFigures } from "../model/sla.ts";

/** Why drift is not judged. */
export type NoVerdict = "insufficient_samples" | "baseline_missing" | "baseline_tainted" | "overflow";

/** What is known of one signal of one service and model at a tick. */
export interface Verdict {
  readonly drift: boolean;
  /** Undefined when there is a verdict, or nothing to say because the present window is empty. */
  readonly reason: NoVerdict | undefined;
  readonly now: WindowFigures | undefined;
  readonly base: WindowFigures | undefined;
  /** End of the baseline window. */
  readonly baseEndMs: number;
  /** P99 now over P99 of the baseline, less 1; undefined without a verdict. */
  readonly ratio: number | undefined;
}

export interface DriftRule {
  readonly windowMs: number;
  readonly baselineMs: number;
  readonly minSamples: number;
  readonly maxDrift: Decimal;
  readonly rule: "separate" | "interval" | "naive";
  /** Undefined: the baseline is as long ago by elapsed time. */
  readonly clock: LocalTime | undefined;
}

/** The end of the window `ago` baselines before one that ends at `timeMs`. */
export function baselineEnd({ clock, baselineMs }: DriftRule, timeMs: number, ago: 1 | 2): number {
  const beforeMs = ago * baselineMs;
  return clock === undefined ? timeMs - beforeMs : clock.sameWallTimeBefore(timeMs, beforeMs);
}

/** @param firing True when a drift alert of the service and model was firing in the window that ends there. */
export function judge(
  rule: DriftRule,
  source: BaselinePort,
  id: number,
  signal: Signal,
  ends: readonly [nowMs: number, thenMs: number, before: number],
  firing: (endMs: number) => boolean,
): Verdict {
  const [nowMs, thenMs, beforeMs] = ends;
  const now = source.window(id, signal, 0, nowMs);
  let end = thenMs;
  const without = (reason: NoVerdict | undefined, base?: WindowFigures): Verdict => ({
    drift: false,
    reason,
    now,
    base,
    baseEndMs: end,
    ratio: undefined,
  });
  if (now === undefined) return without(undefined);
  if (now.samples < rule.minSamples) return without("insufficient_samples");
  let base: WindowFigures | undefined;
  if (firing(end)) {
    end = beforeMs;
    base = source.window(id, signal, 2, end);
    if (firing(end) || base === undefined || base.samples < rule.minSamples) return without("baseline_tainted");
  } else base = source.window(id, signal, 1, end);
  if (base === undefined) return without("baseline_missing");
  if (base.samples < rule.minSamples) return without("insufficient_samples", base);
  if (now.overflow || base.overflow) return without("overflow", base);
  const lowerNs = rule.rule === "naive" ? now.p99Ns : now.lowerNs;
  const upperNs = rule.rule === "separate" ? base.upperNs : base.p99Ns;
  return {
    drift: Number.isFinite(upperNs) && exceeds(lowerNs, upperNs, rule.maxDrift),
    reason: undefined,
    now,
    base,
    baseEndMs: end,
    ratio: now.p99Ns === base.p99Ns ? 0 : now.p99Ns / base.p99Ns - 1,
  };
}

/** a > b × (1 + maxDrift), in integers: exactly 15 % more than 3 s is no drift. */
export function exceeds(a: number, b: number, { units, scale }: Decimal): boolean {
  const one = 10n ** BigInt(scale);
  return BigInt(a) * one > BigInt(b) * (one + units);
}
