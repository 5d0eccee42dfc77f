import { parseIso, type ZoneOffset } from "../../core/timestamp.ts";
import type { Line } from "../../model/line.ts";

/**
 * A line of SGLang's logging, prefix taken apart: `[2025-12-24 21:01:02.123 DP0 TP0] message`.
 *
 * @see sglang `srt/managers/scheduler.py` `configure_logger`, `srt/utils` at 013a199bc (0.5.9), cd10654e7 (2024-08)
 */
export interface SglangLine {
  /** The time as printed, or empty (`[gpu=0]`, and request lines of 2026). */
  readonly stamp: string;
  /** `DP0` when the line names a data-parallel rank. */
  readonly dataParallelRank: string | undefined;
  readonly rank: string;
  readonly message: string;
}

const PREFIX = /^\[(?:(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d+)?)((?: [A-Z_]{2,12}\d+)*)|gpu=\d+)\] /;
const REQUEST_LINE = /^(?:Receive|Finish): obj=\w+\(/;

/** Takes the prefix apart; request lines of 2026 carry none. */
export function parseSglangLine(text: string): SglangLine | undefined {
  const first = text.charCodeAt(0);
  if (first === 91) {
    const found = PREFIX.exec(text);
    if (found === null) return undefined;
    const rank = found[2] ?? "";
    return {
      stamp: found[1] ?? "",
      rank,
      dataParallelRank: /DP\d+/.exec(rank)?.[0],
      message: text.slice(found[0].length),
    };
  }
  // R F
  if ((first === 82 || first === 70) && REQUEST_LINE.test(text))
    return { stamp: "", rank: "", dataParallelRank: undefined, message: text };
  if (first === 82 && text.startsWith("Req Time Stats(rid="))
    return { stamp: "", rank: "", dataParallelRank: undefined, message: text };
  return undefined;
}

/** Messages under the same bracketed time that other servers write. */
const FOREIGN = /^(?:Avg thr \(|[A-Z]+ [\w./-]+\.\w+:\d+[:\]]|[A-Z]+: ?\S|[A-Z]+ \S+:\d+: )/;

export const isForeign = (message: string): boolean => FOREIGN.test(message);

export function sglangTimeMs(parsed: SglangLine, line: Line, zone: ZoneOffset): number {
  if (parsed.stamp !== "") return parseIso(parsed.stamp, 0, zone).timeMs;
  return line.timeMs;
}
