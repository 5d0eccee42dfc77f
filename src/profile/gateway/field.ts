import type { JsonObject } from "../../model/line.ts";
import type { ParserContext } from "../profile.ts";

/** What writers print for "not reported". */
const ABSENT = new Set(["", "-", "None", "null", "Unknown", "unknown", "N/A"]);
const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

/** The text of a field; undefined when it is missing, empty or says "not reported". */
export function textOf(value: unknown): string | undefined {
  if (typeof value === "number") return String(value);
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  return ABSENT.has(text) ? undefined : text;
}

/**
 * The figure of a field that a writer prints as a number or as text.
 *
 * @returns Undefined when it is not reported. What is neither is refused, counted, and undefined too.
 */
export function figureOf(value: unknown, context: Pick<ParserContext, "reject">): number | undefined {
  if (typeof value === "number") return value;
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") {
    const text = value.trim();
    if (ABSENT.has(text)) return undefined;
    if (NUMBER.test(text)) return Number(text);
  }
  context.reject("not-a-number");
  return undefined;
}

/** A nested object; undefined for anything else, arrays included. */
export function objectOf(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** A nested object that is given as such or as JSON text. */
export function objectOrText(value: unknown): JsonObject | undefined {
  if (typeof value !== "string") return objectOf(value);
  if (value.charCodeAt(0) !== 123) return undefined;
  try {
    return objectOf(JSON.parse(value));
  } catch {
    return undefined;
  }
}

/** The first of `keys` that `object` holds a reported text under. */
export function firstText(object: JsonObject, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const text = textOf(object[key]);
    if (text !== undefined) return text;
  }
  return undefined;
}

/** The first of `keys` that `object` holds a figure under; at most one refusal is counted. */
export function firstFigure(
  object: JsonObject,
  keys: readonly string[],
  context: Pick<ParserContext, "reject">,
): number | undefined {
  for (const key of keys) {
    const value = object[key];
    if (value === undefined || value === null) continue;
    return figureOf(value, context);
  }
  return undefined;
}
