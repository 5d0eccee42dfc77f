import { parseIso, type ZoneOffset } from "../../core/timestamp.ts";
import type { JsonObject, Line } from "../../model/line.ts";
import { objectOf, textOf } from "../rag/value.ts";

/** One event of the application's log. */
export interface WebuiEvent {
  readonly timeMs: number;
  readonly level: string;
  /** Python module, e.g. `open_webui.routers.openai`. */
  readonly module: string;
  readonly message: string;
  /** JSON only: text lines carry it as further lines. */
  readonly error: string | undefined;
}

// loguru: `{time:YYYY-MM-DD HH:mm:ss.SSS} | {level: <8} | {name}:{function}:{line} - {message}[ - {extra}]`
const HEAD = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \| ([A-Z]{4,8}) {0,4} \| ([\w.]{1,120}):[\w<>]{1,80}:\d{1,6} - /;
const CALLER = /^([\w.]{1,120}):[\w<>]{1,80}:\d{1,6}$/;
/** Paths that no other application serves; uvicorn's lines are Open WebUI's only with one of them, or in its stream. */
const OWN_PATH =
  /^[^"]{0,60} - "[A-Z]{3,10} \/(?:api\/(?:chat\/|v1\/(?:chats|auths|retrieval|knowledge|tasks|folders|memories|prompts|channels|groups)|changelog)|ollama\/|ws\/socket\.io)/;

/** Reads any line in loguru's layout as Open WebUI sets it, of whatever module. */
export function parseText(text: string, zone: ZoneOffset): WebuiEvent | undefined {
  const head = HEAD.exec(text);
  if (head === null) return undefined;
  const { timeMs } = parseIso(text, 0, zone);
  return { timeMs, level: head[1] ?? "", module: head[2] ?? "", message: text.slice(head[0].length), error: undefined };
}

/** Reads any line of `LOG_FORMAT=json`, of whatever module. */
export function parseJson(line: Line, zone: ZoneOffset): WebuiEvent | undefined {
  if (!line.text.includes('"caller"')) return undefined;
  const { json } = line;
  const module = CALLER.exec(textOf(json?.["caller"]) ?? "")?.[1];
  const stamp = textOf(json?.["ts"]);
  const level = textOf(json?.["level"]);
  const message = json?.["msg"];
  if (json === undefined || module === undefined || stamp === undefined || level === undefined) return undefined;
  if (typeof message !== "string") return undefined;
  // audit entries may share the stream: the access line is the request
  if (objectOf(json["extra"])?.["auditable"] === true)
    return { timeMs: Number.NaN, level: "INFO", module, message: "", error: undefined };
  return { timeMs: parseIso(stamp, 0, zone).timeMs, level: level.toUpperCase(), module, message, error: errorOf(json) };
}

function errorOf(json: JsonObject): string | undefined {
  const error = objectOf(json["error"]);
  return (
    textOf(error?.["stacktrace"]) ?? textOf(error?.["message"]) ?? textOf(json["stacktrace"]) ?? textOf(json["error"])
  );
}

/** True when the event is Open WebUI's beyond doubt: other applications print the same layouts. */
export function isOwn({ module, message }: WebuiEvent): boolean {
  if (module.startsWith("open_webui")) return true;
  return module.startsWith("uvicorn.protocols") && OWN_PATH.test(message);
}

/** Requests that ask a model or the retrieval; everything else is the user interface. */
const INFERENCE =
  /^\/(?:api\/(?:chat\/completions|v1\/chat\/completions|embeddings|v1\/embeddings|generate|message|v1\/messages|v1\/responses)|ollama\/(?:api\/(?:chat|generate|embed|embeddings)(?:\/\d+)?|v1\/(?:chat\/)?completions(?:\/\d+)?)|openai\/(?:v1\/)?(?:(?:chat\/)?completions|embeddings|responses|audio\/speech)|api\/v1\/retrieval\/query\/(?:doc|collection)|api\/v1\/tasks\/\w+\/completions|api\/v1\/images\/generations|api\/v1\/audio\/(?:speech|transcriptions))\/?$/;

export const isAsked = (method: string, route: string): boolean => method === "POST" && INFERENCE.test(route);
