import { METRICS } from "../../src/metric/catalogue.ts";
import { constant, counter, type RuleCase } from "./rule-case.ts";

const M = METRICS;
/** Samples every 5 minutes: 12 an hour. */
const HOUR = 12;
const CHAT = 'service_name="chat",model="llama"';
const LABELS = { service_name: "chat", model: "llama" };

interface Hour {
  readonly hours: number;
  /** Requests an hour over both nodes. */
  readonly rate: number;
  /** Latency factor on the shape 98 % ≤ 1 s, all ≤ 2 s. */
  readonly factor: number;
}

/** Buckets of two nodes with half of the traffic each. A factor of 1, 2 or 0.5 moves the shape by whole buckets. */
function traffic(
  phases: readonly Hour[],
  options: { overflow?: boolean; metric?: string } = {},
): Record<string, string> {
  const series: Record<string, string> = {};
  const name = options.metric ?? M.requestTtft.name;
  const bounds = [0.5, 1, 1.2, 1.5, 2, 2.4, 3, 4, 3600];
  for (const node of ["n1", "n2"]) {
    const labels = `job="tokentail",instance="${node}",${CHAT}`;
    const grow = (share: (factor: number) => number): string =>
      counter(phases.map(({ hours, rate, factor }) => [(rate / 2 / HOUR) * share(factor), hours * HOUR] as const));
    for (const bound of bounds) {
      const share = (factor: number): number => {
        if (bound === 3600) return options.overflow === true && factor > 1 ? 0.98 : 1;
        if (options.overflow === true && factor > 1) return bound >= 2 ? 0.98 : 0;
        if (bound < factor) return 0;
        return Math.min(1, 0.98 + (0.02 * (bound - factor)) / factor);
      };
      series[`${name}_bucket{${labels},le="${bound}"}`] = grow(share);
    }
    series[`${name}_bucket{${labels},le="+Inf"}`] = grow(() => 1);
    series[`${name}_count{${labels}}`] = grow(() => 1);
  }
  return series;
}

const steps = (hours: number): number => hours * HOUR;
const budget = (used: number, hours = 9): Record<string, string> => ({
  [`${M.budgetUsed.name}{instance="n1",budget="daily",tenant="acme"}`]: constant(used / 2, steps(hours)),
  [`${M.budgetUsed.name}{instance="n2",budget="daily",tenant="acme"}`]: constant(used / 2, steps(hours)),
  [`${M.budgetLimit.name}{instance="n1",budget="daily",tenant="acme"}`]: constant(100, steps(hours)),
  [`${M.budgetLimit.name}{instance="n2",budget="daily",tenant="acme"}`]: constant(100, steps(hours)),
  [`${M.budgetDrawn.name}{instance="n1",budget="daily",tenant="acme",${CHAT}}`]: constant(used / 2, steps(hours)),
});
/** Six hours as ever, then three at another factor; the comparison goes back 5 hours. */
const step = (factor: number, rate = 12_000, before = rate): Record<string, string> =>
  traffic([
    { hours: 6, rate: before, factor: 1 },
    { hours: 3, rate, factor },
  ]);
const AT = "470m";
const drift = (name: string, kind: RuleCase["kind"], series: Record<string, string>, fires = false): RuleCase => ({
  alert: "LLMLatencyP99Drift",
  name,
  kind,
  series,
  at: AT,
  every: "5m",
  ...(fires ? { fires: [{ ...LABELS, signal: "ttft" }] } : {}),
});

export const FLEET_CASES: readonly RuleCase[] = [
  drift("P99 doubled at 12,000 requests an hour, summed over two nodes", "fires", step(2), true),
  drift("a step of half as much again is found at 12,000 requests an hour", "fires", step(1.5), true),
  drift("nothing changed", "quiet", step(1)),
  drift("a step of 20 % stays within the noise allowance", "quiet", step(1.2)),
  drift("faster than before", "quiet", step(0.5)),
  drift("at 2,400 an hour a doubling is found", "fires", step(2, 2400), true),
  drift("at 2,400 an hour half as much again is not told from noise", "quiet", step(1.5, 2400)),
  drift("fewer than 1,000 requests now", "sparse", step(2, 900, 12_000)),
  drift("fewer than 1,000 requests then", "sparse", step(2, 12_000, 900)),
  drift(
    "no baseline: the service is younger",
    "sparse",
    Object.fromEntries(
      Object.entries(traffic([{ hours: 3, rate: 12_000, factor: 2 }])).map(([name, values]) => [
        name,
        `_x${steps(6) - 1} ${values}`,
      ]),
    ),
  ),
  drift(
    "more than 1 % above the last bucket: the quantile is not known",
    "sparse",
    traffic(
      [
        { hours: 6, rate: 12_000, factor: 1 },
        { hours: 3, rate: 12_000, factor: 2 },
      ],
      { overflow: true },
    ),
  ),
  drift("a drift alert was firing in the baseline hour", "sparse", {
    ...step(2),
    'ALERTS{alertname="LLMLatencyP99Drift",scope="fleet",alertstate="firing",signal="ttft",service_name="chat",model="llama"}':
      constant(1, steps(6)),
  }),
  drift("fast failures made up the baseline hour", "sparse", {
    ...step(2),
    [`${M.requests.name}{${CHAT},outcome="error"}`]: counter([
      [100, steps(6)],
      [0, steps(3)],
    ]),
    [`${M.requests.name}{${CHAT},outcome="ok"}`]: counter([[900, steps(9)]]),
  }),
  {
    alert: "LLMLatencyP99Drift",
    name: "against the same hour 7 real days before",
    kind: "fires",
    wholeWeek: true,
    every: "5m",
    at: "10270m",
    series: traffic([
      { hours: 169, rate: 12_000, factor: 1 },
      { hours: 3, rate: 12_000, factor: 2 },
    ]),
    fires: [{ ...LABELS, signal: "ttft" }],
  },
  {
    alert: "LLMLatencyP99Drift",
    name: "the end-to-end signal is judged apart",
    kind: "fires",
    every: "5m",
    at: AT,
    series: traffic(
      [
        { hours: 6, rate: 12_000, factor: 1 },
        { hours: 3, rate: 12_000, factor: 2 },
      ],
      { metric: M.requestDuration.name },
    ),
    fires: [{ ...LABELS, signal: "e2e" }],
  },
  {
    alert: "LLMTokenBudgetNearlySpent",
    name: "96 % used, half on each node",
    kind: "fires",
    every: "5m",
    at: "30m",
    series: budget(96),
    fires: [{ budget: "daily", tenant: "acme" }],
  },
  {
    alert: "LLMTokenBudgetNearlySpent",
    name: "exactly 95 %",
    kind: "quiet",
    every: "5m",
    at: "30m",
    series: budget(95),
  },
  {
    alert: "LLMTokenBudgetNearlySpent",
    name: "no node knows its use",
    kind: "sparse",
    every: "5m",
    at: "30m",
    series: { [`${M.budgetLimit.name}{budget="daily",tenant="acme"}`]: constant(100) },
  },
  {
    alert: "LLMSlaCritical",
    name: "drift over the fleet, and a budget that the service draws on is spent",
    kind: "fires",
    every: "5m",
    at: AT,
    series: { ...step(2), ...budget(96) },
    fires: [LABELS],
  },
  {
    alert: "LLMSlaCritical",
    name: "drift only",
    kind: "quiet",
    every: "5m",
    at: AT,
    series: { ...step(2), ...budget(50) },
  },
  {
    alert: "LLMSlaCritical",
    name: "budget only",
    kind: "quiet",
    every: "5m",
    at: AT,
    series: { ...step(1), ...budget(99) },
  },
  {
    alert: "LLMSlaCritical",
    name: "too little traffic to judge drift",
    kind: "sparse",
    every: "5m",
    at: AT,
    series: { ...step(2, 500), ...budget(99) },
  },
  {
    alert: "LLMLatencyBaselineMissing",
    name: "enough requests now, none then",
    kind: "fires",
    every: "5m",
    at: "150m",
    series: traffic([{ hours: 3, rate: 12_000, factor: 1 }]),
    fires: [{ ...LABELS, signal: "ttft" }],
  },
  {
    alert: "LLMLatencyBaselineMissing",
    name: "the baseline is usable",
    kind: "quiet",
    every: "5m",
    at: AT,
    series: step(1),
  },
  {
    alert: "LLMLatencyBaselineMissing",
    name: "too few requests to expect a verdict",
    kind: "sparse",
    every: "5m",
    at: "150m",
    series: traffic([{ hours: 3, rate: 600, factor: 1 }]),
  },
];
