import { Latency } from "../../model/latency.ts";
import type { Line } from "../../model/line.ts";
import { RequestRecord } from "../../model/record.ts";
import { readJson } from "../elasticsearch/json.ts";
import { emitShard } from "../elasticsearch/parse.ts";
import { type SlowEntry, tookMs } from "../elasticsearch/slow-entry.ts";
import type { Parser, ParserContext } from "../profile.ts";
import { readText } from "./text.ts";

export class OpenSearchParser implements Parser {
  state: undefined;
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const { zone } = this.#context;
    const entry =
      line.text.charCodeAt(0) === 123 ? readJson(line, "search_request_slowlog", zone) : readText(line.text, zone);
    if (entry === undefined) return;
    if (entry.part === "request") this.#request(entry);
    else emitShard(entry, this.#context, "shard_lines");
  }

  /** What a user waited: the coordinating node's line for the whole search. */
  #request(entry: SlowEntry): void {
    const { timeMs, id, traceId } = entry;
    const record = new RequestRecord();
    record.timeMs = timeMs;
    record.id = id;
    record.traceId = traceId;
    const { failed, successful } = shardCounts(entry.shards ?? "");
    if (failed > 0) {
      this.#context.emit({ kind: "count", timeMs, name: "partial_shard_failures", by: 1 });
      // some shards answered: the answer is partial, and an answer
      if (successful === 0) record.outcome = "error";
    }
    record.latencies.set(Latency.retrieval, tookMs(entry, this.#context));
    this.#context.emit(record);
  }
}

const FAILED = /\bfailed: ?(\d+)/;
const SUCCESSFUL = /\bsuccessful: ?(\d+)/;

/** Counts of `{total:3, successful:3, skipped:0, failed:1}`; NaN where a count is missing. */
function shardCounts(shards: string): { failed: number; successful: number } {
  return { failed: Number(FAILED.exec(shards)?.[1]), successful: Number(SUCCESSFUL.exec(shards)?.[1]) };
}
