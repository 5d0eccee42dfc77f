import { parseIso, type ZoneOffset } from "../../core/timestamp.ts";
import type { JsonObject, Line } from "../../model/line.ts";
import { parseVllmLine, type VllmLine } from "./prefix.ts";

/** A record of vLLM that some JSON formatter wrote (`VLLM_LOGGING_CONFIG_PATH`): one line, whatever is in it. */
export interface VllmJson {
  readonly line: VllmLine;
  /** Traceback in a field of its own. */
  readonly exception: string | undefined;
}

const NAMES = ["name", "logger", "logger_name"] as const;
/** Ray Serve puts what a replica prints into its own JSON lines. */
const RAY = ["deployment", "component_name"] as const;
/** Keys of which every such line has one. */
export const JSON_KEYS = [...NAMES, ...RAY];
const LEVELS = ["levelname", "level", "severity"] as const;
const TIMES = ["asctime", "timestamp", "time", "@timestamp"] as const;
const EXCEPTIONS = ["exc_info", "exc_text", "exception"] as const;

/** The record of a JSON line that one of vLLM's loggers wrote, or that carries a whole line of vLLM's as its message. */
export function parseVllmJson(json: JsonObject): VllmJson | undefined {
  const message = json["message"] ?? json["msg"];
  if (typeof message !== "string") return undefined;
  const logger = vllmLogger(json);
  const embedded = logger !== undefined || RAY.some((key) => key in json) ? parseVllmLine(message) : undefined;
  if (embedded === undefined && logger === undefined) return undefined;
  return {
    line: embedded ?? {
      process: "",
      level: (text(json, LEVELS) ?? "INFO").toUpperCase(),
      stamp: "",
      file: text(json, ["filename", "file"]) ?? `${logger?.slice(logger.lastIndexOf(".") + 1)}.py`,
      bracketed: true,
      message,
      key: "",
    },
    exception: text(json, EXCEPTIONS),
  };
}

function vllmLogger(json: JsonObject): string | undefined {
  for (const key of NAMES) {
    const name = json[key];
    if (typeof name === "string" && (name === "vllm" || name.startsWith("vllm."))) return name;
  }
  return undefined;
}

function text(json: JsonObject, keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const value = json[key];
    if (typeof value === "string" && value !== "") return value;
  }
  return undefined;
}

/** Event time of a JSON line; the wrapper's if it holds none. */
export function jsonTimeMs(json: JsonObject, line: Line, zone: ZoneOffset): number {
  const nanoseconds = json["timestamp_ns"];
  if (typeof nanoseconds === "number") return nanoseconds / 1e6;
  for (const key of TIMES) {
    const value = json[key];
    if (typeof value === "string") {
      const { timeMs } = parseIso(value, 0, zone);
      if (Number.isFinite(timeMs)) return timeMs;
    }
    // seconds, as Python counts them, or milliseconds
    if (typeof value === "number" && value > 1e8) return value < 1e11 ? value * 1000 : value;
  }
  return line.timeMs;
}
