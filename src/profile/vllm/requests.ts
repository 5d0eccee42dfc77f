import { parseGenerated, promptTokens } from "./printed-ids.ts";
import { beginRequest, firstEnd } from "./request-ends.ts";
import { parseRustFinish, rustRequestId } from "./rust.ts";
import { newFailure, newRequest, type Reading } from "./state.ts";

/**
 * Lines about one request, all of level INFO or DEBUG.
 *
 * @returns True when the message is one of them.
 * @see vllm `v1/engine/async_llm.py`, `entrypoints/logger.py` at 4ff865c38; `engine/async_llm_engine.py` at 9db713a1d
 */
export function readRequest(message: string, reading: Reading): boolean {
  switch (message.charCodeAt(0)) {
    case 65: // A
      if (message.startsWith("Aborted request(s) ")) for (const id of idsAfter(message, 19)) abort(id, reading);
      else if (message.startsWith("Aborted request ")) abort(idAfter(message, 16), reading);
      else if (message.startsWith("Added request ")) beginRequest(reading.state.ends, idAfter(message, 14));
      else return false;
      return true;
    case 82: // R
      if (message.startsWith("Received request ")) received(message, reading);
      else if (message.startsWith("Request ")) word(message, reading);
      else return false;
      return true;
    case 70: // F
      if (!message.startsWith("Finished request ")) return false;
      finished(idAfter(message, 17), reading);
      return true;
    case 71: // G
      if (!message.startsWith("Generated response ")) return false;
      generated(message, reading);
      return true;
    default:
      return reading.engine === "rust" && rust(message, reading);
  }
}

function received(message: string, reading: Reading): void {
  const { state, timeMs } = reading;
  const id = message.slice(17, Math.max(17, message.indexOf(": ", 17)));
  beginRequest(state.ends, id);
  const tokensIn = state.details?.id === id ? state.details.tokens : promptTokens(message, state.maxLogLength);
  state.details = undefined;
  reading.emit({ kind: "received", timeMs, tokensIn });
}

/** An abort is told twice by V1: with the engine's id, then with the client's. */
function abort(id: string | undefined, reading: Reading): void {
  if (id !== undefined && !firstEnd(reading.state.ends, id)) return;
  const record = newRequest(reading, id);
  record.outcome = "aborted";
  record.failure = newFailure(reading, `Aborted request ${id ?? ""}`.trimEnd(), {
    cause: "client_cancelled",
    requestId: id,
  });
  reading.emit(record);
}

const WORD = /^Request (\S{1,256}) (aborted\.|failed\b|details: )/;

/** `Request X aborted.`, `Request X failed[ (engine dead)| (bad request): …| due to …].`; its prompt at level DEBUG. */
function word(message: string, reading: Reading): void {
  const found = WORD.exec(message);
  if (found === null) return;
  const { state } = reading;
  const [whole, id = "", said] = found;
  if (said === "details: ") {
    const tokens = promptTokens(`: ${message.slice(whole.length)}`, state.maxLogLength);
    state.details = tokens === undefined ? undefined : { id, tokens };
  } else if (said === "aborted.") abort(id, reading);
  else if (firstEnd(state.ends, id)) {
    const record = newRequest(reading, id);
    record.outcome = "error";
    if (!message.startsWith(" (engine dead)", whole.length))
      record.failure = newFailure(reading, message, { requestId: id });
    else if (!state.engineDied) {
      state.engineDied = true;
      record.failure = newFailure(reading, message, { cause: "engine_dead", requestId: id });
    }
    reading.emit(record);
  }
}

function finished(id: string, reading: Reading): void {
  if (firstEnd(reading.state.ends, id)) reading.emit(newRequest(reading, id));
}

function generated(message: string, reading: Reading): void {
  const { ends, maxLogLength } = reading.state;
  const response = parseGenerated(message, maxLogLength);
  if (response === undefined || !firstEnd(ends, response.id)) return;
  const record = newRequest(reading, response.id);
  record.tokensOut = response.tokens;
  record.finishReason = response.finishReason;
  reading.emit(record);
}

function rust(message: string, reading: Reading): boolean {
  if (message.startsWith("auto-aborting request")) {
    abort(rustRequestId(message), reading);
    return true;
  }
  const finish = parseRustFinish(message);
  if (finish === undefined) return false;
  if (!firstEnd(reading.state.ends, finish.id)) return true;
  const record = newRequest(reading, finish.id);
  record.model = finish.model;
  record.stream = finish.stream;
  record.tokensIn = finish.tokensIn;
  record.tokensOut = finish.tokensOut;
  record.finishReason = finish.finishReason;
  reading.emit(record);
  return true;
}

/** The id after `from`, with the sentence's full stop cut off. */
function idAfter(message: string, from: number): string {
  return message.slice(from, message.endsWith(".") ? message.length - 1 : message.length).trim();
}

const idsAfter = (message: string, from: number): string[] =>
  idAfter(message, from)
    .split(",")
    .map((id) => id.trim())
    .filter((id) => id !== "");
