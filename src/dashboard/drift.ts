import { METRICS as M } from "../metric/catalogue.ts";
import { DASHBOARD_UIDS } from "../rule/options.ts";
import type { DashboardSpec } from "./assemble.ts";
import { stateTimeline, table, timeseries } from "./panel.ts";
import { pick, quantile, query } from "./query.ts";

const NO_GAUGE = "No service here has enough requests in the window for a P99, or drift alerts are not configured";
const NO_VERDICT = "No verdict: too few requests, no baseline of 7 days ago, or a tainted one";
const SERIES = "signal, service_name, model";
const LEGEND = "{{signal}} {{service_name}} {{model}}";
const most = (expr: string): string => `max by (${SERIES}) (${expr})`;
const threshold = (name: string): string => `max(${pick(M.alertThreshold, `threshold="${name}"`)})`;

export const drift: DashboardSpec = {
  uid: DASHBOARD_UIDS.drift,
  title: "Drift",
  description: "P99 latency now against the same hour 7 days ago, with the counts and bounds that a verdict rests on.",
  from: "now-24h",
  services: true,
  rows: [
    {
      title: "Verdicts",
      panels: [
        stateTimeline({
          title: "Verdicts",
          description: `Alerts on drift and on drift with a spent budget (\`${M.alertState.name}\`).`,
          empty: "No drift alert of the embedded engine is pending or firing",
          unit: "short",
          states: [
            [0, "no drift", "green"],
            [1, "pending", "yellow"],
            [2, "firing", "red"],
          ],
          queries: [
            query(
              `max by (alertname, ${SERIES}) (${pick(M.alertState, 'alertname=~"LLMLatencyP99Drift|LLMSlaCritical"')})`,
              `{{alertname}} ${LEGEND}`,
            ),
          ],
        }),
        timeseries({
          title: "Drift ratio",
          description: `P99 now over P99 then, less 1 (\`${M.p99DriftRatio.name}\`). Below 0 it became faster. The threshold is \`${M.alertThreshold.name}\`; the alert compares bounds, not these points.`,
          empty: NO_VERDICT,
          unit: "percentunit",
          signed: true,
          queries: [query(most(pick(M.p99DriftRatio)), LEGEND), query(threshold("max_drift"), "threshold")],
        }),
        timeseries({
          title: "Risk score",
          description: `Weighted drift and budget use, each over its threshold (\`${M.riskScore.name}\`).`,
          empty: "Needs drift verdicts and budgets: none is there yet",
          unit: "short",
          steps: [
            { from: null, color: "green" },
            { from: 1, color: "red" },
          ],
          queries: [query(`max by (service_name, model) (${pick(M.riskScore)})`, "{{service_name}} {{model}}")],
        }),
        stateTimeline({
          title: "Why drift is not judged",
          description: `One row for each reason; filled while it holds (\`${M.noVerdict.name}\`).`,
          empty: "Everything is judged, or drift alerts are not configured",
          unit: "short",
          states: [[1, "not judged", "orange"]],
          queries: [query(`max by (${SERIES}, reason) (${pick(M.noVerdict)})`, `{{reason}} ${LEGEND}`)],
        }),
        table({
          title: "What the verdicts rest on",
          description: `\`${M.p99.name}\`, \`${M.p99LowerBound.name}\`, \`${M.p99Baseline.name}\`, \`${M.p99BaselineUpperBound.name}\`, \`${M.p99Samples.name}\`.`,
          empty: NO_GAUGE,
          w: 24,
          columns: [
            ["P99 now", "s"],
            ["Lower bound now", "s"],
            ["P99 then", "s"],
            ["Upper bound then", "s"],
            ["Drift", "percentunit"],
            ["Requests now", "short"],
          ],
          queries: [M.p99, M.p99LowerBound, M.p99Baseline, M.p99BaselineUpperBound, M.p99DriftRatio, M.p99Samples].map(
            (def) => query(most(pick(def)), ""),
          ),
        }),
      ],
    },
    {
      title: "Per node, from tokentail's own sketches",
      panels: [
        timeseries({
          title: "P99 now and 7 days ago",
          description: `Dashed: the baseline (\`${M.p99.name}\`, \`${M.p99Baseline.name}\`).`,
          empty: NO_GAUGE,
          unit: "s",
          queries: [
            query(most(pick(M.p99)), `now ${LEGEND}`),
            query(most(pick(M.p99Baseline)), `7 days ago ${LEGEND}`),
          ],
        }),
        timeseries({
          title: "Bounds that are compared",
          description: `Drift is certain where the lower bound of now is above the dashed upper bound of then by more than the threshold (\`${M.p99LowerBound.name}\`, \`${M.p99BaselineUpperBound.name}\`).`,
          empty: NO_GAUGE,
          unit: "s",
          queries: [
            query(most(pick(M.p99LowerBound)), `lower bound now ${LEGEND}`),
            query(most(pick(M.p99BaselineUpperBound)), `upper bound 7 days ago ${LEGEND}`),
          ],
        }),
        timeseries({
          title: "Requests in the window",
          description: `A verdict needs the minimum in both windows (\`${M.p99Samples.name}\`, \`${M.alertThreshold.name}\`).`,
          empty: NO_GAUGE,
          unit: "short",
          w: 24,
          queries: [query(most(pick(M.p99Samples)), LEGEND), query(threshold("min_samples"), "minimum")],
        }),
      ],
    },
    {
      title: "All nodes, from histograms",
      panels: [
        overWeeks("Time to first token", M.requestTtft),
        overWeeks("End to end", M.requestDuration),
        overWeeks("Queue", M.requestQueue),
        overWeeks("Prefill", M.requestPrefill),
        overWeeks("Decode", M.requestDecode),
        timeseries({
          title: "Context length, P99",
          description: `Longer prompts are the commonest cause of slower answers (\`${M.contextTokens.name}\`).`,
          empty: "No log here tells token counts of requests",
          unit: "short",
          queries: [
            query(quantile(M.contextTokens, 0.99, { window: "1h" }), "now"),
            query(quantile(M.contextTokens, 0.99, { window: "1h", offset: "7d" }), "7 days ago"),
          ],
        }),
      ],
    },
  ],
};

function overWeeks(title: string, def: typeof M.requestTtft) {
  const requests = (offset: string): string => `sum (increase(${pick(def, "", "_count")}[1h]${offset}))`;
  return timeseries({
    title: `${title}, P99 of an hour`,
    description: `Dashed: 7 days ago; grey: the requests that each rests on (\`${def.name}\`).`,
    empty: "No log here tells this time",
    unit: "s",
    queries: [
      query(quantile(def, 0.99, { window: "1h" }), "now"),
      query(quantile(def, 0.99, { window: "1h", offset: "7d" }), "7 days ago"),
      query(requests(""), "requests now"),
      query(requests(" offset 7d"), "requests then"),
    ],
  });
}
