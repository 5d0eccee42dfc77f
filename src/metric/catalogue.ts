import { LATENCY_SECONDS, TOKEN_RATE, TOKEN_SECONDS, TOKENS, UNIT_SCORES, USAGE_TOKENS } from "./buckets.ts";

/**
 * Every metric, once: instruments, HELP and TYPE lines, documentation, rules and dashboards come from here, and no other
 * file writes a metric's name as a string that could drift.
 */
interface Described {
  readonly name: string;
  /** UCUM unit of the value. */
  readonly unit: string;
  readonly help: string;
  /** Label names beside those of the source. */
  readonly labels: readonly string[];
  /** What OTLP calls it, when that is not `name`; its labels are then those of {@link GENAI_ATTRIBUTES}. */
  readonly otelName?: string;
}

export interface ValueDef extends Described {
  readonly kind: "counter" | "gauge";
}

export interface HistogramDef extends Described {
  readonly kind: "histogram";
  /** Ascending upper bounds, without +Inf. */
  readonly buckets: readonly number[];
}

export type MetricDef = ValueDef | HistogramDef;

function counter(name: string, unit: string, labels: readonly string[], help: string): ValueDef {
  return { name, kind: "counter", unit, labels, help };
}

function gauge(name: string, unit: string, labels: readonly string[], help: string): ValueDef {
  return { name, kind: "gauge", unit, labels, help };
}

function histogram(
  name: string,
  unit: string,
  labels: readonly string[],
  buckets: readonly number[],
  help: string,
): HistogramDef {
  return { name, kind: "histogram", unit, labels, buckets, help };
}

const REQUEST = ["model", "route", "tenant"] as const;

export const METRICS = {
  requests: counter(
    "llm_requests_total",
    "{request}",
    [...REQUEST, "outcome", "finish_reason"],
    "Requests that ended, by outcome: ok, error, or aborted by the client.",
  ),
  requestsReceived: counter(
    "llm_requests_received_total",
    "{request}",
    [],
    "Requests taken in, where the log shows arrivals.",
  ),
  httpResponses: counter(
    "llm_http_responses_total",
    "{response}",
    ["route", "status"],
    "HTTP answers by status, from access lines and request records; apart from the request's own outcome.",
  ),
  requestDuration: histogram(
    "llm_request_duration_seconds",
    "s",
    REQUEST,
    LATENCY_SECONDS,
    "End-to-end duration of a request.",
  ),
  requestTtft: histogram("llm_request_ttft_seconds", "s", REQUEST, LATENCY_SECONDS, "Time to first token."),
  requestQueue: histogram(
    "llm_request_queue_seconds",
    "s",
    ["model", "route"],
    LATENCY_SECONDS,
    "Time a request waited before the engine took it up.",
  ),
  requestPrefill: histogram(
    "llm_request_prefill_seconds",
    "s",
    ["model", "route"],
    LATENCY_SECONDS,
    "Time to process the prompt.",
  ),
  requestDecode: histogram(
    "llm_request_decode_seconds",
    "s",
    ["model", "route"],
    LATENCY_SECONDS,
    "Time to generate the answer's tokens.",
  ),
  requestTpot: histogram(
    "llm_request_time_per_output_token_seconds",
    "s",
    ["model", "route"],
    TOKEN_SECONDS,
    "Mean time per output token of one request, as the server reports it.",
  ),
  chunkInterval: histogram(
    "llm_stream_chunk_interval_seconds",
    "s",
    ["model", "route"],
    TOKEN_SECONDS,
    "Mean interval between streamed chunks (ITL) of one request, as the server reports it.",
  ),
  upstream: histogram(
    "llm_upstream_duration_seconds",
    "s",
    ["model", "route"],
    LATENCY_SECONDS,
    "Time the gateway or application waited for the model.",
  ),
  firstByte: histogram(
    "llm_request_ttfb_seconds",
    "s",
    REQUEST,
    LATENCY_SECONDS,
    "Time to first byte as a proxy sees it; not a time to first token.",
  ),
  tokensPerSecond: gauge(
    "llm_tokens_per_second",
    "{token}/s",
    ["engine", "direction"],
    "Throughput as the engine last reported it; gone when it falls silent.",
  ),
  outputRate: histogram(
    "llm_request_output_tokens_per_second",
    "{token}/s",
    ["model"],
    TOKEN_RATE,
    "Output tokens of a request over its decode time.",
  ),
  tokens: counter(
    "ai_token_consumption_total",
    "{token}",
    [...REQUEST, "token_type"],
    "Tokens consumed: input (full prompt) and output.",
  ),
  cachedTokens: counter(
    "llm_cached_input_tokens_total",
    "{token}",
    ["model", "tenant"],
    "Input tokens that came from a cache; a subset of the input tokens.",
  ),
  reasoningTokens: counter(
    "llm_reasoning_tokens_total",
    "{token}",
    ["model", "tenant"],
    "Output tokens spent on reasoning; a subset of the output tokens.",
  ),
  contextTokens: histogram("llm_request_context_tokens", "{token}", ["model"], TOKENS, "Prompt tokens of one request."),
  outputTokens: histogram("llm_request_output_tokens", "{token}", ["model"], TOKENS, "Output tokens of one request."),
  cost: counter("llm_cost_usd_total", "{USD}", ["model", "tenant"], "Cost as the log states it, US dollars."),
  running: gauge(
    "llm_requests_running",
    "{request}",
    ["engine"],
    "Requests in the running batch; gone when the engine falls silent.",
  ),
  waiting: gauge(
    "llm_requests_waiting",
    "{request}",
    ["engine"],
    "Requests waiting for the engine; gone when it falls silent.",
  ),
  kvCacheUsage: gauge("llm_kv_cache_usage_ratio", "1", ["engine"], "Share of the KV cache in use, 0 to 1."),
  prefixCacheHits: gauge(
    "llm_prefix_cache_hit_ratio",
    "1",
    ["engine"],
    "Prefix cache hit rate as the engine reports it, 0 to 1.",
  ),
  preemptions: counter(
    "llm_preemptions_total",
    "{preemption}",
    [],
    "Requests preempted or retracted for lack of KV cache.",
  ),
  failures: counter("llm_failures_total", "{record}", ["cause", "model", "tenant"], "Failure records by root cause."),
  retries: counter("llm_retries_total", "{retry}", [], "Attempts repeated by a gateway or application."),
  fallbacks: counter(
    "llm_fallbacks_total",
    "{fallback}",
    [],
    "Requests that were tried on another model or deployment.",
  ),
  promptInjections: counter(
    "llm_prompt_injection_total",
    "{request}",
    ["action"],
    "Prompt injections that a detector reported, by action.",
  ),
  tenantLeaks: counter(
    "llm_tenant_leaks_total",
    "{record}",
    [],
    "Documents of one tenant found in an answer to another.",
  ),
  retrieval: histogram(
    "rag_retrieval_duration_seconds",
    "s",
    ["collection"],
    LATENCY_SECONDS,
    "Time to retrieve documents.",
  ),
  embedding: histogram("rag_embedding_duration_seconds", "s", ["model"], LATENCY_SECONDS, "Time to embed."),
  rerank: histogram("rag_rerank_duration_seconds", "s", ["model"], LATENCY_SECONDS, "Time to rerank."),
  tool: histogram("agent_tool_duration_seconds", "s", ["tool"], LATENCY_SECONDS, "Time of an agent's tool call."),
  toolCalls: counter("agent_tool_calls_total", "{call}", ["tool", "outcome"], "Agent tool calls by outcome."),
  topScore: histogram(
    "rag_retrieval_top_score",
    "1",
    ["collection"],
    UNIT_SCORES,
    "Best retrieval score of a request.",
  ),
  semanticScore: histogram("llm_semantic_score", "1", ["model"], UNIT_SCORES, "Evaluation scores of answers."),
  modelLoad: histogram("llm_model_load_seconds", "s", ["model"], LATENCY_SECONDS, "Time to load a model."),
  p99: gauge(
    "tokentail_p99_seconds",
    "s",
    ["signal", "service_name", "model"],
    "99th percentile of successful requests in the present window, from the daemon's own sketches.",
  ),
  p99LowerBound: gauge(
    "tokentail_p99_lower_bound_seconds",
    "s",
    ["signal", "service_name", "model"],
    "Lower end of the 90 % order-statistic interval of the present P99.",
  ),
  p99Samples: gauge(
    "tokentail_p99_samples",
    "{request}",
    ["signal", "service_name", "model"],
    "Requests in the present window.",
  ),
  p99Baseline: gauge(
    "tokentail_p99_baseline_seconds",
    "s",
    ["signal", "service_name", "model"],
    "99th percentile of the window that the present one is compared with: 7 days before, unless that was tainted.",
  ),
  p99BaselineUpperBound: gauge(
    "tokentail_p99_baseline_upper_bound_seconds",
    "s",
    ["signal", "service_name", "model"],
    "Upper end of the 90 % order-statistic interval of the baseline's P99.",
  ),
  p99DriftRatio: gauge(
    "tokentail_p99_drift_ratio",
    "1",
    ["signal", "service_name", "model"],
    "P99 now over P99 then, less 1; absent while there is no verdict: too few samples in either window, no baseline, or a tainted one.",
  ),
  budgetUsed: gauge(
    "tokentail_budget_used_tokens",
    "{token}",
    ["budget", "tenant"],
    "Weighted tokens used in the budget's present period; absent while no usage is known.",
  ),
  budgetLimit: gauge("tokentail_budget_limit_tokens", "{token}", ["budget", "tenant"], "Limit of the budget."),
  budgetUsedRatio: gauge(
    "tokentail_budget_used_ratio",
    "1",
    ["budget", "tenant"],
    "Used over limit; above 1 when overspent; absent while no usage is known.",
  ),
  budgetElapsedRatio: gauge(
    "tokentail_budget_period_elapsed_ratio",
    "1",
    ["budget", "tenant"],
    "Share of the budget's present period that has passed, 0 to 1.",
  ),
  budgetReset: gauge(
    "tokentail_budget_reset_timestamp_seconds",
    "s",
    ["budget", "tenant"],
    "Time at which the budget's next period begins.",
  ),
  budgetDrawn: gauge(
    "tokentail_budget_drawn_tokens",
    "{token}",
    ["budget", "tenant", "service_name", "model"],
    "Weighted tokens that a service and model drew from the budget in its present period.",
  ),
  alertThreshold: gauge(
    "tokentail_alert_threshold",
    "1",
    ["threshold"],
    "Thresholds of the configuration in force: `max_drift`, `warn_at` and `min_samples`.",
  ),
  riskScore: gauge(
    "tokentail_sla_risk_score",
    "1",
    ["service_name", "model"],
    "Risk of the joint alert: weighted drift and budget use, each over its threshold; 1 when both stand at it.",
  ),
  alertState: gauge(
    "tokentail_alert_state",
    "1",
    ["alertname", "service_name", "model", "signal", "budget", "tenant"],
    "State of an alert of the embedded engine: 0 inactive, 1 pending, 2 firing.",
  ),
  notificationsSent: counter(
    "tokentail_notifications_sent_total",
    "{alert}",
    ["alertmanager"],
    "Alerts sent to an Alertmanager.",
  ),
  notificationErrors: counter(
    "tokentail_notifications_errors_total",
    "{alert}",
    ["alertmanager"],
    "Alerts that an Alertmanager did not take; the next send repeats them.",
  ),
  notificationsDropped: counter(
    "tokentail_notifications_dropped_total",
    "{alert}",
    ["alertmanager"],
    "Alerts dropped because the queue of an Alertmanager was full.",
  ),
  otlpPushes: counter(
    "tokentail_otlp_pushes_total",
    "{push}",
    ["result"],
    "Pushes to the OpenTelemetry collector: ok, or error after all tries; the next push carries the same values.",
  ),
  otlpLastPush: gauge(
    "tokentail_otlp_last_push_timestamp_seconds",
    "s",
    [],
    "Time of the last push that the OpenTelemetry collector took.",
  ),
  notificationsQueued: gauge(
    "tokentail_notifications_queue_length",
    "{alert}",
    ["alertmanager"],
    "Alerts that wait for an Alertmanager to take them.",
  ),
  alertmanagerSkew: gauge(
    "tokentail_alertmanager_clock_skew_seconds",
    "s",
    ["alertmanager"],
    "The Alertmanager's clock less the daemon's; alerts of a slow daemon end before they arrive.",
  ),
  noVerdict: gauge(
    "tokentail_drift_no_verdict",
    "1",
    ["signal", "service_name", "model", "reason"],
    "1 while drift is not judged, and why: `insufficient_samples`, `baseline_missing`, `baseline_tainted` or `overflow`.",
  ),
  alertSkipped: counter(
    "tokentail_alert_skipped_requests_total",
    "{request}",
    ["reason"],
    "Requests that no window or budget could take: no time in the line, a clock that was never set or runs ahead, too many services, a period that is over.",
  ),
  lines: counter(
    "tokentail_lines_total",
    "{line}",
    ["profile", "result"],
    "Lines read, by the profile that took them; result recognised or unrecognised.",
  ),
  records: counter("tokentail_records_total", "{record}", ["profile"], "Records that lines became."),
  readBytes: counter("tokentail_read_bytes_total", "By", [], "Bytes read from sources."),
  lostBytes: counter(
    "tokentail_lost_bytes_total",
    "By",
    ["reason"],
    "Bytes that were written and never counted: gone before they were read (`truncated`, `deleted`), or beyond the size limit of a line (`overlong`).",
  ),
  skippedBytes: counter(
    "tokentail_skipped_bytes_total",
    "By",
    ["reason"],
    "Bytes passed over on purpose: those of existing files that the start position left out, and holes of NULs.",
  ),
  invalidBytes: counter("tokentail_invalid_bytes_total", "By", [], "Bytes that were no valid UTF-8."),
  overlongLines: counter("tokentail_overlong_lines_total", "{line}", [], "Lines cut at the size limit."),
  rotations: counter(
    "tokentail_rotations_total",
    "{rotation}",
    [],
    "Rotations by rename or replacement that were followed.",
  ),
  truncations: counter(
    "tokentail_truncations_total",
    "{truncation}",
    [],
    "Truncations (copytruncate) that were followed.",
  ),
  duplicates: counter(
    "tokentail_duplicate_lines_total",
    "{record}",
    [],
    "Entries dropped because the same request had been counted.",
  ),
  rejected: counter(
    "tokentail_rejected_values_total",
    "{value}",
    ["reason"],
    "Figures of a line that were refused; the rest of the line counts.",
  ),
  overflow: counter(
    "tokentail_series_overflow_total",
    "{series}",
    ["metric"],
    "Label sets that were summed under `other` because the metric reached its series limit.",
  ),
  sourceErrors: counter(
    "tokentail_source_errors_total",
    "{error}",
    ["reason"],
    "Reads, opens and directory scans that failed and are tried again.",
  ),
  lagBytes: gauge("tokentail_lag_bytes", "By", ["source"], "Bytes written and not yet read."),
  lagSeconds: gauge(
    "tokentail_lag_seconds",
    "s",
    ["source"],
    "Time since the source had last been read to its end; 0 when nothing is waiting.",
  ),
  heldDeletedBytes: gauge(
    "tokentail_held_deleted_bytes",
    "By",
    ["source"],
    "Size of deleted files that take disk space because they are still being read.",
  ),
  files: gauge("tokentail_files", "{file}", ["source"], "Files being followed."),
  unreadableFiles: gauge(
    "tokentail_unreadable_files",
    "{file}",
    ["source"],
    "Files that match and cannot be read; they are tried again.",
  ),
  commitErrors: counter(
    "tokentail_commit_errors_total",
    "{commit}",
    [],
    "Commits of the state that failed; their content goes with the next one.",
  ),
  stateDegraded: gauge(
    "tokentail_state_degraded",
    "1",
    [],
    "1 while the state cannot be written: values go on in memory and would be lost by a crash.",
  ),
  lastCommit: gauge("tokentail_last_commit_timestamp_seconds", "s", [], "Time of the last commit of the state."),
  commitSeconds: gauge("tokentail_commit_duration_seconds", "s", [], "Duration of the last commit of the state."),
  buildInfo: gauge("tokentail_build_info", "1", ["version", "revision"], "Always 1."),
  reloadOk: gauge("tokentail_config_last_reload_successful", "1", [], "1 when the last configuration load succeeded."),
} as const satisfies Record<string, MetricDef>;

/** What the configuration calls the sets of names. */
export const NAMINGS = ["llm", "genai", "both"] as const;
export type Naming = (typeof NAMINGS)[number];

function semantic(
  otelName: string,
  suffix: string,
  unit: string,
  labels: readonly string[],
  buckets: readonly number[],
  help: string,
): HistogramDef {
  return { ...histogram(`${otelName.replaceAll(".", "_")}${suffix}`, unit, labels, buckets, help), otelName };
}

const OPERATION = ["gen_ai_operation_name", "gen_ai_provider_name", "gen_ai_request_model"] as const;

/**
 * The OpenTelemetry GenAI semantic conventions, in the form Prometheus gives to their names (dots become underscores, the
 * unit a suffix). Boundaries reach further than the convention's, which end at 10 s for the first token.
 *
 * @see OpenTelemetry semantic conventions v1.41.1, docs/gen-ai/gen-ai-metrics.md; `gen_ai.execute_tool.duration`:
 *   semantic-conventions-genai, docs/gen-ai/gen-ai-metrics.md
 */
export const GENAI_METRICS = {
  requestDuration: semantic(
    "gen_ai.server.request.duration",
    "_seconds",
    "s",
    [...OPERATION, "error_type"],
    LATENCY_SECONDS,
    "End-to-end duration of a request; error_type is absent when it was answered well.",
  ),
  ttft: semantic(
    "gen_ai.server.time_to_first_token",
    "_seconds",
    "s",
    OPERATION,
    LATENCY_SECONDS,
    "Time to first token of requests that were answered well.",
  ),
  tpot: semantic(
    "gen_ai.server.time_per_output_token",
    "_seconds",
    "s",
    OPERATION,
    TOKEN_SECONDS,
    "Time per output token after the first, of requests that were answered well: as reported, or (duration - first token) / (tokens - 1).",
  ),
  clientDuration: semantic(
    "gen_ai.client.operation.duration",
    "_seconds",
    "s",
    [...OPERATION, "gen_ai_data_source_id", "error_type"],
    LATENCY_SECONDS,
    "Time the gateway or application waited: for the model, for retrieval, for embeddings.",
  ),
  tokenUsage: semantic(
    "gen_ai.client.token.usage",
    "",
    "{token}",
    [...OPERATION, "gen_ai_token_type"],
    USAGE_TOKENS,
    "Tokens of one request, by type: input (full prompt) or output.",
  ),
  toolDuration: semantic(
    "gen_ai.execute_tool.duration",
    "_seconds",
    "s",
    ["gen_ai_tool_name", "error_type"],
    LATENCY_SECONDS,
    "Time of an agent's tool call.",
  ),
} as const satisfies Record<string, MetricDef>;

/** Attributes of the conventions by the label that stands for them in Prometheus. */
export const GENAI_ATTRIBUTES: Readonly<Record<string, string>> = {
  gen_ai_operation_name: "gen_ai.operation.name",
  gen_ai_provider_name: "gen_ai.provider.name",
  gen_ai_request_model: "gen_ai.request.model",
  gen_ai_data_source_id: "gen_ai.data_source.id",
  gen_ai_token_type: "gen_ai.token.type",
  gen_ai_tool_name: "gen_ai.tool.name",
  error_type: "error.type",
};

/** Metrics that the conventions have a name for: left out under `genai`. All others keep their names; the conventions know none. */
export const REPLACED_BY_GENAI: ReadonlySet<MetricDef> = new Set<MetricDef>([
  METRICS.requestDuration,
  METRICS.requestTtft,
  METRICS.requestTpot,
  METRICS.upstream,
  METRICS.contextTokens,
  METRICS.outputTokens,
  METRICS.retrieval,
  METRICS.embedding,
  METRICS.tool,
]);

/** Every metric that a naming shows. */
export function metricsOf(naming: Naming): MetricDef[] {
  const own = Object.values<MetricDef>(METRICS).filter((def) => naming !== "genai" || !REPLACED_BY_GENAI.has(def));
  return naming === "llm" ? own : [...own, ...Object.values(GENAI_METRICS)];
}

/** Values of `gen_ai.provider.name` by profile: engines that serve the model themselves. The convention lists none of them and allows values of one's own. */
export const GENAI_PROVIDERS: Readonly<Record<string, string>> = {
  "vllm-v1": "vllm",
  "vllm-v0": "vllm",
  "vllm-rust": "vllm",
  sglang: "sglang",
  tgi: "tgi",
  tei: "tei",
  trtllm: "trtllm",
  llamacpp: "llamacpp",
  ollama: "ollama",
  lmdeploy: "lmdeploy",
  lightllm: "lightllm",
  koboldcpp: "koboldcpp",
  tabbyapi: "tabbyapi",
};

/** Labels with few values that the catalogue's words decide: never folded into `other`, so that sums by them stay exact. */
export const CLOSED_LABELS: ReadonlySet<string> = new Set([
  "outcome",
  "token_type",
  "gen_ai_token_type",
  "cause",
  "direction",
  "action",
]);

/** Causes that stop an engine and whose first record must show as an increase: their series begin at 0. */
export const DECLARED_CAUSES = ["engine_dead", "gpu_oom", "model_load_failed", "runner_crash", "shard_crash"] as const;
