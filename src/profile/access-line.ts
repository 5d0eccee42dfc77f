/** One HTTP access line in uvicorn's wording, which most Python model servers share. */
export interface AccessLine {
  readonly method: string;
  /** Path without query string. */
  readonly route: string;
  readonly status: number;
}

// client: IPv4:port, [IPv6]:port, empty (unix socket) or None
const ACCESS = /^(?:\S*|None) ?- "([A-Z]+) (\S+)(?: HTTP\/[\d.]+)?" (\d{3})(?: [A-Za-z' -]+)?\s*$/;

/**
 * Reads `10.0.0.1:41234 - "POST /v1/chat/completions HTTP/1.1" 200 OK` (phrase and client optional).
 *
 * @param text The line after its level (`INFO:     ` removed).
 * @see encode/uvicorn `logging.py`, `protocols/http/httptools_impl.py` at e6c7ce79
 */
export function parseAccessLine(text: string): AccessLine | undefined {
  const found = ACCESS.exec(text);
  if (found === null) return undefined;
  return { method: found[1] ?? "", route: pathOf(found[2] ?? ""), status: Number(found[3]) };
}

/** The path of a request target: query string cut off. */
export function pathOf(target: string): string {
  const query = target.indexOf("?");
  return query < 0 ? target : target.slice(0, query);
}

const NOT_INFERENCE =
  /^\/(?:health|healthz|health_generate|livez|readyz|live|ready|ping|version|metrics|docs|redoc|openapi\.json|favicon\.ico|v1\/models|models|load|server_info|get_server_info|get_model_info|tokenize|detokenize|reset_prefix_cache|reset_mm_cache|flush_cache|sleep|wake_up|is_sleeping|scale_elastic_ep|is_scaling_elastic_ep|v1\/load_lora_adapter|v1\/unload_lora_adapter|abort_request|start_profile|stop_profile)(?:\/|$)/;

/** True when a request asks for a generation, an embedding or another model answer: a POST to no administrative path. */
export function isInference(method: string, route: string): boolean {
  return method === "POST" && !NOT_INFERENCE.test(route);
}
