import { DASHBOARD_UIDS, type RuleOptions } from "./options.ts";
import { atMost, N, promql } from "./promql.ts";
import type { AlertRule, RecordingRule, RuleFile } from "./rule.ts";

const BY = "service_name, model";
const TOTAL = "service_model:llm_slo_requests:rate5m";
const BAD = "service_model:llm_slo_bad_requests:rate5m";

/** Windows of the multi-window burn rates; factors as in the SRE workbook for 30 days. */
const PAGES = [
  { long: "1h", short: "5m", factor: 14.4 },
  { long: "6h", short: "30m", factor: 6 },
] as const;
const TICKETS = [
  { long: "1d", short: "2h", factor: 3 },
  { long: "3d", short: "6h", factor: 1 },
] as const;
const SECONDS: Readonly<Record<string, number>> = { "1h": 3600, "6h": 21_600, "1d": 86_400, "3d": 259_200 };

interface Objective {
  readonly slo: string;
  /** Share of requests that must be good. */
  readonly objective: number;
  readonly total: string;
  readonly bad: string;
}

/** Service level objectives: availability and time to first token, by burn rate of their error budgets. */
export function sloFile({ slo, keepFiringFor }: RuleOptions): RuleFile {
  const objectives: readonly Objective[] = [
    {
      slo: "availability",
      objective: slo.availability,
      total: `sum by (${BY}) (rate(${N.requests}{outcome!="aborted"}[5m]))`,
      bad: promql(`
        sum by (${BY}) (rate(${N.requests}{outcome="error"}[5m]))
        or
        sum by (${BY}) (rate(${N.requests}{outcome!="aborted"}[5m])) * 0
      `),
    },
    {
      slo: "ttft",
      objective: slo.ttft,
      total: `sum by (${BY}) (rate(${N.requestTtft}_count[5m]))`,
      bad: promql(`
          sum by (${BY}) (rate(${N.requestTtft}_count[5m]))
        -
          sum by (${BY}) (rate(${N.requestTtft}_bucket{${atMost(slo.ttftSeconds)}}[5m]))
      `),
    },
  ];
  const recording = objectives.flatMap(({ slo: name, total, bad }): RecordingRule[] => [
    { record: TOTAL, labels: { slo: name }, expr: total },
    { record: BAD, labels: { slo: name }, expr: bad },
  ]);
  return {
    name: "tokentail-slo",
    about: [
      "Burn rates of two service level objectives: requests that end well, and time to first token.",
      "Every burn rate needs a minimum of requests in its long window, so that one failure at night pages nobody.",
    ],
    groups: [
      { name: "tokentail-slo.recording", interval: "1m", rules: recording },
      {
        name: "tokentail-slo.alerts",
        interval: "1m",
        rules: objectives.flatMap((objective) => [
          burnAlert(objective, "fast", slo.minRequests, keepFiringFor),
          burnAlert(objective, "slow", slo.minRequests, keepFiringFor),
        ]),
      },
    ],
  };
}

function burnAlert(
  objective: Objective,
  speed: "fast" | "slow",
  minRequests: number,
  keepFiringFor: string,
): AlertRule {
  const fast = speed === "fast";
  return {
    alert: fast ? "LLMErrorBudgetBurnFast" : "LLMErrorBudgetBurnSlow",
    expr: (fast ? PAGES : TICKETS)
      .map(({ long, short, factor }) => burning(objective, long, short, factor, minRequests))
      .join("\nor\n"),
    keepFiringFor,
    severity: fast ? "critical" : "warning",
    alertgroup: "llm-slo",
    labels: { slo: objective.slo },
    summary: `The error budget of an LLM service burns ${fast ? "fast" : "steadily"}.`,
    description: `{{ $value | humanizePercentage }} of the requests of {{ $labels.service_name }} / {{ $labels.model }} miss the ${objective.slo} objective of ${(objective.objective * 100).toFixed(4).replace(/\.?0+$/, "")} %.`,
    dashboard: DASHBOARD_UIDS.overview,
    runbook: {
      meaning: fast
        ? "Requests miss their objective so often that the error budget of 30 days would be gone within days: at least 14.4 times the allowed rate over 1 hour, or 6 times over 6 hours, and it still goes on. Aborts by the client count neither as good nor as bad; for time to first token only requests whose log states it count."
        : "Requests miss their objective at a rate that will use up the error budget of 30 days: 3 times the allowed rate over a day, or at it over 3 days.",
      checks: [
        "Which objective? The label `slo` says availability or ttft.",
        "Availability: the Root causes dashboard names what failed and since when.",
        "Time to first token: compare queue and prefill times, and look at waiting requests and KV cache.",
        "Is it one model or one service? One alone points at its deployment, all at once at the gateway or the network.",
      ],
      queries: [
        ["Share of bad requests, 1 h", ratio(objective.slo, "1h")],
        ["Failures by cause", `sum by (service_name, cause) (rate(${N.failures}[15m]))`],
      ],
    },
  };
}

/** Numerator and denominator are averaged apart: the average of ratios would let quiet hours weigh as much as busy ones. */
const ratio = (slo: string, window: string): string =>
  `avg_over_time(${BAD}{slo="${slo}"}[${window}]) / (avg_over_time(${TOTAL}{slo="${slo}"}[${window}]) > 0)`;

function burning({ slo, objective }: Objective, long: string, short: string, factor: number, min: number): string {
  const limit = Number((factor * (1 - objective)).toPrecision(6));
  const perSecond = Number((min / (SECONDS[long] as number)).toPrecision(6));
  return promql(`
    (
      ${ratio(slo, long)} > ${limit}
      and ${ratio(slo, short)} > ${limit}
      and avg_over_time(${TOTAL}{slo="${slo}"}[${long}]) >= ${perSecond}
    )
  `);
}
