import { METRICS as M } from "../metric/catalogue.ts";
import { DASHBOARD_UIDS } from "../rule/options.ts";
import type { DashboardSpec } from "./assemble.ts";
import { barGauge, heatmap, stat, stateTimeline, timeseries } from "./panel.ts";
import { heat, mean, named, pick, quantile, quantiles, query, rate, share } from "./query.ts";

const NO_REQUESTS = "No request ended in this range, or these logs do not tell";
const NO_ENGINE = "No engine reported figures in the last minute, or its log has none";
const RISK = [
  { from: null, color: "green" },
  { from: 0.8, color: "yellow" },
  { from: 0.95, color: "red" },
] as const;

const ended = rate(M.requests, "");
/** `or vector(0)` is right here: a log that tells outcomes and has no error has none. */
const failed = `(${rate(M.requests, "", 'outcome="error"')} or ${ended} * 0)`;

export const overview: DashboardSpec = {
  uid: DASHBOARD_UIDS.overview,
  title: "Overview",
  description: "Traffic, latency, failures, engines, budgets and alerts of LLM services, from their logs.",
  from: "now-1h",
  services: true,
  rows: [
    {
      title: "Now",
      panels: [
        stat({
          title: "Requests",
          description: `Requests that ended, a second (\`${M.requests.name}\`).`,
          empty: NO_REQUESTS,
          unit: "reqps",
          queries: [query(ended, "requests")],
        }),
        stat({
          title: "Failed",
          description: `Share of ended requests with outcome error; aborts by clients are no failures (\`${M.requests.name}\`).`,
          empty: NO_REQUESTS,
          unit: "percentunit",
          decimals: 2,
          steps: [
            { from: null, color: "green" },
            { from: 0.01, color: "yellow" },
            { from: 0.05, color: "red" },
          ],
          queries: [query(share(failed, ended), "failed")],
        }),
        stat({
          title: "TTFT P99",
          description: `Time to first token (\`${M.requestTtft.name}\`).`,
          empty: "No log here tells a time to first token",
          unit: "s",
          queries: [query(quantile(M.requestTtft, 0.99), "p99")],
        }),
        stat({
          title: "E2E P99",
          description: `Duration of whole requests (\`${M.requestDuration.name}\`).`,
          empty: "No log here tells durations",
          unit: "s",
          queries: [query(quantile(M.requestDuration, 0.99), "p99")],
        }),
        stat({
          title: "Tokens",
          description: `Input and output tokens a second (\`${M.tokens.name}\`).`,
          empty: "No log here tells token counts of requests",
          unit: "short",
          queries: [query(rate(M.tokens, "token_type"), "{{token_type}}")],
        }),
        stat({
          title: "Nodes unreachable",
          description: "Targets of the scrape job that do not answer.",
          empty: "No target",
          unit: "short",
          steps: [
            { from: null, color: "green" },
            { from: 1, color: "red" },
          ],
          queries: [query('count(up{job=~"$job",instance=~"$instance"} == 0) or vector(0)', "down")],
        }),
      ],
    },
    {
      title: "Alerts and budgets",
      panels: [
        stateTimeline({
          title: "Alert state",
          description: `Alerts of the embedded engine (\`${M.alertState.name}\`) and of Prometheus rules (\`ALERTS\`).`,
          empty: "No alert is configured, pending or firing",
          unit: "short",
          states: [
            [0, "inactive", "green"],
            [1, "pending", "yellow"],
            [2, "firing", "red"],
          ],
          queries: [
            query(
              `max by (alertname, service_name, model, signal, budget, tenant) (${pick(M.alertState)})`,
              "{{alertname}} {{service_name}} {{model}} {{signal}} {{budget}} {{tenant}}",
            ),
            query(
              'max by (alertname, scope, service_name, model, signal, budget, tenant, slo) (ALERTS{alertname=~"LLM.+|Tokentail.+",alertstate="firing"} * 2 or ALERTS{alertname=~"LLM.+|Tokentail.+",alertstate="pending"})',
              "rule {{alertname}} {{scope}} {{service_name}} {{model}} {{signal}} {{budget}} {{tenant}} {{slo}}",
            ),
          ],
        }),
        barGauge({
          title: "Token budgets used",
          description: `Used share of each budget in its present period (\`${M.budgetUsedRatio.name}\`).`,
          empty: "No budget is configured, or no usage is known yet",
          unit: "percentunit",
          max: 1,
          steps: RISK,
          queries: [
            query(`max by (budget, tenant) (${pick(M.budgetUsedRatio)})`, "{{budget}} {{tenant}}", { instant: true }),
          ],
        }),
        timeseries({
          title: "Risk score",
          description: `Weighted drift and budget use, each over its threshold; 1 when both stand at it (\`${M.riskScore.name}\`).`,
          empty: "Needs drift verdicts and budgets: none is there yet",
          unit: "short",
          steps: [
            { from: null, color: "green" },
            { from: 1, color: "red" },
          ],
          queries: [query(`max by (service_name, model) (${pick(M.riskScore)})`, "{{service_name}} {{model}}")],
        }),
      ],
    },
    {
      title: "Traffic",
      panels: [
        timeseries({
          title: "Requests by outcome",
          description: `Ended requests a second (\`${M.requests.name}\`), and those taken in where the log shows arrivals (\`${M.requestsReceived.name}\`).`,
          empty: NO_REQUESTS,
          unit: "reqps",
          queries: [query(rate(M.requests, "outcome"), "{{outcome}}"), query(rate(M.requestsReceived, ""), "received")],
        }),
        timeseries({
          title: "HTTP answers by status",
          description: `From access lines and request records (\`${M.httpResponses.name}\`).`,
          empty: "These logs hold no HTTP status",
          unit: "reqps",
          stack: true,
          queries: [query(rate(M.httpResponses, "status"), "{{status}}")],
        }),
        timeseries({
          title: "Requests by model",
          description: `Ended requests a second (\`${M.requests.name}\`).`,
          empty: NO_REQUESTS,
          unit: "reqps",
          stack: true,
          queries: [query(rate(M.requests, "service_name, model"), "{{service_name}} {{model}}")],
        }),
        timeseries({
          title: "Requests by tenant",
          description: `Ended requests a second (\`${M.requests.name}\`).`,
          empty: NO_REQUESTS,
          unit: "reqps",
          stack: true,
          queries: [query(named("tenant", rate(M.requests, "tenant")), "{{tenant}}")],
        }),
        timeseries({
          title: "Finish reasons",
          description: `Why answers ended; \`length\` means cut at the limit (\`${M.requests.name}\`).`,
          empty: "These logs hold no finish reason",
          unit: "reqps",
          stack: true,
          queries: [query(rate(M.requests, "finish_reason", 'finish_reason!=""'), "{{finish_reason}}")],
        }),
      ],
    },
    {
      title: "Latency",
      panels: [
        latency("Time to first token", M.requestTtft, "No log here tells a time to first token"),
        heatmap({
          title: "Time to first token, distribution",
          description: `Requests by bucket (\`${M.requestTtft.name}\`). Dots are exemplars: single requests.`,
          empty: "No log here tells a time to first token",
          unit: "s",
          queries: [heat(M.requestTtft)],
        }),
        latency("End to end", M.requestDuration, "No log here tells durations"),
        heatmap({
          title: "End to end, distribution",
          description: `Requests by bucket (\`${M.requestDuration.name}\`). Dots are exemplars: single requests.`,
          empty: "No log here tells durations",
          unit: "s",
          queries: [heat(M.requestDuration)],
        }),
        timeseries({
          title: "Where the time goes, mean",
          description: `Mean of the phases that the log tells apart (\`${M.requestQueue.name}\`, \`${M.requestPrefill.name}\`, \`${M.requestDecode.name}\`).`,
          empty: "No log here tells phases apart",
          unit: "s",
          stack: true,
          queries: [
            query(mean(M.requestQueue), "queue"),
            query(mean(M.requestPrefill), "prefill"),
            query(mean(M.requestDecode), "decode"),
          ],
        }),
        timeseries({
          title: "Per token",
          description: `Time per output token (\`${M.requestTpot.name}\`) and between streamed chunks (\`${M.chunkInterval.name}\`), as servers report them for a request.`,
          empty: "No log here tells times per token",
          unit: "s",
          queries: [
            query(quantile(M.requestTpot, 0.5), "TPOT p50"),
            query(quantile(M.requestTpot, 0.99), "TPOT p99"),
            query(quantile(M.chunkInterval, 0.5), "chunk interval p50"),
            query(quantile(M.chunkInterval, 0.99), "chunk interval p99"),
          ],
        }),
        timeseries({
          title: "Gateways and proxies",
          description: `Time they waited for the model (\`${M.upstream.name}\`) and time to first byte (\`${M.firstByte.name}\`), which is no time to first token.`,
          empty: "No gateway or proxy writes such a log here",
          unit: "s",
          queries: [
            query(quantile(M.upstream, 0.5), "upstream p50"),
            query(quantile(M.upstream, 0.99), "upstream p99"),
            query(quantile(M.firstByte, 0.99), "first byte p99"),
          ],
        }),
        timeseries({
          title: "Output speed of a request",
          description: `Output tokens over decode time, slowest tenth, median and fastest tenth (\`${M.outputRate.name}\`).`,
          empty: "No log here tells both output tokens and decode time",
          unit: "short",
          queries: [
            query(quantile(M.outputRate, 0.1), "slowest tenth"),
            query(quantile(M.outputRate, 0.5), "median"),
            query(quantile(M.outputRate, 0.9), "fastest tenth"),
          ],
        }),
      ],
    },
    {
      title: "Failures",
      panels: [
        timeseries({
          title: "Failures by cause",
          description: `Failure records a second by root cause (\`${M.failures.name}\`).`,
          empty: "No failure was logged",
          unit: "cps",
          stack: true,
          queries: [query(rate(M.failures, "cause"), "{{cause}}")],
        }),
        timeseries({
          title: "Retries, fallbacks and breaches",
          description: `\`${M.retries.name}\`, \`${M.fallbacks.name}\`, \`${M.promptInjections.name}\`, \`${M.tenantLeaks.name}\`.`,
          empty: "None was logged",
          unit: "cps",
          queries: [
            query(rate(M.retries, ""), "retries"),
            query(rate(M.fallbacks, ""), "fallbacks"),
            query(rate(M.promptInjections, "action"), "injections {{action}}"),
            query(rate(M.tenantLeaks, ""), "tenant leaks"),
          ],
        }),
      ],
    },
    {
      title: "Engines",
      panels: [
        timeseries({
          title: "Running and waiting",
          description: `As engines report them (\`${M.running.name}\`, \`${M.waiting.name}\`); gone when they fall silent.`,
          empty: NO_ENGINE,
          unit: "short",
          queries: [
            query(`sum by (service_name, engine) (${pick(M.running)})`, "running {{service_name}} {{engine}}"),
            query(`sum by (service_name, engine) (${pick(M.waiting)})`, "waiting {{service_name}} {{engine}}"),
          ],
        }),
        timeseries({
          title: "KV cache in use, prefix cache hits",
          description: `\`${M.kvCacheUsage.name}\`, \`${M.prefixCacheHits.name}\`.`,
          empty: NO_ENGINE,
          unit: "percentunit",
          max: 1,
          queries: [
            query(`max by (service_name, engine) (${pick(M.kvCacheUsage)})`, "KV cache {{service_name}} {{engine}}"),
            query(
              `max by (service_name, engine) (${pick(M.prefixCacheHits)})`,
              "prefix hits {{service_name}} {{engine}}",
            ),
          ],
        }),
        timeseries({
          title: "Engine throughput",
          description: `Tokens a second as the engine last reported them (\`${M.tokensPerSecond.name}\`).`,
          empty: NO_ENGINE,
          unit: "short",
          queries: [
            query(
              `sum by (service_name, engine, direction) (${pick(M.tokensPerSecond)})`,
              "{{direction}} {{service_name}} {{engine}}",
            ),
          ],
        }),
        timeseries({
          title: "Preemptions",
          description: `Requests preempted or retracted for lack of KV cache (\`${M.preemptions.name}\`).`,
          empty: "No preemption was logged",
          unit: "cps",
          queries: [query(rate(M.preemptions, "service_name"), "{{service_name}}")],
        }),
        timeseries({
          title: "Model load",
          description: `Time to load a model, over the range that is shown (\`${M.modelLoad.name}\`).`,
          empty: "No model was loaded in this range",
          unit: "s",
          queries: [query(quantile(M.modelLoad, 0.5, { by: "model", window: "$__range" }), "median {{model}}")],
        }),
      ],
    },
    {
      title: "Retrieval, tools and answers",
      collapsed: true,
      panels: [
        timeseries({
          title: "Steps, P99",
          description: `\`${M.retrieval.name}\`, \`${M.embedding.name}\`, \`${M.rerank.name}\`, \`${M.tool.name}\`.`,
          empty: "No application or store writes such a log here",
          unit: "s",
          queries: [
            query(quantile(M.retrieval, 0.99), "retrieval"),
            query(quantile(M.embedding, 0.99), "embedding"),
            query(quantile(M.rerank, 0.99), "rerank"),
            query(quantile(M.tool, 0.99), "tool"),
          ],
        }),
        timeseries({
          title: "Tool calls",
          description: `Agent tool calls a second by outcome (\`${M.toolCalls.name}\`).`,
          empty: "No agent logs tool calls here",
          unit: "cps",
          queries: [query(rate(M.toolCalls, "tool, outcome"), "{{tool}} {{outcome}}")],
        }),
        timeseries({
          title: "Scores, median",
          description: `Best retrieval score of a request (\`${M.topScore.name}\`) and evaluation scores of answers (\`${M.semanticScore.name}\`).`,
          empty: "No log here holds scores",
          unit: "short",
          queries: [query(quantile(M.topScore, 0.5), "retrieval"), query(quantile(M.semanticScore, 0.5), "answers")],
        }),
        barGauge({
          title: "Slowest tools",
          description: `P99 of tool calls over the range that is shown (\`${M.tool.name}\`).`,
          empty: "No agent logs tool calls here",
          unit: "s",
          queries: [
            query(`topk(10, ${quantile(M.tool, 0.99, { by: "tool", window: "$__range" })})`, "{{tool}}", {
              instant: true,
            }),
          ],
        }),
      ],
    },
  ],
};

function latency(title: string, def: typeof M.requestTtft, empty: string) {
  return timeseries({
    title,
    description: `Quantiles over all models, and how many requests a second they rest on (\`${def.name}\`).`,
    empty,
    unit: "s",
    queries: [
      ...quantiles(def),
      query(`sum (rate(${pick(def, "", "_count")}[$__rate_interval]))`, "requests a second"),
    ],
  });
}
