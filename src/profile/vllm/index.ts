import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { JSON_KEYS, parseVllmJson } from "./json-line.ts";
import { VllmParser } from "./parse.ts";
import { parseProcessLine, parseVllmLine, type VllmLine } from "./prefix.ts";
import { likelier, writerOf } from "./writer.ts";

const ACCESS =
  "Durations of requests: the access line holds neither time nor duration, and for a streamed answer it is written before the first token.";

/** The record of a line of vLLM's logging, prefixed or as JSON. */
function recordOf(line: Line): VllmLine | undefined {
  const { json } = line;
  return json === undefined ? parseVllmLine(line.text) : parseVllmJson(json)?.line;
}

// no firstCharacters in the three profiles: VLLM_LOGGING_PREFIX may put any character in front
export const vllmV1: Profile = {
  name: "vllm-v1",
  title: "vLLM, V1 engine",
  upstream:
    "vllm v1/metrics/loggers.py, v1/engine/async_llm.py, entrypoints/logger.py at 4ff865c38 (0.22), 177e55e3b (0.10.1)",
  jsonKeys: JSON_KEYS,
  rank: "specific",
  tells: ["received", "failed", "aborted"],
  figures: [
    "running",
    "waiting",
    "KV cache usage",
    "prefix cache hits",
    "tokens/s (estimate)",
    "drafted and accepted tokens",
    "HTTP status",
    "failures",
  ],
  cannotTell: [
    "TTFT, E2E, queue time and ITL: V1 prints no line at a request's end.",
    "Tokens of a request, unless prompts are logged with their ids (`prompt_token_ids`) or outputs are (`--enable-log-outputs`).",
    "Requests received, aborted or failed without `--enable-log-requests`.",
    ACCESS,
  ],
  claims(line: Line): boolean {
    const record = recordOf(line);
    if (record !== undefined) {
      const writer = writerOf(record);
      return writer === "v1" || (writer === "either" && likelier(record) === "v1");
    }
    const process = parseProcessLine(line.text)?.process;
    return process !== undefined && process !== "RustFrontend" && process !== "VllmWorkerProcess";
  },
  open: (context) => new VllmParser(context, "v1"),
};

export const vllmV0: Profile = {
  name: "vllm-v0",
  title: "vLLM, V0 engine",
  upstream: "vllm engine/metrics.py, engine/async_llm_engine.py, core/scheduler.py at 9db713a1d (0.6.4)",
  jsonKeys: JSON_KEYS,
  rank: "specific",
  tells: ["received", "finished", "aborted"],
  figures: [
    "running",
    "waiting",
    "KV cache usage",
    "prefix cache hits",
    "tokens in (from printed ids)",
    "tokens/s (estimate)",
    "HTTP status",
    "failures",
  ],
  cannotTell: [
    "TTFT, queue time, ITL and output tokens of a request.",
    "E2E better than to the second of the clock.",
    ACCESS,
  ],
  claims(line: Line): boolean {
    const record = recordOf(line);
    if (record === undefined) return parseProcessLine(line.text)?.process === "VllmWorkerProcess";
    const writer = writerOf(record);
    return writer === "v0" || (writer === "either" && likelier(record) === "v0");
  },
  open: (context) => new VllmParser(context, "v0"),
};

export const vllmRust: Profile = {
  name: "vllm-rust",
  title: "vLLM, Rust front end",
  upstream: "vllm-rs frontend (main, 2026-05)",
  jsonKeys: JSON_KEYS,
  rank: "specific",
  // other ends are printed at a level or by a flag that may be off: none seen is not none
  tells: ["failed"],
  figures: [
    "requests finished and aborted (`--enable-log-requests`)",
    "tokens in",
    "tokens out",
    "finish reason",
    "running",
    "waiting",
    "KV cache usage",
    "prefix cache hits",
    "tokens/s (estimate)",
    "failures",
  ],
  cannotTell: ["Requests received; TTFT, E2E, queue time and ITL.", "HTTP statuses: it writes no access lines."],
  claims(line: Line): boolean {
    const record = recordOf(line);
    if (record !== undefined) return writerOf(record) === "rust";
    return parseProcessLine(line.text)?.process === "RustFrontend";
  },
  open: (context) => new VllmParser(context, "rust"),
};
