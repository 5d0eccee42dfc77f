import { parseMonthDay, type ZoneOffset } from "../../core/timestamp.ts";
import type { Line } from "../../model/line.ts";

/**
 * One line of vLLM's own logging, prefix taken apart.
 *
 * @see vllm `logger.py`, `logging_utils/formatter.py`, `utils/system_utils.py` at 4ff865c38 (0.22) and 9db713a1d (0.6.4)
 */
export interface VllmLine {
  /** `APIServer`, `EngineCore_DP0`, `Worker_TP1`, `RustFrontend`, …; empty without a process part. */
  readonly process: string;
  readonly level: string;
  /** `MM-DD HH:MM:SS` */
  readonly stamp: string;
  /** Source file, path cut off: `loggers.py`. */
  readonly file: string;
  /** True when the place stands in brackets, as since February 2025. */
  readonly bracketed: boolean;
  readonly message: string;
  /** Process, level, time and place: equal for all physical lines of one record. */
  readonly key: string;
}

const PREFIX =
  /^(?:\(([A-Za-z]\w*)(?: pid=\d+)?\) )?(DEBUG|INFO|WARNING|ERROR|CRITICAL|FATAL) (\d\d-\d\d \d\d:\d\d:\d\d) (\[?)((?:[\w.-]+\/)*)([\w-]+\.(?:py|rs)):(\d+)\] /;
/** The process part alone, in front of what others print: uvicorn, tracebacks, libraries. */
const PROCESS =
  /^\(((?:APIServer|EngineCore|Engine_?Core|Worker|VllmWorkerProcess|VllmWorker|RustFrontend|DPCoordinator|ApiServer)\w*)(?: pid=\d+)?\) ?/;

/** Cheap test: could this line carry the prefix? */
function mayHavePrefix(text: string): boolean {
  const first = text.charCodeAt(0);
  // ( D I W E C F
  return first === 40 || first === 68 || first === 73 || first === 87 || first === 69 || first === 67 || first === 70;
}

/** Takes the prefix of vLLM's logging apart, or undefined. */
export function parseVllmLine(text: string): VllmLine | undefined {
  if (!mayHavePrefix(text)) return undefined;
  const found = PREFIX.exec(text);
  if (found === null) return undefined;
  const [whole, process = "", level = "", stamp = "", bracket, , file = ""] = found;
  // an embedded newline is written as CR LF and the prefix again: the CR stays at the end of all but the last line
  const end = text.endsWith("\r") ? text.length - 1 : text.length;
  return {
    process,
    level,
    stamp,
    file,
    bracketed: bracket === "[",
    message: text.slice(whole.length, end),
    key: whole,
  };
}

/** Takes a bare process part off, or undefined. */
export function parseProcessLine(text: string): { readonly process: string; readonly message: string } | undefined {
  if (text.charCodeAt(0) !== 40) return undefined;
  const found = PROCESS.exec(text);
  return found === null ? undefined : { process: found[1] ?? "", message: text.slice(found[0].length) };
}

/** Event time of a vLLM line: a wrapper's, else the line's own (local, without a year). */
export function vllmTimeMs(parsed: VllmLine, line: Line, zone: ZoneOffset): number {
  return Number.isFinite(line.timeMs) ? line.timeMs : parseMonthDay(parsed.stamp, 0, line.readMs, zone);
}
