import { fromLocal, type ZoneOffset } from "../../core/timestamp.ts";

/** A line of TensorRT-LLM's Python or C++ logger. */
export interface TrtllmLine {
  /** First letter of the severity: I W E D V F. */
  readonly level: string;
  /** NaN when the line holds none: the C++ logger prints no time. */
  readonly timeMs: number;
  readonly rank: number | undefined;
  readonly message: string;
}

const PYTHON =
  /^(?:\[(\d\d)\/(\d\d)\/(\d{4})-(\d\d):(\d\d):(\d\d)\] )?\[TRT-LLM\] (?:\[RANK (\d{1,6})\] ?)?\[([A-Z])\] ?(?:\[_torch\])?(?:\[RANK (\d{1,6})\] ?)?/;
const CPP = /^\[TensorRT-LLM\]\[([A-Z]+)\] ?(?:\[(?:RANK )?(\d{1,6})\] )?/;

/**
 * Reads `[11/07/2025-14:01:00] [TRT-LLM] [I] [_torch][RANK 0] message` (local time) and `[TensorRT-LLM][ERROR] message`, the C++
 * runtime's line, which also appears bare in Triton's log.
 *
 * @see tensorrt_llm `logger.py` at 027cd518, `cpp/tensorrt_llm/common/logger.h`
 */
export function parseTrtllmLine(text: string, zone: ZoneOffset): TrtllmLine | undefined {
  if (text.charCodeAt(0) !== 91) return undefined;
  if (text.startsWith("[TensorRT-LLM]")) {
    const found = CPP.exec(text);
    if (found === null) return undefined;
    const [head, severity = "", rank] = found;
    return { level: severity.charAt(0), timeMs: Number.NaN, rank: number(rank), message: text.slice(head.length) };
  }
  const found = PYTHON.exec(text);
  if (found === null) return undefined;
  const [head, month, day, year, hour, minute, second, before, level = "", after] = found;
  const timeMs =
    year === undefined
      ? Number.NaN
      : fromLocal(
          Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)),
          zone,
        );
  return { level, timeMs, rank: number(before ?? after), message: text.slice(head.length) };
}

const number = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text));
