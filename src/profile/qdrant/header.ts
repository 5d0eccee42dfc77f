import { parseIso, type ZoneOffset } from "../../core/timestamp.ts";
import type { JsonObject, Line } from "../../model/line.ts";
import { objectOf, textOf } from "../rag/value.ts";

/** One log event of Qdrant, its logger's prefix removed. */
export interface QdrantEvent {
  readonly timeMs: number;
  readonly level: string;
  /** Module path of the writer, e.g. `actix_web::middleware::logger`. */
  readonly target: string;
  readonly message: string;
}

// crates whose names other services use for their own (`api`, `common`) are left out
const OWN =
  "qdrant|actix_web|actix_server|actix_http|storage|collection|segment|shard|wal|raft|gridstore|sparse|quantization|posting_list";
const OWN_TARGET = new RegExp(`^(?:${OWN})(?:::|$)`);
// tracing-subscriber `fmt`: time, level padded to five on the left, target
const HEADER = new RegExp(`^ {1,3}(TRACE|DEBUG|INFO|WARN|ERROR) ((?:${OWN})(?:::\\w+)*): ?`);
// env_logger of Qdrant before 1.4: `[2023-02-13T08:16:22Z INFO  target] message`
const OLD_HEADER = new RegExp(`^ (TRACE|DEBUG|INFO|WARN|ERROR) {1,2}((?:${OWN})(?:::\\w+)*)\\] `);
/** Characters in which level and target stand. */
const HEAD_CHARS = 200;

/** Reads a text or JSON line of Qdrant; undefined for lines of others. */
export function parseEvent(line: Line, zone: ZoneOffset): QdrantEvent | undefined {
  const first = line.text.charCodeAt(0);
  if (first === 123) return parseJson(line, zone);
  const bracket = first === 91 ? 1 : 0;
  let at = bracket;
  // a copy out of Docker Desktop puts its own time in front; the one with a zone is the writer's
  if (line.text.charCodeAt(at + 10) === 32 && line.text.charCodeAt(at + 30) === 84) at += 20;
  const time = parseIso(line.text, at, zone);
  if (time.end === at) return undefined;
  const { timeMs, end } = time;
  const found = (bracket === 1 ? OLD_HEADER : HEADER).exec(line.text.slice(end, end + HEAD_CHARS));
  if (found === null) return undefined;
  return {
    timeMs,
    level: found[1] ?? "",
    target: found[2] ?? "",
    message: line.text.slice(end + found[0].length).trimEnd(),
  };
}

/** `logger.format: json` (tracing-subscriber), nested under `fields` or flattened. */
function parseJson(line: Line, zone: ZoneOffset): QdrantEvent | undefined {
  const json = line.json;
  if (json === undefined) return undefined;
  const fields: JsonObject = objectOf(json["fields"]) ?? json;
  const target = textOf(fields["log.target"]) ?? textOf(json["target"]);
  const level = textOf(json["level"]);
  const message = fields["message"];
  if (target === undefined || level === undefined || typeof message !== "string" || !OWN_TARGET.test(target))
    return undefined;
  const stamp = textOf(json["timestamp"]);
  const timeMs = stamp === undefined ? line.timeMs : parseIso(stamp, 0, zone).timeMs;
  return { timeMs, level: level.toUpperCase(), target, message: message.trimEnd() };
}
