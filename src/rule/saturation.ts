import { DASHBOARD_UIDS, type RuleOptions } from "./options.ts";
import { N, promql, steady } from "./promql.ts";
import type { RuleFile } from "./rule.ts";

/** What an engine reports before users feel it: KV cache, queue, preemptions, and engines that stand still. */
export function saturationFile(options: RuleOptions): RuleFile {
  const { keepFiringFor } = options;
  const shared = { alertgroup: "llm-saturation", dashboard: DASHBOARD_UIDS.overview, keepFiringFor };
  return {
    name: "tokentail-saturation",
    about: ["Saturation of engines, from the figures that they log themselves."],
    groups: [
      {
        name: "tokentail-saturation.alerts",
        rules: [
          {
            ...shared,
            alert: "LLMKvCacheFull",
            severity: "warning",
            for: "5m",
            expr: `${steady(N.kvCacheUsage)} > 0.95`,
            summary: "The KV cache of an engine is nearly full.",
            description:
              "Engine {{ $labels.engine }} of {{ $labels.service_name }} uses {{ $value | humanizePercentage }} of its KV cache.",
            runbook: {
              meaning:
                "The cache of keys and values stays above 95 %. New requests wait, running ones may be preempted and computed again.",
              checks: [
                "Are requests waiting or preempted? A full cache alone, with a high prefix hit rate, may be as wanted.",
                "Did contexts grow? Lower the context limit or the number of sequences, or add a replica.",
              ],
              queries: [
                ["Waiting", N.waiting],
                ["Preemptions", `sum by (service_name) (increase(${N.preemptions}[15m]))`],
              ],
            },
          },
          {
            ...shared,
            alert: "LLMQueueBacklog",
            severity: "warning",
            for: "5m",
            expr: promql(`
              ${steady(N.waiting)} >= 10
              and ${steady(N.waiting)} > ${steady(N.running)}
            `),
            summary: "More requests wait for an engine than it serves.",
            description:
              "{{ $value }} requests wait for engine {{ $labels.engine }} of {{ $labels.service_name }}, more than it serves at a time.",
            runbook: {
              meaning:
                "At least 10 requests, and more than are running, wait for 5 minutes. Every one of them waits longer than a whole answer takes.",
              checks: [
                "Is the load higher than usual, or does the engine serve less (fewer tokens a second)?",
                "Are other replicas idle? Then the balancing is at fault.",
                "Shed load at the gateway before clients time out and retry.",
              ],
              queries: [
                ["Running and waiting", `${N.running} or ${N.waiting}`],
                ["Tokens a second", N.tokensPerSecond],
              ],
            },
          },
          {
            ...shared,
            alert: "LLMPreemptionsHigh",
            severity: "warning",
            for: "5m",
            expr: `sum by (service_name) (increase(${N.preemptions}[10m])) >= 30`,
            summary: "An engine preempts requests again and again.",
            description: "{{ $labels.service_name }} preempted {{ $value | humanize }} requests in 10 minutes.",
            runbook: {
              meaning:
                "Requests lose their KV cache and are computed again: work done twice, and long pauses in streams.",
              checks: ["See LLMKvCacheFull.", "Lower the number of concurrent sequences."],
              queries: [["KV cache", N.kvCacheUsage]],
            },
          },
          {
            ...shared,
            alert: "LLMEngineStalled",
            severity: "critical",
            for: "2m",
            expr: promql(`
              (max_over_time(${N.tokensPerSecond}{direction="generation"}[3m]) == 0)
              and ignoring (direction) (min_over_time(${N.running}[3m]) > 0)
            `),
            summary: "An engine has requests and generates nothing.",
            description:
              "Engine {{ $labels.engine }} of {{ $labels.service_name }} has running requests and generated no token for minutes.",
            runbook: {
              meaning:
                "The engine reports running requests and a throughput of 0 tokens a second, for minutes. It hangs.",
              checks: [
                "Look for a stuck collective operation (NCCL timeout), a hung GPU (Xid), or a very long prefill.",
                "Take a stack dump (py-spy) before you restart it.",
              ],
              queries: [["Tokens a second", N.tokensPerSecond]],
            },
          },
          {
            ...shared,
            alert: "LLMEngineSilent",
            severity: "warning",
            for: "5m",
            expr: promql(`
              (last_over_time(${N.running}[15m]) > 0)
              unless ${steady(N.running)}
              and on (job, instance) ${N.buildInfo}
            `),
            summary: "An engine fell silent while it had requests.",
            description:
              "Engine {{ $labels.engine }} of {{ $labels.service_name }} last reported {{ $value }} running requests and has logged no figures since.",
            runbook: {
              meaning:
                "The last figures of the engine show running requests; then none came for minutes, although tokentail is there and reading. An engine that was merely idle would have reported 0 first.",
              checks: [
                "Is the process alive? Was it stopped or rolled over on purpose?",
                "Is its log still the one that is read (rotation, new path)? See the tokentail dashboard.",
              ],
              queries: [["Last figures", `last_over_time(${N.running}[1h])`]],
            },
          },
        ],
      },
    ],
  };
}
