import { stripAnsi } from "../core/ansi.ts";

const EMPTY = Buffer.alloc(0);

/** A JSON object as found in a log; fields are checked where they are used. */
export type JsonObject = { readonly [key: string]: unknown };

/**
 * One logical line, wrappers removed. Framing reuses a single object a stream: a profile must copy what it keeps
 * (strings are fine, the `Line` is not). Text and JSON are made on demand and once.
 */
export class Line {
  /** Bytes of the content are `bytes[start..end)`; meaningless once {@link Line.setText} was called. */
  bytes: Buffer = EMPTY;
  start = 0;
  end = 0;
  /** Event time that a wrapper gives (CRI, Docker, journald, syslog); NaN if none does. Milliseconds since the epoch. */
  timeMs = Number.NaN;
  /** Wall time at which the line was read, or the file's modification time in a one-shot; helps to complete times without year or date. */
  readMs = Number.NaN;
  /** Program that a wrapper names (`SYSLOG_IDENTIFIER`, syslog tag, container); undefined if none. */
  origin: string | undefined = undefined;
  /** True when the framer cut this line at its size limit. */
  cut = false;
  /** A carriage return stood before the line end; it is not in the text. Some writers (vLLM) tell by it that a record goes on. */
  endsInReturn = false;
  #text: string | undefined = undefined;
  #json: JsonObject | null | undefined = undefined;

  setBytes(bytes: Buffer, start: number, end: number): void {
    this.bytes = bytes;
    this.start = start;
    this.end = end;
    this.#text = undefined;
    this.#json = undefined;
  }

  /** Replaces the content by text that a wrapper had encoded (`\n` and colours may be in it). */
  setText(text: string): void {
    this.bytes = EMPTY;
    this.start = 0;
    this.end = 0;
    this.#text = stripAnsi(text);
    this.#json = undefined;
  }

  /** The content without line end and without terminal colours. Invalid UTF-8 reads as U+FFFD. */
  get text(): string {
    this.#text ??= stripAnsi(this.bytes.toString("utf8", this.start, this.end));
    return this.#text;
  }

  /**
   * The content as a JSON object, or undefined. Bare `NaN` and `Infinity`, which Python writes, are read as strings
   * of that name, so that the figure is refused and the rest of the line is kept.
   */
  get json(): JsonObject | undefined {
    if (this.#json === undefined) this.#json = parseObject(this.text);
    return this.#json ?? undefined;
  }
}

const STRING_OR_BARE_NUMBER = /"(?:[^"\\]|\\.)*"|-?(?:NaN|Infinity)/gs;

function parseObject(text: string): JsonObject | null {
  let first = 0;
  while (text.charCodeAt(first) === 32) first++;
  if (text.charCodeAt(first) !== 123) return null;
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    if (!text.includes("NaN") && !text.includes("Infinity")) return null;
  }
  try {
    const quoted = text.replace(STRING_OR_BARE_NUMBER, (found) => (found.startsWith('"') ? found : `"${found}"`));
    return JSON.parse(quoted) as JsonObject;
  } catch {
    return null;
  }
}
