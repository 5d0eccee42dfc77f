import { METRICS as M } from "../metric/catalogue.ts";
import { DASHBOARD_UIDS } from "../rule/options.ts";
import type { DashboardSpec } from "./assemble.ts";
import { barGauge, heatmap, heatRows, stat, table, timeseries } from "./panel.ts";
import { heat, named, overRange, pick, quantile, query, rate, share } from "./query.ts";

const NO_TOKENS = "No log here tells token counts of requests";
const NO_BUDGET = "No budget is configured, or no usage is known yet";
const BUDGET = "budget, tenant";
const input = rate(M.tokens, "", 'token_type="input"');
const output = rate(M.tokens, "", 'token_type="output"');
const usedRatio = `max by (${BUDGET}) (${pick(M.budgetUsedRatio)})`;
const elapsed = `max by (${BUDGET}) (${pick(M.budgetElapsedRatio)})`;
const used = `sum by (${BUDGET}) (${pick(M.budgetUsed)})`;
const limit = `max by (${BUDGET}) (${pick(M.budgetLimit)})`;

export const tokens: DashboardSpec = {
  uid: DASHBOARD_UIDS.tokens,
  title: "Tokens and budgets",
  description: "Who uses how many tokens of which kind, what they cost, and how long the budgets last.",
  from: "now-6h",
  services: true,
  rows: [
    {
      title: "Consumption",
      panels: [
        stat({
          title: "Input tokens",
          description: `Full prompts, cached part included, within the range that is shown (\`${M.tokens.name}\`).`,
          empty: NO_TOKENS,
          unit: "short",
          w: 6,
          queries: [query(overRange(M.tokens, "", 'token_type="input"'), "input")],
        }),
        stat({
          title: "Output tokens",
          description: `Within the range that is shown (\`${M.tokens.name}\`).`,
          empty: NO_TOKENS,
          unit: "short",
          w: 6,
          queries: [query(overRange(M.tokens, "", 'token_type="output"'), "output")],
        }),
        stat({
          title: "Cached share of input",
          description: `Input tokens that came from a cache (\`${M.cachedTokens.name}\` of \`${M.tokens.name}\`).`,
          empty: "No log here tells cached tokens",
          unit: "percentunit",
          w: 6,
          queries: [query(share(rate(M.cachedTokens, ""), input), "cached")],
        }),
        stat({
          title: "Cost",
          description: `Cost that logs state, within the range that is shown (\`${M.cost.name}\`).`,
          empty: "No log here states costs",
          unit: "currencyUSD",
          w: 6,
          queries: [query(overRange(M.cost, ""), "cost")],
        }),
        timeseries({
          title: "Tokens a second",
          description: `\`${M.tokens.name}\`, and the parts of it that were cached (\`${M.cachedTokens.name}\`) or spent on reasoning (\`${M.reasoningTokens.name}\`).`,
          empty: NO_TOKENS,
          unit: "short",
          queries: [
            query(input, "input"),
            query(output, "output"),
            query(rate(M.cachedTokens, ""), "of input: cached"),
            query(rate(M.reasoningTokens, ""), "of output: reasoning"),
          ],
        }),
        timeseries({
          title: "Cost an hour",
          description: `US dollars an hour at the present rate (\`${M.cost.name}\`).`,
          empty: "No log here states costs",
          unit: "currencyUSD",
          stack: true,
          queries: [query(`3600 * ${rate(M.cost, "model")}`, "{{model}}")],
        }),
        heatRows({
          title: "Consumption rate by model",
          description: `Tokens a second, input and output; one row a model (\`${M.tokens.name}\`).`,
          empty: NO_TOKENS,
          unit: "short",
          queries: [query(named("model", rate(M.tokens, "model")), "{{model}}")],
        }),
        heatRows({
          title: "Consumption rate by tenant",
          description: `Tokens a second, input and output; one row a tenant (\`${M.tokens.name}\`).`,
          empty: NO_TOKENS,
          unit: "short",
          queries: [query(named("tenant", rate(M.tokens, "tenant")), "{{tenant}}")],
        }),
      ],
    },
    {
      title: "Budgets",
      panels: [
        barGauge({
          title: "Used",
          description: `Used share of each budget in its present period (\`${M.budgetUsedRatio.name}\`).`,
          empty: NO_BUDGET,
          unit: "percentunit",
          max: 1,
          w: 8,
          steps: [
            { from: null, color: "green" },
            { from: 0.8, color: "yellow" },
            { from: 0.95, color: "red" },
          ],
          queries: [query(usedRatio, "{{budget}} {{tenant}}", { instant: true })],
        }),
        timeseries({
          title: "Used and elapsed share",
          description: `A budget that lasts keeps its use below the share of the period that has passed (\`${M.budgetUsedRatio.name}\`, \`${M.budgetElapsedRatio.name}\`).`,
          empty: NO_BUDGET,
          unit: "percentunit",
          w: 8,
          queries: [query(usedRatio, "used {{budget}} {{tenant}}"), query(elapsed, "elapsed {{budget}} {{tenant}}")],
        }),
        timeseries({
          title: "Burn",
          description: "Used share over elapsed share: at 1 a budget lasts exactly its period, at 2 half of it.",
          empty: NO_BUDGET,
          unit: "short",
          w: 8,
          steps: [
            { from: null, color: "green" },
            { from: 1, color: "yellow" },
            { from: 2, color: "red" },
          ],
          queries: [query(`${usedRatio} / (${elapsed} > 0)`, "{{budget}} {{tenant}}")],
        }),
        table({
          title: "Budgets",
          description: `\`${M.budgetUsed.name}\`, \`${M.budgetLimit.name}\`, \`${M.budgetReset.name}\`; the last column is the time until the budget is spent at the pace of the last hour.`,
          empty: NO_BUDGET,
          columns: [
            ["Used", "short"],
            ["Limit", "short"],
            ["Used share", "percentunit"],
            ["Next period in", "s"],
            ["Spent in", "s"],
          ],
          queries: [
            query(used, ""),
            query(limit, ""),
            query(usedRatio, ""),
            query(`max by (${BUDGET}) (${pick(M.budgetReset)}) - time()`, ""),
            query(`(${limit} - ${used}) / (sum by (${BUDGET}) (deriv(${pick(M.budgetUsed)}[1h])) > 0)`, ""),
          ],
        }),
        table({
          title: "Who draws on budgets",
          description: `Weighted tokens in the present period (\`${M.budgetDrawn.name}\`).`,
          empty: NO_BUDGET,
          columns: [["Drawn", "short"]],
          queries: [query(`topk(20, sum by (${BUDGET}, service_name, model) (${pick(M.budgetDrawn)}))`, "")],
        }),
      ],
    },
    {
      title: "Who uses most",
      panels: [
        table({
          title: "Tenants and models",
          description: `Tokens, requests and cost within the range that is shown (\`${M.tokens.name}\`, \`${M.requests.name}\`, \`${M.cost.name}\`).`,
          empty: NO_TOKENS,
          w: 24,
          columns: [
            ["Input tokens", "short"],
            ["Output tokens", "short"],
            ["Requests", "short"],
            ["Cost", "currencyUSD"],
          ],
          queries: [
            query(`${overRange(M.tokens, "tenant, model", 'token_type="input"')} > 0`, ""),
            query(`${overRange(M.tokens, "tenant, model", 'token_type="output"')} > 0`, ""),
            query(`${overRange(M.requests, "tenant, model")} > 0`, ""),
            query(`${overRange(M.cost, "tenant, model")} > 0`, ""),
          ],
        }),
      ],
    },
    {
      title: "Lengths",
      panels: [
        heatmap({
          title: "Context length, distribution",
          description: `Prompt tokens of a request (\`${M.contextTokens.name}\`).`,
          empty: NO_TOKENS,
          unit: "short",
          queries: [heat(M.contextTokens)],
        }),
        timeseries({
          title: "Context length",
          description: `P50, P90 and P99 of prompt tokens (\`${M.contextTokens.name}\`).`,
          empty: NO_TOKENS,
          unit: "short",
          queries: [0.5, 0.9, 0.99].map((q) => query(quantile(M.contextTokens, q), `p${q * 100}`)),
        }),
        heatmap({
          title: "Answer length, distribution",
          description: `Output tokens of a request (\`${M.outputTokens.name}\`).`,
          empty: NO_TOKENS,
          unit: "short",
          queries: [heat(M.outputTokens)],
        }),
        timeseries({
          title: "Answer length",
          description: `P50, P90 and P99 of output tokens (\`${M.outputTokens.name}\`).`,
          empty: NO_TOKENS,
          unit: "short",
          queries: [0.5, 0.9, 0.99].map((q) => query(quantile(M.outputTokens, q), `p${q * 100}`)),
        }),
      ],
    },
  ],
};
