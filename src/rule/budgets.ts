import { DASHBOARD_UIDS, type RuleOptions } from "./options.ts";
import { N, promql } from "./promql.ts";
import type { RuleFile } from "./rule.ts";

const BY = "budget, tenant";
const USED = "budget_tenant:tokentail_budget_used_tokens:sum";
const RATIO = "budget_tenant:tokentail_budget_spent:ratio";
const BURN = "budget_tenant:tokentail_budget_burn:ratio";
const LEFT = "budget_tenant:tokentail_budget_time_left:seconds";

/** Token budgets as error budgets: how fast they burn against the pace that would make them last. */
export function budgetsFile(options: RuleOptions): RuleFile {
  const shared = {
    alertgroup: "llm-budgets",
    dashboard: DASHBOARD_UIDS.tokens,
    keepFiringFor: options.keepFiringFor,
  };
  return {
    name: "tokentail-budgets",
    about: ["Burn of token budgets, summed over the nodes that share a budget."],
    groups: [
      {
        name: "tokentail-budgets.recording",
        rules: [
          { record: USED, expr: `sum by (${BY}) (${N.budgetUsed})` },
          { record: RATIO, expr: `${USED} / on (${BY}) (max by (${BY}) (${N.budgetLimit}) > 0)` },
          {
            // 1 = used up exactly at the end of the period
            record: BURN,
            expr: `${RATIO} / on (${BY}) (max by (${BY}) (${N.budgetElapsedRatio}) > 0)`,
          },
          {
            // at the pace of the last hour; absent when nothing is being used
            record: LEFT,
            expr: promql(`
              (max by (${BY}) (${N.budgetLimit}) - ${USED})
              /
              (deriv(${USED}[1h]) > 0)
            `),
          },
        ],
      },
      {
        name: "tokentail-budgets.alerts",
        rules: [
          {
            ...shared,
            alert: "LLMTokenBudgetBurnFast",
            severity: "warning",
            for: "10m",
            expr: promql(`
              (${BURN} > 2 and ${RATIO} > 0.1)
              and on (${BY})
              (${LEFT} < 0.5 * (max by (${BY}) (${N.budgetReset}) - time()))
            `),
            summary: "A token budget will not last its period.",
            description:
              "Token budget {{ $labels.budget }}{{ with $labels.tenant }} of tenant {{ . }}{{ end }} is used {{ $value | humanize }} times as fast as it would last.",
            runbook: {
              meaning:
                "More than twice the share of the budget is used than of its period has passed, and at the pace of the last hour it will be spent in less than half of the time that is left. Early in a period, below a tenth of the budget, nothing is judged.",
              checks: [
                "Was it one burst that is over, or a new level? Compare the last hour with the day.",
                "Who draws on it? A loop, a batch job, a leaked key, a growing history of turns.",
              ],
              queries: [
                ["Seconds left at this pace", LEFT],
                ["Who draws on it", `topk(10, ${N.budgetDrawn})`],
              ],
            },
          },
          {
            ...shared,
            alert: "LLMTokenBudgetExhausted",
            severity: "warning",
            for: "5m",
            expr: `${RATIO} >= 1`,
            summary: "A token budget is spent.",
            description:
              "Token budget {{ $labels.budget }}{{ with $labels.tenant }} of tenant {{ . }}{{ end }} is spent: {{ $value | humanizePercentage }} used.",
            runbook: {
              meaning:
                "All of a token budget is used before its period ends. tokentail counts, it does not refuse: whether requests still pass is up to the gateway.",
              checks: [
                "Does the gateway enforce the limit? Then users see refusals now.",
                "When does the next period begin?",
              ],
              queries: [["Hours to the next period", `(${N.budgetReset} - time()) / 3600`]],
            },
          },
        ],
      },
    ],
  };
}
