import { closeSync, openSync, writeSync } from "node:fs";
import { Random } from "../src/simulate/random.ts";

/** Generated logs for the benchmarks; the same seed gives the same file. */
export const WORKLOADS = {
  json: "JSON lines of an application, about 260 bytes each",
  "key-value": "key=value lines, about 170 bytes each",
  vllm: "vLLM V1: statistics, arrivals, access lines, errors",
} as const;
export type Workload = keyof typeof WORKLOADS;

const MODELS = ["llama-3.1-8b-instruct", "qwen-2.5-72b", "gpt-4o-mini"];
const TENANTS = ["acme", "globex", "initech", "umbrella"];

/** Writes `lines` lines of a workload. @returns The size in bytes. */
export function writeWorkload(workload: Workload, file: string, lines: number): number {
  const random = new Random(42);
  const handle = openSync(file, "w");
  let bytes = 0;
  let block = "";
  const startMs = Date.UTC(2026, 5, 1);
  for (let at = 0; at < lines; at++) {
    block += `${LINE[workload](random, startMs + at * 3)}\n`;
    if (block.length > 1 << 20 || at === lines - 1) {
      bytes += writeSync(handle, block);
      block = "";
    }
  }
  closeSync(handle);
  return bytes;
}

const LINE: Readonly<Record<Workload, (random: Random, timeMs: number) => string>> = {
  json: (random, timeMs) => {
    const ttft = random.lognormal(150, 0.6);
    const ok = !random.chance(0.02);
    return JSON.stringify({
      time: new Date(timeMs).toISOString(),
      level: ok ? "info" : "error",
      msg: ok ? "chat completed" : "chat failed",
      request_id: random.hex(16),
      model: random.pick(MODELS),
      tenant: random.pick(TENANTS),
      route: "/v1/chat/completions",
      status: ok ? 200 : 503,
      ttft_ms: Number(ttft.toFixed(1)),
      e2e_latency_ms: Number((ttft + random.lognormal(1500, 0.8)).toFixed(1)),
      tokens_in: random.integer(20, 4000),
      tokens_out: random.integer(1, 900),
    });
  },
  "key-value": (random, timeMs) => {
    const ttft = random.lognormal(150, 0.6);
    const ok = !random.chance(0.02);
    return `time=${new Date(timeMs).toISOString()} level=${ok ? "info" : "error"} msg="chat ${ok ? "completed" : "failed"}" model=${random.pick(MODELS)} tenant=${random.pick(TENANTS)} status=${ok ? 200 : 503} ttft_ms=${ttft.toFixed(1)} e2e_latency_ms=${(ttft + random.lognormal(1500, 0.8)).toFixed(1)} tokens_in=${random.integer(20, 4000)} tokens_out=${random.integer(1, 900)}`;
  },
  vllm: (random, timeMs) => {
    const stamp = new Date(timeMs).toISOString().slice(5, 19).replace("T", " ");
    const dice = random.next();
    if (dice < 0.2) {
      return `(APIServer pid=1) INFO ${stamp} [loggers.py:271] Engine 000: Avg prompt throughput: ${(random.next() * 4000).toFixed(1)} tokens/s, Avg generation throughput: ${(random.next() * 900).toFixed(1)} tokens/s, Running: ${random.integer(0, 64)} reqs, Waiting: ${random.integer(0, 9)} reqs, GPU KV cache usage: ${(random.next() * 99).toFixed(1)}%, Prefix cache hit rate: ${(random.next() * 99).toFixed(1)}%`;
    }
    if (dice < 0.4)
      return `(APIServer pid=1) INFO ${stamp} [logger.py:68] Received request chatcmpl-${random.hex(16)}: params: SamplingParams(n=1, temperature=0.7, top_p=0.9, stop=[], max_tokens=4096), lora_request: None.`;
    if (dice < 0.42)
      return `(APIServer pid=1) ERROR ${stamp} [serving.py:217] Error with model error=ErrorInfo(message='The model \`x\` does not exist.', type='NotFoundError', param='model', code=404)`;
    return `(APIServer pid=1) INFO:     10.0.0.${random.integer(2, 250)}:${random.integer(32_768, 60_999)} - "${random.chance(0.2) ? "GET /health" : "POST /v1/chat/completions"} HTTP/1.1" 200 OK`;
  },
};
