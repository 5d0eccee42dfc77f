const COMMA = 44;

/** A list of token ids as printed. */
export interface PrintedIds {
  readonly count: number;
  /** Index after the closing bracket. */
  readonly end: number;
}

/**
 * Counts the elements of the Python list or tuple of integers that starts at `at`.
 *
 * @returns Undefined for `None` or anything else that is no whole list.
 */
export function countIds(text: string, at: number): PrintedIds | undefined {
  const open = text.charCodeAt(at);
  const close = open === 91 ? 93 : open === 40 ? 41 : -1;
  if (close < 0) return undefined;
  let count = 0;
  let digits = false;
  for (let index = at + 1; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code >= 48 && code <= 57) {
      if (!digits) count++;
      digits = true;
    } else if (code === COMMA || code === 32) digits = false;
    else return code === close ? { count, end: index + 1 } : undefined;
  }
  return undefined;
}

const IDS_KEY = ", prompt_token_ids: ";
/** Until 2024. */
const OLD_IDS_KEY = ", prompt token ids: ";
const PROMPT_KEY = ": prompt: ";

/**
 * Prompt tokens of `… prompt: '…', params: …, prompt_token_ids: [1, 2], …`. A prompt may hold the same words, so only the
 * last list counts; and with `--max-log-len` the list is cut, so that its length is no token count.
 *
 * @param maxLogLength `--max-log-len`, if the log has told it.
 */
export function promptTokens(message: string, maxLogLength: number | undefined): number | undefined {
  const promptAt = message.indexOf(PROMPT_KEY);
  // both keys are equally long
  const at = Math.max(message.lastIndexOf(IDS_KEY), message.lastIndexOf(OLD_IDS_KEY));
  // lines that print no prompt print no ids: what looks like some is a stop string
  if (promptAt < 0 || at < promptAt) return undefined;
  const ids = countIds(message, at + IDS_KEY.length);
  if (ids === undefined) return undefined;
  // another field follows, or the sentence ends
  const next = message.charCodeAt(ids.end);
  if (next !== COMMA && !(next === 46 && ids.end === message.length - 1)) return undefined;
  if (maxLogLength !== undefined && ids.count >= maxLogLength) return undefined;
  return ids.count;
}

const REASON = /, finish_reason: ([\w-]+)$/;

export interface GeneratedResponse {
  readonly id: string;
  /** Undefined when the line prints no ids: streams, and later versions. */
  readonly tokens: number | undefined;
  readonly finishReason: string | undefined;
}

/**
 * Reads `Generated response ID[ (streaming complete)]: output: '…', output_token_ids: [1, 2], finish_reason: stop`
 * (`--enable-log-outputs`). Parts of a stream (`(streaming delta)`) are no end.
 *
 * @see vllm `entrypoints/logger.py` at 177e55e3b
 */
export function parseGenerated(message: string, maxLogLength: number | undefined): GeneratedResponse | undefined {
  const output = message.indexOf(": output: ");
  if (output < 0) return undefined;
  let id = message.slice("Generated response ".length, output);
  if (id.endsWith(" (streaming delta)")) return undefined;
  if (id.endsWith(" (streaming complete)")) id = id.slice(0, -21);
  const reason = REASON.exec(message.slice(-60))?.[1];
  let tokens: number | undefined;
  const at = message.lastIndexOf(", output_token_ids: ");
  if (at > output) {
    const ids = countIds(message, at + 20);
    // an output may hold the same words: after the real list nothing stands but the reason
    if (ids !== undefined && message.startsWith(", finish_reason: ", ids.end)) tokens = ids.count;
    if (tokens !== undefined && maxLogLength !== undefined && tokens >= maxLogLength) tokens = undefined;
  }
  const told = reason === "None" || reason === "streaming_complete" ? undefined : reason;
  return { id, tokens, finishReason: told };
}
