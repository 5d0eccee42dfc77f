import { parseIso, UTC } from "../../core/timestamp.ts";
import type { JsonObject } from "../../model/line.ts";
import { figureOf, firstFigure, firstText, textOf } from "../gateway/field.ts";
import type { ParserContext } from "../profile.ts";
import type { EnvoyAccess } from "./access.ts";

/**
 * The keys of JSON access logs are the operator's choice; these are the conventions of Envoy Gateway, Istio and the
 * examples of Envoy AI Gateway (`examples/access-log` at c217da8a5, and the `genai_…` names before it).
 */
const PATH = ["x-envoy-origin-path", "x-envoy-original-path", "path", ":path", "request_path", "uri"];
const REQUEST_MODEL = ["gen_ai.request.model", "genai_model_name", "x-ai-eg-model", "request_model"];
const RESPONSE_MODEL = ["gen_ai.response.model", "genai_response_model", "response_model"];
const TENANT = ["x-tenant-id", "tenant_id", "tenant.id", "tenant", "x-org-id"];

/** True for a JSON access line of Envoy. Higress's, which look alike, hold `ai_log`. */
export function isAccess(object: JsonObject): boolean {
  return (
    "response_code" in object &&
    ("response_flags" in object || "response_code_details" in object || "upstream_cluster" in object) &&
    ("duration" in object || "start_time" in object) &&
    !("ai_log" in object)
  );
}

/** True when an access line holds what Envoy AI Gateway alone knows, set or not. */
export function isAiAccess(object: JsonObject): boolean {
  for (const key in object) {
    if (key.startsWith("gen_ai.") || key.startsWith("genai_") || key.startsWith("mcp.")) return true;
    if (key === "llm_input_token" || key === "token_latency_ttft" || key === "x-ai-eg-model") return true;
  }
  return false;
}

export function readAccessObject(object: JsonObject, context: ParserContext): EnvoyAccess {
  const start = firstText(object, ["start_time", "timestamp", "time"]);
  return {
    startMs: start === undefined ? Number.NaN : parseIso(start, 0, UTC).timeMs,
    method: firstText(object, ["method", ":method", "request_method"]),
    path: firstText(object, PATH),
    status: figureOf(object["response_code"], context) ?? 0,
    flags: textOf(object["response_flags"]),
    details: textOf(object["response_code_details"]),
    transportFailure: textOf(object["upstream_transport_failure_reason"]),
    durationMs: figureOf(object["duration"], context),
    upstreamServiceMs: firstFigure(object, ["x-envoy-upstream-service-time", "upstream_service_time"], context),
    requestId: firstText(object, ["x-request-id", "request_id"]),
    model: firstText(object, REQUEST_MODEL) ?? firstText(object, RESPONSE_MODEL),
    tenant: firstText(object, TENANT),
  };
}

/** What the AI gateway adds at the end of a successful answer. Undefined is not reported: null is not 0. */
export interface AiUsage {
  readonly tokensIn: number | undefined;
  readonly tokensInCached: number | undefined;
  readonly tokensOut: number | undefined;
  readonly tokensOutReasoning: number | undefined;
  /** `token_latency_ttft` and `token_latency_itl`, milliseconds. */
  readonly ttftMs: number | undefined;
  readonly itlMs: number | undefined;
}

const INPUT = ["gen_ai.usage.input_tokens", "genai_tokens_input", "llm_input_token", "input_tokens"];
const CACHED = [
  "gen_ai.usage.cached_input_tokens",
  "gen_ai.usage.cache_read.input_tokens",
  "gen_ai.usage.cached_tokens",
  "genai_tokens_cached_input",
  "llm_cached_input_token",
];
const OUTPUT = ["gen_ai.usage.output_tokens", "genai_tokens_output", "llm_output_token", "output_tokens"];
const REASONING = [
  "gen_ai.usage.reasoning_tokens",
  "gen_ai.usage.reasoning.output_tokens",
  "genai_tokens_reasoning",
  "llm_reasoning_token",
];
const TTFT = ["token_latency_ttft", "gen_ai.server.time_to_first_token", "genai_token_latency_ttft"];
const ITL = ["token_latency_itl", "gen_ai.server.time_per_output_token", "genai_token_latency_itl"];

export function readUsage(object: JsonObject, context: ParserContext): AiUsage {
  return {
    tokensIn: firstFigure(object, INPUT, context),
    tokensInCached: firstFigure(object, CACHED, context),
    tokensOut: firstFigure(object, OUTPUT, context),
    tokensOutReasoning: firstFigure(object, REASONING, context),
    ttftMs: firstFigure(object, TTFT, context),
    itlMs: firstFigure(object, ITL, context),
  };
}
