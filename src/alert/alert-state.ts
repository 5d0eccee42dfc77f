/** The alerts that the engine raises, with their severities. */
export const SEVERITIES = {
  LLMLatencyP99Drift: "warning",
  LLMTokenBudgetNearlySpent: "warning",
  LLMSlaCritical: "critical",
} as const;
export type AlertName = keyof typeof SEVERITIES;

/** Figures behind an alert; null = not part of it, or not known. */
export interface AlertValues {
  readonly p99_now_s: number | null;
  readonly p99_then_s: number | null;
  readonly drift_ratio: number | null;
  readonly samples_now: number | null;
  readonly samples_then: number | null;
  readonly budget_used_ratio: number | null;
  readonly risk_score: number | null;
}

/** One label set of one alert, and where it stands. Plain data: a commit holds it. */
export interface Alert {
  readonly alertname: AlertName;
  readonly labels: Readonly<Record<string, string>>;
  /** When the condition came true; undefined while inactive. */
  pendingMs: number | undefined;
  /** When it began to fire. */
  firedMs: number | undefined;
  /** Since when the condition of a firing alert has been false. */
  falseSinceMs: number | undefined;
  /** When the last episode ended; kept while it is told again to those who may have missed it. */
  resolvedMs: number | undefined;
  /** Start of the episode that ended at `resolvedMs`. */
  resolvedFiredMs: number | undefined;
  /** The latest figures while the condition was true. */
  values: AlertValues;
  valuesAtFire: AlertValues | undefined;
  /** Budgets behind it, by name. */
  budgets: readonly string[];
}

export type AlertPhase = "inactive" | "pending" | "firing";

export const phaseOf = ({ pendingMs, firedMs }: Alert): AlertPhase =>
  firedMs !== undefined ? "firing" : pendingMs !== undefined ? "pending" : "inactive";

/** What a step did. */
export type Transition = "pending" | "cancelled" | "fired" | "resolved";

export function newAlert(alertname: AlertName, labels: Readonly<Record<string, string>>, values: AlertValues): Alert {
  return {
    alertname,
    labels,
    pendingMs: undefined,
    firedMs: undefined,
    falseSinceMs: undefined,
    resolvedMs: undefined,
    resolvedFiredMs: undefined,
    values,
    valuesAtFire: undefined,
    budgets: [],
  };
}

/**
 * One tick: fires when the condition was true at every tick for `forMs`, resolves when it was false at every tick for `keepMs`.
 * A condition that nobody can judge counts as false.
 */
export function step(
  alert: Alert,
  active: boolean,
  timeMs: number,
  { forMs, keepMs }: { forMs: number; keepMs: number },
): Transition | undefined {
  if (active) {
    alert.falseSinceMs = undefined;
    const begun = alert.pendingMs === undefined;
    alert.pendingMs = Math.min(alert.pendingMs ?? timeMs, timeMs);
    if (alert.firedMs === undefined && timeMs - alert.pendingMs >= forMs) {
      alert.firedMs = timeMs;
      alert.valuesAtFire = alert.values;
      alert.resolvedMs = undefined;
      return "fired";
    }
    return begun ? "pending" : undefined;
  }
  if (alert.firedMs === undefined) {
    if (alert.pendingMs === undefined) return undefined;
    alert.pendingMs = undefined;
    return "cancelled";
  }
  alert.falseSinceMs = Math.min(alert.falseSinceMs ?? timeMs, timeMs);
  if (timeMs - alert.falseSinceMs < keepMs) return undefined;
  alert.resolvedMs = timeMs;
  alert.resolvedFiredMs = alert.firedMs;
  alert.pendingMs = undefined;
  alert.firedMs = undefined;
  alert.falseSinceMs = undefined;
  return "resolved";
}
