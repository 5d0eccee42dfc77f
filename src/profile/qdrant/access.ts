import { pathOf } from "../access-line.ts";
import { decodeSegment } from "../rag/value.ts";

/** One answer of the REST interface. */
export interface RestAccess {
  readonly method: string;
  /** Path with the collection's name put aside: `/collections/{collection}/points/search`. */
  readonly route: string;
  readonly collection: string | undefined;
  readonly status: number;
  /** As written: seconds with six decimals. */
  readonly seconds: string;
  /** Searches, queries, recommendations and scrolls; writes and administration are not. */
  readonly retrieval: boolean;
}

/** One answer of the gRPC interface; below TRACE only failures are written. */
export interface GrpcAccess {
  /** `/qdrant.Points/Search`. */
  readonly route: string;
  /** Words of the status code (`tonic::Code`); undefined for success and for a cancelled call. */
  readonly code: string | undefined;
  readonly message: string;
  readonly cancelled: boolean;
  readonly seconds: string;
  readonly retrieval: boolean;
}

// actix `Logger::default`: `%a "%r" %s %b "%{Referer}i" "%{User-Agent}i" %T`; what clients choose stands between
const REST_HEAD = /^\S+ "([A-Z]+) (\S+)(?: HTTP\/[\d.]+)?" (\d{3}) (?:\d+|-) "/;
const SECONDS_TAIL = /" (\S+)$/;
const COLLECTION = /^\/collections\/([^/]+)\/(.+)$/;
const RETRIEVAL = /^points\/(?:(?:search|query|recommend|discover)(?:\/(?:batch|groups))?|scroll)\/?$/;

/** Reads a message of `actix_web::middleware::logger` (actix-web 4, as Qdrant 1.19 sets it up). */
export function parseRest(message: string): RestAccess | undefined {
  const head = REST_HEAD.exec(message);
  const tail = SECONDS_TAIL.exec(message);
  if (head === null || tail === null) return undefined;
  const path = pathOf(head[2] ?? "");
  const inside = COLLECTION.exec(path);
  const rest = inside?.[2] ?? "";
  return {
    method: head[1] ?? "",
    route: inside === null ? path : `/collections/{collection}/${rest}`,
    collection: inside?.[1] === undefined ? undefined : decodeSegment(inside[1]),
    status: Number(head[3]),
    seconds: tail[1] ?? "",
    retrieval: head[1] === "POST" && RETRIEVAL.test(rest),
  };
}

const GRPC_FAILED = /^gRPC (\/\S+) (?:unexpectedly )?failed with ([^"]+) "(.*)" (\S+)$/s;
const GRPC_DONE = /^gRPC (\/\S+) (Ok )?(\S+)$/;
// per-shard calls between nodes (`qdrant.PointsInternal`) are parts of a request, never one
const GRPC_RETRIEVAL = /^\/qdrant\.Points\/(?:(?:Search|Query|Recommend)(?:Batch|Groups)?|Discover(?:Batch)?|Scroll)$/;

/** Reads a message of `qdrant::tonic::logging`. */
export function parseGrpc(message: string): GrpcAccess | undefined {
  if (!message.startsWith("gRPC /")) return undefined;
  const failed = GRPC_FAILED.exec(message);
  if (failed !== null) {
    const [, route = "", code = "", text = "", seconds = ""] = failed;
    return { route, code, message: text, cancelled: false, seconds, retrieval: GRPC_RETRIEVAL.test(route) };
  }
  const done = GRPC_DONE.exec(message);
  if (done === null) return undefined;
  const [, route = "", ok, seconds = ""] = done;
  const cancelled = ok === undefined;
  return { route, code: undefined, message: "", cancelled, seconds, retrieval: GRPC_RETRIEVAL.test(route) };
}

/** Causes by the words that tonic prints for a status code. */
const GRPC_CAUSES: Readonly<Record<string, string>> = {
  "The operation was cancelled": "client_cancelled",
  "Deadline expired before operation could complete": "upstream_timeout",
  "The caller does not have permission to execute the specified operation": "permission_denied",
  "Some resource has been exhausted": "rate_limited",
  "Internal error": "upstream_error",
  "The service is currently unavailable": "upstream_overloaded",
  "The request does not have valid authentication credentials": "auth_invalid_key",
};

/** The cause that a gRPC status decides; undefined leaves it to the message. */
export function causeOfGrpc(code: string, message: string): string | undefined {
  if (code === "Some requested entity was not found")
    return /collection|alias|shard/i.test(message) ? "vector_index_missing" : undefined;
  if (code === "Client specified an invalid argument") return /dim/i.test(message) ? undefined : "invalid_request";
  return GRPC_CAUSES[code];
}
