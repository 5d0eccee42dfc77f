import { parseDurationMs } from "../../core/duration.ts";
import { parseIso, type ZoneOffset } from "../../core/timestamp.ts";

/** One answered call, from the access line of the gin framework. */
export interface GinLine {
  /** Local time, whole seconds. */
  readonly timeMs: number;
  readonly status: number;
  /** The whole call, model load and stream included; NaN when it is no Go duration. Whole seconds above one minute. */
  readonly durationMs: number;
  readonly method: string;
  /** Without query string. */
  readonly route: string;
}

const GIN =
  /^\[GIN\] (\d{4}\/\d\d\/\d\d) (?:- )?(\d\d:\d\d:\d\d) \| {0,4}(\d{3}) \| {0,24}(\S{1,40}) \| {0,48}(\S{0,64}) {0,3}\| {0,3}([A-Z]{3,10}) {1,8}"(.{0,4096})"\s*$/;

/** True for `[GIN] 2025/09/18 - 10:00:20 | 200 | …`: gateways that print a request id in front of the status write otherwise. */
export const isGinLine = (text: string): boolean => text.startsWith("[GIN] ") && GIN.test(text);

/** @see gin-gonic/gin logger.go `defaultLogFormatter` at v1.10.0 and dcaa4296 (narrower columns); colours are removed before */
export function readGin(text: string, zone: ZoneOffset): GinLine | undefined {
  const found = GIN.exec(text);
  if (found === null) return undefined;
  const target = found[7] ?? "";
  const query = target.indexOf("?");
  return {
    timeMs: parseIso(`${found[1]} ${found[2]}`, 0, zone).timeMs,
    status: Number(found[3]),
    durationMs: parseDurationMs(found[4] ?? ""),
    method: found[6] ?? "",
    route: query < 0 ? target : target.slice(0, query),
  };
}

const INFERENCE =
  /^\/(?:api\/(?:generate|chat|embed|embeddings|rerank)|v1\/(?:chat\/completions|completions|embeddings|responses|messages|images\/generations|images\/edits|audio\/transcriptions))$/;

/** True for a call that asks a model; `/api/show`, `/api/pull` and the like are POSTs too. */
export const isOllamaInference = (method: string, route: string): boolean => method === "POST" && INFERENCE.test(route);
