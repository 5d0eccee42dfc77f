import { METRICS } from "../../src/metric/catalogue.ts";
import { constant, counter, type RuleCase } from "./rule-case.ts";

const M = METRICS;
const NODE = 'job="tokentail",instance="n1"';
const INSTANCE = { job: "tokentail", instance: "n1" };
const CHAT = 'service_name="chat",model="llama"';
const CHAT_LABELS = { service_name: "chat", model: "llama" };
const BUILD = { [`${M.buildInfo.name}{${NODE}}`]: constant(1, 200) };

type Row = Omit<RuleCase, "alert" | "kind" | "name">;
/** The three cases of one alert: one that fires, one that must not, one with missing or sparse data. */
function three(
  alert: string,
  cases: Record<"fires" | "quiet" | "sparse", readonly [name: string, row: Row]>,
): RuleCase[] {
  return (["fires", "quiet", "sparse"] as const).map((kind) => {
    const [name, row] = cases[kind];
    return { alert, kind, name, ...row };
  });
}

const outcomes = (ok: number, error: number, minutes: number): Record<string, string> => ({
  [`${M.requests.name}{${NODE},${CHAT},outcome="ok"}`]: counter([[ok, minutes]]),
  [`${M.requests.name}{${NODE},${CHAT},outcome="error"}`]: counter([[error, minutes]]),
});
const firstTokens = (perMinute: number, late: number, minutes: number): Record<string, string> => ({
  [`${M.requestTtft.name}_count{${NODE},${CHAT}}`]: counter([[perMinute, minutes]]),
  [`${M.requestTtft.name}_bucket{${NODE},${CHAT},le="2.2"}`]: counter([[perMinute - late, minutes]]),
});

const SLO: readonly RuleCase[] = [
  ...three("LLMErrorBudgetBurnFast", {
    fires: [
      "20 % of the requests fail for an hour",
      { series: outcomes(80, 20, 90), at: "65m", fires: [{ ...CHAT_LABELS, slo: "availability" }] },
    ],
    quiet: ["1 % fails: the budget lasts", { series: outcomes(99, 1, 90), at: "65m" }],
    sparse: ["one failure among three requests at night", { series: outcomes(0.03, 0.02, 90), at: "65m" }],
  }),
  {
    alert: "LLMErrorBudgetBurnFast",
    kind: "fires",
    name: "80 % of the first tokens come late",
    series: firstTokens(100, 80, 90),
    at: "65m",
    fires: [{ ...CHAT_LABELS, slo: "ttft" }],
  },
  {
    alert: "LLMErrorBudgetBurnFast",
    kind: "quiet",
    name: "clients that leave are no failures",
    series: {
      ...outcomes(100, 0, 90),
      [`${M.requests.name}{${NODE},${CHAT},outcome="aborted"}`]: counter([[100, 90]]),
    },
    at: "65m",
  },
  ...three("LLMErrorBudgetBurnSlow", {
    fires: [
      "4 % fail for a day",
      {
        series: outcomes(480, 20, 760),
        every: "2m",
        at: "25h",
        fires: [{ ...CHAT_LABELS, slo: "availability" }],
      },
    ],
    quiet: ["half a per cent fails for a day", { series: outcomes(398, 2, 760), every: "2m", at: "25h" }],
    sparse: [
      "a request or two an hour, a third of them fails",
      { series: outcomes(0.02, 0.006, 760), every: "2m", at: "25h" },
    ],
  }),
];

const failures = (cause: string, values: string): Record<string, string> => ({
  [`${M.failures.name}{${NODE},${CHAT},cause="${cause}"}`]: values,
});
const FAILURES: readonly RuleCase[] = [
  ...three("LLMFailureRateHigh", {
    fires: ["10 % of 100 a minute fail", { series: outcomes(90, 10, 30), at: "20m", fires: [CHAT_LABELS] }],
    quiet: ["2 % fail", { series: outcomes(98, 2, 30), at: "20m" }],
    sparse: ["half of one request in ten minutes fails", { series: outcomes(0.1, 0.1, 30), at: "20m" }],
  }),
  ...three("LLMHttpErrorsHigh", {
    fires: [
      "a fifth of the answers are 503",
      {
        series: {
          [`${M.httpResponses.name}{${NODE},service_name="chat",status="200"}`]: counter([[40, 30]]),
          [`${M.httpResponses.name}{${NODE},service_name="chat",status="503"}`]: counter([[10, 30]]),
        },
        at: "20m",
        fires: [{ service_name: "chat" }],
      },
    ],
    quiet: [
      "429 is the client's doing",
      {
        series: {
          [`${M.httpResponses.name}{${NODE},service_name="chat",status="200"}`]: counter([[40, 30]]),
          [`${M.httpResponses.name}{${NODE},service_name="chat",status="429"}`]: counter([[40, 30]]),
        },
        at: "20m",
      },
    ],
    sparse: [
      "three errors in all",
      { series: { [`${M.httpResponses.name}{${NODE},service_name="chat",status="500"}`]: "0 3x30" }, at: "20m" },
    ],
  }),
  ...three("LLMRootCauseNew", {
    fires: [
      "a cause that appeared half an hour ago",
      {
        series: {
          [`${M.buildInfo.name}{${NODE}}`]: constant(1, 400),
          ...failures("upstream_timeout", `_x311 ${counter([[3, 20]], 3)}`),
        },
        every: "5m",
        at: "26h10m",
        fires: [{ service_name: "chat", cause: "upstream_timeout" }],
      },
    ],
    quiet: [
      "a cause that was there yesterday",
      {
        series: {
          [`${M.buildInfo.name}{${NODE}}`]: constant(1, 400),
          ...failures("upstream_timeout", counter([[3, 400]])),
        },
        every: "5m",
        at: "26h10m",
      },
    ],
    sparse: [
      "tokentail is younger than a day: everything is new",
      { series: { ...BUILD, ...failures("upstream_timeout", counter([[3, 60]])) }, at: "40m" },
    ],
  }),
  ...three("LLMFailuresUnexplained", {
    fires: [
      "half of the failures are unknown",
      {
        series: { ...failures("unknown", counter([[1, 120]])), ...failures("gpu_oom", counter([[1, 120]])) },
        at: "110m",
        fires: [{ service_name: "chat" }],
      },
    ],
    quiet: [
      "a tenth is unknown",
      {
        series: { ...failures("unknown", counter([[1, 120]])), ...failures("gpu_oom", counter([[9, 120]])) },
        at: "110m",
      },
    ],
    sparse: ["three unknown failures in an hour", { series: failures("unknown", counter([[0.05, 120]])), at: "110m" }],
  }),
  ...three("LLMEngineDead", {
    fires: [
      "the first death ever: the series is born above zero",
      {
        series: { ...BUILD, ...failures("engine_dead", "_x10 1x60") },
        at: "13m",
        fires: [{ ...CHAT_LABELS, cause: "engine_dead" }],
      },
    ],
    quiet: ["dead long ago", { series: { ...BUILD, ...failures("engine_dead", "1x60") }, at: "30m" }],
    sparse: [
      "tokentail has only just been found: its counters are old",
      { series: { [`${M.buildInfo.name}{${NODE}}`]: "_x10 1x60", ...failures("engine_dead", "_x10 7x60") }, at: "13m" },
    ],
  }),
  {
    alert: "LLMEngineDead",
    kind: "fires",
    name: "it died again",
    series: { ...BUILD, ...failures("runner_crash", "1x10 2x60") },
    at: "13m",
    fires: [{ ...CHAT_LABELS, cause: "runner_crash" }],
  },
  ...three("LLMGpuOutOfMemory", {
    fires: [
      "once more",
      { series: { ...BUILD, ...failures("gpu_oom", "1x20 2x40") }, at: "23m", fires: [CHAT_LABELS] },
    ],
    quiet: ["another cause grew", { series: { ...BUILD, ...failures("rate_limited", "1x20 2x40") }, at: "23m" }],
    sparse: ["no failure was ever seen", { series: BUILD, at: "23m" }],
  }),
  ...three("LLMTenantLeak", {
    fires: [
      "one leak",
      {
        series: { ...BUILD, [`${M.tenantLeaks.name}{${NODE},service_name="rag"}`]: "_x20 1x60" },
        at: "24m",
        fires: [{ service_name: "rag" }],
      },
    ],
    quiet: [
      "two hours later",
      {
        series: {
          [`${M.buildInfo.name}{${NODE}}`]: constant(1, 300),
          [`${M.tenantLeaks.name}{${NODE},service_name="rag"}`]: "_x20 1x280",
        },
        at: "150m",
      },
    ],
    sparse: ["no detector, no series", { series: BUILD, at: "24m" }],
  }),
  ...three("LLMPromptInjectionSurge", {
    fires: [
      "three a minute",
      {
        series: { [`${M.promptInjections.name}{${NODE},service_name="rag",action="blocked"}`]: counter([[3, 60]]) },
        at: "30m",
        fires: [{ service_name: "rag", action: "blocked" }],
      },
    ],
    quiet: [
      "one a minute",
      {
        series: { [`${M.promptInjections.name}{${NODE},service_name="rag",action="blocked"}`]: counter([[1, 60]]) },
        at: "30m",
      },
    ],
    sparse: ["no detector, no series", { series: BUILD, at: "30m" }],
  }),
];

const ENGINE = `{${NODE},service_name="chat",engine="0"}`;
const ENGINE_LABELS = { ...INSTANCE, service_name: "chat", engine: "0" };
const RATE = `{${NODE},service_name="chat",engine="0",direction="generation"}`;
const SATURATION: readonly RuleCase[] = [
  ...three("LLMKvCacheFull", {
    fires: [
      "97 % for 5 minutes",
      { series: { [M.kvCacheUsage.name + ENGINE]: constant(0.97) }, at: "6m", fires: [ENGINE_LABELS] },
    ],
    quiet: ["95 % is not above", { series: { [M.kvCacheUsage.name + ENGINE]: constant(0.95) }, at: "30m" }],
    sparse: ["full once, then silent", { series: { [M.kvCacheUsage.name + ENGINE]: "0.99 stale" }, at: "6m" }],
  }),
  ...three("LLMQueueBacklog", {
    fires: [
      "40 wait, 16 run",
      {
        series: { [M.waiting.name + ENGINE]: constant(40), [M.running.name + ENGINE]: constant(16) },
        at: "6m",
        fires: [ENGINE_LABELS],
      },
    ],
    quiet: [
      "40 wait, 200 run",
      { series: { [M.waiting.name + ENGINE]: constant(40), [M.running.name + ENGINE]: constant(200) }, at: "30m" },
    ],
    sparse: ["running is not known", { series: { [M.waiting.name + ENGINE]: constant(40) }, at: "30m" }],
  }),
  ...three("LLMPreemptionsHigh", {
    fires: [
      "ten a minute",
      {
        series: { [`${M.preemptions.name}{${NODE},service_name="chat"}`]: counter([[10, 60]]) },
        at: "20m",
        fires: [{ service_name: "chat" }],
      },
    ],
    quiet: [
      "one a minute",
      { series: { [`${M.preemptions.name}{${NODE},service_name="chat"}`]: counter([[1, 60]]) }, at: "20m" },
    ],
    sparse: [
      "a single sample",
      { series: { [`${M.preemptions.name}{${NODE},service_name="chat"}`]: "500 _x60" }, at: "4m" },
    ],
  }),
  ...three("LLMEngineStalled", {
    fires: [
      "running requests, no token",
      {
        series: { [M.tokensPerSecond.name + RATE]: constant(0), [M.running.name + ENGINE]: constant(4) },
        at: "5m",
        fires: [ENGINE_LABELS].map((labels) => ({ ...labels, direction: "generation" })),
      },
    ],
    quiet: [
      "idle: nothing runs",
      { series: { [M.tokensPerSecond.name + RATE]: constant(0), [M.running.name + ENGINE]: constant(0) }, at: "30m" },
    ],
    sparse: ["throughput is not told", { series: { [M.running.name + ENGINE]: constant(4) }, at: "30m" }],
  }),
  ...three("LLMEngineSilent", {
    fires: [
      "its last words were 4 running requests",
      { series: { ...BUILD, [M.running.name + ENGINE]: "4x10 stale" }, at: "20m", fires: [ENGINE_LABELS] },
    ],
    quiet: ["its last words were 0", { series: { ...BUILD, [M.running.name + ENGINE]: "4x9 0 stale" }, at: "20m" }],
    sparse: [
      "tokentail itself is gone",
      {
        series: { [`${M.buildInfo.name}{${NODE}}`]: "1x10 stale", [M.running.name + ENGINE]: "4x10 stale" },
        at: "20m",
      },
    ],
  }),
];

const BUDGET = '{instance="n1",budget="daily",tenant="acme"}';
const BUDGET_LABELS = { budget: "daily", tenant: "acme" };
/** A day's budget of 1000 tokens; the period began at 0. */
const pace = (perMinute: number, minutes = 600): Record<string, string> => ({
  [M.budgetUsed.name + BUDGET]: counter([[perMinute, minutes]]),
  [M.budgetLimit.name + BUDGET]: constant(1000, minutes),
  [M.budgetElapsedRatio.name + BUDGET]: counter([[1 / 1440, minutes]]),
  [M.budgetReset.name + BUDGET]: constant(86_400, minutes),
});
const BUDGETS: readonly RuleCase[] = [
  ...three("LLMTokenBudgetBurnFast", {
    fires: ["two a minute: spent after eight hours", { series: pace(2), at: "3h", fires: [BUDGET_LABELS] }],
    quiet: ["as planned", { series: pace(1000 / 1440), at: "9h" }],
    sparse: ["use is not known", { series: { ...pace(2), [M.budgetUsed.name + BUDGET]: "_x600" }, at: "3h" }],
  }),
  {
    alert: "LLMTokenBudgetBurnFast",
    kind: "quiet",
    name: "a burst that is over",
    series: {
      ...pace(2),
      [M.budgetUsed.name + BUDGET]: counter([
        [10, 40],
        [0, 500],
      ]),
    },
    at: "3h",
  },
  ...three("LLMTokenBudgetExhausted", {
    fires: [
      "used above the limit",
      {
        series: { [M.budgetUsed.name + BUDGET]: constant(1001), [M.budgetLimit.name + BUDGET]: constant(1000) },
        at: "6m",
        fires: [BUDGET_LABELS],
      },
    ],
    quiet: [
      "one token short",
      {
        series: { [M.budgetUsed.name + BUDGET]: constant(999), [M.budgetLimit.name + BUDGET]: constant(1000) },
        at: "30m",
      },
    ],
    sparse: ["no limit is known", { series: { [M.budgetUsed.name + BUDGET]: constant(1001) }, at: "30m" }],
  }),
];

const SOURCE = `{${NODE},source="/var/log/*.log"}`;
const SOURCE_LABELS = { ...INSTANCE, source: "/var/log/*.log" };
const SELF: readonly RuleCase[] = [
  ...three("TokentailDown", {
    fires: ["no answer for 5 minutes", { series: { [`up{${NODE}}`]: constant(0) }, at: "6m", fires: [INSTANCE] }],
    quiet: ["one failed scrape", { series: { [`up{${NODE}}`]: "1x3 0 1x30" }, at: "10m" }],
    sparse: ["another job is down", { series: { 'up{job="other"}': constant(0) }, at: "6m" }],
  }),
  ...three("TokentailAbsent", {
    fires: ["no target", { series: { 'up{job="other"}': constant(1) }, at: "11m", fires: [{ job: "tokentail" }] }],
    quiet: ["a target, even if down", { series: { [`up{${NODE}}`]: constant(0) }, at: "30m" }],
    sparse: ["not within ten minutes", { series: { 'up{job="other"}': constant(1) }, at: "8m" }],
  }),
  ...three("TokentailNothingToRead", {
    fires: [
      "no file for half an hour",
      { series: { [M.files.name + SOURCE]: constant(0) }, at: "31m", fires: [INSTANCE] },
    ],
    quiet: [
      "one source of two has files",
      {
        series: { [M.files.name + SOURCE]: constant(0), [`${M.files.name}{${NODE},source="b"}`]: constant(2) },
        at: "50m",
      },
    ],
    sparse: ["the figure is missing", { series: { [`up{${NODE}}`]: constant(0) }, at: "50m" }],
  }),
  ...three("TokentailUnreadableFiles", {
    fires: [
      "two files",
      { series: { [M.unreadableFiles.name + SOURCE]: constant(2) }, at: "11m", fires: [SOURCE_LABELS] },
    ],
    quiet: ["none", { series: { [M.unreadableFiles.name + SOURCE]: constant(0) }, at: "30m" }],
    sparse: ["for a moment", { series: { [M.unreadableFiles.name + SOURCE]: "2x3 0x30" }, at: "20m" }],
  }),
  ...three("TokentailLagging", {
    fires: [
      "five minutes behind",
      { series: { [M.lagSeconds.name + SOURCE]: constant(300) }, at: "11m", fires: [SOURCE_LABELS] },
    ],
    quiet: ["a minute behind", { series: { [M.lagSeconds.name + SOURCE]: constant(60) }, at: "30m" }],
    sparse: ["the figure vanished", { series: { [M.lagSeconds.name + SOURCE]: "300x3 stale" }, at: "20m" }],
  }),
  ...three("TokentailLostBytes", {
    fires: [
      "truncated before it was read",
      {
        series: { ...BUILD, [`${M.lostBytes.name}{${NODE},reason="truncated"}`]: "0x20 4096x60" },
        at: "23m",
        fires: [{ ...INSTANCE, reason: "truncated" }],
      },
    ],
    quiet: [
      "lines cut at the size limit are told elsewhere",
      { series: { ...BUILD, [`${M.lostBytes.name}{${NODE},reason="overlong"}`]: "0x20 4096x60" }, at: "23m" },
    ],
    sparse: ["no loss was ever counted", { series: BUILD, at: "23m" }],
  }),
  ...three("TokentailStateDegraded", {
    fires: [
      "for 5 minutes",
      { series: { [`${M.stateDegraded.name}{${NODE}}`]: constant(1) }, at: "6m", fires: [INSTANCE] },
    ],
    quiet: ["healthy", { series: { [`${M.stateDegraded.name}{${NODE}}`]: constant(0) }, at: "30m" }],
    sparse: ["for a minute", { series: { [`${M.stateDegraded.name}{${NODE}}`]: "1 0x30" }, at: "6m" }],
  }),
  ...three("TokentailReloadFailed", {
    fires: ["refused", { series: { [`${M.reloadOk.name}{${NODE}}`]: constant(0) }, at: "6m", fires: [INSTANCE] }],
    quiet: ["taken", { series: { [`${M.reloadOk.name}{${NODE}}`]: constant(1) }, at: "30m" }],
    sparse: ["not told", { series: BUILD, at: "30m" }],
  }),
  ...three("TokentailNotificationsFailing", {
    fires: [
      "half of them",
      {
        series: {
          [`${M.notificationErrors.name}{${NODE},alertmanager="a"}`]: counter([[1, 60]]),
          [`${M.notificationsSent.name}{${NODE},alertmanager="a"}`]: counter([[1, 60]]),
        },
        at: "30m",
        fires: [{ ...INSTANCE, alertmanager: "a" }],
      },
    ],
    quiet: [
      "one in a hundred",
      {
        series: {
          [`${M.notificationErrors.name}{${NODE},alertmanager="a"}`]: counter([[0.1, 60]]),
          [`${M.notificationsSent.name}{${NODE},alertmanager="a"}`]: counter([[9.9, 60]]),
        },
        at: "30m",
      },
    ],
    sparse: [
      "nothing was sent at all",
      {
        series: {
          [`${M.notificationErrors.name}{${NODE},alertmanager="a"}`]: constant(0),
          [`${M.notificationsSent.name}{${NODE},alertmanager="a"}`]: constant(0),
        },
        at: "30m",
      },
    ],
  }),
  ...three("TokentailClockSkew", {
    fires: [
      "two minutes behind",
      {
        series: { [`${M.alertmanagerSkew.name}{${NODE},alertmanager="a"}`]: constant(-120) },
        at: "11m",
        fires: [{ ...INSTANCE, alertmanager: "a" }],
      },
    ],
    quiet: [
      "a second apart",
      { series: { [`${M.alertmanagerSkew.name}{${NODE},alertmanager="a"}`]: constant(1) }, at: "30m" },
    ],
    sparse: ["no Alertmanager", { series: BUILD, at: "30m" }],
  }),
  ...three("TokentailNotificationsDropped", {
    fires: [
      "dropped once",
      {
        series: { ...BUILD, [`${M.notificationsDropped.name}{${NODE},alertmanager="a"}`]: "0x20 3x60" },
        at: "23m",
        fires: [{ ...INSTANCE, alertmanager: "a" }],
      },
    ],
    quiet: [
      "none",
      { series: { ...BUILD, [`${M.notificationsDropped.name}{${NODE},alertmanager="a"}`]: constant(0) }, at: "23m" },
    ],
    sparse: ["no Alertmanager", { series: BUILD, at: "23m" }],
  }),
  ...three("TokentailSeriesOverflow", {
    fires: [
      "a metric at its limit",
      {
        series: { ...BUILD, [`${M.overflow.name}{${NODE},metric="m"}`]: "_x20 5x60" },
        at: "23m",
        fires: [{ ...INSTANCE, metric: "m" }],
      },
    ],
    quiet: [
      "long ago",
      { series: { ...BUILD, [`${M.overflow.name}{${NODE},metric="m"}`]: constant(5, 200) }, at: "100m" },
    ],
    sparse: ["never", { series: BUILD, at: "23m" }],
  }),
  ...three("TokentailLinesUnrecognised", {
    fires: [
      "nine of ten lines",
      {
        series: {
          [`${M.lines.name}{${NODE},profile="none",result="unrecognised"}`]: counter([[900, 200]]),
          [`${M.lines.name}{${NODE},profile="vllm",result="recognised"}`]: counter([[100, 200]]),
        },
        at: "70m",
        fires: [INSTANCE],
      },
    ],
    quiet: [
      "one of ten lines",
      {
        series: {
          [`${M.lines.name}{${NODE},profile="none",result="unrecognised"}`]: counter([[100, 200]]),
          [`${M.lines.name}{${NODE},profile="vllm",result="recognised"}`]: counter([[900, 200]]),
        },
        at: "70m",
      },
    ],
    sparse: [
      "a line now and then",
      { series: { [`${M.lines.name}{${NODE},profile="none",result="unrecognised"}`]: counter([[1, 200]]) }, at: "70m" },
    ],
  }),
  ...three("TokentailHoldsDeletedFiles", {
    fires: [
      "2 GiB",
      { series: { [M.heldDeletedBytes.name + SOURCE]: constant(2 ** 31) }, at: "31m", fires: [SOURCE_LABELS] },
    ],
    quiet: ["a megabyte", { series: { [M.heldDeletedBytes.name + SOURCE]: constant(2 ** 20) }, at: "50m" }],
    sparse: ["for a moment", { series: { [M.heldDeletedBytes.name + SOURCE]: `${2 ** 31}x5 0x50` }, at: "40m" }],
  }),
];

export const OTHER_CASES: Readonly<Record<string, readonly RuleCase[]>> = {
  "tokentail-slo": SLO,
  "tokentail-failures": FAILURES,
  "tokentail-saturation": SATURATION,
  "tokentail-budgets": BUDGETS,
  "tokentail-self": SELF,
};
