import { type Decimal, toNumber } from "../core/decimal.ts";
import type { BaselinePort, BudgetPort, BudgetStanding, ServiceKey, Signal } from "../model/sla.ts";
import {
  type Alert,
  type AlertName,
  type AlertValues,
  newAlert,
  phaseOf,
  step,
  type Transition,
} from "./alert-state.ts";
import { type FiringSpans, firedWithin, forgetBefore, noteFiring } from "./firing-spans.ts";
import { baselineEnd, type DriftRule, judge, type Verdict } from "./verdict.ts";

/** What the engine takes from the configuration. */
export interface AlertRules {
  readonly drift: DriftRule & {
    readonly signals: readonly Signal[];
    readonly by: readonly ("service_name" | "model")[];
  };
  readonly warnAt: Decimal;
  readonly weights: { readonly drift: number; readonly tokens: number };
  readonly forMs: number;
  readonly keepMs: number;
}

export interface EngineOptions {
  readonly rules: AlertRules;
  readonly baselines: BaselinePort;
  readonly budgets: BudgetPort;
  readonly onTransition?: (alert: Alert, transition: Transition, timeMs: number) => void;
  readonly onVerdict?: (service: ServiceStanding, signal: Signal, verdict: Verdict, timeMs: number) => void;
}

/** A service and model at the last tick. */
export interface ServiceStanding {
  readonly key: ServiceKey;
  readonly labels: Readonly<Record<string, string>>;
  readonly verdicts: ReadonlyMap<Signal, Verdict>;
  /** Budgets that it drew on in their present periods. */
  readonly budgets: readonly BudgetStanding[];
  /** Undefined while drift is not judged. */
  readonly riskScore: number | undefined;
}

/** Resolved alerts are remembered this long, for those who have to be told again. */
const RESOLVED_MS = 15 * 60_000;
/** A longer pause between two ticks is time that nobody watched. */
const GAP_MS = 3 * 60_000;
/** Label value for a service or model that the log does not name: an empty label would equal every other empty one. */
const UNKNOWN = "unknown";
/** Services judged before others get a turn. */
const TURN = 4;
const NO_VALUES: AlertValues = {
  p99_now_s: null,
  p99_then_s: null,
  drift_ratio: null,
  samples_now: null,
  samples_then: null,
  budget_used_ratio: null,
  risk_score: null,
};

/** Judges drift and budgets together, tick by tick. Pure: time comes with the tick, figures from the ports. */
export class AlertEngine {
  readonly key = "alert-states";
  /** Grows with every tick that changed something. */
  version = 0;
  /** Time of the last tick; NaN before the first. */
  lastTickMs = Number.NaN;
  /** The last tick's view of every service and model with traffic. */
  services: readonly ServiceStanding[] = [];
  budgets: readonly BudgetStanding[] = [];
  rules: AlertRules;
  readonly #options: EngineOptions;
  readonly #alerts = new Map<string, Alert>();
  readonly #fired: FiringSpans = new Map();

  constructor(options: EngineOptions) {
    this.#options = options;
    this.rules = options.rules;
  }

  get alerts(): Iterable<Alert> {
    return this.#alerts.values();
  }

  /** True when no alert is pending or firing. */
  get quiet(): boolean {
    for (const alert of this.#alerts.values()) if (phaseOf(alert) !== "inactive") return false;
    return true;
  }

  /** One evaluation, whole. */
  evaluate(timeMs: number): void {
    for (const _ of this.steps(timeMs));
  }

  /** One evaluation in short steps, so that others get their turn. */
  *steps(timeMs: number): Generator<void> {
    this.#skipGap(timeMs);
    const { baselines, budgets } = this.#options;
    const touched = new Set<string>();
    const standings = budgets.standings(timeMs);
    for (const standing of standings) {
      const labels = { budget: standing.name, ...(standing.tenant === undefined ? {} : { tenant: standing.tenant }) };
      const values = () => ({ ...NO_VALUES, budget_used_ratio: standing.ratio ?? null });
      this.#step("LLMTokenBudgetNearlySpent", labels, standing.spent, timeMs, values, [standing.name], touched);
    }
    const { drift } = this.rules;
    const ends = [timeMs, baselineEnd(drift, timeMs, 1), baselineEnd(drift, timeMs, 2)] as const;
    const services: ServiceStanding[] = [];
    let judged = 0;
    for (const [id, key] of baselines.services()) {
      const service = this.#service(id, key, ends, standings, touched);
      if (service !== undefined) services.push(service);
      if (++judged % TURN === 0) yield;
    }
    // what is gone, or was configured away, is false
    for (const [key, alert] of this.#alerts) {
      if (!touched.has(key)) this.#move(key, alert, false, timeMs);
    }
    forgetBefore(this.#fired, timeMs - 2 * drift.baselineMs - drift.windowMs - 86_400_000);
    this.services = services;
    this.budgets = standings;
    this.lastTickMs = timeMs;
    this.version++;
  }

  #service(
    id: number,
    key: ServiceKey,
    ends: readonly [number, number, number],
    standings: readonly BudgetStanding[],
    touched: Set<string>,
  ): ServiceStanding | undefined {
    const { drift } = this.rules;
    const [timeMs] = ends;
    const labels: Record<string, string> = {};
    for (const name of drift.by) labels[name] = (name === "model" ? key.model : key.service) || UNKNOWN;
    const spansKey = Object.values(labels).join("\u0000");
    const firing = (endMs: number): boolean => firedWithin(this.#fired, spansKey, endMs, drift.windowMs);
    const verdicts = new Map<Signal, Verdict>();
    for (const signal of drift.signals)
      verdicts.set(signal, judge(drift, this.#options.baselines, id, signal, ends, firing));
    const mine = standings.filter((standing) => drewOn(standing, key, drift.by));
    const service = { key, labels, verdicts, budgets: mine, riskScore: this.#risk(worstOf(verdicts.values()), mine) };
    for (const [signal, verdict] of verdicts) {
      this.#options.onVerdict?.(service, signal, verdict, timeMs);
      const alert = this.#step(
        "LLMLatencyP99Drift",
        { ...labels, signal },
        verdict.drift,
        timeMs,
        () => ({ ...valuesOf(verdict), budget_used_ratio: highest(mine) }),
        [],
        touched,
      );
      if (alert?.firedMs !== undefined) noteFiring(this.#fired, spansKey, alert.firedMs, timeMs);
    }
    const worst = worstOf([...verdicts.values()].filter((verdict) => verdict.drift));
    const spent = mine.filter((standing) => standing.spent);
    const values = () => ({
      ...(worst === undefined ? NO_VALUES : valuesOf(worst)),
      budget_used_ratio: highest(spent),
      risk_score: this.#risk(worst, spent) ?? null,
    });
    const names = spent.map(({ name }) => name);
    this.#step("LLMSlaCritical", labels, worst !== undefined && spent.length > 0, timeMs, values, names, touched);
    return [...verdicts.values()].every(({ now }) => now === undefined) ? undefined : service;
  }

  /** Weighted drift and budget use, each over its threshold, with the worst signal and the highest budget. */
  #risk(verdict: Verdict | undefined, budgets: readonly BudgetStanding[]): number | undefined {
    if (verdict?.ratio === undefined) return undefined;
    const { drift, warnAt, weights } = this.rules;
    const part = (value: number, threshold: number): number => (threshold > 0 ? Math.max(0, value) / threshold : 0);
    const used = Math.min(highest(budgets) ?? 0, Number.MAX_SAFE_INTEGER);
    return (
      weights.drift * part(verdict.ratio, toNumber(drift.maxDrift)) + weights.tokens * part(used, toNumber(warnAt))
    );
  }

  #step(
    alertname: AlertName,
    labels: Readonly<Record<string, string>>,
    active: boolean,
    timeMs: number,
    values: () => AlertValues,
    budgets: readonly string[],
    touched: Set<string>,
  ): Alert | undefined {
    const key = `${alertname}\u0000${Object.entries(labels).flat().join("\u0000")}`;
    touched.add(key);
    let alert = this.#alerts.get(key);
    if (alert === undefined) {
      if (!active) return undefined;
      alert = newAlert(alertname, labels, NO_VALUES);
      this.#alerts.set(key, alert);
    }
    if (active) {
      alert.values = values();
      alert.budgets = budgets;
    }
    this.#move(key, alert, active, timeMs);
    return alert;
  }

  #move(key: string, alert: Alert, active: boolean, timeMs: number): void {
    const transition = step(alert, active, timeMs, this.rules);
    if (transition !== undefined) this.#options.onTransition?.(alert, transition, timeMs);
    if (phaseOf(alert) === "inactive" && !(timeMs - (alert.resolvedMs ?? Number.NEGATIVE_INFINITY) <= RESOLVED_MS))
      this.#alerts.delete(key);
  }

  /** Time that nobody watched proves neither that a condition held nor that it was gone. */
  #skipGap(timeMs: number): void {
    const gapMs = timeMs - this.lastTickMs;
    if (!(gapMs > GAP_MS)) return;
    for (const alert of this.#alerts.values()) {
      if (alert.firedMs === undefined && alert.pendingMs !== undefined) alert.pendingMs += gapMs;
      if (alert.falseSinceMs !== undefined) alert.falseSinceMs += gapMs;
    }
  }

  /** Alert states and firing spans, for a commit. */
  get state(): unknown {
    return { lastTickMs: this.lastTickMs, alerts: [...this.#alerts], fired: this.#fired };
  }

  restore(state: unknown): void {
    const saved = state as { lastTickMs: number; alerts: Array<[string, Alert]>; fired: FiringSpans };
    this.lastTickMs = saved.lastTickMs;
    for (const [key, alert] of saved.alerts) this.#alerts.set(key, alert);
    for (const [key, spans] of saved.fired) this.#fired.set(key, spans);
  }
}

/** True when a service and model, as far as they are told apart, drew on a budget in its present period. */
function drewOn(standing: BudgetStanding, key: ServiceKey, by: readonly string[]): boolean {
  if (by.length === 2) return standing.drewOn(key);
  for (const [{ service, model }] of standing.drawn())
    if ((!by.includes("service_name") || service === key.service) && (!by.includes("model") || model === key.model))
      return true;
  return false;
}

/** The greatest drift among verdicts. */
function worstOf(verdicts: Iterable<Verdict>): Verdict | undefined {
  let worst: Verdict | undefined;
  for (const verdict of verdicts)
    if (verdict.ratio !== undefined && (worst?.ratio === undefined || verdict.ratio > worst.ratio)) worst = verdict;
  return worst;
}

function highest(budgets: readonly BudgetStanding[]): number | null {
  let most: number | null = null;
  for (const { ratio } of budgets) if (ratio !== undefined && ratio > (most ?? Number.NEGATIVE_INFINITY)) most = ratio;
  return most;
}

function valuesOf({ now, base, ratio }: Verdict): AlertValues {
  return {
    ...NO_VALUES,
    p99_now_s: now === undefined ? null : now.p99Ns / 1e9,
    p99_then_s: base === undefined ? null : base.p99Ns / 1e9,
    drift_ratio: ratio ?? null,
    samples_now: now?.samples ?? null,
    samples_then: base?.samples ?? null,
  };
}
