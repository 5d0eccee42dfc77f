/** Causes that applications name in their own words (`error_kind`, `error.type`), normalised to lower case with `_`. */
const BY_KIND: Readonly<Record<string, string>> = Object.fromEntries(
  (
    [
      [
        "rate_limited",
        "rate_limit rate_limited rate_limit_exceeded rate_limit_error ratelimit ratelimiterror too_many_requests throttled throttling_exception",
      ],
      ["quota_exhausted", "quota quota_exceeded insufficient_quota budget_exceeded budget billing credit_exhausted"],
      [
        "auth_invalid_key",
        "auth auth_error authentication authentication_error authenticationerror unauthorized unauthenticated invalid_api_key invalid_key",
      ],
      [
        "permission_denied",
        "permission permission_denied permission_error permissiondeniederror forbidden access_denied cross_tenant_denied",
      ],
      [
        "context_length_exceeded",
        "context_window context_length context_length_exceeded contextwindowexceedederror context_window_exceeded context_overflow prompt_too_long input_too_long max_tokens_exceeded too_many_tokens",
      ],
      [
        "content_policy_block",
        "content_policy content_filter content_filtered content_policy_violation contentpolicyviolationerror moderation safety guardrail guardrail_block guardrail_blocked",
      ],
      ["prompt_injection_block", "prompt_injection prompt_injection_detected jailbreak prompt_attack"],
      [
        "vector_index_missing",
        "index_missing index_not_found collection_missing collection_not_found no_such_index index_not_found_exception",
      ],
      [
        "upstream_unreachable",
        "connection_refused connection_error connect_error connectionerror apiconnectionerror unreachable upstream_unreachable dns dns_error econnrefused enotfound connection_reset",
      ],
      [
        "upstream_timeout",
        "timeout timeout_error timeouterror apitimeouterror upstream_timeout gateway_timeout request_timeout read_timeout deadline_exceeded etimedout timed_out",
      ],
      [
        "upstream_overloaded",
        "overloaded overloaded_error service_unavailable serviceunavailableerror unavailable upstream_overloaded server_overloaded bad_gateway",
      ],
      ["upstream_error", "upstream_error upstream upstream_failure api_error apierror provider_error"],
      ["queue_overflow", "queue_full queue_overflow queue_timeout"],
      ["tool_call_timeout", "tool_timeout tool_call_timeout"],
      ["tool_call_malformed", "tool_call_malformed malformed_tool_call invalid_tool_call tool_parse_error"],
      ["model_not_found", "model_not_found modelnotfound unknown_model no_such_model"],
      [
        "invalid_request",
        "invalid_request invalid_request_error bad_request badrequesterror badrequest validation validation_error invalid_argument unprocessable_entity",
      ],
      ["request_too_large", "request_too_large payload_too_large"],
      [
        "client_cancelled",
        "client_abort client_aborted client_cancelled client_disconnect client_disconnected cancelled canceled aborted client_closed_request cancellederror aborterror",
      ],
      ["gpu_oom", "oom gpu_oom cuda_oom cuda_out_of_memory outofmemoryerror"],
      ["kv_cache_exhausted", "kv_cache_full kv_cache_exhausted"],
      ["embedding_dim_mismatch", "dimension_mismatch embedding_dim_mismatch dim_mismatch"],
      ["embedding_input_too_long", "embedding_input_too_long"],
      ["stream_interrupted", "stream_interrupted stream_closed stream_error incomplete_stream"],
      ["cross_tenant_leak", "cross_tenant_leak tenant_leak cross_tenant"],
      ["internal", "internal_error internal_server_error internalservererror server_error"],
      ["db_pool_exhausted", "db_pool_exhausted too_many_connections pool_timeout"],
      ["disk_full", "disk_full no_space"],
    ] as const
  ).flatMap(([cause, kinds]) => [[cause, cause], ...kinds.split(" ").map((kind) => [kind, cause])]),
);

/** The cause behind an application's word for it, or undefined. */
export function causeOfKind(kind: string): string | undefined {
  const word = kind
    .replace(/^.*[./:]/, "")
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .toLowerCase();
  return BY_KIND[word] ?? BY_KIND[word.replaceAll("_", "")] ?? BY_KIND[word.replace(/_(?:error|exception)$/, "")];
}

const BY_STATUS: Readonly<Record<number, string>> = {
  400: "invalid_request",
  401: "auth_invalid_key",
  403: "permission_denied",
  408: "upstream_timeout",
  413: "request_too_large",
  422: "invalid_request",
  429: "rate_limited",
  499: "client_cancelled",
  500: "internal",
  502: "upstream_error",
  503: "upstream_overloaded",
  504: "upstream_timeout",
  524: "upstream_timeout",
  529: "upstream_overloaded",
};

/** The cause that an HTTP status suggests when nothing else was said. */
export const causeOfStatus = (status: number): string | undefined => BY_STATUS[status];
