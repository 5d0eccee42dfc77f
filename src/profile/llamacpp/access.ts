import { isInference } from "../access-line.ts";

/** Endpoints that POST without asking the model for an answer. */
const ADMINISTRATIVE =
  /^\/(?:apply-template|props|slots|lora-adapters|models|infill\/props|v1\/messages\/count_tokens|v1\/responses\/input_tokens|v1\/chat\/completions\/(?:input_tokens|control)|v1\/streams?|metrics|tools)(?:\/|$)/;

/** True for a POST that asks for a completion, an embedding or a ranking. */
export function asksModel(method: string, route: string): boolean {
  return isInference(method, route) && !ADMINISTRATIVE.test(route);
}

const MAX_CHARS = 4096;
const START = /^(?:done )?request: ([A-Z]{3,10}) /;
const STATUS = / (\d{3})\s*$/;

export interface ServerAccess {
  readonly method: string;
  /** Path; older builds may print the query string with it. */
  readonly route: string;
  readonly status: number;
}

/**
 * Reads `request: POST /completion 127.0.0.1 200` (`done request: …` since December 2025) from its ends: the path is decoded
 * and may hold blanks, the client is empty behind a unix socket. A negative status (connection lost) is none.
 *
 * @see ggml-org/llama.cpp tools/server/server.cpp, server-http.cpp `log_server_request`
 */
export function readAccess(message: string): ServerAccess | undefined {
  if (message.length > MAX_CHARS) return undefined;
  const start = START.exec(message);
  if (start === null) return undefined;
  const status = STATUS.exec(message);
  if (status === null) return undefined;
  const rest = message.slice(start[0].length, status.index);
  const client = rest.lastIndexOf(" ");
  return {
    method: start[1] ?? "",
    route: client < 0 ? rest : rest.slice(0, client),
    status: Number(status[1]),
  };
}
