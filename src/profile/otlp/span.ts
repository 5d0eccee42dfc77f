import type { JsonObject } from "../../model/line.ts";
import { listOf, plainAttributes } from "./any-value.ts";
import { hexId, isObject } from "./message.ts";
import { type Operation, operationOf } from "./operation.ts";

const SCORE_KEY = /^(?:retrieval\.documents|reranker\.output_documents)\.\d{1,4}\.document\.score$/;

/** One span with what its resource says. */
export interface Span {
  readonly span: JsonObject;
  readonly id: string | undefined;
  readonly parent: string | undefined;
  readonly attributes: Record<string, unknown>;
  readonly resource: Record<string, unknown>;
  readonly operation: Operation;
}

export interface SpanError {
  readonly failed: boolean;
  readonly message: string | undefined;
}

export function errorOf({ span, attributes }: Span): SpanError {
  const { status } = span as { status?: unknown };
  const code: unknown = isObject(status) ? status["code"] : undefined;
  const message: unknown = isObject(status) ? status["message"] : undefined;
  const failed = code === 2 || code === "STATUS_CODE_ERROR" || typeof attributes["error.type"] === "string";
  return { failed, message: typeof message === "string" && message !== "" ? message : undefined };
}

/** Attributes of the exception that the span recorded last. */
export function exceptionOf(span: JsonObject): Record<string, unknown> {
  const events = listOf(span["events"]);
  const exception = events.findLast((event) => isObject(event) && event["name"] === "exception");
  return isObject(exception) ? plainAttributes(exception["attributes"]) : {};
}

/** Scores that OpenInference spreads over one attribute per document. */
export function flatScores(attributes: Readonly<Record<string, unknown>>): number[] | undefined {
  const scores = Object.entries(attributes)
    .filter(([key, value]) => typeof value === "number" && SCORE_KEY.test(key))
    .map(([, value]) => value as number);
  return scores.length === 0 ? undefined : scores;
}

export const resourceOf = (group: JsonObject): Record<string, unknown> =>
  isObject(group["resource"]) ? plainAttributes(group["resource"]["attributes"]) : {};

export function spansOf(groups: unknown): Span[] {
  const spans: Span[] = [];
  for (const group of listOf(groups)) {
    if (!isObject(group)) continue;
    const resource = resourceOf(group);
    for (const scope of listOf(group["scopeSpans"] ?? group["instrumentationLibrarySpans"])) {
      if (!isObject(scope)) continue;
      for (const span of listOf(scope["spans"])) {
        if (!isObject(span)) continue;
        const attributes = plainAttributes(span["attributes"]);
        const name = typeof span["name"] === "string" ? span["name"] : "";
        const [id, parent] = [hexId(span["spanId"]), hexId(span["parentSpanId"])];
        spans.push({ span, id, parent, attributes, resource, operation: operationOf(attributes, name) });
      }
    }
  }
  return spans;
}
