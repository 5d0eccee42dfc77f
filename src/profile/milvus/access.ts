import { parseIso, type ZoneOffset } from "../../core/timestamp.ts";
import { cutPieces, unquote } from "./groups.ts";

/** What an access line can hold; `Unknown` and absent are undefined. */
export interface MilvusAccess {
  timeMs: number;
  method: string;
  status: string | undefined;
  code: number | undefined;
  message: string | undefined;
  traceId: string | undefined;
  timeCost: string | undefined;
  database: string | undefined;
  collection: string | undefined;
}

/** Field by the names that configurations give it: Milvus' own format, its variables, and what is near at hand. */
const FIELDS: Readonly<Record<string, keyof MilvusAccess>> = {
  method: "method",
  methodname: "method",
  api: "method",
  rpc: "method",
  status: "status",
  methodstatus: "status",
  result: "status",
  code: "code",
  errorcode: "code",
  errcode: "code",
  msg: "message",
  message: "message",
  errormsg: "message",
  error: "message",
  traceid: "traceId",
  trace: "traceId",
  timecost: "timeCost",
  cost: "timeCost",
  latency: "timeCost",
  duration: "timeCost",
  elapsed: "timeCost",
  database: "database",
  databasename: "database",
  db: "database",
  dbname: "database",
  collection: "collection",
  collectionname: "collection",
};
const PAIR = /^([A-Za-z][A-Za-z_ $]{0,30}?) ?[:=] ?(.*)$/s;
// gRPC methods are one word, REST ones a path
const METHOD = /^(?:[A-Z][A-Za-z]{2,60}|\/v\d\/[\w./-]{1,120})$/;
const GO_DURATION = /^(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?(?:ns|[u\u00b5\u03bc]s|ms|s)$/;
const STATUS = /^(?:Successful|Failed|Unknown|Grpc[A-Z][A-Za-z]+|HttpError\d{3})$/;

/**
 * Reads a line of the proxy's access log, in its three default formats and in customised ones: fields may stand in any
 * order, under their own names, bracketed or bare; what a configuration leaves out is unknown.
 *
 * @see milvus-io/milvus configs/milvus.yaml (proxy.accessLog.formatters), internal/proxy/accesslog/info
 */
export function parseAccess(text: string, zone: ZoneOffset): MilvusAccess | undefined {
  const found: Record<string, string> = {};
  let timeMs = Number.NaN;
  let marked = false;
  let pendingKey: keyof MilvusAccess | undefined;
  const put = (field: keyof MilvusAccess | undefined, value: string): void => {
    if (field !== undefined) found[field] ??= unquote(value.trim());
  };
  for (const { kind, text: piece } of cutPieces(text)) {
    if (pendingKey !== undefined) {
      put(pendingKey, piece);
      pendingKey = undefined;
      continue;
    }
    if (kind === "angle") continue;
    if (piece === "ACCESS") marked = true;
    else if (kind === "bracket" && Number.isNaN(timeMs) && isTime(piece)) timeMs = parseIso(piece, 0, zone).timeMs;
    else if (kind === "word" && piece.endsWith(":")) pendingKey = fieldOf(piece.slice(0, -1));
    else {
      const pair = PAIR.exec(piece);
      if (pair !== null) put(fieldOf(pair[1] ?? ""), pair[2] ?? "");
      else if (METHOD.test(piece) && !STATUS.test(piece)) put("method", piece);
      else if (STATUS.test(piece)) put("status", piece);
      else if (GO_DURATION.test(piece)) put("timeCost", piece);
    }
  }
  const { method } = found;
  if (method === undefined || !METHOD.test(method)) return undefined;
  const status = found["status"];
  if (!marked && (status === undefined || !STATUS.test(status))) return undefined;
  // a customised format may put its time bare in front
  if (Number.isNaN(timeMs) && isTime(text)) timeMs = parseIso(text, 0, zone).timeMs;
  const code = Number(found["code"] || Number.NaN);
  return {
    timeMs,
    method,
    status: known(status),
    code: Number.isNaN(code) ? undefined : code,
    message: known(found["message"]),
    traceId: known(found["traceId"]),
    timeCost: known(found["timeCost"]),
    database: known(found["database"]),
    collection: known(found["collection"]),
  };
}

const fieldOf = (key: string): keyof MilvusAccess | undefined => FIELDS[key.toLowerCase().replaceAll(/[_ $]/g, "")];
const known = (value: string | undefined): string | undefined =>
  value === undefined || value === "" || value === "Unknown" ? undefined : value;

/** Milvus' layout `2006/01/02 15:04:05.000 -07:00`, which tells its lines from those of other Go programs. */
export function isTime(text: string): boolean {
  return (
    text.charCodeAt(4) === 47 &&
    text.charCodeAt(7) === 47 &&
    text.charCodeAt(10) === 32 &&
    text.charCodeAt(19) === 46 &&
    text.charCodeAt(23) === 32 &&
    (text.charCodeAt(24) === 43 || text.charCodeAt(24) === 45)
  );
}

// `Get` is a query by primary keys
const RETRIEVAL =
  /^(?:Search|HybridSearch|Query|\/v1\/vector\/(?:search|query|get)|\/v2\/vectordb\/entities\/(?:search|hybrid_search|advanced_search|query|get))$/;
const PROBE = /^(?:Describe|Has|Show|Get|List|Connect|Check|\/v[12]\/.*\/(?:describe|has|list|get_[a-z_]+)$)/;

export const isRetrieval = (method: string): boolean => RETRIEVAL.test(method);
/** Calls whose refusal is an answer (does this collection exist?), no failure. */
export const isProbe = (method: string): boolean => PROBE.test(method);
