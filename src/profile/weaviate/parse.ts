import { parseDurationMs } from "../../core/duration.ts";
import { parseIso } from "../../core/timestamp.ts";
import { Latency } from "../../model/latency.ts";
import type { Line } from "../../model/line.ts";
import type { FailureRecord } from "../../model/record.ts";
import type { Parser, ParserContext } from "../profile.ts";
import { causeOfStoreStatus } from "../rag/store-status.ts";
import { textOf } from "../rag/value.ts";
import { parseEvent, type WeaviateEvent } from "./event.ts";

const FAILED_LEVELS: ReadonlySet<string> = new Set(["error", "fatal", "panic"]);
const NS_PER_MS = 1e6;
const IN_MESSAGE = /^(?:Slow query detected|Sampled query) \(([^)]{1,40})\)/;
// modules/…: what a vectoriser, reranker or generator answered
const MODULE_STATUS = /connection to: [^:]{1,80} failed with status: (\d{3})/;
const NO_CLASS = /could not find class \S+ in schema|class \S+ not found in schema/;

export class WeaviateParser implements Parser {
  state: undefined;
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const event = parseEvent(line);
    if (event === undefined) return;
    const stamp = textOf(event.field("time"));
    const timeMs = stamp === undefined ? line.timeMs : parseIso(stamp, 0, this.#context.zone).timeMs;
    const message = String(event.field("msg"));
    if (message.startsWith("Slow query detected")) this.#query(event, message, timeMs, "slow_queries");
    // 1 % of the faster ones: a sample, so its number is no rate
    else if (message.startsWith("Sampled query")) this.#query(event, message, timeMs, "sampled_queries");
    else if (FAILED_LEVELS.has(String(event.field("level")).toLowerCase())) this.#failure(event, message, timeMs);
  }

  /** One line a shard, and one more by the coordinator of a spread query: parts, none of which is the request. */
  #query(event: WeaviateEvent, message: string, timeMs: number, counter: string): void {
    this.#context.emit({ kind: "count", timeMs, name: counter, by: 1 });
    if (String(event.field("is_coordinator")) === "true")
      this.#context.emit({ kind: "count", timeMs, name: "coordinator_lines", by: 1 });
    const durationMs = this.#tookMs(event, message);
    if (durationMs === undefined) return;
    const collection = textOf(event.field("collection"));
    const tenant = textOf(event.field("tenant"));
    this.#context.emit({ kind: "step", timeMs, step: Latency.retrieval_shard, durationMs, collection, tenant });
  }

  #tookMs(event: WeaviateEvent, message: string): number | undefined {
    const took = event.field("took");
    if (event.json && typeof took === "number") return took / NS_PER_MS;
    const text = textOf(took) ?? IN_MESSAGE.exec(message)?.[1];
    if (text === undefined) return undefined;
    const figure = Number(text);
    // JSON with its numbers quoted
    if (event.json && !Number.isNaN(figure)) return figure / NS_PER_MS;
    if (!Number.isNaN(figure) && figure !== 0) {
      this.#context.reject("unknown-unit");
      return undefined;
    }
    const ms = parseDurationMs(text);
    if (!Number.isNaN(ms)) return ms;
    this.#context.reject("not-a-number");
    return undefined;
  }

  #failure(event: WeaviateEvent, message: string, timeMs: number): void {
    const error = textOf(event.field("error"));
    const text = error === undefined || message.includes(error) ? message : `${message}: ${error}`;
    const status = MODULE_STATUS.exec(text)?.[1];
    const httpStatus = status === undefined ? undefined : Number(status);
    const tenant = textOf(event.field("tenant"));
    const route = textOf(event.field("action"));
    const failure: FailureRecord = { kind: "failure", timeMs, text, httpStatus, tenant, route };
    this.#context.emit({ ...failure, cause: causeOf(text, httpStatus) });
  }
}

function causeOf(text: string, status: number | undefined): string | undefined {
  if (NO_CLASS.test(text)) return "vector_index_missing";
  // 400, 404 and a spent quota are told by the words that follow
  if (status === undefined || status === 400 || status === 404 || /quota/i.test(text)) return undefined;
  return causeOfStoreStatus(status);
}
