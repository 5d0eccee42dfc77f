/** Expected totals of a corpus log against what `analyze --json` says: exact for core figures, apart for soft ones. */
import type { Report } from "./read-log.ts";

// expected error kind -> causes of the product"s catalogue that are right for it
const CAUSES: Record<string, string[]> = {
  oom_gpu: ["gpu_oom"],
  nccl: ["nccl_distributed"],
  context_length: ["context_length_exceeded", "embedding_input_too_long"],
  context_window: ["context_length_exceeded"],
  context_or_size: ["context_length_exceeded", "invalid_request", "request_too_large"],
  client_abort: ["client_cancelled"],
  timeout: ["upstream_timeout", "queue_overflow", "request_timeout", "engine_hang_watchdog"],
  upstream_timeout: ["upstream_timeout"],
  overloaded: ["queue_overflow", "upstream_overloaded"],
  overloaded_http_503: ["queue_overflow", "upstream_overloaded"],
  rate_limited: ["rate_limited"],
  rate_limit: ["rate_limited"],
  kv_cache_full: ["kv_cache_exhausted"],
  engine_dead: ["engine_dead", "worker_node_lost"],
  bad_request: ["invalid_request"],
  model_not_found: ["model_not_found"],
  auth: ["auth_invalid_key", "permission_denied"],
  load_failed: ["model_load_failed", "model_weights_unavailable", "model_load_cold_start", "host_oom_killed"],
  runner_crash: ["runner_crash", "worker_node_lost", "cuda_kernel_fault"],
  shard_crash: ["shard_crash", "worker_node_lost"],
  hang: ["engine_hang_watchdog"],
  stream_closed: ["stream_interrupted"],
  process_killed: ["host_oom_killed", "worker_node_lost"],
  budget_exceeded: ["quota_exhausted"],
  content_policy: ["content_policy_block"],
  guardrail_block: ["content_policy_block", "prompt_injection_block"],
  prompt_guard_block: ["content_policy_block", "prompt_injection_block"],
  prompt_injection: ["prompt_injection_block"],
  index_missing: ["vector_index_missing"],
  connection_refused: ["upstream_unreachable"],
  tool_timeout: ["tool_call_timeout"],
  upstream_error: ["upstream_overloaded", "upstream_unreachable", "upstream_error"],
  cross_tenant_denied: ["permission_denied"],
  too_many_connections: ["db_pool_exhausted"],
  statement_timeout: ["upstream_timeout", "db_statement_timeout"],
  request_too_large: ["request_too_large", "invalid_request"],
  internal: ["internal_error"],
  worker_timeout: ["upstream_timeout", "engine_hang_watchdog"],
};

export interface Figure {
  readonly what: string;
  readonly want: unknown;
  readonly got: unknown;
  /** Core figures are exact; soft ones (kinds of errors, format-specific counters) may be explained. */
  readonly core: boolean;
  readonly right: boolean;
}

type Loose = Record<string, any>; // oxlint-disable-line typescript/no-explicit-any

const num = (value: unknown): number => (typeof value === "number" ? value : 0);
const get = (report: Report, path: string): unknown =>
  path.split("/").reduce<unknown>((value, key) => (value == null ? undefined : (value as Loose)[key]), report);

function right(want: unknown, got: unknown): boolean {
  if (want === null) return got === null || got === undefined;
  const expected = want as number;
  return (
    typeof got === "number" &&
    (Math.abs(got - expected) <= 0.01 || Math.abs(got - expected) <= 1e-6 * Math.abs(expected))
  );
}

/** All figures of an expected file (schema of the corpus), judged. */
export function compareReport(expected: Loose, report: Report): Figure[] {
  const figures: Figure[] = [];
  const check = (what: string, want: unknown, got: unknown, core: boolean): void => {
    if (want !== undefined) figures.push({ what, want, got: got ?? null, core, right: right(want, got) });
  };
  check("lines", expected["lines"], report["files"]?.[0]?.lines, true);
  if (typeof expected["requests"] === "object" && expected["requests"] !== null) engine(expected, report, check);
  else service(expected, report, check);
  return figures;
}

type Check = (what: string, want: unknown, got: unknown, core: boolean) => void;

function engine(expected: Loose, report: Report, check: Check): void {
  const at = (path: string, want: unknown, core = true): void => check(path, want, get(report, path), core);
  for (const key of ["received", "finished", "failed", "aborted"]) {
    if (key in expected["requests"])
      at(`requests/${key}`, expected["requests"][key], key === "finished" || key === "received");
  }
  for (const [reason, want] of Object.entries(expected["requests"].finished_by_reason ?? {}))
    at(`requests/by_finish_reason/${reason}`, want);
  for (const [status, want] of Object.entries(expected["http"]?.inference ?? {})) at(`http/inference/${status}`, want);
  for (const [key, want] of Object.entries<Loose>(expected["latency_ms"] ?? {})) {
    const name = key === "time_per_output_token" ? "tpot" : key === "itl_mean" ? "itl" : key;
    at(`latency_ms/${name}/count`, want?.["count"]);
    at(`latency_ms/${name}/sum`, want?.["sum"]);
  }
  for (const key of ["in", "in_processed", "in_cached", "out"]) {
    if (expected["tokens"] === undefined || !(key in expected["tokens"])) continue;
    if (expected["tokens"][key] === null) at(`tokens/${key}`, null);
    else for (const part of ["count", "sum"]) at(`tokens/${key}/${part}`, expected["tokens"][key][part]);
  }
  for (const [path, want] of leaves(expected["gauges_last"])) at(`gauges_last/${path}`, want);
  for (const [path, want] of leaves(expected["counters"])) at(`counters/${path}`, want, false);
  errors(expected["errors"]?.records, report, check);
}

function service(expected: Loose, report: Report, check: Check): void {
  const requests = report["requests"] ?? {};
  const ended = num(requests.finished) + num(requests.failed) + num(requests.aborted);
  if (expected["requests"] != null) check("requests", expected["requests"], ended, true);
  if (expected["ok"] != null) check("requests/finished", expected["ok"], requests.finished, true);
  if (expected["failed"] != null)
    check("requests/failed+aborted", expected["failed"], num(requests.failed) + num(requests.aborted), true);
  for (const [status, want] of Object.entries(expected["by_status"] ?? {}))
    check(`http/inference/${status}`, want, get(report, `http/inference/${status}`), true);
  for (const by of ["by_model", "by_tenant"]) {
    for (const [key, want] of Object.entries(expected[by] ?? {}))
      check(`requests/${by}/${key}`, want, requests[by]?.[key], true);
  }
  for (const [kind, want] of Object.entries<Loose>(expected["latency"] ?? {})) {
    check(`latency_ms/${kind}/count`, want["count"], report["latency_ms"]?.[kind]?.count, true);
    check(`latency_ms/${kind}/sum`, want["sum_s"] * 1000, report["latency_ms"]?.[kind]?.sum, true);
  }
  const tokens: Record<string, string> = {
    input: "in",
    output: "out",
    cached_input: "in_cached",
    reasoning_output: "out_reasoning",
    embedding_tokens: "embedding",
    total: "total",
  };
  for (const [type, want] of Object.entries(expected["tokens"] ?? {})) {
    const key = tokens[type] ?? type;
    check(`tokens/${key}/sum`, want, report["tokens"]?.[key]?.sum, type !== "total" && type !== "embedding_tokens");
  }
  if (expected["cost_usd"] != null) check("cost_usd", expected["cost_usd"], report["cost_usd"], true);
  for (const [part, want] of Object.entries(expected["retrieval_scores"] ?? {}))
    check(`scores/retrieval/${part}`, want, report["scores"]?.retrieval?.[part], true);
  if (expected["dropped_values"] != null) {
    const rejected = Object.values<number>(report["rejected_values"] ?? {}).reduce((sum, count) => sum + count, 0);
    check("rejected_values", expected["dropped_values"], rejected, false);
  }
  if (expected["retries"] != null) check("counters/retries", expected["retries"], report["counters"]?.retries, false);
  errors(expected["errors_by_kind"], report, check);
}

function errors(kinds: Loose | undefined, report: Report, check: Check): void {
  for (const [kind, want] of Object.entries(kinds ?? {})) {
    const names = CAUSES[kind] ?? [kind];
    check(
      `errors/${kind}`,
      want,
      names.reduce((sum, name) => sum + num(report["errors"]?.records?.[name]), 0),
      false,
    );
  }
}

function* leaves(value: Loose | undefined, path = ""): Iterable<[string, number]> {
  for (const [key, inner] of Object.entries(value ?? {})) {
    if (inner !== null && typeof inner === "object") yield* leaves(inner, `${path}${key}/`);
    else if (typeof inner === "number") yield [path + key, inner];
  }
}
