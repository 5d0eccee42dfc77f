import type { Outcome } from "../../model/record.ts";
import { isInference } from "../access-line.ts";
import { causeOfKind, outcomeOfWord } from "./error-cause.ts";
import type { Said } from "./failure-text.ts";
import { Field } from "./field.ts";
import { numberOf } from "./figure.ts";
import type { LineFields } from "./line-fields.ts";
import { Severity } from "./logger.ts";
import { methodOf } from "./request-of.ts";
import { Phase, Subject, type Told } from "./vocabulary.ts";

/** Reads an HTTP status, as number or text; undefined when the field holds a word, or a number that is no status. */
export function httpStatusOf(fields: LineFields): number | undefined {
  const value = fields.value(Field.status);
  // `"200"`, `"200 OK"`
  const text = typeof value === "string" ? (value.charCodeAt(3) === 32 ? value.slice(0, 3) : value) : "";
  const status = typeof value === "number" ? value : numberOf(text);
  return status >= 100 && status <= 599 && Number.isInteger(status) ? status : undefined;
}

/** What the line's own status field says, apart from an HTTP status. */
function wordOutcome(fields: LineFields): Outcome | undefined {
  const status = fields.value(Field.status);
  // no answer was sent; gRPC's 0 is its OK
  if (status === 0 || status === "0") return fields.key(Field.status).includes("grpc") ? "ok" : "error";
  if (typeof status === "string") {
    const outcome = outcomeOfWord(status);
    if (outcome !== undefined) return outcome;
  }
  const success = fields.value(Field.success);
  if (success === true || success === "true") return "ok";
  return success === false || success === "false" ? "error" : undefined;
}

/** How the request of this line ended. */
export function outcomeOf(
  fields: LineFields,
  told: Told,
  about: { severity: number; httpStatus: number | undefined; error: Said; isEvent: boolean },
): Outcome {
  const { severity, httpStatus, error, isEvent } = about;
  const kind = error.kind ?? error.error;
  if (kind !== undefined && causeOfKind(kind) === "client_cancelled") return "aborted";
  if (httpStatus === 499) return "aborted";
  if (httpStatus !== undefined && httpStatus >= 400) return told.phase === Phase.cancelled ? "aborted" : "error";
  const word = httpStatus === undefined || fields.has(Field.success) ? wordOutcome(fields) : undefined;
  if (word !== undefined && word !== "ok") return word;
  const finish = fields.text(Field.finishReason);
  if (finish === "error") return "error";
  if (finish === "abort" || finish === "cancelled" || finish === "canceled") return "aborted";
  const answered = httpStatus !== undefined || word === "ok";
  // the words of a message do not overrule a good status; an event name does
  if (isEvent || !answered) {
    if (told.phase === Phase.cancelled) return "aborted";
    if (told.phase === Phase.failed || told.phase === Phase.timeout || told.phase === Phase.blocked) return "error";
  }
  if (answered) return error.any && severity >= Severity.error ? "error" : "ok";
  return error.any || severity >= Severity.error ? "error" : "ok";
}

/** True for a figure that only a call of a model has. */
export function hasModelFigure(fields: LineFields): boolean {
  return (
    fields.has(Field.tokensOut) ||
    fields.has(Field.tokensIn) ||
    fields.has(Field.ttft) ||
    fields.has(Field.tpot) ||
    fields.has(Field.itl) ||
    fields.has(Field.prefill) ||
    fields.has(Field.decode)
  );
}

const READING_ROUTE = /search|query|retriev|chat|complet|generat|embed|rerank|answer|ask|rag/i;
/** Routes of probes and listings below any prefix: `/api/health`, `/internal/metrics`. */
const PROBE = /\/(?:health|healthz|livez|readyz|live|ready|ping|metrics|favicon\.ico|status)\/?$/;

/** What a line with a status or a duration is: the end of a request, an access line of something else, or neither. */
export type Standing = "request" | "other" | "nothing";

export function standingOf(
  fields: LineFields,
  told: Told,
  about: { route: string | undefined; httpStatus: number | undefined; isEvent: boolean },
): Standing {
  const { route, httpStatus, isEvent } = about;
  if (fields.has(Field.tokensOut) || fields.has(Field.ttft)) return "request";
  const timed = fields.has(Field.duration) || fields.has(Field.e2e);
  const answered = httpStatus !== undefined || wordOutcome(fields) !== undefined;
  const method = methodOf(fields);
  if (route !== undefined && !hasModelFigure(fields)) {
    const asked = isInference("POST", route) && !PROBE.test(route);
    const writes = method === undefined || method === "POST" || READING_ROUTE.test(route);
    if (!asked || !writes || method === "OPTIONS" || method === "HEAD")
      return httpStatus !== undefined ? "other" : "nothing";
  }
  if (told.subject === Subject.other || told.subject === Subject.background)
    return hasModelFigure(fields) ? "request" : "nothing";
  if (hasModelFigure(fields)) return "request";
  if (told.subject === Subject.request || told.subject === Subject.llm) {
    if (timed || answered) return "request";
    // `request.failed` says so itself; a message does when it names what failed
    const ended = told.phase >= Phase.ok && told.phase <= Phase.cancelled;
    const named = fields.has(Field.requestId) || fields.has(Field.model) || route !== undefined;
    return ended && (isEvent || (named && told.phase !== Phase.ok)) ? "request" : "nothing";
  }
  if (fields.has(Field.e2e) && fields.rank(Field.e2e) % 10 === 0) return "request";
  if (!timed && !answered) return "nothing";
  if (fields.has(Field.model) || (route !== undefined && (httpStatus !== undefined || timed))) return "request";
  if (told.subject === Subject.weakRequest)
    return answered || isEvent || fields.has(Field.requestId) ? "request" : "nothing";
  return httpStatus !== undefined && timed ? "request" : "nothing";
}
