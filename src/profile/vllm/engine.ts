import { Latency } from "../../model/latency.ts";
import type { Reading } from "./state.ts";
import { parseCompanion, parseStats, parseV0HitRate } from "./stats.ts";

/** Since 0.16 the prompt rate leaves cached tokens out; a log that does not tell its version is read as a new one. */
const COMPUTED_SINCE = 16;

/** `Iteration(1040): 2 context requests, 900 context tokens, 3 generation requests, 3 generation tokens, iteration elapsed time: 41.25 ms`; dummy steps end in ` (dummy)`. */
const ITERATION =
  /^Iteration\(\d+\): \d+ context requests, (\d+) context tokens, \d+ generation requests, (\d+) generation tokens, iteration elapsed time: (-?[\d.]+|nan) ms\s*$/;

/** Lines about the engine: statistics, iterations, and what it says of itself when it starts. */
export function readEngine(message: string, reading: Reading): void {
  switch (message.charCodeAt(0)) {
    case 65: // A
    case 69: // E
      stats(message, reading);
      return;
    case 80: {
      // P
      const gauge = parseV0HitRate(message, reading.timeMs);
      if (gauge !== undefined) reading.emit(gauge);
      return;
    }
    case 83: // S
    case 75: // K
      for (const count of parseCompanion(message, reading.timeMs)) reading.emit(count);
      return;
    case 73: // I
      if (message.startsWith("Iteration(")) iteration(message, reading);
      else if (message.startsWith("Initializing ")) started(message, reading);
      return;
    case 110: // n
    case 97: // a
      if (message.startsWith("non-default args: ") || message.startsWith("args: Namespace("))
        settings(message, reading);
      return;
    case 118: // v
      if (message.startsWith("vLLM API server version ")) version(message, reading);
      return;
    default:
      // "2 Engines Aggregated: …"
      if (/^\d/.test(message)) stats(message, reading);
  }
}

function stats(message: string, reading: Reading): void {
  const { version: known = COMPUTED_SINCE } = reading.state;
  const found = parseStats(message, reading.timeMs, known >= COMPUTED_SINCE);
  if (found === undefined) return;
  reading.emit(found.gauges);
  for (const estimate of found.estimates) reading.emit(estimate);
  for (let refused = 0; refused < found.refused; refused++) reading.reject("not-a-number");
  const { preemptions = 0 } = found;
  if (preemptions > 0) count("preemptions", preemptions, reading);
}

function iteration(message: string, reading: Reading): void {
  const found = ITERATION.exec(message);
  if (found === null) return;
  reading.emit({ kind: "step", timeMs: reading.timeMs, step: Latency.iteration, durationMs: Number(found[3]) });
  count("iterations", 1, reading);
  count("context_tokens", Number(found[1]), reading);
  count("generation_tokens", Number(found[2]), reading);
}

/** `Initializing a V1 LLM engine (v0.20.2) with config: model='…', …, served_model_name=…, …` */
function started(message: string, reading: Reading): void {
  reading.state.engineDied = false;
  version(message, reading);
  const served = /[ ,]served_model_name=\[?'?([^,'\]]+)/.exec(message)?.[1];
  reading.state.model = served ?? /[ (]model='([^']+)'/.exec(message)?.[1] ?? reading.state.model;
}

function version(message: string, reading: Reading): void {
  const found = /(?:\(v|version )(\d+)\.(\d+)/.exec(message);
  if (found !== null) reading.state.version = Number(found[1]) * 1000 + Number(found[2]);
}

function settings(message: string, reading: Reading): void {
  const found = /\bmax_log_len'?(?:: |=)(\d+)/.exec(message)?.[1];
  reading.state.maxLogLength = found === undefined ? undefined : Number(found);
}

function count(name: string, by: number, reading: Reading): void {
  reading.emit({ kind: "count", timeMs: reading.timeMs, name, by });
}
