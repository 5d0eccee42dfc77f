import { parseIso, type ZoneOffset } from "../../core/timestamp.ts";
import type { Line } from "../../model/line.ts";

/**
 * A line of SGLang's logging, prefix taken apart: `[2025-12-24 21:01:02.123 DP0 PP0 ATTN_CP0 TP0] message`.
 *
 * @see sglang `srt/managers/scheduler.py` `configure_logger`, `srt/utils` at 013a199bc (0.5.9), cd10654e7 (2024-08)
 */
export interface SglangLine {
  /** The time as printed, or empty (`[gpu=0]`, and request lines of 2026). */
  readonly stamp: string;
  /** `DP0` when the line names a data-parallel rank. */
  readonly dataParallelRank: string | undefined;
  /**
   * True when another process writes the same event: the later stages of a pipeline, and the later ranks of context or tensor
   * parallelism unless attention is data-parallel (then each tensor rank may serve requests of its own).
   */
  readonly echo: boolean;
  /** True when the prefix names any rank. */
  readonly ranked: boolean;
  readonly message: string;
}

const PREFIX = /^\[(?:(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:[.,]\d+)?)((?: [A-Z_]{2,12}\d+)*)|gpu=(\d+))\] /;
const REQUEST_LINE = /^(?:(?:Receive|Finish)(?: OpenAI)?: obj=\w*[({]|Req Time Stats\(rid=)/;

/** Takes the prefix apart; request lines of 2026 carry none. */
export function parseSglangLine(text: string): SglangLine | undefined {
  const first = text.charCodeAt(0);
  if (first === 91) {
    const found = PREFIX.exec(text);
    if (found === null) return undefined;
    const rank = found[2] ?? "";
    const dataParallelRank = rank === "" ? undefined : / (DP\d+)/.exec(rank)?.[1];
    return {
      stamp: found[1] ?? "",
      dataParallelRank,
      echo:
        (rank !== "" &&
          (/ (?:PP|ATTN_CP|CP)0*[1-9]/.test(rank) || (dataParallelRank === undefined && / TP0*[1-9]/.test(rank)))) ||
        Number(found[3] ?? 0) > 0,
      ranked: rank !== "" || found[3] !== undefined,
      message: text.slice(found[0].length),
    };
  }
  // R F
  if ((first === 82 || first === 70) && REQUEST_LINE.test(text))
    return { stamp: "", dataParallelRank: undefined, echo: false, ranked: false, message: text };
  return undefined;
}

/** Messages under the same bracketed time that other servers write. */
const FOREIGN = /^(?:Avg thr \(|[A-Z]+ [\w./-]+\.\w+:\d+[:\]]|[A-Z]+: ?\S|[A-Z]+ \S+:\d+: |[\w-]+\.[A-Z]+: )/;

export const isForeign = (message: string): boolean => FOREIGN.test(message);

/** Words that only SGLang begins a message with. */
const OWN =
  /^(?:(?:Prefill|Decode) batch[ ,.([]|(?:Receive|Finish)(?: OpenAI)?: obj=|Req Time Stats\(|server_args=|(?:INFO|WARNING|ERROR|CRITICAL): +|max_total_num_tokens=|KV cache pool is full|(?:Decode|Prefill) out of memory|\w+ hit an exception|\[http_server\]|SIGQUIT received|The server is fired up|Init torch distributed|Load weight (?:begin|end)|KV Cache is allocated|Memory pool end|Capture (?:cuda|draft)|Health check failed\. Server couldn't|Request length is longer than the KV cache|Watchdog TIMEOUT|attention backend|Attention backend)/;

/** True when the line alone shows that SGLang wrote it. */
export const isOwn = ({ ranked, message }: SglangLine): boolean => ranked || OWN.test(message);

export function sglangTimeMs(parsed: SglangLine, line: Line, zone: ZoneOffset): number {
  if (parsed.stamp !== "") return parseIso(parsed.stamp, 0, zone).timeMs;
  return line.timeMs;
}
