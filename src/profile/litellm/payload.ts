import { parseIso, UTC } from "../../core/timestamp.ts";
import type { JsonObject } from "../../model/line.ts";
import { figureOf, firstText, objectOf, objectOrText, textOf } from "../gateway/field.ts";
import type { ParserContext } from "../profile.ts";
import { causeOfError, errorClassOf } from "./error-class.ts";

/** One retrieval that the proxy did for a request (`vector_store_request_metadata`). Times in ms since the epoch. */
export interface PayloadRetrieval {
  readonly store: string | undefined;
  readonly durationMs: number | undefined;
  readonly scores: readonly number[];
}

/**
 * One StandardLoggingPayload or SpendLogs row: one **attempt** of the router. Plain data, held in parser state.
 * Times are milliseconds since the epoch; undefined is unknown.
 */
export interface Payload {
  readonly kind: "llm" | "tool" | "retrieval" | "probe" | "administration";
  readonly id: string | undefined;
  readonly traceId: string | undefined;
  readonly ok: boolean;
  /** Undefined in SpendLogs, which have no such column. */
  readonly stream: boolean | undefined;
  readonly model: string | undefined;
  readonly modelGroup: string | undefined;
  readonly tenant: string | undefined;
  readonly route: string | undefined;
  readonly tool: string | undefined;
  readonly startMs: number | undefined;
  readonly endMs: number | undefined;
  /** `completionStartTime`: the first token of a stream, the end otherwise. */
  readonly firstTokenMs: number | undefined;
  readonly tokensIn: number | undefined;
  readonly tokensInCached: number | undefined;
  readonly tokensOut: number | undefined;
  readonly tokensOutReasoning: number | undefined;
  readonly costUsd: number | undefined;
  readonly cacheHit: boolean;
  /** Retries before this attempt, where the router notes them. */
  readonly attemptedRetries: number | undefined;
  readonly retrievals: readonly PayloadRetrieval[];
  readonly httpStatus: number | undefined;
  readonly errorClass: string | undefined;
  readonly errorText: string;
  readonly cause: string | undefined;
}

const MAX_ERROR_CHARS = 8 * 1024;
const MAX_SCORES = 1000;
/** The account under which the proxy checks its own deployments. */
const PROBE = "litellm-internal-health-check";
/** Calls that ask for no answer of a model: files, batches, listings. */
const ADMINISTRATION = /^_?a?(?:create|retrieve|list|cancel|delete|get|file|update|modify)_/;

/** True for an object that only these payloads look like; cheap for others. */
export function isPayload(object: JsonObject): boolean {
  return (
    typeof object["call_type"] === "string" &&
    "startTime" in object &&
    ("response_cost" in object || "spend" in object || "custom_llm_provider" in object || "model_group" in object)
  );
}

/**
 * Reads a payload.
 *
 * @see BerriAI/litellm `types/utils.py` StandardLoggingPayload, `litellm_core_utils/litellm_logging.py`,
 *   `tests/logging_callback_tests/gcs_pub_sub_body/{standard_logging_payload,spend_logs_payload}.json`
 */
export function readPayload(object: JsonObject, context: Pick<ParserContext, "reject">): Payload {
  const metadata = objectOrText(object["metadata"]) ?? {};
  const usage = objectOf(metadata["usage_object"]) ?? {};
  const inputDetails = objectOf(usage["prompt_tokens_details"]) ?? {};
  const outputDetails = objectOf(usage["completion_tokens_details"]) ?? {};
  const information = objectOf(object["error_information"]) ?? objectOf(metadata["error_information"]) ?? {};
  const errorText = errorTextOf(object, information);
  const ok = isSuccess(object, metadata, information);
  const callType = String(object["call_type"]);
  const figure = (value: unknown): number | undefined => figureOf(value, context);
  const tokensIn = figure(object["prompt_tokens"]);
  const tokensOut = figure(object["completion_tokens"]);
  const cost = figure(object["response_cost"] ?? object["spend"]);
  // zeros stand for what is not known of a failed attempt, or of an answer without usage
  const blank = !ok || (tokensIn === 0 && tokensOut === 0);
  const known = (value: number | undefined): number | undefined => (value === 0 && blank ? undefined : value);
  const embedding = callType.includes("embedding");
  const statusText = ok ? undefined : textOf(information["error_code"]);
  const errorClass = textOf(information["error_class"])?.split(".").at(-1) ?? errorClassOf(errorText);
  return {
    kind: kindOf(callType, object, metadata),
    id: firstText(object, ["id", "request_id"]),
    traceId: firstText(object, ["trace_id", "session_id"]),
    ok,
    stream: "stream" in object ? object["stream"] === true : undefined,
    model: firstText(object, ["model", "model_group"]),
    modelGroup: firstText(object, ["model_group", "model"]),
    tenant:
      firstText(metadata, [
        "user_api_key_team_alias",
        "user_api_key_team_id",
        "user_api_key_org_alias",
        "user_api_key_org_id",
      ]) ?? textOf(object["team_id"]),
    route: textOf(metadata["user_api_key_request_route"]),
    tool: textOf(objectOf(metadata["mcp_tool_call_metadata"])?.["name"]),
    startMs: timeOf(object["startTime"], context),
    endMs: timeOf(object["endTime"], context),
    firstTokenMs: timeOf(object["completionStartTime"], context),
    tokensIn: known(tokensIn),
    tokensInCached: figure(inputDetails["cached_tokens"] ?? usage["cache_read_input_tokens"]),
    tokensOut: embedding && tokensOut === 0 ? undefined : known(tokensOut),
    tokensOutReasoning: figure(outputDetails["reasoning_tokens"]),
    costUsd: cost === 0 && !ok ? undefined : cost,
    cacheHit: /^true$/i.test(String(object["cache_hit"])),
    attemptedRetries: typeof metadata["attempted_retries"] === "number" ? metadata["attempted_retries"] : undefined,
    retrievals: retrievalsOf(metadata["vector_store_request_metadata"], context),
    httpStatus: statusText !== undefined && /^[1-5]\d\d$/.test(statusText) ? Number(statusText) : undefined,
    errorClass: ok ? undefined : errorClass,
    errorText: ok ? "" : errorText,
    cause: ok ? undefined : causeOf(object, metadata, errorText, errorClass, statusText),
  };
}

function kindOf(callType: string, object: JsonObject, metadata: JsonObject): Payload["kind"] {
  const tags = object["request_tags"];
  if (metadata["user_api_key_alias"] === PROBE || metadata["user_api_key_team_alias"] === PROBE) return "probe";
  if (Array.isArray(tags) && tags.includes(PROBE)) return "probe";
  if (callType === "call_mcp_tool" || callType === "acall_mcp_tool") return "tool";
  if (/^a?vector_store_search$/.test(callType)) return "retrieval";
  return ADMINISTRATION.test(callType) || callType === "list_mcp_tools" ? "administration" : "llm";
}

function isSuccess(object: JsonObject, metadata: JsonObject, information: JsonObject): boolean {
  const status = textOf(object["status"]) ?? textOf(metadata["status"]);
  if (status !== undefined) return status !== "failure";
  const api = textOf(objectOf(object["status_fields"])?.["llm_api_status"]);
  if (api !== undefined) return api !== "failure";
  return textOf(object["error_str"]) === undefined && textOf(information["error_class"]) === undefined;
}

function errorTextOf(object: JsonObject, information: JsonObject): string {
  const text = textOf(information["error_message"]) ?? textOf(object["error_str"]) ?? "";
  return text.slice(0, MAX_ERROR_CHARS);
}

function causeOf(
  object: JsonObject,
  metadata: JsonObject,
  text: string,
  errorClass: string | undefined,
  statusText: string | undefined,
): string | undefined {
  const guardrail = objectOf(object["status_fields"]) ?? objectOf(metadata["status_fields"]);
  if (guardrail?.["guardrail_status"] === "guardrail_intervened")
    return /prompt.?(?:attack|injection)|jailbreak/i.test(text) ? "prompt_injection_block" : "content_policy_block";
  return (
    causeOfError(text, errorClass) ??
    (statusText === undefined ? undefined : causeOfError(`${statusText}: ${text}`, undefined))
  );
}

/** Epoch seconds, or a time of day without zone, which is UTC. */
function timeOf(value: unknown, context: Pick<ParserContext, "reject">): number | undefined {
  if (typeof value === "string" && /^\d{4}-/.test(value)) {
    const { timeMs } = parseIso(value, 0, UTC);
    if (!Number.isNaN(timeMs)) return timeMs + subMillis(value);
  }
  const seconds = figureOf(value, context);
  return seconds === undefined ? undefined : seconds * 1000;
}

/** The part of a printed time below the millisecond: two such times are subtracted. */
function subMillis(text: string): number {
  const digits = /\.\d{3}(\d{1,6})/.exec(text)?.[1];
  return digits === undefined ? 0 : Number(`0.${digits}`);
}

function retrievalsOf(value: unknown, context: Pick<ParserContext, "reject">): PayloadRetrieval[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, 100).flatMap((element: unknown) => {
    const entry = objectOf(element);
    if (entry === undefined) return [];
    const startMs = timeOf(entry["start_time"], context);
    const endMs = timeOf(entry["end_time"], context);
    const found = objectOf(entry["vector_store_search_response"])?.["data"];
    const scores = (Array.isArray(found) ? found : [])
      .slice(0, MAX_SCORES)
      .map((hit) => objectOf(hit)?.["score"])
      .filter((score): score is number => typeof score === "number");
    return [
      {
        store: textOf(entry["vector_store_id"]),
        durationMs: startMs === undefined || endMs === undefined ? undefined : endMs - startMs,
        scores,
      },
    ];
  });
}
