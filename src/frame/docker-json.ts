import { parseIso, UTC } from "../core/timestamp.ts";
import type { JsonObject } from "../model/line.ts";

/** One entry of Docker's `json-file` log driver. */
export interface DockerEntry {
  /** The output; it ends in `\n` unless the line goes on in the next entry of the same stream. */
  readonly log: string;
  readonly stream: string;
  readonly timeMs: number;
  /** False when the text was torn by a crash and read as far as it goes. */
  readonly whole: boolean;
  /** `entry`: a whole object, which proves what wrote it; `torn`: what a crash left of one; `unread`: neither, as it stands. */
  readonly read: "entry" | "torn" | "unread";
}

const KEYS = new Set(["log", "stream", "attrs", "time"]);
const OPENING = '{"log":"';
/** Entries looked for in one damaged line; a crash tears one. */
const MAX_TORN = 8;

/** True for text that may be such an entry, by its first bytes alone. */
export function looksLikeDockerJson(bytes: Buffer, quoteAt: number): boolean {
  // "log" "stream" "attrs"; Docker omits an empty `log`
  const first = bytes[quoteAt + 1];
  if (first === 108) return bytes[quoteAt + 2] === 111 && bytes[quoteAt + 3] === 103 && bytes[quoteAt + 4] === 34;
  if (first === 115) return bytes[quoteAt + 2] === 116 && bytes[quoteAt + 6] === 109 && bytes[quoteAt + 7] === 34;
  return first === 97 && bytes[quoteAt + 2] === 116 && bytes[quoteAt + 5] === 115 && bytes[quoteAt + 6] === 34;
}

/**
 * Reads an entry; any other key makes it the object of an application that happens to have a `log`.
 *
 * @see moby `daemon/logger/jsonfilelog/jsonlog/jsonlogbytes.go` at b985e2313
 */
export function readDockerJson(json: JsonObject): DockerEntry | undefined {
  for (const key in json) if (!KEYS.has(key)) return undefined;
  const { log = "", stream, time, attrs } = json;
  if (typeof log !== "string" || (stream !== "stdout" && stream !== "stderr") || typeof time !== "string")
    return undefined;
  if (attrs !== undefined && (typeof attrs !== "object" || attrs === null)) return undefined;
  const { timeMs } = parseIso(time, 0, UTC);
  return Number.isNaN(timeMs) ? undefined : { log, stream, timeMs, whole: true, read: "entry" };
}

/**
 * Entries in a line that is no JSON because a crash tore one off, and Docker went on behind it: the torn one as far as it
 * goes, then whole ones. Quotes inside a `log` are escaped, so the opening of an entry cannot stand in the middle of one.
 */
export function readTornDockerJson(text: string): DockerEntry[] {
  const entries: DockerEntry[] = [];
  let at = text.startsWith(OPENING) ? 0 : -1;
  for (let pieces = 1; at >= 0; pieces++) {
    const next = pieces < MAX_TORN ? text.indexOf(OPENING, at + OPENING.length) : -1;
    const piece = text.slice(at, next < 0 ? undefined : next);
    entries.push(parseEntry(piece) ?? tornEntry(piece) ?? asItStands(piece));
    at = next;
  }
  return entries;
}

function parseEntry(piece: string): DockerEntry | undefined {
  try {
    return readDockerJson(JSON.parse(piece) as JsonObject);
  } catch {
    return undefined;
  }
}

const TORN_STREAM = /^","stream":"(stdout|stderr)"/;

/** What is left of `{"log":"text…`; undefined when it ends inside the opening or is something else. */
function tornEntry(piece: string): DockerEntry | undefined {
  let end = OPENING.length;
  while (end < piece.length && piece.charCodeAt(end) !== 34) end += piece.charCodeAt(end) === 92 ? 2 : 1;
  const closed = end < piece.length;
  const rest = closed ? piece.slice(end) : "";
  if (closed && !`","stream":"`.startsWith(rest.slice(0, 12))) return undefined;
  const escaped = piece.slice(OPENING.length, end);
  try {
    const log = JSON.parse(`"${closed ? escaped : escaped.replace(/\\(?:u[0-9a-fA-F]{0,3})?$/, "")}"`) as string;
    // the newline that a torn entry had not come to: nothing will be joined to it
    const stream = TORN_STREAM.exec(rest)?.[1] ?? "stdout";
    return { log: log.endsWith("\n") ? log : `${log}\n`, stream, timeMs: Number.NaN, whole: closed, read: "torn" };
  } catch {
    return undefined;
  }
}

function asItStands(piece: string): DockerEntry {
  return { log: `${piece}\n`, stream: "stdout", timeMs: Number.NaN, whole: false, read: "unread" };
}
