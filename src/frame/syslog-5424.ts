import { parseIso, UTC } from "../core/timestamp.ts";
import { isDigit } from "./rfc3339.ts";

export interface Syslog5424 {
  /** NaN for the nil time. */
  readonly timeMs: number;
  readonly origin: string | undefined;
  readonly contentAt: number;
}

/** Index after `<PRI>` (0–191); -1 if none stands at `at`. */
export function passPriority(bytes: Buffer, at: number, end: number): number {
  let value = 0;
  let next = at + 1;
  for (; next < end && next < at + 4 && isDigit(bytes[next]); next++)
    value = value * 10 + ((bytes[next] as number) - 48);
  return next > at + 1 && bytes[next] === 62 && next < end && value <= 191 ? next + 1 : -1;
}

/**
 * Reads `1 TIMESTAMP HOSTNAME APP-NAME PROCID MSGID STRUCTURED-DATA [BOM]MSG` behind the priority.
 *
 * @returns undefined if the line is not of that form.
 * @see RFC 5424, section 6
 */
export function readSyslog5424(bytes: Buffer, at: number, end: number): Syslog5424 | undefined {
  if (bytes[at] !== 49 || bytes[at + 1] !== 32) return undefined;
  const head = bytes.toString("latin1", at + 2, Math.min(end, at + 2 + MAX_HEAD));
  const found = HEAD.exec(head);
  if (found === null) return undefined;
  const [whole, time = "-", , app = "-"] = found;
  const { timeMs } = time === "-" ? { timeMs: Number.NaN } : parseIso(time, 0, UTC);
  if (time !== "-" && Number.isNaN(timeMs)) return undefined;
  const dataEnd = passStructuredData(bytes, at + 2 + whole.length, end);
  if (dataEnd < 0) return undefined;
  return { timeMs, origin: app === "-" ? undefined : app, contentAt: messageStart(bytes, dataEnd, end) };
}

// the lengths that RFC 5424 allows: 255, 48, 128, 32
const HEAD = /^(\S{1,40}) (\S{1,255}) (\S{1,48}) (\S{1,128}) (\S{1,32}) /;
const MAX_HEAD = 520;

/** Index after `-` or `[id name="value" …]…`, quotes and escapes in values respected; -1 if there is neither. */
function passStructuredData(bytes: Buffer, start: number, end: number): number {
  let at = start;
  if (bytes[at] === 45) at++;
  else if (bytes[at] !== 91) return -1;
  else {
    while (at < end && bytes[at] === 91) {
      at = passElement(bytes, at + 1, end);
      if (at < 0) return -1;
    }
  }
  return at === end || bytes[at] === 32 ? at : -1;
}

function passElement(bytes: Buffer, start: number, end: number): number {
  let quoted = false;
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    if (quoted && byte === 92) at++;
    else if (byte === 34) quoted = !quoted;
    else if (byte === 93 && !quoted) return at + 1;
  }
  return -1;
}

/**
 * A message that reached the daemon in the old format keeps the blank behind its tag: an odd number of blanks has one
 * too many, since code is indented by two or four.
 */
function messageStart(bytes: Buffer, dataEnd: number, end: number): number {
  const at = Math.min(dataEnd + 1, end);
  let blanks = 0;
  while (at + blanks < end && bytes[at + blanks] === 32) blanks++;
  return blanks % 2 === 1 ? at + 1 : at;
}

/** Where one message of an octet-counted line stands; its end lies behind the line when newlines are part of it. */
export interface OctetCount {
  readonly contentAt: number;
  readonly contentEnd: number;
}

/** Reads the count of `LEN SP SYSLOG-MSG`. @see RFC 6587, section 3.4.1 */
export function readOctetCount(bytes: Buffer, start: number, end: number): OctetCount | undefined {
  let length = 0;
  let at = start;
  for (; at < start + 7 && isDigit(bytes[at]); at++) length = length * 10 + ((bytes[at] as number) - 48);
  if (at === start || at + 3 >= end || bytes[at] !== 32 || bytes[at + 1] !== 60) return undefined;
  const version = passPriority(bytes, at + 1, end);
  if (version < 0 || bytes[version] !== 49 || bytes[version + 1] !== 32) return undefined;
  return { contentAt: at + 1, contentEnd: at + 1 + length };
}
