import type { Line } from "../../model/line.ts";
import { parseLogfmt } from "../rag/logfmt.ts";

/** The fields of one line, and how its durations are written. */
export interface WeaviateEvent {
  readonly field: (key: string) => unknown;
  /** JSON writes a duration as int64 nanoseconds, text as Go prints it. */
  readonly json: boolean;
}

const BUILD_KEYS = ["build_wv_version", "build_git_commit", "build_image_tag"] as const;
const QUERY = /^(?:Slow query detected|Sampled query) \(/;
/** Actions that Weaviate logged before lines carried `build_*` keys (1.27). */
const ACTION =
  /^(?:startup|grpc_startup|restapi_management|restapi_request|graphql_[a-z_]+|batch_[a-z_]+|hnsw_[a-z_]+|lsm_[a-z_]+|requests_total|telemetry_[a-z_]+)$/;

/** Reads a line of Weaviate (logrus, JSON or `LOG_FORMAT=text`); undefined for lines of others. */
export function parseEvent(line: Line): WeaviateEvent | undefined {
  const { text } = line;
  if (text.charCodeAt(0) === 123) {
    if (!text.includes('"build_') && !text.includes('"action":"') && !text.includes("query")) return undefined;
    const { json } = line;
    if (json === undefined) return undefined;
    const event: WeaviateEvent = { field: (key) => json[key], json: true };
    return isOwn(event) ? event : undefined;
  }
  if (!text.startsWith('time="') && !text.startsWith("level=")) return undefined;
  const fields = parseLogfmt(text);
  const event: WeaviateEvent = { field: (key) => fields.get(key), json: false };
  return isOwn(event) ? event : undefined;
}

function isOwn({ field }: WeaviateEvent): boolean {
  const message = field("msg");
  if (typeof message !== "string" || typeof field("level") !== "string") return false;
  if (BUILD_KEYS.some((key) => typeof field(key) === "string")) return true;
  if (QUERY.test(message) && field("collection") !== undefined) return true;
  const action = field("action");
  return typeof action === "string" && field("time") !== undefined && ACTION.test(action);
}
