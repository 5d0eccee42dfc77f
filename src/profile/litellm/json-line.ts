import { parseIso, type ZoneOffset } from "../../core/timestamp.ts";
import type { JsonObject, Line } from "../../model/line.ts";
import { textOf } from "../gateway/field.ts";
import { isPayload } from "./payload.ts";

/** One line of `json_logs: true`. */
export interface JsonLogLine {
  readonly message: string;
  readonly isError: boolean;
  readonly timeMs: number;
  /** The payload that was logged as a message, if it was one. */
  readonly payload: JsonObject | undefined;
  /** Equal for the two copies that some versions print of one record; undefined when the line has no time. */
  readonly copyKey: string | undefined;
}

const OWN = ["LiteLLM", "uvicorn"];
/** What begins messages of the proxy in versions that name no component. */
const OWN_MESSAGE =
  /^(?:litellm\.|LiteLLM|Trying to fallback b\/w models|Falling back to model_group|Successful fallback b\/w|get_available_deployment for model|Exception occur+ed - )/;

/** True for an object that LiteLLM's formatter alone writes. */
export function isJsonLog(object: JsonObject): boolean {
  const { message, component } = object as { message?: unknown; component?: unknown };
  if (typeof message !== "string") return false;
  if (typeof component === "string")
    return typeof object["level"] === "string" && OWN.some((name) => component.startsWith(name));
  return isBare(object) && OWN_MESSAGE.test(message);
}

/** True for the shapes of old versions, which nothing but the company tells apart: only message, level and time, or only message. */
export function isBare(object: JsonObject): boolean {
  if (typeof object["message"] !== "string") return false;
  for (const key in object)
    if (key !== "message" && key !== "level" && key !== "timestamp" && key !== "stacktrace") return false;
  return true;
}

/**
 * Reads a line that {@link isJsonLog} or {@link isBare} accepts.
 *
 * @see BerriAI/litellm `_logging.py` JsonFormatter at 01191be4: keys of a message that is itself an object are promoted
 *   to the top and stay inside `message` too; only one of the two is read.
 */
export function readJsonLog(object: JsonObject, line: Line, zone: ZoneOffset): JsonLogLine {
  const text = String(object["message"]);
  const stack = textOf(object["stacktrace"]);
  const printed = textOf(object["timestamp"]);
  const level = object["level"];
  const parsed = printed === undefined ? Number.NaN : parseIso(printed, 0, zone).timeMs;
  return {
    message: stack === undefined ? text : `${text}\n${stack}`,
    isError: level === "ERROR" || level === "CRITICAL",
    timeMs: Number.isNaN(parsed) ? line.timeMs : parsed,
    payload: payloadIn(object, text),
    copyKey: printed === undefined ? undefined : `${printed} ${text.slice(0, 120)}`,
  };
}

function payloadIn(object: JsonObject, text: string): JsonObject | undefined {
  if (isPayload(object)) return object;
  if (text.charCodeAt(0) !== 123 || !text.includes('"call_type"')) return undefined;
  try {
    const inner = JSON.parse(text) as JsonObject;
    return isPayload(inner) ? inner : undefined;
  } catch {
    return undefined;
  }
}
