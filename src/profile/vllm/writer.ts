import type { VllmLine } from "./prefix.ts";

/** Who wrote a line of the shared logging; `either` when both engines of vLLM write it. */
export type Writer = "v1" | "v0" | "rust" | "lightllm" | "either";

/** Files of the V0 engine and its workers (removed after 0.10). */
const V0_FILES = new Set([
  "async_llm_engine.py",
  "llm_engine.py",
  "multiproc_worker_utils.py",
  "multiproc_gpu_executor.py",
  "gpu_executor.py",
  "ray_gpu_executor.py",
]);
const V1_FILES = new Set([
  "loggers.py",
  "async_llm.py",
  "core.py",
  "core_client.py",
  "dump_input.py",
  "kv_cache_utils.py",
  "multiproc_executor.py",
  "gpu_model_runner.py",
  "gpu_worker.py",
  "output_processor.py",
]);
/** Files of LightLLM, whose logging is a copy of vLLM's; none of these names writes to vLLM's log. */
const LIGHTLLM_FILES = new Set([
  "manager.py",
  "api_start.py",
  "api_http.py",
  "api_lightllm.py",
  "api_openai.py",
  "api_tgi.py",
  "start_utils.py",
  "model_rpc.py",
  "base_backend.py",
  "infer_batch.py",
  "req_manager.py",
  "mem_manager.py",
  "shm_req_manager.py",
  "basemodel.py",
  "token_load.py",
  "health_check.py",
  "pd_loop.py",
  "register_loop.py",
  "statics_utils.py",
  "net_utils.py",
  "process_check.py",
]);

export function writerOf({ process, file, message }: VllmLine): Writer {
  if (process === "RustFrontend" || file.endsWith(".rs")) return "rust";
  if (process === "" && isLightllm(file, message)) return "lightllm";
  if (process === "VllmWorkerProcess" || V0_FILES.has(file)) {
    return message.startsWith("Initializing a V1 ") ? "v1" : "v0";
  }
  switch (message.charCodeAt(0)) {
    case 65: // A
      if (message.startsWith("Avg prompt throughput: ")) return V0_STATS.test(message.slice(0, 200)) ? "v0" : "v1";
      break;
    case 80: // P
      if (message.startsWith("Prefix cache hit rate: GPU: ")) return "v0";
      break;
    case 83: // S
      if (message.startsWith("Speculative metrics: ") || message.startsWith("Sequence group ")) return "v0";
      if (message.startsWith("SpecDecoding metrics: ")) return "v1";
      break;
    case 75: // K
      if (message.startsWith("KV Transfer metrics: ")) return "v1";
      break;
    case 73: // I
      if (message.startsWith("Initializing a V1 LLM engine")) return "v1";
      if (message.startsWith("Initializing an LLM engine") || message.startsWith("Initializing a V0 LLM engine"))
        return "v0";
      break;
    default:
  }
  return V1_FILES.has(file) || process !== "" ? "v1" : "either";
}

const V0_STATS = /, Swapped: \d+ reqs, Pending: /;

const isLightllm = (file: string, message: string): boolean =>
  LIGHTLLM_FILES.has(file) ||
  message.startsWith("X-Request-Id:") ||
  message.startsWith("recieved req X-Request-Id:") ||
  message.startsWith("lightllm_req_id:");

/** Whose a line is when neither engine has shown itself: V0 ended soon after brackets came. */
export const likelier = (line: VllmLine): "v1" | "v0" => (line.bracketed ? "v1" : "v0");
