import { LATENCY_SECONDS } from "../metric/buckets.ts";
import { DASHBOARD_UIDS, FLOAT_ROOM, type RuleOptions } from "./options.ts";
import { atMost, N, nested, promql } from "./promql.ts";
import type { RecordingRule, RuleFile } from "./rule.ts";
import { SLA_RUNBOOKS } from "./sla-runbooks.ts";

const LEVEL = "service_model_signal";
const BY = "service_name, model";
const BY_SIGNAL = "service_name, model, signal";

const P99 = `${LEVEL}:llm_latency_seconds:p99_1h`;
const REQUESTS = `${LEVEL}:llm_requests:increase1h`;
const OVERFLOW = `${LEVEL}:llm_latency_overflow:ratio_rate1h`;
const ERRORS = "service_model:llm_requests_errors:ratio_rate1h";
const USABLE = `${LEVEL}:llm_latency_baseline:usable`;
const DRIFT = `${LEVEL}:llm_latency_drift:ratio`;
const BOUND = `${LEVEL}:llm_latency_drift_bound:ratio`;
export const FLEET_BUDGET = "budget_tenant:tokentail_budget_used:ratio";

/** Share of failed requests above which an hour is no baseline: fast failures pull quantiles down. */
const MAX_BASELINE_ERRORS = 0.05;

/**
 * The noise allowance. Prometheus cannot vary a quantile with the number of samples, so there are two tiers, each with
 * fixed quantiles around P99 that play the ends of an interval: at 10,000 requests an hour a step of +50 % is found and
 * lognormal traffic of σ ≤ 1 raises no false alarm; from 1,000 on only about a doubling is told from noise. The first
 * tier begins a little lower, because traffic of 10,000 an hour is below that in every second hour.
 */
export const NOISE_TIERS = [
  { minRequests: 9000, low: 0.988, high: 0.992 },
  { minRequests: 1000, low: 0.983, high: 0.996 },
] as const;

const SIGNALS = [
  { signal: "ttft", name: N.requestTtft },
  { signal: "e2e", name: N.requestDuration },
] as const;

const quantileName = (quantile: number): string =>
  `${LEVEL}:llm_latency_seconds:p${String(Math.round(quantile * 1000)).padStart(3, "0")}_1h`;

/** The joint alert for services spread over nodes: Prometheus joins them from summed histograms and ledgers. */
export function slaFleetFile(options: RuleOptions): RuleFile {
  const maxDrift = threshold("max_drift", options.drift.maxDrift);
  const warnAt = threshold("warn_at", options.tokens.warnAt);
  const drift = `${DRIFT} and (${BOUND} > ${maxDrift} + ${FLOAT_ROOM})`;
  const spent = `${FLEET_BUDGET} > ${warnAt} + ${FLOAT_ROOM}`;
  const shared = {
    for: options.for,
    keepFiringFor: options.keepFiringFor,
    alertgroup: "llm-sla",
    labels: { scope: "fleet" },
    dashboard: DASHBOARD_UIDS.drift,
  };
  return {
    name: "tokentail-sla-fleet",
    about: [
      "The joint alert for fleets: histograms and ledgers summed over all nodes, compared with 7 days before.",
      "Coarser than the per-node form: bucket quantiles, a noise allowance by request count, failed requests that state a latency count too.",
      "Needs more than 8 days of retention. A tainted baseline gives no verdict here; the daemon would go back 14 days.",
    ],
    groups: [
      { name: "tokentail-sla-fleet.recording", interval: "1m", rules: recordingRules() },
      {
        name: "tokentail-sla-fleet.alerts",
        interval: "1m",
        rules: [
          {
            ...shared,
            alert: "LLMSlaCritical",
            severity: "critical",
            expr: promql(`
              max by (${BY}) (${drift})
              and on (${BY})
              (
                (sum by (budget, tenant, ${BY}) (${N.budgetDrawn}) > 0)
                and on (budget, tenant) (${spent})
              )
            `),
            summary: "LLM latency drifted while the token budget is nearly spent.",
            description:
              "Over all nodes, the P99 latency of {{ $labels.service_name }} / {{ $labels.model }} is {{ $value | humanizePercentage }} above that of 7 days ago, and a token budget that it draws on is nearly spent.",
            runbook: SLA_RUNBOOKS.LLMSlaCritical,
          },
          {
            ...shared,
            alert: "LLMLatencyP99Drift",
            severity: "warning",
            expr: drift,
            summary: "The P99 latency of an LLM service drifted against 7 days ago.",
            description:
              "Over all nodes, the P99 of {{ $labels.signal }} of {{ $labels.service_name }} / {{ $labels.model }} is {{ $value | humanizePercentage }} above that of 7 days ago, beyond the noise allowance.",
            runbook: SLA_RUNBOOKS.LLMLatencyP99Drift,
          },
          {
            ...shared,
            alert: "LLMTokenBudgetNearlySpent",
            severity: "warning",
            expr: spent,
            summary: "A token budget is nearly spent.",
            description:
              "Over all nodes, token budget {{ $labels.budget }}{{ with $labels.tenant }} of tenant {{ . }}{{ end }} is {{ $value | humanizePercentage }} used.",
            dashboard: DASHBOARD_UIDS.tokens,
            runbook: SLA_RUNBOOKS.LLMTokenBudgetNearlySpent,
          },
          {
            alert: "LLMLatencyBaselineMissing",
            severity: "info",
            alertgroup: "llm-sla",
            labels: { scope: "fleet" },
            dashboard: DASHBOARD_UIDS.drift,
            for: "30m",
            expr: `${REQUESTS} >= ${smallestTier()} unless on (${BY_SIGNAL}) ${USABLE}`,
            summary: "No usable latency baseline of 7 days ago.",
            description:
              "{{ $labels.signal }} of {{ $labels.service_name }} / {{ $labels.model }} has {{ $value | humanize }} requests an hour, but the hour 7 days ago is missing, thin or tainted: drift is not judged.",
            runbook: SLA_RUNBOOKS.LLMLatencyBaselineMissing,
          },
        ],
      },
    ],
  };
}

/** As the running daemons state it, the greatest; the published one if none states it. */
const threshold = (name: string, fallback: number): string =>
  `scalar(max(${N.alertThreshold}{threshold="${name}"}) or vector(${fallback}))`;

const smallestTier = (): number => Math.min(...NOISE_TIERS.map((tier) => tier.minRequests));

function recordingRules(): RecordingRule[] {
  const topBound = LATENCY_SECONDS.at(-1) as number;
  const quantiles = [0.99, ...NOISE_TIERS.flatMap(({ low, high }) => [low, high])];
  const perSignal = SIGNALS.flatMap(({ signal, name }): RecordingRule[] => [
    ...quantiles.map((quantile) => ({
      record: quantile === 0.99 ? P99 : quantileName(quantile),
      labels: { signal },
      expr: `histogram_quantile(${quantile}, sum by (${BY}, le) (rate(${name}_bucket[1h])))`,
    })),
    { record: REQUESTS, labels: { signal }, expr: `sum by (${BY}) (increase(${name}_count[1h]))` },
    {
      record: OVERFLOW,
      labels: { signal },
      expr: promql(`
        1 -
          sum by (${BY}) (rate(${name}_bucket{${atMost(topBound)}}[1h]))
        /
          (sum by (${BY}) (rate(${name}_count[1h])) > 0)
      `),
    },
  ]);
  const bounds = NOISE_TIERS.map(({ minRequests, low, high }) =>
    promql(`
      (
        ${quantileName(low)} / (${quantileName(high)} offset 7d) - 1
        and (${REQUESTS} >= ${minRequests})
        and (${REQUESTS} offset 7d >= ${minRequests})
      )
    `),
  ).join("\nor\n");
  return [
    ...perSignal,
    {
      record: ERRORS,
      expr: promql(`
          sum by (${BY}) (rate(${N.requests}{outcome="error"}[1h]))
        /
          (sum by (${BY}) (rate(${N.requests}[1h])) > 0)
      `),
    },
    {
      // enough requests, few failures, no overflow, and no drift alert firing in that hour
      record: USABLE,
      expr: promql(`
        (
          (
            (${REQUESTS} offset 7d >= bool ${smallestTier()}) == 1
            unless on (${BY}) (${ERRORS} offset 7d > ${MAX_BASELINE_ERRORS})
          )
          unless on (${BY_SIGNAL}) (${OVERFLOW} offset 7d >= 0.01)
        )
        unless on (${BY_SIGNAL})
          max_over_time(ALERTS{alertname="LLMLatencyP99Drift",scope="fleet",alertstate="firing"}[1h] offset 7d)
      `),
    },
    {
      record: DRIFT,
      expr: promql(`
        (
          ${P99} / (${P99} offset 7d) - 1
          and (${REQUESTS} >= ${smallestTier()})
          and ${USABLE}
        )
        unless (${OVERFLOW} >= 0.01)
      `),
    },
    {
      record: BOUND,
      expr: promql(`
        (
          ${nested(bounds, 10)}
        )
        and ${DRIFT}
      `),
    },
    {
      record: FLEET_BUDGET,
      expr: `sum by (budget, tenant) (${N.budgetUsed}) / (max by (budget, tenant) (${N.budgetLimit}) > 0)`,
    },
  ];
}
