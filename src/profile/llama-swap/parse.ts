import { parseDurationMs } from "../../core/duration.ts";
import { parseIso } from "../../core/timestamp.ts";
import { Latency } from "../../model/latency.ts";
import type { Line } from "../../model/line.ts";
import { RequestRecord } from "../../model/record.ts";
import { isInference, pathOf } from "../access-line.ts";
import type { Parser, ParserContext } from "../profile.ts";

/** Time format of the user's and name of the monitor may stand in front of the level. */
const HEAD =
  /^(?:(?:\d|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[, ])[\w.:+/, -]{0,40} )?(?:\[[\w.-]{1,40}\] )?\[INFO\] (?=Request )/;
/** How far in front of the message that may reach, characters. */
const MAX_HEAD = 100;
const REQUEST = /^Request (\S{1,64}) "([A-Z]{1,10}) (.{1,2048}?) HTTP\/[\d.]+" (\d{3}) (-?\d+) ".{0,1024}" (\S{1,32})$/;
const CLIENT_CLOSED = 499;
/** Uploads and the user interface, by the proxy itself. */
const OWN_PATH = /^\/(?:api|ui|logs|unload|running|upstream\/?$|wol-health)(?:\/|$)/;

/** Index of `Request …` in a line of llama-swap's; −1 in lines of others. */
export function requestAt(text: string): number {
  if (text.startsWith("Request ")) return 0;
  const near = text.length > MAX_HEAD ? text.slice(0, MAX_HEAD) : text;
  return near.includes("[INFO] Request ") ? (HEAD.exec(near)?.[0].length ?? -1) : -1;
}

/**
 * Reads `[INFO] Request 10.0.0.2 "POST /v1/chat/completions HTTP/1.1" 200 1234 "curl/8" 2.1s`: client, request line, status,
 * size, user agent, Go duration of the whole answer (loading of the model included).
 *
 * @see llama-swap `proxy/proxymanager.go`, `proxy/logMonitor.go` at 0bdb3720
 */
export class LlamaSwapParser implements Parser {
  state = undefined;
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const { text } = line;
    const at = requestAt(text);
    const found = REQUEST.exec(text.slice(at));
    if (found === null) return;
    const [, , method = "", target = "", code, , duration = ""] = found;
    const own = at > 0 ? parseIso(text, 0, this.#context.zone).timeMs : Number.NaN;
    const timeMs = Number.isNaN(own) ? line.timeMs : own;
    const status = Number(code);
    const route = pathOf(target);
    if (!isInference(method, route) || OWN_PATH.test(route)) {
      this.#context.emit({ kind: "http", timeMs, status, route, inference: false });
      return;
    }
    const record = new RequestRecord();
    record.timeMs = timeMs;
    record.route = route;
    record.httpStatus = status;
    if (status === CLIENT_CLOSED) {
      record.outcome = "aborted";
      record.failure = {
        kind: "failure",
        timeMs,
        text: text.slice(at),
        cause: "client_cancelled",
        httpStatus: status,
        route,
      };
    } else if (status >= 400) record.outcome = "error";
    else record.latencies.set(Latency.e2e, parseDurationMs(duration));
    this.#context.emit(record);
  }
}

export const isRequestLine = (text: string): boolean => {
  const at = requestAt(text);
  return at >= 0 && REQUEST.test(text.slice(at));
};
