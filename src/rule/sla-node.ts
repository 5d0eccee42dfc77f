import { DASHBOARD_UIDS, FLOAT_ROOM, type RuleOptions } from "./options.ts";
import { N, nested, promql, steady, told } from "./promql.ts";
import type { RuleFile } from "./rule.ts";
import { SLA_RUNBOOKS } from "./sla-runbooks.ts";

const MAX_DRIFT = "instance:tokentail_alert_max_drift:ratio";
const WARN_AT = "instance:tokentail_alert_warn_at:ratio";
const MIN_SAMPLES = "instance:tokentail_alert_min_samples:count";
const SERIES = "job, instance, service_name, model";

/** The engine names a service or model that no log names `unknown`; the ledger leaves the label out. */
const DRAWN = ["service_name", "model"].reduce(
  (expr, label) => `label_replace(${expr}, "${label}", "unknown", "${label}", "")`,
  told(N.budgetDrawn),
);

/** The joint alert on the daemon's own bounds and ledger: what the embedded engine decides, decided by Prometheus. */
export function slaNodeFile(options: RuleOptions): RuleFile {
  const { drift } = options;
  const driftCondition = driftOf(drift.rule);
  const spent = promql(`
    ${told(N.budgetUsedRatio)}
      > on (job, instance) group_left () (${WARN_AT} + ${FLOAT_ROOM})
  `);
  const shared = {
    for: options.for,
    keepFiringFor: options.keepFiringFor,
    alertgroup: "llm-sla",
    labels: { scope: "node" },
    dashboard: DASHBOARD_UIDS.drift,
  };
  return {
    name: "tokentail-sla-node",
    about: [
      "The joint alert per node: on the quantile bounds and budget gauges that each tokentail exports.",
      "Exact where one tokentail sees all traffic of a service. For services spread over nodes use tokentail-sla-fleet.yaml instead.",
    ],
    groups: [
      {
        name: "tokentail-sla-node.thresholds",
        rules: [
          { record: MAX_DRIFT, expr: threshold("max_drift", drift.maxDrift) },
          { record: WARN_AT, expr: threshold("warn_at", options.tokens.warnAt) },
          { record: MIN_SAMPLES, expr: threshold("min_samples", drift.minSamples) },
        ],
      },
      {
        name: "tokentail-sla-node.alerts",
        rules: [
          {
            ...shared,
            alert: "LLMSlaCritical",
            severity: "critical",
            expr: promql(`
              max by (${SERIES}) (
                ${nested(driftCondition, 16)}
              )
              and on (${SERIES})
              (
                (${DRAWN} > 0)
                and on (job, instance, budget, tenant)
                (
                  ${nested(spent, 18)}
                )
              )
            `),
            summary: "LLM latency drifted while the token budget is nearly spent.",
            description:
              "The P99 latency of {{ $labels.service_name }} / {{ $labels.model }} is {{ $value | humanizePercentage }} above that of 7 days ago, and a token budget that it draws on is nearly spent.",
            runbook: SLA_RUNBOOKS.LLMSlaCritical,
          },
          {
            ...shared,
            alert: "LLMLatencyP99Drift",
            severity: "warning",
            expr: driftCondition,
            summary: "The P99 latency of an LLM service drifted against 7 days ago.",
            description:
              "The P99 of {{ $labels.signal }} of {{ $labels.service_name }} / {{ $labels.model }} is {{ $value | humanizePercentage }} above that of 7 days ago; sampling noise does not explain it.",
            runbook: SLA_RUNBOOKS.LLMLatencyP99Drift,
          },
          {
            ...shared,
            alert: "LLMTokenBudgetNearlySpent",
            severity: "warning",
            expr: spent,
            summary: "A token budget is nearly spent.",
            description:
              "Token budget {{ $labels.budget }}{{ with $labels.tenant }} of tenant {{ . }}{{ end }} is {{ $value | humanizePercentage }} used.",
            dashboard: DASHBOARD_UIDS.tokens,
            runbook: SLA_RUNBOOKS.LLMTokenBudgetNearlySpent,
          },
          {
            alert: "LLMLatencyBaselineMissing",
            severity: "info",
            alertgroup: "llm-sla",
            labels: { scope: "node" },
            dashboard: DASHBOARD_UIDS.drift,
            for: "30m",
            expr: promql(`
              (
                ${told(N.p99Samples)}
                  >= on (job, instance) group_left () ${MIN_SAMPLES}
              )
              unless ${told(N.p99DriftRatio)}
            `),
            summary: "No usable latency baseline of 7 days ago.",
            description:
              "{{ $labels.signal }} of {{ $labels.service_name }} / {{ $labels.model }} has {{ $value | humanize }} requests now, but the window 7 days ago is missing, thin or tainted: drift is not judged.",
            runbook: SLA_RUNBOOKS.LLMLatencyBaselineMissing,
          },
        ],
      },
    ],
  };
}

/** A threshold as the running daemon states it, or the published one for a daemon that states none. */
function threshold(name: string, fallback: number): string {
  return promql(`
    max by (job, instance) (${steady(`${N.alertThreshold}{threshold="${name}"}`)})
    or
    max by (job, instance) (${steady(N.buildInfo)}) * 0 + ${fallback}
  `);
}

/** The drift ratio where the evidence is strong enough; the ratio is absent while the daemon has no verdict. */
function driftOf(rule: RuleOptions["drift"]["rule"]): string {
  const now = rule === "naive" ? N.p99 : N.p99LowerBound;
  const then = rule === "separate" ? N.p99BaselineUpperBound : N.p99Baseline;
  return promql(`
    ${told(N.p99DriftRatio)}
    and
    (
      ${told(now)} / ${told(then)} - 1
        > on (job, instance) group_left () (${MAX_DRIFT} + ${FLOAT_ROOM})
    )
  `);
}
