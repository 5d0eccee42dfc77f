import { parseMonthDay, type ZoneOffset } from "../../core/timestamp.ts";
import type { Line } from "../../model/line.ts";

/**
 * One physical line of the logging that vLLM and LightLLM share, prefix taken apart.
 *
 * @see vllm `logger.py`, `logging_utils/formatter.py`, `utils/system_utils.py` at 4ff865c38 (0.22) and 9db713a1d (0.6.4)
 */
export interface VllmLine {
  /** `APIServer`, `EngineCore_DP0`, `Worker_TP1`, `VllmWorkerProcess`, `RustFrontend`, …; empty without a process part. */
  readonly process: string;
  readonly level: string;
  /** `MM-DD HH:MM:SS` */
  readonly stamp: string;
  /** Source file, path cut off: `loggers.py`. */
  readonly file: string;
  /** True when the place stands in brackets, as since February 2025. */
  readonly bracketed: boolean;
  readonly message: string;
  /** All that stands before the message (process, level, time and place): equal for the physical lines of one record. */
  readonly key: string;
}

/** A line with a process part and nothing of vLLM's own logging behind it: uvicorn, a library, a traceback. */
export interface ProcessLine {
  readonly process: string;
  readonly message: string;
}

const LEVEL_AND_PLACE =
  /(DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL|TRACE) (\d\d-\d\d \d\d:\d\d:\d\d) (\[?)((?:[\w.@-]+\/)*)([\w-]+\.(?:py|rs)):(\d+)\](?: |$)/y;
/** `VLLM_LOGGING_PREFIX`, as far as it is one word that could not be the start of a sentence or of a quotation. */
const OWN_PREFIX = /[^\s"'`{}(),:=]{1,40}? ?(?=(?:DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL|TRACE) \d\d-\d\d )/y;
/** Ray's form `Name pid=1, ip=10.0.0.2` is met in front of vLLM's own. */
const PROCESS = /^([\w:.#@/=+ -]*?) ?\bpid=\d+(?:, ip=[\w.:]+)?$/;
const OWN_PROCESS =
  /^(?:APIServer|ApiServer|EngineCore|Engine_?core|Worker|VllmWorker|RustFrontend|DPCoordinator|CoreEngine)(?![a-z])/;
/** Longest process part, characters. */
const MAX_PROCESS = 200;
/** How far from the start the place (`[file.py:12]`) may end, characters. */
const MAX_HEAD = 400;

/** A line is looked at by several profiles in a row; it is taken apart once. */
let lastText: string | undefined;
let lastVllm: VllmLine | undefined;
let lastProcess: ProcessLine | undefined;

/** Takes the prefix of the logging apart; undefined if the line has none. */
export function parseVllmLine(text: string): VllmLine | undefined {
  if (text !== lastText) read(text);
  return lastVllm;
}

/** Takes a process part of vLLM's own off; undefined without one, or when the whole prefix follows. */
export function parseProcessLine(text: string): ProcessLine | undefined {
  if (text !== lastText) read(text);
  return lastProcess;
}

function read(text: string): void {
  lastText = text;
  lastVllm = undefined;
  lastProcess = undefined;
  let at = 0;
  let process = "";
  while (text.charCodeAt(at) === 40) {
    const close = text.indexOf(")", at);
    if (close < 0 || close - at > MAX_PROCESS) break;
    const inner = text.slice(at + 1, close);
    const name = PROCESS.exec(inner)?.[1] ?? (OWN_PROCESS.test(inner) ? inner : undefined);
    const next = text.charCodeAt(close + 1);
    if (name === undefined || (next !== 32 && close + 1 < text.length)) break;
    // the innermost part of vLLM's own names the process, whoever copied the line
    if (OWN_PROCESS.test(name) || process === "") process = name;
    at = Math.min(close + 2, text.length);
  }
  const head = headEnd(text, at);
  if (head !== undefined) {
    const [, level = "", stamp = "", bracket, , file = ""] = head.found;
    lastVllm = {
      process,
      level,
      stamp,
      file,
      bracketed: bracket === "[",
      // an embedded newline is written as CR LF and the prefix again; wrappers may leave the CR
      message: text.slice(head.end, text.endsWith("\r") ? text.length - 1 : text.length),
      key: text.slice(0, head.end),
    };
  } else if (at > 0 && OWN_PROCESS.test(process)) lastProcess = { process, message: text.slice(at) };
}

function headEnd(text: string, at: number): { readonly found: RegExpExecArray; readonly end: number } | undefined {
  // a place within reach, before any regular expression looks at lines of others
  const near = text.length > at + MAX_HEAD ? text.slice(at, at + MAX_HEAD) : text;
  const py = near.indexOf(".py:");
  if (py < 0 && !near.includes(".rs:")) return undefined;
  let start = at;
  let found = matchAt(LEVEL_AND_PLACE, text, start);
  if (found === null) {
    const own = matchAt(OWN_PREFIX, text, at);
    if (own === null) return undefined;
    start += own[0].length;
    found = matchAt(LEVEL_AND_PLACE, text, start);
  }
  return found === null ? undefined : { found, end: start + found[0].length };
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Event time of a vLLM line: a wrapper's, else the line's own (local, without a year). */
export function vllmTimeMs(parsed: VllmLine, line: Line, zone: ZoneOffset): number {
  return Number.isFinite(line.timeMs) ? line.timeMs : parseMonthDay(parsed.stamp, 0, line.readMs, zone);
}

/**
 * True when a carriage return ended this physical line: the logging writes one in front of each newline inside a record,
 * so that the next line goes on with it.
 */
export function endsInCarriageReturn(line: Line): boolean {
  return line.endsInReturn;
}
