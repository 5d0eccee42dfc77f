/** How a session's turn ended. */
export interface SessionEnd {
  readonly session: string;
  readonly outcome: "ok" | "error" | "aborted";
  readonly finishReason: string | undefined;
  readonly tokensIn: number | undefined;
  readonly tokensOut: number | undefined;
  /** Decided by the status word; undefined when it decides nothing. */
  readonly cause: string | undefined;
}

const START = /^session(?:_id)?=(\d+), (?:history_tokens=\d+, )?input_tokens=\d+, max_new_tokens=/;
const FINISHED =
  /^session (\d+) finished, (?:ResponseType\.(\w+), )?reason "(\w+)"(?:, input_tokens (\d+), output_tokens (\d+))?/;
const OUT_OF_TOKENS = /^run out of tokens\. session(?:_id)?=(\d+)\.?/;
const SAFE_RUN = /^\[safe_run\] session (\d+) (cancelled|exception caught): /;

/** `ResponseType` → cause, where the type says it. */
const CAUSES: Readonly<Record<string, string>> = {
  INPUT_LENGTH_ERROR: "context_length_exceeded",
  INTERNAL_ENGINE_ERROR: "internal_error",
  CANCEL: "client_cancelled",
};

/** The session in `session=9, history_tokens=0, input_tokens=18, max_new_tokens=512, …`; undefined for other messages. */
export const parseSessionStart = (message: string): string | undefined => START.exec(message)?.[1];

/** @see lmdeploy `serve/core/async_engine.py` at 03c31300 (2026-08), `serve/async_engine.py` (2025) */
export function parseSessionEnd(message: string): SessionEnd | undefined {
  const finished = FINISHED.exec(message);
  if (finished !== null) {
    const [, session = "", type = "", reason = "", tokensIn, tokensOut] = finished;
    const aborted = reason === "abort" || type === "CANCEL";
    const ok = !aborted && reason !== "error";
    return {
      session,
      outcome: aborted ? "aborted" : ok ? "ok" : "error",
      finishReason: ok ? reason : undefined,
      tokensIn: tokensIn === undefined ? undefined : Number(tokensIn),
      tokensOut: tokensOut === undefined ? undefined : Number(tokensOut),
      cause: aborted ? "client_cancelled" : CAUSES[type],
    };
  }
  const none = { finishReason: undefined, tokensIn: undefined, tokensOut: undefined };
  const out = OUT_OF_TOKENS.exec(message)?.[1];
  if (out !== undefined) return { session: out, outcome: "error", cause: "context_length_exceeded", ...none };
  const run = SAFE_RUN.exec(message);
  if (run === null) return undefined;
  const [, session = "", word] = run;
  return word === "cancelled"
    ? { session, outcome: "aborted", cause: "client_cancelled", ...none }
    : { session, outcome: "error", cause: undefined, ...none };
}
