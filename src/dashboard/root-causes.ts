import { METRICS as M } from "../metric/catalogue.ts";
import { DASHBOARD_UIDS } from "../rule/options.ts";
import type { DashboardSpec } from "./assemble.ts";
import { barGauge, heatRows, stat, table, timeseries } from "./panel.ts";
import { overRange, pick, query, rate, share } from "./query.ts";

const NONE = "No failure was logged in this range";
const all = overRange(M.failures, "");

export const rootCauses: DashboardSpec = {
  uid: DASHBOARD_UIDS.causes,
  title: "Root causes",
  description: "What failed, since when, and who was hit.",
  from: "now-6h",
  services: true,
  rows: [
    {
      title: "Failures",
      panels: [
        stat({
          title: "Failure records",
          description: `Within the range that is shown (\`${M.failures.name}\`).`,
          empty: NONE,
          unit: "short",
          w: 6,
          queries: [query(all, "failures")],
        }),
        stat({
          title: "Causes",
          description: `Different root causes within the range that is shown (\`${M.failures.name}\`).`,
          empty: NONE,
          unit: "short",
          w: 6,
          queries: [query(`count(${overRange(M.failures, "cause")} > 0)`, "causes")],
        }),
        stat({
          title: "Without a known cause",
          description: `Share of failure records whose text is in no catalogue (\`${M.failures.name}\`).`,
          empty: NONE,
          unit: "percentunit",
          w: 6,
          queries: [query(share(`(${overRange(M.failures, "", 'cause="unknown"')} or ${all} * 0)`, all), "unknown")],
        }),
        stat({
          title: "Server errors",
          description: `Share of HTTP answers with status 500 or above (\`${M.httpResponses.name}\`).`,
          empty: "These logs hold no HTTP status",
          unit: "percentunit",
          w: 6,
          queries: [
            query(
              share(
                `(${rate(M.httpResponses, "", 'status=~"5.."')} or ${rate(M.httpResponses, "")} * 0)`,
                rate(M.httpResponses, ""),
              ),
              "5xx",
            ),
          ],
        }),
        timeseries({
          title: "Causes over time",
          description: `Failure records a second by root cause (\`${M.failures.name}\`).`,
          empty: NONE,
          unit: "cps",
          stack: true,
          w: 16,
          queries: [query(rate(M.failures, "cause"), "{{cause}}")],
        }),
        barGauge({
          title: "Most frequent causes",
          description: `Failure records within the range that is shown (\`${M.failures.name}\`).`,
          empty: NONE,
          unit: "short",
          w: 8,
          queries: [query(`sort_desc(${overRange(M.failures, "cause")} > 0)`, "{{cause}}", { instant: true })],
        }),
        heatRows({
          title: "Incidents",
          description: `Each row a cause: darker where more failed at a time (\`${M.failures.name}\`).`,
          empty: NONE,
          unit: "short",
          queries: [query(`sum by (cause) (increase(${pick(M.failures)}[$__rate_interval])) > 0`, "{{cause}}")],
        }),
      ],
    },
    {
      title: "Clusters",
      panels: [
        table({
          title: "Clusters by cause and service",
          description: `Failures within the range, of the range before, and all that tokentail has counted (\`${M.failures.name}\`). Templates, examples and evidence: \`/api/v1/root-causes\` of tokentail.`,
          empty: NONE,
          w: 16,
          columns: [
            ["In this range", "short"],
            ["In the range before", "short"],
            ["Counted in all", "short"],
          ],
          queries: [
            query(`${overRange(M.failures, "cause, service_name")} > 0`, ""),
            query(`sum by (cause, service_name) (increase(${pick(M.failures)}[$__range] offset $__range))`, ""),
            query(`sum by (cause, service_name) (${pick(M.failures)})`, ""),
          ],
        }),
        table({
          title: "New within 7 days",
          description: `Causes that a service had not 7 days before (\`${M.failures.name}\`).`,
          empty: "No cause is new",
          w: 8,
          columns: [["Failures", "short"]],
          queries: [
            query(
              `sum by (cause, service_name) (${pick(M.failures)}) unless sum by (cause, service_name) (${pick(M.failures)} offset 7d)`,
              "",
            ),
          ],
        }),
        table({
          title: "Who was hit",
          description: `Failures by model and tenant within the range (\`${M.failures.name}\`), beside the requests that ended well (\`${M.requests.name}\`).`,
          empty: NONE,
          w: 16,
          columns: [
            ["Failures", "short"],
            ["Answered well", "short"],
          ],
          queries: [
            query(`${overRange(M.failures, "model, tenant")} > 0`, ""),
            query(overRange(M.requests, "model, tenant", 'outcome="ok"'), ""),
          ],
        }),
        timeseries({
          title: "Retries and fallbacks",
          description: `What gateways and applications did about it (\`${M.retries.name}\`, \`${M.fallbacks.name}\`).`,
          empty: "None was logged",
          unit: "cps",
          w: 8,
          queries: [query(rate(M.retries, ""), "retries"), query(rate(M.fallbacks, ""), "fallbacks")],
        }),
      ],
    },
    {
      title: "Breaches",
      panels: [
        timeseries({
          title: "Prompt injections",
          description: `Reported by a detector, by action (\`${M.promptInjections.name}\`).`,
          empty: "None was detected, or no detector writes a log here",
          unit: "cps",
          queries: [query(rate(M.promptInjections, "action"), "{{action}}")],
        }),
        timeseries({
          title: "Tenant leaks",
          description: `Documents of one tenant found in an answer to another (\`${M.tenantLeaks.name}\`).`,
          empty: "None was detected, or no application checks for it",
          unit: "cps",
          queries: [query(rate(M.tenantLeaks, "service_name"), "{{service_name}}")],
        }),
      ],
    },
  ],
};
