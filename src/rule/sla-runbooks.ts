import { N } from "./promql.ts";
import type { Runbook } from "./rule.ts";

export const SLA_RUNBOOKS = {
  LLMSlaCritical: {
    meaning:
      "Answers have become slower than in the same hour a week ago by more than sampling noise explains, and a token budget that the service draws on is nearly spent. Together they mean that users already suffer and that the usual ways out (retries, longer contexts, a fallback to a larger model) will hit the limit. Either condition alone is a warning. The two warnings go on under the critical alert; the Alertmanager example silences the latency warning while the critical one is firing, and lets the budget warning through, because only it names the budget.",
    checks: [
      "Which signal drifted? Time to first token points at queueing and prefill, end-to-end at answer length and decoding.",
      "Did the prompts grow? Longer contexts raise both latency and token use, and are the commonest cause of both at once.",
      "Is the engine saturated: KV cache near full, requests waiting, preemptions?",
      "Which service and model draw on the budget most, and did one of them start only now?",
      "What was deployed between the two windows? Compare the root causes of the two weeks.",
    ],
    queries: [
      ["P99 now", N.p99],
      ["P99 then", N.p99Baseline],
      ["Who draws on which budget", `topk(10, ${N.budgetDrawn})`],
      [
        "Median context length",
        `histogram_quantile(0.5, sum by (service_name, model, le) (rate(${N.contextTokens}_bucket[1h])))`,
      ],
      ["KV cache", `max by (service_name, engine) (${N.kvCacheUsage})`],
    ],
  },
  LLMLatencyP99Drift: {
    meaning:
      "The 99th percentile of successful requests is higher than in the same window 7 days ago. Per node, the lower end of the present 90 % order-statistic interval stands above the upper end of last week's by more than the threshold; for fleets, bucket quantiles with a noise allowance are compared. Both windows hold enough requests.",
    checks: [
      "Look at the Drift dashboard: is it one step (a deployment, a lost replica) or a slope (growth)?",
      "Compare the queue, prefill and decode phases with last week's: which one grew?",
      "Did the mix change: longer prompts, longer answers, another tenant or route?",
      "Was last week unusual? A holiday in the baseline makes an ordinary week look slow.",
      "If the new level is meant, raise `alerts.drift.max_drift`, or wait: in 7 days it is the baseline.",
    ],
    queries: [
      ["Drift ratio", N.p99DriftRatio],
      ["Requests in the window", N.p99Samples],
      [
        "Queue time, P99",
        `histogram_quantile(0.99, sum by (service_name, model, le) (rate(${N.requestQueue}_bucket[15m])))`,
      ],
      [
        "Queue time a week ago, P99",
        `histogram_quantile(0.99, sum by (service_name, model, le) (rate(${N.requestQueue}_bucket[15m] offset 7d)))`,
      ],
    ],
  },
  LLMTokenBudgetNearlySpent: {
    meaning:
      "More than the warning share of a token budget is used in its present period. Usage that a log does not tell is not counted, so the true use may be higher.",
    checks: [
      "When does the period end? Near its end a high share can be as planned: compare with the share of the period that has passed.",
      "Who used it? One tenant or model far above its habit is a loop or a leaked key.",
      "Do prompts grow from turn to turn without a cut of the history?",
      "Raise the limit, shift traffic to a cheaper model, or let the gateway refuse.",
    ],
    queries: [
      ["Used and elapsed share", `${N.budgetUsedRatio} or ${N.budgetElapsedRatio}`],
      ["Who draws on it", `topk(10, ${N.budgetDrawn})`],
      ["Tokens a second by tenant", `topk(10, sum by (tenant, token_type) (rate(${N.tokens}[15m])))`],
    ],
  },
  LLMLatencyBaselineMissing: {
    meaning:
      "There is enough traffic now, but the window 7 days ago holds too little, none, or one in which the drift alert itself was firing. Drift is not judged until a usable week is there. This is normal in the first week of a service or model.",
    checks: [
      "Is the service, model or node younger than a week? Then wait.",
      "Fleet form: does Prometheus keep more than 8 days of samples?",
      "Was there an outage or an incident exactly 7 days ago? Such hours are not used as a baseline.",
      "Did a label change (`service_name`, model name)? A renamed series has no past.",
    ],
    queries: [
      ["Requests in the window", N.p99Samples],
      ["Drift ratio (absent without a verdict)", N.p99DriftRatio],
    ],
  },
} satisfies Record<string, Runbook>;
