import { METRICS } from "../../src/metric/catalogue.ts";
import { constant, flaky, type RuleCase } from "./rule-case.ts";

const M = METRICS;
const NODE = 'job="tokentail",instance="n1"';
const CHAT = `{${NODE},signal="ttft",service_name="chat",model="llama"}`;
const BUDGET = `{${NODE},budget="daily",tenant="acme"}`;
const DRAWN = `{${NODE},budget="daily",tenant="acme",service_name="chat",model="llama"}`;
const CHAT_LABELS = { job: "tokentail", instance: "n1", service_name: "chat", model: "llama" };
const BUDGET_LABELS = { job: "tokentail", instance: "n1", budget: "daily", tenant: "acme" };

function p99(now: { ratio: number; lower: number }, then: { upper: number; point?: number }, steps = 60) {
  return {
    [M.buildInfo.name + `{${NODE},version="1",revision="r"}`]: constant(1, steps),
    [M.p99DriftRatio.name + CHAT]: constant(now.ratio, steps),
    [M.p99LowerBound.name + CHAT]: constant(now.lower, steps),
    [M.p99BaselineUpperBound.name + CHAT]: constant(then.upper, steps),
    [M.p99Baseline.name + CHAT]: constant(then.point ?? then.upper, steps),
  };
}
const spent = (ratio: number | string) => ({
  [M.buildInfo.name + `{${NODE},version="1",revision="r"}`]: constant(1),
  [M.budgetUsedRatio.name + BUDGET]: typeof ratio === "number" ? constant(ratio) : ratio,
  [M.budgetDrawn.name + DRAWN]: constant(1000),
});
const DRIFTED = p99({ ratio: 0.5, lower: 2.6 }, { upper: 2.1 });
const THRESHOLD = (name: string, value: number) => ({
  [`${M.alertThreshold.name}{${NODE},threshold="${name}"}`]: constant(value),
});

export const NODE_CASES: readonly RuleCase[] = [
  {
    alert: "LLMLatencyP99Drift",
    kind: "fires",
    name: "the lower bound now stands above the upper bound then by more than 15 %",
    series: DRIFTED,
    at: "6m",
    fires: [{ ...CHAT_LABELS, signal: "ttft" }],
  },
  { alert: "LLMLatencyP99Drift", kind: "quiet", name: "not before 5 minutes", series: DRIFTED, at: "4m" },
  {
    alert: "LLMLatencyP99Drift",
    kind: "quiet",
    name: "the point drifted, the bounds overlap",
    series: p99({ ratio: 0.5, lower: 2.2 }, { upper: 2.1 }),
    at: "30m",
  },
  {
    alert: "LLMLatencyP99Drift",
    kind: "quiet",
    name: "exactly 15 %, which is a little more in floating point",
    series: p99({ ratio: 0.15, lower: 3.45 }, { upper: 3 }),
    at: "30m",
  },
  {
    alert: "LLMLatencyP99Drift",
    kind: "quiet",
    name: "the running threshold is higher than the published one",
    series: { ...DRIFTED, ...THRESHOLD("max_drift", 0.3) },
    at: "30m",
  },
  {
    alert: "LLMLatencyP99Drift",
    kind: "fires",
    name: "the running threshold is lower than the published one",
    series: { ...p99({ ratio: 0.15, lower: 2.2 }, { upper: 2 }), ...THRESHOLD("max_drift", 0.05) },
    at: "6m",
    fires: [{ ...CHAT_LABELS, signal: "ttft" }],
  },
  {
    alert: "LLMLatencyP99Drift",
    kind: "sparse",
    name: "no verdict: the drift ratio is absent",
    series: { ...DRIFTED, [M.p99DriftRatio.name + CHAT]: "_x60" },
    at: "30m",
  },
  {
    alert: "LLMLatencyP99Drift",
    kind: "sparse",
    name: "no verdict for a minute, in a scrape that succeeded: the 5 minutes begin anew",
    series: { ...DRIFTED, [M.p99DriftRatio.name + CHAT]: "0.5x3 stale 0.5x30" },
    at: "7m",
  },
  {
    alert: "LLMLatencyP99Drift",
    kind: "sparse",
    name: "every second scrape fails, and it fires all the same",
    series: Object.fromEntries(
      Object.entries(DRIFTED).map(([series, values]) => [series, flaky(Number(values.split("x")[0]))]),
    ),
    at: "7m",
    fires: [{ ...CHAT_LABELS, signal: "ttft" }],
  },
  {
    alert: "LLMTokenBudgetNearlySpent",
    kind: "fires",
    name: "96 % used",
    series: spent(0.96),
    at: "6m",
    fires: [BUDGET_LABELS],
  },
  {
    alert: "LLMTokenBudgetNearlySpent",
    kind: "quiet",
    name: "exactly 95 %, as 2.85 / 3 gives it",
    series: spent(0.9500000000000001),
    at: "30m",
  },
  {
    alert: "LLMTokenBudgetNearlySpent",
    kind: "sparse",
    name: "no usage known: the ratio is absent",
    series: spent("_x60"),
    at: "30m",
  },
  {
    alert: "LLMSlaCritical",
    kind: "fires",
    name: "drift, and a budget that the service draws on is spent",
    series: { ...DRIFTED, ...spent(0.96) },
    at: "6m",
    fires: [CHAT_LABELS],
  },
  {
    alert: "LLMSlaCritical",
    kind: "fires",
    name: "a model that no log names is unknown on one side and absent on the other",
    series: {
      ...Object.fromEntries(
        Object.entries(DRIFTED).map(([series, values]) => [series.replace("llama", "unknown"), values]),
      ),
      ...spent(0.96),
      [M.budgetDrawn.name + DRAWN]: "_x60",
      [M.budgetDrawn.name + DRAWN.replace(',model="llama"', "")]: constant(1000),
    },
    at: "6m",
    fires: [{ ...CHAT_LABELS, model: "unknown" }],
  },
  { alert: "LLMSlaCritical", kind: "quiet", name: "drift only", series: { ...DRIFTED, ...spent(0.5) }, at: "30m" },
  {
    alert: "LLMSlaCritical",
    kind: "quiet",
    name: "budget only",
    series: { ...p99({ ratio: 0, lower: 2 }, { upper: 2.1 }), ...spent(0.99) },
    at: "30m",
  },
  {
    alert: "LLMSlaCritical",
    kind: "quiet",
    name: "the spent budget is one that the drifting service does not draw on",
    series: {
      ...DRIFTED,
      ...spent(0.96),
      [M.budgetDrawn.name + DRAWN]: "_x60",
      [M.budgetDrawn.name + DRAWN.replace("chat", "search")]: constant(1000),
    },
    at: "30m",
  },
  {
    alert: "LLMSlaCritical",
    kind: "quiet",
    name: "both are true, on different nodes",
    series: {
      ...DRIFTED,
      ...Object.fromEntries(
        Object.entries(spent(0.96)).map(([series, values]) => [series.replace("n1", "n2"), values]),
      ),
    },
    at: "30m",
  },
  {
    alert: "LLMSlaCritical",
    kind: "sparse",
    name: "drift, and the budget's use is unknown",
    series: { ...DRIFTED, ...spent("_x60") },
    at: "30m",
  },
  {
    alert: "LLMLatencyBaselineMissing",
    kind: "fires",
    name: "enough requests, no verdict",
    series: { [M.p99Samples.name + CHAT]: constant(700), [`${M.buildInfo.name}{${NODE}}`]: constant(1) },
    at: "35m",
    fires: [{ ...CHAT_LABELS, signal: "ttft" }],
  },
  {
    alert: "LLMLatencyBaselineMissing",
    kind: "quiet",
    name: "a verdict is there",
    series: { ...DRIFTED, [M.p99Samples.name + CHAT]: constant(700) },
    at: "40m",
  },
  {
    alert: "LLMLatencyBaselineMissing",
    kind: "sparse",
    name: "too few requests now to expect a verdict",
    series: { [M.p99Samples.name + CHAT]: constant(499), [`${M.buildInfo.name}{${NODE}}`]: constant(1) },
    at: "40m",
  },
];
