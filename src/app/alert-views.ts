import { type Alert, phaseOf, SEVERITIES } from "../alert/alert-state.ts";
import type { AlertEngine, ServiceStanding } from "../alert/engine.ts";
import { fingerprint } from "../alert/fingerprint.ts";
import { describe, noticeLabels } from "../alert/notice.ts";
import type { BudgetStanding, WindowFigures } from "../model/sla.ts";
import type { DeliveryState } from "../publish/alertmanager-fleet.ts";
import { RULE_DEFAULTS } from "../rule/options.ts";
import { slaNodeFile } from "../rule/sla-node.ts";
import { elapsedShare } from "./alert-metrics.ts";

const iso = (timeMs: number | undefined): string | null =>
  timeMs === undefined || Number.isNaN(timeMs) ? null : new Date(timeMs).toISOString();
const seconds = (ns: number): number | null => (Number.isFinite(ns) ? ns / 1e9 : null);

/** Identity of an alert in links: that of its labels as a receiver gets them, external ones aside. */
export const fingerprintOf = (alert: Alert): string => fingerprint(noticeLabels(alert));

/** The document of `/api/v1/alerts`. */
export function alertsView(
  engine: AlertEngine,
  deliveries: readonly DeliveryState[],
  skipped: ReadonlyMap<string, number>,
): unknown {
  return {
    evaluated_at: iso(engine.lastTickMs),
    alerts: [...engine.alerts].map((alert) => alertView(alert, engine)),
    services: engine.services.map((service) => serviceView(service, engine)),
    alertmanagers: deliveries.map(({ url, sent, errors, dropped, queued, lastError, lastSuccessMs, skewMs }) => ({
      url,
      sent,
      errors,
      dropped,
      queued,
      last_error: lastError ?? null,
      last_success_at: iso(lastSuccessMs),
      clock_skew_s: Number.isNaN(skewMs) ? null : skewMs / 1000,
    })),
    skipped_requests: Object.fromEntries(skipped),
  };
}

/** One alert with everything that its verdict stands on. */
export function alertView(alert: Alert, engine: AlertEngine) {
  const service = engine.services.find(({ labels }) =>
    Object.entries(labels).every(([name, value]) => alert.labels[name] === value),
  );
  const resolved = phaseOf(alert) === "inactive" && alert.resolvedMs !== undefined;
  return {
    fingerprint: fingerprintOf(alert),
    alertname: alert.alertname,
    severity: SEVERITIES[alert.alertname],
    labels: alert.labels,
    state: resolved ? "resolved" : phaseOf(alert),
    pending_at: iso(alert.pendingMs),
    fired_at: iso(alert.firedMs ?? alert.resolvedFiredMs),
    resolved_at: iso(alert.resolvedMs),
    description: describe(alert),
    values: alert.values,
    values_at_fire: alert.valuesAtFire ?? null,
    budgets: alert.budgets,
    verdict: service === undefined || alert.labels["budget"] !== undefined ? null : serviceView(service, engine),
    promql: promqlOf(alert),
  };
}

function serviceView({ labels, verdicts, riskScore, budgets }: ServiceStanding, { rules, lastTickMs }: AlertEngine) {
  const { windowMs, rule, minSamples } = rules.drift;
  const window = (figures: WindowFigures | undefined, endMs: number) =>
    figures === undefined
      ? null
      : {
          from: iso(endMs - windowMs),
          to: iso(endMs),
          samples: figures.samples,
          p99_s: seconds(figures.p99Ns),
          lower_s: seconds(figures.lowerNs),
          upper_s: seconds(figures.upperNs),
        };
  return {
    labels,
    risk_score: riskScore ?? null,
    rule,
    min_samples: minSamples,
    signals: [...verdicts].map(([signal, verdict]) => ({
      signal,
      drift: verdict.reason === undefined && verdict.now !== undefined ? verdict.drift : null,
      no_verdict: verdict.reason ?? null,
      drift_ratio: verdict.ratio ?? null,
      now: window(verdict.now, lastTickMs),
      baseline: window(verdict.base, verdict.baseEndMs),
    })),
    budgets: budgets.map(({ name }) => name),
  };
}

/** The document of `/api/v1/budgets`. */
export function budgetsView(standings: readonly BudgetStanding[], nowMs: number): unknown {
  return {
    at: iso(nowMs),
    budgets: standings.map((standing) => {
      const elapsed = elapsedShare(standing, nowMs);
      const { name, tenant, used, limit, ratio, spent, startMs, resetMs } = standing;
      return {
        name,
        tenant: tenant ?? null,
        used_tokens: used ?? null,
        limit_tokens: limit ?? null,
        used_ratio: ratio ?? null,
        nearly_spent: spent,
        period_start: iso(startMs),
        reset_at: iso(resetMs),
        elapsed_ratio: elapsed,
        burn_rate: ratio === undefined || elapsed === 0 ? null : ratio / elapsed,
        drawn: [...standing.drawn()].map(([{ service, model }, tokens]) => ({ service_name: service, model, tokens })),
      };
    }),
  };
}

/** The published rule of the same name: what Prometheus would ask. */
function promqlOf({ alertname }: Alert): string | null {
  for (const { rules } of slaNodeFile(RULE_DEFAULTS).groups)
    for (const rule of rules) if ("alert" in rule && rule.alert === alertname) return rule.expr;
  return null;
}
