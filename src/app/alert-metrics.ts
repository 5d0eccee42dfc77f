import { phaseOf } from "../alert/alert-state.ts";
import type { AlertEngine } from "../alert/engine.ts";
import type { AlertsConfig } from "../alert/schema.ts";
import { METRICS, type MetricDef, type ValueDef } from "../metric/catalogue.ts";
import type { MetricSet } from "../metric/metric-set.ts";
import type { BudgetStanding } from "../model/sla.ts";
import type { DeliveryState } from "../publish/alertmanager-fleet.ts";

/** Gauges that vanish when their subject does: no verdict, no usage, a budget that was taken away. */
const VANISHING: ReadonlySet<MetricDef> = new Set<MetricDef>([
  METRICS.p99,
  METRICS.p99LowerBound,
  METRICS.p99Samples,
  METRICS.p99Baseline,
  METRICS.p99BaselineUpperBound,
  METRICS.p99DriftRatio,
  METRICS.noVerdict,
  METRICS.budgetUsed,
  METRICS.budgetLimit,
  METRICS.budgetUsedRatio,
  METRICS.budgetElapsedRatio,
  METRICS.budgetReset,
  METRICS.budgetDrawn,
  METRICS.riskScore,
  METRICS.alertState,
]);

export interface AlertFigures {
  readonly engine: AlertEngine;
  readonly alerts: AlertsConfig;
  readonly budgets: readonly BudgetStanding[];
  readonly deliveries: readonly DeliveryState[];
  readonly skipped: ReadonlyMap<string, number>;
}

/** The series of drift, budgets, alerts and notifications, as they stand. */
export function fillAlertMetrics(set: MetricSet, figures: AlertFigures, nowMs: number): void {
  const { engine, alerts, budgets, deliveries, skipped } = figures;
  const gauge = (def: ValueDef, value: number | undefined, ...labels: (string | undefined)[]): void => {
    if (value === undefined || Number.isNaN(value)) return;
    const cell = set.cell(def, {}, ...labels);
    cell.value = value;
    cell.writtenMs = nowMs;
  };
  for (const { labels, verdicts, riskScore } of engine.services) {
    const who = [labels["service_name"], labels["model"]] as const;
    gauge(METRICS.riskScore, riskScore, ...who);
    for (const [signal, { now, base, ratio, reason }] of verdicts) {
      if (now === undefined) continue;
      const seconds = (ns: number): number | undefined => (Number.isFinite(ns) ? ns / 1e9 : undefined);
      gauge(METRICS.p99Samples, now.samples, signal, ...who);
      gauge(METRICS.p99, seconds(now.p99Ns), signal, ...who);
      gauge(METRICS.p99LowerBound, seconds(now.lowerNs), signal, ...who);
      if (base !== undefined) {
        gauge(METRICS.p99Baseline, seconds(base.p99Ns), signal, ...who);
        gauge(METRICS.p99BaselineUpperBound, seconds(base.upperNs), signal, ...who);
      }
      gauge(METRICS.p99DriftRatio, ratio, signal, ...who);
      if (reason !== undefined) gauge(METRICS.noVerdict, 1, signal, ...who, reason);
    }
  }
  for (const budget of budgets) {
    const who = [budget.name, budget.tenant] as const;
    gauge(METRICS.budgetUsed, budget.used, ...who);
    gauge(METRICS.budgetLimit, budget.limit, ...who);
    gauge(METRICS.budgetUsedRatio, budget.ratio, ...who);
    gauge(METRICS.budgetElapsedRatio, elapsedShare(budget, nowMs), ...who);
    gauge(METRICS.budgetReset, budget.resetMs / 1000, ...who);
    for (const [key, tokens] of budget.drawn()) gauge(METRICS.budgetDrawn, tokens, ...who, key.service, key.model);
  }
  const levels = { inactive: 0, pending: 1, firing: 2 } as const;
  for (const alert of engine.alerts) {
    const { service_name: service, model, signal, budget, tenant } = alert.labels;
    gauge(METRICS.alertState, levels[phaseOf(alert)], alert.alertname, service, model, signal, budget, tenant);
  }
  gauge(METRICS.alertThreshold, alerts.drift.max_drift, "max_drift");
  gauge(METRICS.alertThreshold, alerts.tokens.warn_at, "warn_at");
  gauge(METRICS.alertThreshold, alerts.drift.min_samples, "min_samples");
  for (const { url, sent, errors, dropped, queued, skewMs } of deliveries) {
    gauge(METRICS.notificationsSent, sent, url);
    gauge(METRICS.notificationErrors, errors, url);
    gauge(METRICS.notificationsDropped, dropped, url);
    gauge(METRICS.notificationsQueued, queued, url);
    gauge(METRICS.alertmanagerSkew, Number.isNaN(skewMs) ? undefined : skewMs / 1000, url);
  }
  for (const [reason, requests] of skipped) gauge(METRICS.alertSkipped, requests, reason);
  set.dropStale(VANISHING, nowMs);
}

/** Share of the budget's present period that has passed. */
export const elapsedShare = ({ startMs, resetMs }: BudgetStanding, nowMs: number): number =>
  Math.min(1, Math.max(0, (nowMs - startMs) / (resetMs - startMs)));
