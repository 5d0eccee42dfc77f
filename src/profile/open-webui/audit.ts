import type { JsonObject, Line } from "../../model/line.ts";
import { type FailureRecord, RequestRecord } from "../../model/record.ts";
import { pathOf } from "../access-line.ts";
import type { ParserContext } from "../profile.ts";
import { memberOf } from "../rag/cut-json.ts";
import { figureOf, objectOf, parseObject, textOf } from "../rag/value.ts";
import { causeOfAnswer } from "./causes.ts";
import { isAsked } from "./event.ts";

const LEVELS: ReadonlySet<unknown> = new Set(["METADATA", "REQUEST", "REQUEST_RESPONSE"]);

/** A line of `audit.log` (utils/audit.py, utils/logger.py), or undefined. */
export function auditOf(line: Line): JsonObject | undefined {
  if (!line.text.includes('"audit_level"')) return undefined;
  const { json } = line;
  return json !== undefined && LEVELS.has(json["audit_level"]) && typeof json["request_uri"] === "string"
    ? json
    : undefined;
}

/** Emits what an audit entry says. Bodies are strings, cut at `MAX_BODY_LOG_SIZE`, and absent below their audit level. */
export function emitAudit(json: JsonObject, context: ParserContext): void {
  const seconds = json["timestamp"];
  const timeMs = typeof seconds === "number" ? seconds * 1000 : Number.NaN;
  const route = pathOf(String(json["request_uri"]).replace(/^[a-z]+:\/\/[^/]*/i, ""));
  // null unless responses are audited
  const written = json["response_status_code"];
  const status = typeof written === "number" && written >= 100 ? written : undefined;
  const verb = textOf(json["verb"]) ?? "";
  if (!isAsked(verb, route)) {
    if (status !== undefined) context.emit({ kind: "http", timeMs, status, route, inference: false });
    return;
  }
  const answer = textOf(json["response_object"]) ?? "";
  const record = new RequestRecord();
  record.timeMs = timeMs;
  record.id = textOf(json["id"]);
  record.route = route;
  record.httpStatus = status;
  record.model = textOf(memberOf(textOf(json["request_object"]) ?? "", "model"));
  const stream = memberOf(textOf(json["request_object"]) ?? "", "stream");
  if (typeof stream === "boolean") record.stream = stream;
  if (status === undefined) context.emit({ kind: "count", timeMs, name: "status_unknown", by: 1 });
  else if (status >= 400) {
    record.outcome = status === 499 ? "aborted" : "error";
    record.failure = failureOf(answer, status, timeMs, route, record.model);
  }
  setUsage(record, answer, context);
  context.emit(record);
}

function failureOf(
  answer: string,
  status: number,
  timeMs: number,
  route: string,
  model: string | undefined,
): FailureRecord {
  const detail = memberOf(answer, "detail") ?? memberOf(answer, "error");
  const inner = objectOf(detail);
  const words =
    textOf(detail) ?? textOf(inner?.["message"]) ?? (inner === undefined ? undefined : JSON.stringify(inner));
  const text = words ?? `${route} answered ${status}`;
  return { kind: "failure", timeMs, text, cause: causeOfAnswer(status, words), httpStatus: status, route, model };
}

function setUsage(record: RequestRecord, answer: string, context: ParserContext): void {
  const usage = usageOf(answer);
  if (usage === undefined) return;
  const figure = (...keys: string[]): number | undefined => {
    const key = keys.find((name) => usage[name] !== undefined && usage[name] !== null);
    return key === undefined ? undefined : figureOf(usage[key], context);
  };
  record.tokensIn = figure("prompt_tokens", "input_tokens", "prompt_eval_count");
  record.tokensOut = figure("completion_tokens", "output_tokens", "eval_count");
  const cached = objectOf(usage["prompt_tokens_details"])?.["cached_tokens"];
  const reasoning = objectOf(usage["completion_tokens_details"])?.["reasoning_tokens"];
  record.tokensInCached = figureOf(cached, context);
  record.tokensOutReasoning = figureOf(reasoning, context);
}

/** The usage of a whole answer, or of the last chunk of a streamed one that holds it: chunks repeat it cumulatively. */
function usageOf(answer: string): JsonObject | undefined {
  if (answer.charCodeAt(0) === 123 && !answer.includes("\n{")) {
    const usage = objectOf(memberOf(answer, "usage"));
    if (usage !== undefined) return usage;
    // Ollama's own answer
    return memberOf(answer, "done") === true ? parseObject(answer) : undefined;
  }
  const chunks = answer.split("\n");
  for (let index = chunks.length - 1; index >= 0; index--) {
    const chunk = (chunks[index] ?? "").replace(/^data: ?/, "").trim();
    if (!chunk.startsWith("{")) continue;
    const json = parseObject(chunk);
    if (json === undefined) continue;
    const usage = objectOf(json["usage"]);
    if (usage !== undefined) return usage;
    if (json["done"] === true && json["eval_count"] !== undefined) return json;
  }
  return undefined;
}
