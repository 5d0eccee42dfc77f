type Loose = Readonly<Record<string, unknown>>;

const MESSAGE_KEYS = ["message", "msg", "event", "log", "MESSAGE", "text", "body", "detail", "error_message"] as const;
/** Keys under which loggers put the error, its text or its stack. */
const ERROR_KEYS = [
  "error",
  "err",
  "exc_info",
  "exception",
  "error_str",
  "error_information",
  "error_detail",
  "error.message",
  "error.type",
  "error.stack_trace",
  "stack",
  "stacktrace",
  "stack_trace",
  "traceback",
] as const;
const MAX_DEPTH = 4;

/**
 * The text of a failure inside one JSON log line, lines joined by `\n`: the message, then what the error fields add.
 * Undefined when the text is no JSON object or holds neither (an access record).
 */
export function textOfLogObject(line: string): string | undefined {
  if (line.charCodeAt(0) !== 123) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  const parts = partsOf(value, 0);
  return parts.length === 0 ? undefined : parts.join("\n");
}

function partsOf(value: unknown, depth: number): string[] {
  if (typeof value === "string") {
    const text = value.trim();
    if (text === "") return [];
    if (text.charCodeAt(0) === 123 && depth < MAX_DEPTH) {
      try {
        const inner = partsOf(JSON.parse(text), depth + 1);
        if (inner.length > 0) return inner;
      } catch {
        // not JSON after all: the text itself
      }
    }
    return [text];
  }
  if (Array.isArray(value))
    return depth < MAX_DEPTH ? value.slice(0, 3).flatMap((item) => partsOf(item, depth + 1)) : [];
  if (value === null || typeof value !== "object" || depth >= MAX_DEPTH) return [];
  const object = value as Loose;
  const parts: string[] = [];
  const add = (found: readonly string[]): void => {
    for (const part of found) if (!parts.some((known) => known.includes(part))) parts.push(part);
  };
  const nested = object["fields"] ?? object["record"];
  if (nested !== null && typeof nested === "object") add(partsOf(nested, depth + 1));
  for (const key of MESSAGE_KEYS) {
    const found = object[key];
    if (found !== undefined && found !== null && (typeof found === "string" || key === "message" || key === "detail")) {
      add(withKind(object, partsOf(found, depth + 1)));
      break;
    }
  }
  for (const key of ERROR_KEYS) if (object[key] !== undefined) add(partsOf(object[key], depth + 1));
  return parts;
}

/** An error body names its type beside its message: `RateLimitError: message`. */
function withKind(object: Loose, parts: string[]): string[] {
  const kind = object["type"] ?? object["error_class"] ?? object["name"] ?? object["code"];
  const first = parts[0];
  if (typeof kind !== "string" || first === undefined || kind === "error" || first.includes(kind)) return parts;
  return [`${kind}: ${first}`, ...parts.slice(1)];
}
