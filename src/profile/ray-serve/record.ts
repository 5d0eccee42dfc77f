import { parseIso, type ZoneOffset } from "../../core/timestamp.ts";
import type { JsonObject, Line } from "../../model/line.ts";
import { parseVllmLine } from "../vllm/prefix.ts";

/** One record of Ray Serve's logging, text or JSON. */
export interface ServeRecord {
  readonly timeMs: number;
  readonly level: string;
  /** `proxy`, `controller`, or the deployment (`default_LLMServer:m`). */
  readonly component: string;
  readonly requestId: string | undefined;
  /** Route prefix, where the format has it apart from the message. */
  readonly route: string | undefined;
  readonly message: string;
  readonly exception: string | undefined;
}

/** What Ray's driver puts in front of lines that an actor printed. */
const ACTOR =
  /^\((?:ServeReplica:[^()\s]{1,160}|ServeController|ProxyActor|HTTPProxyActor|HTTPProxy|SERVE_\w+) pid=\d+(?:, ip=[\w.:]+)?\) ?/;
const HEAD = /^(DEBUG|INFO|WARNING|ERROR|CRITICAL) (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}) (\S{1,200}) (\S{1,200}) /;
/** Since about 2.40: `[request id ]-- message`. Additional attributes may stand before the dashes. */
const NEW = /^(?:(\S{1,128}) (?:\S{1,128} ){0,6})?-- /;
/** Before: `[request id ][route ][application ]file.py:123 - message`. */
const OLD = /^(?:(\S{1,128}) )?(?:(\/\S{0,512}) )?(?:\S{1,128} )?[\w-]+\.py:\d+ - /;

/** The length of a driver's prefix in front of an actor's line; 0 without one. */
export function actorPrefix(text: string): number {
  if (text.charCodeAt(0) !== 40) return 0;
  return ACTOR.exec(text)?.[0].length ?? 0;
}

/**
 * @see ray `serve/_private/logging_utils.py`, `serve/_private/constants.py` at 05d92bf7 and 0016b72b; `serve/_private/logging_utils.py` at 2.9
 */
export function parseServeRecord(line: Line, zone: ZoneOffset): ServeRecord | undefined {
  const { text } = line;
  const first = text.charCodeAt(0);
  if (first === 123) return line.json === undefined ? undefined : parseJson(line.json, zone);
  // ( D I W E C
  if (first !== 40 && first !== 68 && first !== 73 && first !== 87 && first !== 69 && first !== 67) return undefined;
  const start = actorPrefix(text);
  const own = start === 0 ? text : text.slice(start);
  const head = HEAD.exec(own);
  if (head === null) return undefined;
  const [whole, level = "", time = "", component = ""] = head;
  const rest = own.slice(whole.length);
  const { timeMs } = parseIso(time, 0, zone);
  const found = NEW.exec(rest) ?? OLD.exec(rest);
  if (found === null) return undefined;
  const [prefix, requestId, route] = found;
  const message = rest.slice(prefix.length);
  return { timeMs, level, component, requestId, route, message, exception: undefined };
}

function parseJson(json: JsonObject, zone: ZoneOffset): ServeRecord | undefined {
  const {
    asctime,
    levelname,
    message,
    deployment,
    component_name: name,
    request_id: id,
    route,
    exc_text: text,
    exc_info: info,
  } = json;
  if (typeof asctime !== "string" || typeof levelname !== "string" || typeof message !== "string") return undefined;
  const component = typeof deployment === "string" ? deployment : name;
  // a line of vLLM's that a replica printed is vLLM's
  if (typeof component !== "string" || parseVllmLine(message) !== undefined) return undefined;
  const nanoseconds = json["timestamp_ns"];
  return {
    timeMs: typeof nanoseconds === "number" ? nanoseconds / 1e6 : parseIso(asctime, 0, zone).timeMs,
    level: levelname,
    component,
    requestId: typeof id === "string" ? id : undefined,
    route: typeof route === "string" ? route : undefined,
    message,
    exception: typeof text === "string" ? text : typeof info === "string" ? info : undefined,
  };
}

/** `POST /v1/chat/completions 200 2101.5ms`, `CALL chat OK 1834.1ms`; before 2.40 without the path: `POST 200 2101.5ms`. */
export interface Access {
  readonly method: string;
  /** Path of an HTTP request, name of a called method; empty where the format leaves it out. */
  readonly target: string;
  /** HTTP status, or `OK`, `ERROR`, `CANCELLED`. */
  readonly status: string;
  readonly ms: number;
}

/** The client's address may stand in front (`RAY_SERVE_LOG_CLIENT_ADDRESS`). */
const ACCESS =
  /^(?:\[?[\w.:]{1,64}\]?:\d+ )?([A-Za-z_]\w{0,80}) (?:(\S{1,2048}) )?(\d{3}|OK|ERROR|CANCELLED) (\S{1,32}?)ms$/;

export function parseAccess(message: string): Access | undefined {
  if (!message.endsWith("ms") || message.length > 2400) return undefined;
  const found = ACCESS.exec(message);
  if (found === null) return undefined;
  const [, method = "", target = "", status = "", ms] = found;
  return { method, target, status, ms: Number(ms) };
}
