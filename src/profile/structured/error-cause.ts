/** Causes of the catalogue that an error kind may spell out itself. */
const CAUSE_NAMES = `gpu_oom kv_cache_exhausted context_length_exceeded rate_limited quota_exhausted upstream_timeout
  upstream_overloaded upstream_unreachable nccl_distributed worker_node_lost gpu_hardware_fault cuda_kernel_fault
  gpu_driver_mismatch chat_template_error invalid_request auth_invalid_key permission_denied content_policy_block
  prompt_injection_block vector_index_missing vector_index_degraded embedding_dim_mismatch embedding_input_too_long
  tool_call_timeout tool_call_malformed model_load_cold_start model_not_found model_weights_unavailable
  structured_output_grammar lora_adapter_error multimodal_input_invalid queue_overflow stream_interrupted
  client_cancelled host_oom_killed disk_full shm_exhausted db_pool_exhausted engine_hang_watchdog engine_dead
  runner_crash shard_crash model_load_failed internal_error upstream_error request_too_large cross_tenant_leak`;

/** Error kinds, types, codes and classes as applications and SDKs name them, by cause. `Error` and `Exception` ends are cut. */
const KINDS: Readonly<Record<string, string>> = {
  rate_limited: `rate_limit rate_limiting rate_limit_exceeded rate_limit_reached ratelimit too_many_requests throttled throttling
    throttle throttle_limit tokens_per_minute tpm_limit rpm_limit resource_exhausted`,
  quota_exhausted: `insufficient_quota quota_exceeded quota budget_exceeded budget billing_hard_limit_reached billing
    insufficient_credits credits_exhausted payment_required insufficient_funds`,
  auth_invalid_key: `auth authentication unauthorized unauthorised unauthenticated invalid_api_key incorrect_api_key
    api_key_invalid invalid_auth invalid_token token_expired auth_failed authentication_failed`,
  permission_denied: `permission forbidden access_denied not_authorized not_allowed cross_tenant_denied permission_error`,
  context_length_exceeded: `context_window context_window_exceeded context_length context_overflow context_limit
    max_context_length prompt_too_long input_too_long token_limit token_limit_exceeded max_tokens_exceeded
    context_too_long string_above_max_length`,
  prompt_injection_block: `prompt_injection prompt_injection_detected prompt_attack jailbreak jailbreak_detected injection`,
  content_policy_block: `content_policy content_policy_violation content_filter content_filtered content_blocked moderation
    moderation_blocked safety unsafe_content safety_block policy_violation guardrail guardrail_blocked
    guardrail_intervened responsible_ai_policy_violation`,
  vector_index_missing: `index_missing index_not_found collection_not_found collection_missing no_such_index missing_index
    no_such_collection index_does_not_exist collection_does_not_exist`,
  vector_index_degraded: "index_degraded collection_not_loaded index_not_loaded index_not_ready index_read_only",
  embedding_dim_mismatch:
    "dimension_mismatch dim_mismatch embedding_dimension_mismatch vector_dimension_mismatch wrong_dimension",
  upstream_unreachable: `connection_refused econnrefused connection connect api_connection enotfound ehostunreach enetunreach
    eai_again dns dns_failure dns_resolution host_unreachable unreachable name_resolution connect_call_failed
    client_connector new_connection gaierror no_route`,
  upstream_timeout: `timeout timed_out time_out upstream_timed_out etimedout request_timeout deadline_exceeded deadline
    gateway_timeout read_timeout connect_timeout api_timeout llm_timeout provider_timeout esockettimedout response_timeout
    context_deadline_exceeded statement_timeout retrieval_timeout pool_timeout model_timeout`,
  tool_call_timeout: "tool_timeout tool_timed_out tool_execution_timeout mcp_timeout",
  tool_call_malformed:
    "tool_malformed invalid_tool_arguments tool_arguments_invalid tool_parse tool_validation bad_tool_call",
  upstream_overloaded: `overloaded service_unavailable unavailable server_overloaded model_overloaded engine_overloaded
    overload circuit_open circuit_breaker_open capacity upstream_unavailable provider_overloaded`,
  upstream_error: "bad_gateway upstream provider_error provider llm_error api upstream_5xx upstream_failure",
  internal_error: "internal internal_server server server_error unhandled unexpected internal_failure",
  invalid_request: `invalid_request_error bad_request validation validation_error invalid_argument unprocessable_entity
    unprocessable invalid_input invalid_parameter invalid_params schema_validation`,
  model_not_found: "unknown_model deployment_not_found no_such_model model_missing model_unavailable",
  client_cancelled: `client_abort client_aborted client_disconnect client_disconnected client_closed client_closed_request
    cancelled canceled aborted abort client_gone broken_pipe epipe client_cancel request_cancelled request_aborted
    connection_closed_by_client asyncio_cancelled context_canceled user_cancelled`,
  stream_interrupted: `stream_closed stream_broken stream_aborted incomplete_read connection_reset econnreset
    remote_protocol premature_close incomplete_chunked_read stream stream_error connection_closed`,
  queue_overflow: "queue_full queue_timeout queue_wait_exceeded too_many_queued backpressure",
  gpu_oom: "cuda_oom cuda_out_of_memory torch_out_of_memory gpu_out_of_memory vram_exhausted",
  host_oom_killed: "oom_killed oomkilled host_oom",
  kv_cache_exhausted: "kv_cache_full kv_cache no_free_blocks",
  request_too_large: "payload_too_large entity_too_large body_too_large request_entity_too_large",
  model_load_cold_start: "model_loading cold_start model_not_ready loading model_warming_up",
  structured_output_grammar:
    "json_schema grammar structured_output json_mode invalid_json_output output_parsing output_parser",
  db_pool_exhausted: "too_many_connections pool_exhausted connection_pool_exhausted queue_pool",
  disk_full: "no_space enospc disk_space no_space_left",
  cross_tenant_leak:
    "tenant_leak cross_tenant tenant_isolation tenant_isolation_violation data_leak cross_tenant_access",
};

const squash = (kind: string): string => kind.toLowerCase().replace(/[^a-z0-9]/g, "");

const BY_KIND = new Map<string, string>();
for (const cause of CAUSE_NAMES.split(/\s+/)) BY_KIND.set(squash(cause), cause);
for (const [cause, kinds] of Object.entries(KINDS)) {
  for (const kind of kinds.split(/\s+/)) BY_KIND.set(squash(kind), cause);
}

const CLASS_ENDING = /(?:error|exception|err|fault|failure)$/;
const MAX_KIND_CHARS = 100;

/**
 * The cause that an error kind, type, code or class names; undefined when it names none (`TypeError`, `failed`).
 *
 * @param kind `rate_limit`, `openai.RateLimitError`, `ECONNREFUSED`, `429`, …
 */
export function causeOfKind(kind: string): string | undefined {
  if (kind.length > MAX_KIND_CHARS) return undefined;
  const status = kind.length === 3 ? Number(kind) : Number.NaN;
  if (status >= 400) return causeOfStatus(status);
  // the class at the end of a module path: `litellm.exceptions.RateLimitError`
  const last = kind.slice(Math.max(kind.lastIndexOf("."), kind.lastIndexOf(":"), kind.lastIndexOf("/")) + 1);
  const name = squash(last);
  return BY_KIND.get(name) ?? BY_KIND.get(name.replace(CLASS_ENDING, ""));
}

const BY_STATUS: Readonly<Record<number, string>> = {
  400: "invalid_request",
  401: "auth_invalid_key",
  402: "quota_exhausted",
  403: "permission_denied",
  405: "invalid_request",
  408: "upstream_timeout",
  413: "request_too_large",
  415: "invalid_request",
  422: "invalid_request",
  429: "rate_limited",
  499: "client_cancelled",
  500: "internal_error",
  502: "upstream_error",
  503: "upstream_overloaded",
  504: "upstream_timeout",
  524: "upstream_timeout",
  529: "upstream_overloaded",
};

/** What an HTTP status alone suggests: only for failures of which nothing else is said. 404 may miss anything, so it is left open. */
export function causeOfStatus(status: number): string | undefined {
  return BY_STATUS[status];
}

/** Causes so wide that a message beside them tells more. */
const WIDE = new Set(["invalid_request", "internal_error", "upstream_error"]);
export const isWide = (cause: string): boolean => WIDE.has(cause);

/** What a word under `status` says of a request: undefined when it is no word for an outcome. */
export function outcomeOfWord(word: string): "ok" | "error" | "aborted" | undefined {
  switch (word.toLowerCase().replaceAll("-", "_")) {
    case "ok":
    case "success":
    case "successful":
    case "succeeded":
    case "completed":
    case "complete":
    case "done":
    case "finished":
    case "true":
      return "ok";
    case "error":
    case "errored":
    case "fail":
    case "failed":
    case "failure":
    case "false":
    case "timeout":
    case "timed_out":
    case "rejected":
    case "denied":
    case "blocked":
    case "exception":
    // gRPC codes
    case "deadline_exceeded":
    case "unavailable":
    case "resource_exhausted":
    case "unauthenticated":
    case "permission_denied":
    case "invalid_argument":
    case "internal":
      return "error";
    case "cancelled":
    case "canceled":
    case "aborted":
    case "abort":
    case "client_disconnected":
    case "disconnected":
      return "aborted";
    default:
      return undefined;
  }
}
