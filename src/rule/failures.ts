import { DASHBOARD_UIDS, type RuleOptions } from "./options.ts";
import { grew, N, promql } from "./promql.ts";
import type { RuleFile } from "./rule.ts";

/** Causes after which an engine serves nothing until it is started again. */
const FATAL = "engine_dead|runner_crash|shard_crash|model_load_failed";

/** Failure rates, new root causes, and events of which one is enough. */
export function failuresFile(options: RuleOptions): RuleFile {
  const shared = { alertgroup: "llm-failures", dashboard: DASHBOARD_UIDS.causes };
  const { keepFiringFor } = options;
  return {
    name: "tokentail-failures",
    about: ["Failed requests, new root causes, dead engines, and breaches of which one is enough."],
    groups: [
      {
        name: "tokentail-failures.alerts",
        rules: [
          {
            ...shared,
            alert: "LLMFailureRateHigh",
            severity: "warning",
            for: "5m",
            keepFiringFor,
            expr: promql(`
              (
                  sum by (service_name, model) (rate(${N.requests}{outcome="error"}[10m]))
                /
                  sum by (service_name, model) (rate(${N.requests}[10m]))
              ) > 0.05
              and sum by (service_name, model) (increase(${N.requests}{outcome="error"}[10m])) >= 10
            `),
            summary: "Many requests to an LLM service fail.",
            description:
              "{{ $value | humanizePercentage }} of the requests of {{ $labels.service_name }} / {{ $labels.model }} failed over 10 minutes.",
            runbook: {
              meaning:
                "More than 5 % of the requests ended in an error, and at least 10 of them, over 10 minutes. Aborts by the client are no errors.",
              checks: [
                "Which cause leads? See the Root causes dashboard, and the evidence of the cluster at `/api/v1/root-causes`.",
                "Is it the client's doing (auth, context length, rate limit) or the server's (memory, timeout, dead engine)?",
                "Did it begin with a deployment, a new model or a new tenant?",
              ],
              queries: [["By cause", `sum by (service_name, cause) (rate(${N.failures}[10m]))`]],
            },
          },
          {
            ...shared,
            alert: "LLMHttpErrorsHigh",
            severity: "warning",
            for: "5m",
            keepFiringFor,
            expr: promql(`
              (
                  sum by (service_name) (rate(${N.httpResponses}{status=~"5.."}[10m]))
                /
                  sum by (service_name) (rate(${N.httpResponses}[10m]))
              ) > 0.05
              and sum by (service_name) (increase(${N.httpResponses}{status=~"5.."}[10m])) >= 10
            `),
            summary: "An LLM service answers with server errors.",
            description:
              "{{ $value | humanizePercentage }} of the HTTP answers of {{ $labels.service_name }} are 5xx over 10 minutes.",
            runbook: {
              meaning:
                "More than 5 % of the HTTP answers, and at least 10, have a status of 500 or above. This is what access lines show, also for servers that log no request records.",
              checks: [
                "By route: is it the inference route or something beside it?",
                "502 and 504 come from a proxy that could not reach the engine or waited too long; 503 from overload; 500 from the engine.",
              ],
              queries: [
                ["By route and status", `sum by (service_name, route, status) (rate(${N.httpResponses}[10m]))`],
              ],
            },
          },
          {
            ...shared,
            alert: "LLMRootCauseNew",
            severity: "warning",
            keepFiringFor: "1h",
            expr: promql(`
              (sum by (service_name, cause) (${N.failures}{cause!="unknown"}) >= 5)
              unless on (service_name, cause)
                max by (service_name, cause) (max_over_time(${N.failures}[7d] offset 1h))
              and on () (count(${N.buildInfo} offset 1d) > 0)
            `),
            summary: "A root cause appeared that was not seen in the last 7 days.",
            description:
              "{{ $labels.service_name }} failed {{ $value }} times by {{ $labels.cause }}, a cause not seen there in the last 7 days.",
            runbook: {
              meaning:
                "At least 5 failures of a cause that the service did not have during the 7 days before the last hour. Not judged while tokentail itself is younger than a day.",
              checks: [
                "Read an example line: `/api/v1/root-causes` shows the template and the first occurrence.",
                "What changed within the last hour: image, model, quota, key, index, traffic?",
              ],
              queries: [["Since when", `sum by (service_name, cause) (${N.failures})`]],
            },
          },
          {
            ...shared,
            alert: "LLMFailuresUnexplained",
            severity: "info",
            for: "30m",
            expr: promql(`
              (
                  sum by (service_name) (increase(${N.failures}{cause="unknown"}[1h]))
                /
                  sum by (service_name) (increase(${N.failures}[1h]))
              ) > 0.2
              and sum by (service_name) (increase(${N.failures}{cause="unknown"}[1h])) >= 20
            `),
            summary: "Many failures have no known root cause.",
            description:
              "{{ $value | humanizePercentage }} of the failures of {{ $labels.service_name }} in the last hour are of no known cause.",
            runbook: {
              meaning:
                "More than a fifth of an hour's failure records, and at least 20, match no cause of the catalogue: a new kind of failure, or a log format that tokentail does not know.",
              checks: [
                "Look at the unknown clusters: `/api/v1/root-causes`, and `tokentail detect FILE` for lines that were not recognised.",
                "Report the template, so that the catalogue learns it.",
              ],
              queries: [["Unknown failures", `sum by (service_name) (increase(${N.failures}{cause="unknown"}[1h]))`]],
            },
          },
          {
            ...shared,
            alert: "LLMEngineDead",
            severity: "critical",
            keepFiringFor,
            expr: grew(N.failures, "service_name, model, cause", "5m", `cause=~"${FATAL}"`),
            summary: "An LLM engine died or could not load its model.",
            description: "{{ $labels.service_name }} / {{ $labels.model }} logged {{ $labels.cause }}.",
            runbook: {
              meaning:
                "The log holds the death of an engine, a worker or a shard, or a model that could not be loaded. Such an engine answers nothing until it is started again.",
              checks: [
                "Did the supervisor restart it, and does it get past loading?",
                "Read the lines before: out of memory, a driver error (Xid), a missing file, a full disk?",
                "If it dies again and again, take it out of the load balancer.",
              ],
              queries: [["Fatal causes", `sum by (service_name, cause) (${N.failures}{cause=~"${FATAL}"})`]],
            },
          },
          {
            ...shared,
            alert: "LLMGpuOutOfMemory",
            severity: "warning",
            keepFiringFor,
            expr: grew(N.failures, "service_name, model", "10m", 'cause="gpu_oom"'),
            summary: "A GPU ran out of memory.",
            description:
              "{{ $labels.service_name }} / {{ $labels.model }} ran out of GPU memory within the last 10 minutes.",
            runbook: {
              meaning: "The engine or its framework reported that an allocation on the GPU failed.",
              checks: [
                "Is another process on the GPU?",
                "Did a long prompt or a large batch cause it? See context lengths at that time.",
                "Lower the batch limit, the context limit or the share of memory for the KV cache.",
              ],
              queries: [
                [
                  "Context length, P99",
                  `histogram_quantile(0.99, sum by (service_name, model, le) (rate(${N.contextTokens}_bucket[15m])))`,
                ],
              ],
            },
          },
          {
            ...shared,
            alert: "LLMTenantLeak",
            severity: "critical",
            keepFiringFor: "1h",
            expr: grew(N.tenantLeaks, "service_name", "15m"),
            summary: "Documents of one tenant reached another.",
            description: "{{ $labels.service_name }} reported a document of one tenant in an answer to another.",
            runbook: {
              meaning: "The application's own check found a document of a foreign tenant in an answer. One is enough.",
              checks: [
                "Stop the route or the index if the filter is broken: this is a data breach until shown otherwise.",
                "Find the request in the log by its time, and keep the evidence.",
                "Was the tenant filter missing from the query, or are documents filed under the wrong tenant?",
              ],
              queries: [["Leaks", `sum by (service_name) (${N.tenantLeaks})`]],
            },
          },
          {
            ...shared,
            alert: "LLMPromptInjectionSurge",
            severity: "info",
            keepFiringFor,
            expr: `sum by (service_name, action) (increase(${N.promptInjections}[15m])) >= 20`,
            summary: "Many prompt injections were detected.",
            description:
              "{{ $labels.service_name }} reported {{ $value | humanize }} prompt injections ({{ $labels.action }}) in 15 minutes.",
            runbook: {
              meaning: "A detector reported at least 20 prompt injections within 15 minutes.",
              checks: [
                "Are they blocked (label `action`)?",
                "One tenant or many? One points at a script or a poisoned document that is retrieved again and again.",
              ],
              queries: [["By action", `sum by (service_name, action) (increase(${N.promptInjections}[15m]))`]],
            },
          },
        ],
      },
    ],
  };
}
