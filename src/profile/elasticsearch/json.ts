import { parseIso, type ZoneOffset } from "../../core/timestamp.ts";
import type { JsonObject, Line } from "../../model/line.ts";
import { objectOf, textOf } from "../rag/value.ts";
import { indexOf, partOf, type SlowEntry } from "./slow-entry.ts";

/** Which of the two shapes of JSON slow logs a line has. */
export type SlowShape = "ecs" | "index_search_slowlog" | "search_request_slowlog";

/** The shape, from the keys that name it; undefined for lines of others. */
export function shapeOf(line: Line): SlowShape | undefined {
  const { text } = line;
  if (text.charCodeAt(0) !== 123 || !text.includes("slowlog")) return undefined;
  const { json } = line;
  if (json === undefined) return undefined;
  const type = json["type"];
  if (type === "index_search_slowlog" || type === "search_request_slowlog") return type;
  const dataset = at(json, "event.dataset");
  if (dataset === "elasticsearch.index_search_slowlog") return "ecs";
  return typeof at(json, "log.logger") === "string" && partOf(String(at(json, "log.logger"))) !== undefined
    ? "ecs"
    : undefined;
}

/** Reads one line, of Elasticsearch 8 and later (ECS) or of Elasticsearch 7 and OpenSearch (`type`). */
export function readJson(line: Line, shape: SlowShape, zone: ZoneOffset): SlowEntry | undefined {
  const { json } = line;
  if (json === undefined) return undefined;
  const time = textOf(at(json, "@timestamp")) ?? textOf(json["timestamp"]);
  const timeMs = time === undefined ? line.timeMs : parseIso(time, 0, zone).timeMs;
  const own = (key: string): unknown => (shape === "ecs" ? at(json, `elasticsearch.slowlog.${key}`) : json[key]);
  const part = shape === "search_request_slowlog" ? "request" : partOf(loggerOf(json, shape));
  if (part === undefined) return undefined;
  return {
    timeMs,
    part,
    index: indexOf(textOf(own("message")) ?? textOf(json["message"]) ?? ""),
    took: own("took"),
    tookMillis: own("took_millis"),
    id: textOf(own("id")),
    traceId: textOf(at(json, "trace.id")),
    shards: textOf(own("shards")),
  };
}

const loggerOf = (json: JsonObject, shape: SlowShape): string =>
  textOf(shape === "ecs" ? at(json, "log.logger") : json["component"]) ?? "";

/** An ECS field, as one dotted key or as nested objects. */
function at(json: JsonObject, path: string): unknown {
  const flat = json[path];
  if (flat !== undefined) return flat;
  const dot = path.indexOf(".");
  if (dot < 0) return undefined;
  const [head, tail] = [path.slice(0, dot), path.slice(dot + 1)];
  const inner = objectOf(json[head]);
  if (inner !== undefined) return at(inner, tail);
  // partly nested: `{"elasticsearch.slowlog": {"took": …}}`
  const second = tail.indexOf(".");
  return second < 0 ? undefined : objectOf(json[path.slice(0, dot + 1 + second)])?.[tail.slice(second + 1)];
}
