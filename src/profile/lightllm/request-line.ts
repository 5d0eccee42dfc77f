/** Figures of one request; durations in milliseconds, NaN for what is printed but no number. */
export interface RequestLine {
  /** LightLLM's own id; negative for its health probes. */
  readonly id: number;
  /** `X-Request-Id` of the client; empty when it sent none. */
  readonly clientId: string;
  readonly ttftMs: number | undefined;
  readonly e2eMs: number | undefined;
  /** Time after the first token over **all** output tokens. */
  readonly perTokenMs: number | undefined;
  readonly tokensIn: number | undefined;
  readonly tokensInCached: number | undefined;
  readonly tokensOut: number | undefined;
}

const OWN_ID = " lightllm_req_id:";
const FIGURE =
  /(?:^|[ ,])(first_token_cost|total_cost_time|mean_per_token_cost_time|out_token_counter|prompt_token_num|prompt_cache_len): ?([^\s,]+)/g;
/** Longest part behind the id that is looked at, characters. */
const MAX_TAIL = 1000;

/**
 * Reads `[recieved req ]X-Request-Id:… X-Session-Id:… start_time:… lightllm_req_id:8 first_token_cost:142.25ms
 * total_cost_time:1842.5ms,out_token_counter:101 …`. The first two fields are headers of the client's choice, so the figures
 * are those behind the **last** id.
 *
 * @see lightllm `server/httpserver/manager.py` at fc72ffab and 008f5e9f5
 */
export function parseRequestLine(message: string): RequestLine | undefined {
  const at = ` ${message}`.lastIndexOf(OWN_ID);
  if (at < 0) return undefined;
  const tail = message.slice(at + OWN_ID.length - 1, at + OWN_ID.length - 1 + MAX_TAIL);
  const id = Number(/^-?\d+/.exec(tail)?.[0] ?? Number.NaN);
  if (Number.isNaN(id)) return undefined;
  const figures = new Map<string, number>();
  for (const [, key = "", value = ""] of tail.matchAll(FIGURE))
    figures.set(key, Number(value.endsWith("ms") ? value.slice(0, -2) : value));
  return {
    id,
    clientId: /^(?:recieved req )?X-Request-Id:(\S*)/.exec(message)?.[1] ?? "",
    ttftMs: figures.get("first_token_cost"),
    e2eMs: figures.get("total_cost_time"),
    perTokenMs: figures.get("mean_per_token_cost_time"),
    tokensIn: figures.get("prompt_token_num"),
    tokensInCached: figures.get("prompt_cache_len"),
    tokensOut: figures.get("out_token_counter"),
  };
}
