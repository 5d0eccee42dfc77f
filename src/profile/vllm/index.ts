import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { VllmParser } from "./parse.ts";
import { parseProcessLine, parseVllmLine } from "./prefix.ts";

const ACCESS =
  "Durations of requests: the access line holds neither time nor duration, and for a streamed answer it is written before the first token.";

/** Files of the V0 engine; other files write for both. */
const V0_FILES =
  /^(?:async_llm_engine|llm_engine|metrics|multiproc_worker_utils|multiproc_gpu_executor|gpu_executor|scheduler|worker|model_runner|ray_gpu_executor)\.py$/;

export const vllmV1: Profile = {
  name: "vllm-v1",
  title: "vLLM, V1 engine",
  upstream:
    "vllm v1/metrics/loggers.py, v1/engine/async_llm.py, entrypoints/logger.py at 4ff865c38 (0.22), 177e55e3b (0.10.1)",
  jsonKeys: [],
  rank: "specific",
  tells: ["received", "failed", "aborted"],
  figures: [
    "running",
    "waiting",
    "KV cache usage",
    "prefix cache hits",
    "tokens/s (estimate)",
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
    const { text } = line;
    const parsed = parseVllmLine(text);
    if (parsed !== undefined)
      return parsed.bracketed && parsed.process !== "RustFrontend" && !V0_FILES.test(parsed.file);
    const bare = parseProcessLine(text);
    return bare !== undefined && bare.process !== "RustFrontend" && !bare.process.startsWith("VllmWorker");
  },
  open: (context) => new VllmParser(context),
};

export const vllmV0: Profile = {
  name: "vllm-v0",
  title: "vLLM, V0 engine",
  upstream: "vllm engine/metrics.py, engine/async_llm_engine.py, core/scheduler.py at 9db713a1d (0.6.4)",
  jsonKeys: [],
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
    const parsed = parseVllmLine(line.text);
    if (parsed !== undefined) return !parsed.bracketed || V0_FILES.test(parsed.file);
    return parseProcessLine(line.text)?.process.startsWith("VllmWorker") === true;
  },
  open: (context) => new VllmParser(context),
};

export const vllmRust: Profile = {
  name: "vllm-rust",
  title: "vLLM, Rust front end",
  upstream: "vllm-rs frontend (main, 2026-05)",
  jsonKeys: [],
  rank: "specific",
  tells: ["finished", "failed", "aborted"],
  figures: [
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
  cannotTell: ["TTFT, E2E, queue time and ITL.", "HTTP statuses: it writes no access lines."],
  claims(line: Line): boolean {
    if (!line.text.startsWith("(RustFrontend")) return false;
    return parseVllmLine(line.text) !== undefined || parseProcessLine(line.text) !== undefined;
  },
  open: (context) => new VllmParser(context),
};
