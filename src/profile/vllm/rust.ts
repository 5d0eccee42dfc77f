/** The end of a request as the front end in Rust prints it; the only vLLM that does, with its tokens. */
export interface RustFinish {
  readonly id: string;
  readonly endpoint: string;
  readonly stream: boolean;
  readonly model: string | undefined;
  readonly tokensIn: number | undefined;
  readonly tokensOut: number | undefined;
  readonly finishReason: string | undefined;
}

const FINISHED = /^(?:[a-z]+ ){1,3}finished(?: |$)/;
const SPAN = /^(\w{1,40})\{request_id=/;
/** Fields behind the message; a model's name is quoted only if it needs to be. */
const FIELD = /(?:^| )(stream|model|prompt_tokens|output_tokens|finish_reason)=("(?:[^"\\]|\\.)*"|\S*)/g;
/** Longest part behind the span that is looked at, characters. */
const MAX_TAIL = 2000;

/**
 * Reads `chat_completions{request_id=… engine_request_id=…}: chat completion finished stream=true model=m prompt_tokens=68
 * output_tokens=25 finish_reason="stop"` (also `completion finished`, `generate finished`).
 *
 * @see vllm-rs front end (main, 2026-05)
 */
export function parseRustFinish(message: string): RustFinish | undefined {
  const span = SPAN.exec(message);
  if (span === null) return undefined;
  // the client may choose the id: the span ends at its last closing brace
  const close = message.lastIndexOf("}: ");
  if (close < 0) return undefined;
  const tail = message.slice(close + 3, close + 3 + MAX_TAIL);
  const words = FINISHED.exec(tail);
  if (words === null) return undefined;
  const ids = message.slice(span[0].length, close);
  const engineId = ids.lastIndexOf(" engine_request_id=");
  const fields = new Map<string, string>();
  for (const [, key = "", value = ""] of tail.slice(words[0].length).matchAll(FIELD))
    fields.set(key, value.startsWith('"') ? value.slice(1, -1) : value);
  return {
    id: engineId < 0 ? ids : ids.slice(0, engineId),
    endpoint: span[1] ?? "",
    stream: fields.get("stream") === "true",
    model: fields.get("model"),
    tokensIn: numberOf(fields.get("prompt_tokens")),
    tokensOut: numberOf(fields.get("output_tokens")),
    finishReason: fields.get("finish_reason"),
  };
}

/** NaN for a word that is no number: refused and counted later. */
const numberOf = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text));

const REQUEST_ID = /(?:^| )(?:self\.)?request_id="?([^"\s]+)"?/;

/** The id in `… request_id="…"`; undefined when the line names none. */
export const rustRequestId = (message: string): string | undefined => REQUEST_ID.exec(message.slice(0, MAX_TAIL))?.[1];
