import { stripAnsi } from "../core/ansi.ts";

const LEVEL = "TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|ERR|CRITICAL|CRIT|FATAL|PANIC|SEVERE|LOG";
const FILE = "[\\w./+-]{1,120}\\.(?:py|go|rs|cc|cpp|cu|cuh|hpp|h|java|kt|js|mjs|ts|rb|php)";

/**
 * Prefixes of carriers and loggers by the kind of character they begin with, each anchored at the start of what is left
 * of the line. Every expression is linear: no two unbounded parts of one can match the same characters.
 */
const AFTER_DIGIT: readonly RegExp[] = [
  // containerd: time, stream, tag
  /^\d{4}-\d\d-\d\dT[\d:.]{8,18}(?:Z|[+-]\d\d:\d\d) (?:stdout|stderr) [PF](?::\w+)? /,
  // rsyslog's file format: time, host, tag
  /^\d{4}-\d\d-\d\dT[\d:.]{8,18}(?:Z|[+-]\d\d:\d\d) [\w.-]{1,100} [\w./@-]{1,80}\[\d+\]: /,
  // LiteLLM: `09:41:12 - LiteLLM Proxy:ERROR: file.py:512 - `
  new RegExp(`^\\d\\d:\\d\\d:\\d\\d(?:[.,]\\d{1,6})? - [\\w .]{1,60}:(?:${LEVEL}): (?:${FILE}:\\d{1,6} - )?`),
  // dates of all kinds, with the separator that follows
  /^\d{4}[-/]\d\d[-/]\d\d[ T_]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:\.\d{1,3})?(?: ?(?:Z|UTC|GMT|CET|CEST|[+-]\d\d:?\d\d))?(?: - | \| |[ \t]{1,4}|: )/,
  /^\d\d[-/]\d\d[-/]\d{4}[- ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})? /,
  /^\d\d:\d\d:\d\d(?:[.,]\d{1,9})? (?:- |\| )?/,
  // llama.cpp since 2026: `0.00.341.002 E `
  /^\d{1,6}\.\d\d\.\d{3}\.\d{3} [A-Z] /,
];
const AFTER_BRACKET: readonly RegExp[] = [
  // SGLang: `[2026-06-02 10:14:57 TP0] `; other dates in brackets
  /^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?(?: (?:DP|PP|TP|EP|MOE_DP|ATTN_TP)\d{1,4}){1,5}\] ?/,
  /^\[\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?\] ?/,
  /^\[\d\d[-/]\d\d[-/]\d{4}[- ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\] /,
  /^\[\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\] (?:- |\| )?/,
  // kernel ring buffer
  /^\[ {0,6}\d{1,9}\.\d{1,6}\] /,
  // `[rank0]: `; a pid, with PostgreSQL's user@database
  /^\[(?:rank)?\d{1,5}\]: ?/,
  /^\[\d{1,10}\] (?:[\w.-]{1,60}@[\w.-]{1,60} )?/,
  /^\[pid=\d{1,10} ppid=\d{1,10}\] (?:- )?/,
  // PyTorch: `[E602 10:21:22.110 File.cpp:616] `
  new RegExp(`^\\[[IWEFC]\\d{3,4} \\d\\d:\\d\\d:\\d\\d(?:\\.\\d{1,9})? {1,8}(?:\\d{1,10} )?${FILE}:\\d{1,6}\\] ?`),
  // nginx: `[error] 31#31: *77 `
  /^\[(?:debug|info|notice|warn|error|crit|alert|emerg)\] \d{1,10}#\d{1,10}: (?:\*\d{1,12} )?/,
  // level, alone or followed by a bracketed logger
  new RegExp(
    `^\\[(?:${LEVEL}|trace|debug|info|notice|warn|warning|error|critical|crit|fatal|[IWEDFVC])\\](?:\\[[^\\]\\n]{1,60}\\])? ?(?:- |\\| )?`,
  ),
  /^\[(?:TRT-LLM|TensorRT-LLM|MainThread|main|Thread-\d{1,6}[^\]\n]{0,60}|RANK \d{1,5}|http_server|worker-\d{1,6}|pool-\d{1,4}-thread-\d{1,6}|E:[^\]\n]{1,120})\] ?/,
  new RegExp(`^\\[${FILE}:\\d{1,6}(?::\\d{1,6})?\\] ?`),
];
const AFTER_PARENTHESIS: readonly RegExp[] = [
  // process that speaks: `(EngineCore_DP0 pid=31) `, `(RayWorkerWrapper pid=3, ip=10.0.0.1) `, `(raylet) `
  /^\((?:[\w:.<>*#-]{1,80} )?pid=\d{1,10}(?:, ip=[\w.:]{1,60})?(?:, [\w=.-]{1,60})?\) ?/,
  /^\((?:raylet|gcs_server|autoscaler[^)]{0,40}|dashboard)\) /,
];
const AFTER_ANGLE: readonly RegExp[] = [
  // syslog: RFC 5424, then the traditional form
  /^<\d{1,3}>1 \S{1,40} \S{1,100} \S{1,60} \S{1,60} \S{1,60} (?:-|\[[^\]\n]{0,400}\]) ?/,
  /^<\d{1,3}>(?=[A-Z][a-z]{2} )/,
];
const AFTER_CAPITAL: readonly RegExp[] = [
  // vLLM: `ERROR 06-02 11:20:33 [core.py:710] `
  new RegExp(`^(?:${LEVEL}) \\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d(?:\\.\\d{1,6})? \\[?${FILE}:\\d{1,6}\\] ?`),
  // syslog, journald's short output
  /^(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) [ \d]\d \d\d:\d\d:\d\d(?:\.\d{1,6})? \S{1,100} [\w./@-]{1,80}(?:\[\d+\])?: /,
  // glog, klog, Triton: `E0512 07:01:00.909395 1 http_server.cc:4580] `
  new RegExp(`^[IWEFC]\\d{3,4} \\d\\d:\\d\\d:\\d\\d(?:\\.\\d{1,9})? {1,8}(?:\\d{1,10} )?${FILE}:\\d{1,6}\\] ?`),
  new RegExp(`^(?:${LEVEL})(?: {1,9}(?:- |\\| ?)?|: {1,6}|\\t|\\] )`),
];
const AFTER_LETTER: readonly RegExp[] = [
  // docker compose, `service-1  | `
  /^[A-Za-z][\w.-]{0,60}-\d{1,3} {1,30}\| ?/,
  // `file.py:12 - `, `file.go:12] `, `file.rs:45: `
  new RegExp(`^${FILE}:\\d{1,6}(?::\\d{1,6})?(?:\\] ?| - |: |\\t| )`),
  // Rust targets: `text_generation_router_v3::client: `
  /^[a-z_][a-z0-9_]{0,60}(?:::[a-z_][a-z0-9_]{0,60}){1,6}: /,
  // loguru's `module:function:line - `
  /^[\w.]{1,100}:[\w<>]{1,80}:\d{1,6} - /,
  // logging's `name - LEVEL - `; Xinference's columns
  new RegExp(`^[\\w.-]{1,80} - (?:${LEVEL}) - (?:\\[[^\\]\\n]{1,60}\\] - )?`),
  new RegExp(`^[\\w.]{1,80} \\d{1,10} (?:${LEVEL}) {1,9}`),
];

function prefixesFor(code: number): readonly RegExp[] {
  if (code >= 48 && code <= 57) return AFTER_DIGIT;
  if (code === 91) return AFTER_BRACKET;
  if (code === 40) return AFTER_PARENTHESIS;
  if (code === 60) return AFTER_ANGLE;
  return AFTER_LETTER;
}

function stripOne(line: string, prefixes: readonly RegExp[]): string {
  for (const prefix of prefixes) {
    const found = prefix.exec(line);
    if (found !== null && found[0].length > 0) return line.slice(found[0].length);
  }
  return line;
}
/** Rounds of prefixes: the deepest stack seen is carrier, compose, process, time, level, file. */
const MAX_ROUNDS = 8;
const MAX_SPAN_CHARS = 2000;

/** Removes carriers (container, syslog, compose) and logger prefixes from one physical line; indentation after them stays. */
export function unwrapLine(raw: string): string {
  let line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
  if (line.includes("\u001b")) line = stripAnsi(line);
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const code = line.charCodeAt(0);
    // an indented or plainly worded line carries no prefix
    if (Number.isNaN(code) || code === 32 || code === 9 || code === 123) break;
    const before = line.length;
    if (code >= 65 && code <= 90) line = stripOne(line, AFTER_CAPITAL);
    if (line.length === before) line = stripOne(line, prefixesFor(code));
    if (line.length === before) {
      const rest = afterSpans(line);
      if (rest === undefined) break;
      line = rest;
    }
  }
  return line;
}

/** Position after the quote that closes a string; prompts inside may hold braces. */
function afterQuote(line: string, from: number, limit: number): number {
  for (let at = from; at < limit; at++) {
    const char = line[at];
    if (char === "\\") at++;
    else if (char === '"') return at + 1;
  }
  return limit;
}

/** Skips `tracing` spans, `generate{parameters=… }:prefill{id=1}: `; their braces may nest. */
function afterSpans(line: string): string | undefined {
  let at = 0;
  for (let span = 0; span < 6; span++) {
    let end = at;
    while (end < line.length && /[\w-]/.test(line[end] ?? "")) end++;
    if (end === at || end - at > 60) return undefined;
    if (line[end] === "{") {
      let depth = 0;
      const limit = Math.min(line.length, end + MAX_SPAN_CHARS);
      while (end < limit) {
        const char = line[end++];
        if (char === "{") depth++;
        else if (char === '"') end = afterQuote(line, end, limit);
        else if (char === "}" && --depth === 0) break;
      }
      if (depth !== 0) return undefined;
    } else if (span === 0) return undefined;
    if (line[end] !== ":") return undefined;
    at = end + 1;
    if (line[at] === " ") return line.slice(at + 1);
  }
  return undefined;
}
