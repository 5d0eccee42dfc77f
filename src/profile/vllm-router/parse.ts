import { parseIso, type ZoneOffset } from "../../core/timestamp.ts";
import type { JsonObject, Line } from "../../model/line.ts";
import type { GaugeName } from "../../model/record.ts";
import {
  closeFailure,
  continueFailure,
  type FailureBlockState,
  newFailureBlock,
  openFailure,
} from "../failure-block.ts";
import type { Parser, ParserContext } from "../profile.ts";

export interface RouterLine {
  readonly timeMs: number;
  readonly level: string;
  readonly message: string;
  readonly exception: string | undefined;
}

const HEAD = /^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3}\] (DEBUG|INFO|WARNING|ERROR|CRITICAL): /;
/** Place behind the message: `(request.py:430:vllm_router.services.request_service.request)`. */
const PLACE = / ?\([\w-]{1,80}\.py:\d{1,6}:vllm_router[\w.]{0,120}\)$/;
const ROUTING = /^Routing request \S{1,256} (?:with session id .{1,256} )?to \S{1,512} at [\d.]+, process time = /;
/** Lines of one block: servers of a large fleet, several lines each. */
const MAX_BLOCK_LINES = 20_000;

interface State {
  /** An open block of statistics. */
  stats: { readonly timeMs: number; server: string | undefined; lines: number } | undefined;
  block: FailureBlockState;
}

/**
 * A record of the router's: `[2026-01-05 12:00:00,123] INFO: message (file.py:12:vllm_router.…)`, its first line, or JSON.
 *
 * @see vllm production-stack `src/vllm_router/log.py` at 2837b16d, `services/request_service/request.py` at a6c01db0
 */
export function parseRouterLine(line: Line, zone: ZoneOffset): RouterLine | undefined {
  const { text } = line;
  const first = text.charCodeAt(0);
  if (first === 123) return line.json === undefined ? undefined : parseJson(line.json, zone);
  if (first !== 91) return undefined;
  const head = HEAD.exec(text);
  if (head === null) return undefined;
  const [prefix, level = ""] = head;
  const rest = text.slice(prefix.length);
  const place = PLACE.exec(rest.slice(-300));
  // a block of statistics begins with an empty line; other records name their place
  if (place === null && rest.trim() !== "" && !ROUTING.test(rest)) return undefined;
  const message = place === null ? rest : rest.slice(0, rest.length - place[0].length);
  return { timeMs: parseIso(text, 1, zone).timeMs, level, message, exception: undefined };
}

function parseJson(json: JsonObject, zone: ZoneOffset): RouterLine | undefined {
  const { logger, message, level, timestamp, exception } = json;
  if (typeof logger !== "string" || !logger.startsWith("vllm_router") || typeof message !== "string") return undefined;
  return {
    timeMs: typeof timestamp === "string" ? parseIso(timestamp, 0, zone).timeMs : Number.NaN,
    level: typeof level === "string" ? level : "INFO",
    message,
    exception: typeof exception === "string" ? exception : undefined,
  };
}

export class VllmRouterParser implements Parser {
  state: State = { stats: undefined, block: newFailureBlock() };
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const record = parseRouterLine(line, this.#context.zone);
    if (record === undefined) return;
    const { emit } = this.#context;
    closeFailure(this.state.block, emit);
    this.state.stats = undefined;
    const { timeMs, level, message, exception } = record;
    if (message.startsWith("Routing request ")) {
      if (ROUTING.test(message)) emit({ kind: "received", timeMs });
    } else if (level === "ERROR" || level === "CRITICAL") {
      openFailure(this.state.block, { kind: "failure", timeMs, text: message }, emit);
      for (const text of exception?.split("\n") ?? []) continueFailure(this.state.block, text, emit);
    } else if (message.trim() === "" || message.startsWith("\n===")) {
      this.state.stats = { timeMs, server: undefined, lines: 0 };
      // JSON carries the whole block in one message
      for (const text of message.split("\n")) this.#stats(text);
    }
  }

  continues(line: Line): boolean {
    const { text } = line;
    if (text.charCodeAt(0) === 91 || text.charCodeAt(0) === 123) return false;
    return this.#stats(text) || continueFailure(this.state.block, text, this.#context.emit);
  }

  flush(_nowMs: number, final: boolean): void {
    if (final) closeFailure(this.state.block, this.#context.emit);
  }

  /** One unprefixed line of a block between `====` lines. @returns True when it belongs to the open block. */
  #stats(text: string): boolean {
    const { stats } = this.state;
    if (stats === undefined) return false;
    if (++stats.lines > MAX_BLOCK_LINES) {
      this.state.stats = undefined;
      return false;
    }
    if (text === "" || text.startsWith("=====") || text.startsWith("-----") || text.startsWith("Model: ")) return true;
    if (text.startsWith("Server: ")) {
      stats.server = text.slice(8).trim();
      return true;
    }
    const known = text.startsWith(" Engine Stats: ");
    if (known) this.#gauges(text, stats.server, stats.timeMs);
    // the place ends the record
    if (text.startsWith(" (") || text.startsWith("(")) this.state.stats = undefined;
    return known || text.startsWith(" Request Stats: ") || PLACE.test(text.slice(-300));
  }

  #gauges(text: string, engine: string | undefined, timeMs: number): void {
    const values: Partial<Record<GaugeName, number>> = {};
    for (const [, key, value] of text.matchAll(PAIR)) {
      const name = GAUGES[key ?? ""];
      if (name !== undefined && Number.isFinite(Number(value))) values[name] = Number(value);
    }
    if (Object.keys(values).length > 0) this.#context.emit({ kind: "gauges", timeMs, engine, values });
  }
}

const PAIR = /(?:: |, )([A-Z][A-Za-z ]{1,40}): (-?[\d.]+|nan)/g;
const GAUGES: Readonly<Record<string, GaugeName>> = {
  "Running Requests": "running",
  "Queued Requests": "waiting",
  "GPU Cache Hit Rate": "prefix_cache_hit_ratio",
};
