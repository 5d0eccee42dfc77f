import type { JsonObject } from "../../model/line.ts";
import type { ParserContext } from "../profile.ts";

/** What writers print for "not reported". */
const ABSENT: ReadonlySet<string> = new Set(["", "-", "null", "nil", "None", "Unknown"]);

/** The text of a field; undefined when it is no text, empty, or says "not reported". */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && !ABSENT.has(value) ? value : undefined;
}

/** A nested object; undefined for anything else, arrays included. */
export function objectOf(value: unknown): JsonObject | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
}

/** The object that a string holds as JSON; undefined when it holds none or was cut. */
export function parseObject(text: string): JsonObject | undefined {
  if (text.charCodeAt(0) !== 123) return undefined;
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/**
 * The figure of a field that is written as a number or as its text.
 *
 * @returns Undefined when it is not reported; what is no number is refused, counted, and undefined too.
 */
export function figureOf(value: unknown, context: Pick<ParserContext, "reject">): number | undefined {
  if (typeof value === "number") return value;
  if (value === undefined || value === null || (typeof value === "string" && ABSENT.has(value))) return undefined;
  if (typeof value === "string") {
    const figure = Number(value);
    if (value.trim() !== "" && !Number.isNaN(figure)) return figure;
  }
  context.reject("not-a-number");
  return undefined;
}

/** Decodes a path segment; one that is no valid encoding stays as it is. */
export function decodeSegment(segment: string): string {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
