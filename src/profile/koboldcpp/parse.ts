import { nearestDay } from "../../core/timestamp.ts";
import { Latency } from "../../model/latency.ts";
import type { Line } from "../../model/line.ts";
import { RequestRecord } from "../../model/record.ts";
import type { Parser, ParserContext } from "../profile.ts";

/** Since 2025 the time of day stands in front. */
const HEAD = /^(?:\[(\d\d):(\d\d):(\d\d)\] )?CtxLimit:\d+\/\d+, Amt:([^/,\s]+)\/[^,\s]+, /;
const PART = /(?:^|, )(Process|Generate|Total):(\S+?)s(?: \((\S+?)ms\/T)?(?=[ ,]|$)/g;
/** Longest part behind the head that is looked at, characters. */
const MAX_TAIL = 500;

export const isCtxLimitLine = (text: string): boolean => {
  const first = text.charCodeAt(0);
  return (first === 67 || first === 91) && HEAD.test(text);
};

/**
 * Reads `[12:34:56] CtxLimit:512/4096, Amt:100/100, Init:0.10s, Process:1.20s (3.0ms/T = 330.0T/s), Generate:2.40s (24.0ms/T =
 * 41.7T/s), Total:3.60s (27.8T/s)`: seconds.
 *
 * @see koboldcpp `gpttype_adapter.cpp` at 2da346a5 (2024-10)
 */
export class KoboldcppParser implements Parser {
  state = undefined;
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const { text } = line;
    const head = HEAD.exec(text);
    if (head === null) return;
    const [whole, hour, minute, second, amount] = head;
    const record = new RequestRecord();
    record.timeMs = line.timeMs;
    if (Number.isNaN(line.timeMs) && hour !== undefined) {
      const seconds = Number(hour) * 3600 + Number(minute) * 60 + Number(second);
      record.timeMs = nearestDay(seconds, line.readMs, this.#context.zone);
    }
    record.tokensOut = Number(amount);
    for (const [, key, value, perToken] of text.slice(whole.length, whole.length + MAX_TAIL).matchAll(PART)) {
      const ms = milliseconds(Number(value));
      if (key === "Process") record.latencies.set(Latency.prefill, ms);
      else if (key === "Total") record.latencies.set(Latency.engine_total, ms);
      else {
        record.latencies.set(Latency.decode, ms);
        record.latencies.set(Latency.tpot, perToken === undefined ? undefined : Number(perToken));
      }
    }
    this.#context.emit(record);
  }
}

const milliseconds = (seconds: number): number => Number((seconds * 1000).toFixed(6));
