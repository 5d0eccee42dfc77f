import { Latency } from "../../model/latency.ts";
import type { Line } from "../../model/line.ts";
import type { Parser, ParserContext } from "../profile.ts";
import { readJson, shapeOf } from "./json.ts";
import { type SlowEntry, tookMs } from "./slow-entry.ts";

export class ElasticsearchParser implements Parser {
  state: undefined;
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const shape = shapeOf(line);
    if (shape === undefined) return;
    const entry = readJson(line, shape, this.#context.zone);
    if (entry !== undefined) emitShard(entry, this.#context, "slowlog_lines");
  }
}

/** One phase of one shard: a part of a request, never one, and no rate (only slow ones are written). */
export function emitShard(entry: SlowEntry, context: ParserContext, counter: string): void {
  const { timeMs, part, index: collection } = entry;
  context.emit({ kind: "count", timeMs, name: counter, by: 1 });
  const durationMs = tookMs(entry, context);
  if (durationMs === undefined) return;
  const step = part === "fetch" ? Latency.shard_fetch : Latency.shard_query;
  context.emit({ kind: "step", timeMs, step, durationMs, collection });
}
