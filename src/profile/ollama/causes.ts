import type { SlogLine } from "./slog.ts";

/**
 * What a record of Ollama's scheduler or runner means; undefined leaves it to the catalogue.
 *
 * @see ollama/ollama llm/server.go, llm/llama_server.go, server/sched.go at fb307609 (2026-08)
 */
export function failureCause({ message, error = "" }: SlogLine): string | undefined {
  const both = `${message} ${error}`;
  if (/cudaMalloc failed|CUDA out of memory|error: out of memory|hipMalloc failed/.test(both)) return "gpu_oom";
  if (/^(?:llama runner|llama-server|runner)(?: process)?(?: has)? (?:terminated|exited|crashed)/.test(message))
    return "runner_crash";
  if (message.startsWith("post predict") || message.startsWith("post completion")) {
    return /context canceled/.test(error) ? "client_cancelled" : "runner_crash";
  }
  if (
    /^(?:error loading llama server|Load failed|error loading model|unable to load model|failed to load)/i.test(message)
  ) {
    return /timed out waiting/.test(error) && !/context canceled/.test(error)
      ? "model_load_cold_start"
      : "model_load_failed";
  }
  return undefined;
}

/** True for a record that tells of a failure: errors, and a failed load, which is written as information. */
export function isFailure({ level, message }: SlogLine): boolean {
  return level.startsWith("ERROR") || message.startsWith("Load failed");
}
