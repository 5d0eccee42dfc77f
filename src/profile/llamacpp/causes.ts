/**
 * What the server's own error texts mean, where the text is fixed in its source; undefined leaves it to the catalogue.
 *
 * @see ggml-org/llama.cpp tools/server/server-context.cpp, server-common.cpp `format_error_response` (2024–2026)
 */
const ERRORS: ReadonlyArray<readonly [RegExp, string]> = [
  [/out of memory|ErrorOutOfDeviceMemory|[cC]udaMalloc failed|hipMalloc failed/, "gpu_oom"],
  [/input is too large to process|input \(\d+ tokens\) is too large to process/, "embedding_input_too_long"],
  [
    /exceeds? the available context size|Context size has been exceeded|context shift is disabled|prompt is longer than|input is larger than the max context size/,
    "context_length_exceeded",
  ],
  [/too big compared to KV size|KV cache is full|free space in the KV cache/, "kv_cache_exhausted"],
  [/Invalid API Key/i, "auth_invalid_key"],
  [/^Loading model/, "model_load_cold_start"],
  [/model (?:name=\S+ is |'[^']{1,200}' )not found/, "model_not_found"],
  [/does not match the expected/, "internal_error"],
  [/pars(?:e|ing) grammar|initialize samplers|json\.exception|is not supported by multimodal/i, "invalid_request"],
];

/** Characters of an error text that are looked at: it may quote what a client sent. */
const MAX_CHARS = 2048;

export function causeOfError(text: string): string | undefined {
  const head = text.length > MAX_CHARS ? text.slice(0, MAX_CHARS) : text;
  return ERRORS.find(([pattern]) => pattern.test(head))?.[1];
}

const BY_TYPE: Readonly<Record<string, string>> = {
  exceed_context_size_error: "context_length_exceeded",
  invalid_request_error: "invalid_request",
  not_supported_error: "invalid_request",
  authentication_error: "auth_invalid_key",
  permission_error: "permission_denied",
  unavailable_error: "model_load_cold_start",
};

/** What `got exception: {…}` says; undefined where it does not say it. */
export interface ServerException {
  readonly cause: string | undefined;
  readonly httpStatus: number | undefined;
  readonly errorClass: string | undefined;
}

/** @param payload The JSON after `got exception: `: `{"code","message","type"}`, since 2026 within `{"error": …}`. */
export function readException(payload: string): ServerException {
  const { code, message, type } = errorOf(payload);
  const errorClass = typeof type === "string" ? type : undefined;
  return {
    // the type says least of a message that the code knows: a malformed body is `server_error` up to 2026
    cause:
      (typeof message === "string" ? causeOfError(message) : causeOfError(payload)) ??
      (errorClass === undefined ? undefined : BY_TYPE[errorClass]),
    httpStatus: typeof code === "number" ? code : undefined,
    errorClass,
  };
}

const MAX_PAYLOAD_CHARS = 64 * 1024;

function errorOf(payload: string): { code?: unknown; message?: unknown; type?: unknown } {
  if (payload.length > MAX_PAYLOAD_CHARS) return {};
  try {
    const parsed: unknown = JSON.parse(payload);
    const error = (parsed as { error?: unknown }).error ?? parsed;
    return typeof error === "object" && error !== null ? error : {};
  } catch {
    return {};
  }
}
