import { nearestYear, parseIso, UTC } from "../../core/timestamp.ts";

/** A line of Triton's logger. Times are UTC (`gmtime`) in both formats. */
export interface TritonLine {
  readonly level: string;
  readonly timeMs: number;
  /** Source file, e.g. `http_server.cc`. */
  readonly file: string;
  /** Unescaped and unquoted. */
  readonly message: string;
}

const DEFAULT = /^([IWEF])(\d\d)(\d\d) (\d\d):(\d\d):(\d\d)\.(\d{6}) \d+ ([\w.-]{1,80}\.(?:cc|h|cpp|py)):\d+\] /;
const ISO = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z) ([IWEF]) \d+ ([\w.-]{1,80}\.(?:cc|h|cpp|py)):\d+\] /;

/**
 * Reads `I0512 07:01:00.909395 1 http_server.cc:4580] "message"` and, with `--log-format=ISO8601`,
 * `2026-08-03T07:00:00Z I 1 http_server.cc:4580] "message"`. The message is JSON-escaped and quoted unless
 * `TRITON_SERVER_ESCAPE_LOG_MESSAGES=0`.
 *
 * @param nearMs Completes the year, which the default format lacks.
 * @see triton-inference-server/common `src/logging.cc` (26.09)
 */
export function parseTritonLine(text: string, nearMs: number): TritonLine | undefined {
  const first = text.charCodeAt(0);
  // a digit
  if (first >= 48 && first <= 57) {
    const found = text.charCodeAt(10) === 84 ? ISO.exec(text) : null;
    if (found === null) return undefined;
    const [head, time = "", level = "", file = ""] = found;
    return { level, timeMs: parseIso(time, 0, UTC).timeMs, file, message: unescape(text.slice(head.length)) };
  }
  // I W E F
  if (first !== 73 && first !== 87 && first !== 69 && first !== 70) return undefined;
  const found = DEFAULT.exec(text);
  if (found === null) return undefined;
  const [head, level = "", month, day, hour, minute, second, micros, file = ""] = found;
  const timeMs =
    nearestYear(Number(month), Number(day), Number(hour), Number(minute), Number(second), nearMs, UTC) +
    Math.floor(Number(micros) / 1000);
  return { level, timeMs, file, message: unescape(text.slice(head.length)) };
}

function unescape(message: string): string {
  if (!message.startsWith('"') || !message.endsWith('"')) return message;
  try {
    const value: unknown = JSON.parse(message);
    return typeof value === "string" ? value : message;
  } catch {
    return message;
  }
}
