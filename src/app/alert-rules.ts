import type { AlertRules } from "../alert/engine.ts";
import { exactThresholds } from "../alert/schema.ts";
import type { Config } from "../config/schema.ts";
import { LocalTime } from "../core/local-time.ts";

/** The engine's rules as the configuration states them. */
export function alertRulesOf({ alerts }: Pick<Config, "alerts">): AlertRules {
  const { drift } = alerts;
  const { maxDrift, warnAt } = exactThresholds(alerts);
  return {
    drift: {
      signals: [...new Set(drift.signals)],
      by: [...new Set(drift.by)],
      windowMs: drift.window,
      baselineMs: drift.baseline,
      minSamples: drift.min_samples,
      maxDrift,
      rule: drift.rule,
      clock: drift.timezone === undefined ? undefined : new LocalTime(drift.timezone),
    },
    warnAt,
    weights: alerts.joint.weights,
    forMs: alerts.for,
    keepMs: alerts.keep_firing_for,
  };
}
