import { isObject } from "./message.ts";

const MAX_DEPTH = 6;
const MAX_ITEMS = 1000;

/**
 * The value inside an `AnyValue`: text, number, boolean, array or object; undefined for bytes and for what is none.
 * 64-bit integers are decimal strings (numbers are legal too); doubles may be the strings `NaN` and `Infinity`, which
 * stay strings, so that they are refused where a figure is wanted.
 *
 * @see opentelemetry-proto `common/v1/common.proto` at ac2c4b5, protobuf's JSON mapping
 */
export function plainValue(value: unknown, depth = 0): unknown {
  if (!isObject(value) || depth > MAX_DEPTH) return undefined;
  const { stringValue, boolValue, intValue, doubleValue, arrayValue, kvlistValue } = value;
  if (typeof stringValue === "string") return stringValue;
  if (typeof boolValue === "boolean") return boolValue;
  if (typeof intValue === "string") return Number(intValue);
  if (typeof intValue === "number") return intValue;
  if (doubleValue !== undefined) return doubleValue;
  if (isObject(arrayValue))
    return listOf(arrayValue["values"])
      .slice(0, MAX_ITEMS)
      .map((item) => plainValue(item, depth + 1));
  if (isObject(kvlistValue)) return plainAttributes(kvlistValue["values"], depth + 1);
  return undefined;
}

/** `[{key, value}]` as an object without prototype: keys are the writer's. */
export function plainAttributes(list: unknown, depth = 0): Record<string, unknown> {
  const attributes: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const item of listOf(list).slice(0, MAX_ITEMS)) {
    if (!isObject(item) || typeof item["key"] !== "string") continue;
    const value = plainValue(item["value"], depth);
    if (value !== undefined) attributes[item["key"]] = value;
  }
  return attributes;
}

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
