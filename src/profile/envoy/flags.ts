import { causeOfStatus } from "../gateway/status.ts";

/**
 * Causes by Envoy's response flags, most telling first: several may be set at once (`UF,URX`). Short names as access logs
 * print them; the long ones (`%RESPONSE_FLAGS_LONG%`) are read too.
 *
 * @see https://www.envoyproxy.io/docs/envoy/latest/configuration/observability/access_log/usage
 */
const BY_FLAG: ReadonlyArray<readonly [flag: string, long: string, cause: string]> = [
  ["DC", "DownstreamConnectionTermination", "client_cancelled"],
  ["DR", "DownstreamRemoteReset", "client_cancelled"],
  ["UT", "UpstreamRequestTimeout", "upstream_timeout"],
  ["SI", "StreamIdleTimeout", "upstream_timeout"],
  ["DT", "DurationTimeout", "upstream_timeout"],
  ["UMSDR", "UpstreamMaxStreamDurationReached", "upstream_timeout"],
  ["UF", "UpstreamConnectionFailure", "upstream_unreachable"],
  ["NC", "NoClusterFound", "upstream_unreachable"],
  ["DF", "DnsResolutionFailed", "upstream_unreachable"],
  ["UO", "UpstreamOverflow", "queue_overflow"],
  ["OM", "OverloadManagerTerminated", "queue_overflow"],
  ["UH", "NoHealthyUpstream", "upstream_overloaded"],
  ["NR", "NoRouteFound", "model_not_found"],
  ["RL", "RateLimited", "rate_limited"],
  ["UAEX", "UnauthorizedExternalService", "permission_denied"],
  ["UC", "UpstreamConnectionTermination", "stream_interrupted"],
  ["UR", "UpstreamRemoteReset", "stream_interrupted"],
  ["LR", "LocalReset", "stream_interrupted"],
  ["UPE", "UpstreamProtocolError", "upstream_error"],
  ["DPE", "DownstreamProtocolError", "invalid_request"],
  ["IH", "InvalidEnvoyRequestHeaders", "invalid_request"],
  ["RLSE", "RateLimitServiceError", "upstream_error"],
  ["URX", "UpstreamRetryLimitExceeded", "upstream_error"],
];

/** The single flags of a field such as `UF,URX`; none for `-`. */
export function flagsOf(field: string | undefined): readonly string[] {
  return field === undefined || field === "-" || field === "" ? [] : field.split(",").map((flag) => flag.trim());
}

/** True when the client went away before the answer was over. */
export function clientLeft(flags: readonly string[]): boolean {
  return flags.some(
    (flag) =>
      flag === "DC" || flag === "DownstreamConnectionTermination" || flag === "DR" || flag === "DownstreamRemoteReset",
  );
}

/**
 * Why a request failed: its flags, else `response_code_details`, else its status.
 *
 * @param details `%RESPONSE_CODE_DETAILS%`, e.g. `upstream_reset_before_response_started{connection_failure}`.
 */
export function causeOfAnswer(
  status: number,
  flags: readonly string[],
  details: string | undefined,
): string | undefined {
  for (const [short, long, cause] of BY_FLAG) {
    if (!flags.includes(short) && !flags.includes(long)) continue;
    // an authorization service answers 401 for a missing key, 403 for a wrong one
    if (short === "UAEX") return status === 401 ? "auth_invalid_key" : cause;
    if (short === "UC" && details !== undefined && /connection_failure|before_response_started/.test(details))
      return "upstream_unreachable";
    return cause;
  }
  return causeOfDetails(status, details) ?? causeOfStatus(status);
}

/** Filters that answer in place of the upstream say so in the details, with no flag of their own. */
function causeOfDetails(status: number, details: string | undefined): string | undefined {
  if (details === undefined || details === "via_upstream") return undefined;
  if (/timeout/.test(details)) return "upstream_timeout";
  if (/downstream_(?:remote_)?(?:disconnect|reset)|client_disconnect/.test(details)) return "client_cancelled";
  if (/connection_failure|delayed_connect_error|connection_refused|cluster_not_found|dns_resolution/i.test(details))
    return "upstream_unreachable";
  if (/no_healthy_upstream/.test(details)) return "upstream_overloaded";
  if (/overflow|overload/.test(details)) return "queue_overflow";
  if (/route_not_found/.test(details)) return "model_not_found";
  if (/rate_?limit/i.test(details)) return "rate_limited";
  if (/security-guard|guardrail/.test(details)) return "content_policy_block";
  if (/(?:key-auth|jwt|basic-auth|hmac|oauth|ext_authz|rbac|unauthorized)/i.test(details))
    return status === 403 ? "permission_denied" : "auth_invalid_key";
  if (/request_payload_too_large/.test(details)) return "request_too_large";
  if (/upstream_reset_after_response_started/.test(details)) return "stream_interrupted";
  return undefined;
}
