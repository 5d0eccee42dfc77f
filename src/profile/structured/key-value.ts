/** Pairs read of one line; a text with more is cut there. */
const MAX_PAIRS = 200;
/** Characters looked at: figures stand at the head of a line, prompts make it long. */
const MAX_CHARS = 16_384;

/** Classes of ASCII characters, as bits. */
const KEY_START = 1;
const KEY = 2;
/** May stand before a key. */
const BOUNDARY = 4;
/** Ends a bare value. */
const END = 8;
const CLASSES = new Uint8Array(128);
for (let code = 0; code < 128; code++) {
  const character = String.fromCharCode(code);
  if (/[A-Za-z_@]/.test(character)) CLASSES[code] = KEY_START | KEY;
  else if (/[0-9.-]/.test(character)) CLASSES[code] = KEY;
  else if (/[ \t;|]/.test(character)) CLASSES[code] = BOUNDARY | END;
  else if (/[,([{]/.test(character)) CLASSES[code] = BOUNDARY;
  else if (/[)\]}]/.test(character)) CLASSES[code] = END;
}
const classOf = (code: number): number => (code < 128 ? (CLASSES[code] as number) : 0);

/** The pairs of one line: parallel arrays, of which the first `count` entries are valid until the next scan. */
export interface Pairs {
  readonly keys: readonly string[];
  readonly values: readonly string[];
  readonly count: number;
}

// One table for all lines: a line is claimed and then parsed, and is scanned once for both. The keys of the line before
// stand at their positions, so that a line of the same layout takes them without looking for their ends.
const keys: string[] = [];
const values: string[] = [];
const pairs = { keys, values, count: 0 };
let scannedText: string | undefined;

/**
 * Reads `key=value` pairs out of a text: logfmt, `a=1,b=2`, or pairs behind a free message. Values may be quoted with `"` or `'`;
 * what stands inside quotes is never read as a pair, so a prompt cannot forge one.
 *
 * @returns A shared object, overwritten by the next call.
 */
export function scanPairs(text: string): Pairs {
  if (text !== scannedText) {
    scannedText = text;
    pairs.count = scan(text);
  }
  return pairs;
}

function scan(text: string): number {
  let count = 0;
  const end = Math.min(text.length, MAX_CHARS);
  let at = 0;
  let boundary = true;
  while (at < end && count < MAX_PAIRS) {
    const code = text.charCodeAt(at);
    if (code === 34) {
      at = quoteEnd(text, at, end);
      boundary = false;
      continue;
    }
    const kind = classOf(code);
    if (!boundary || (kind & KEY_START) === 0) {
      boundary = (kind & BOUNDARY) !== 0;
      at++;
      continue;
    }
    const expected = keys[count];
    if (expected !== undefined && text.charCodeAt(at + expected.length) === 61 && text.startsWith(expected, at))
      at += expected.length;
    else {
      const start = at;
      while (at < end && (classOf(text.charCodeAt(at)) & KEY) !== 0) at++;
      if (at >= end || text.charCodeAt(at) !== 61) {
        boundary = false;
        continue;
      }
      keys[count] = text.slice(start, at);
    }
    const start = at + 1;
    const quote = text.charCodeAt(start);
    if (quote === 34 || quote === 39) {
      at = quoteEnd(text, start, end);
      values[count++] = unquote(text.slice(start + 1, at - 1));
    } else {
      at = bareEnd(text, start, end);
      values[count++] = text.slice(start, at);
    }
    boundary = false;
  }
  return count;
}

/** Index after the closing quote, or the end of the text when it never closes. */
function quoteEnd(text: string, open: number, end: number): number {
  const quote = text.charCodeAt(open);
  for (let at = open + 1; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code === 92) at++;
    else if (code === quote) return at + 1;
  }
  return end;
}

/** A bare value ends at white space, a closing bracket, or a comma that another pair (or the end) follows. */
function bareEnd(text: string, start: number, end: number): number {
  let at = start;
  for (; at < end; at++) {
    const code = text.charCodeAt(at);
    if ((classOf(code) & END) !== 0) break;
    if (code === 44 && (at + 1 >= end || text.charCodeAt(at + 1) === 32 || pairFollows(text, at + 1, end))) break;
  }
  return at;
}

function pairFollows(text: string, start: number, end: number): boolean {
  if ((classOf(text.charCodeAt(start)) & KEY_START) === 0) return false;
  let at = start + 1;
  while (at < end && (classOf(text.charCodeAt(at)) & KEY) !== 0) at++;
  return text.charCodeAt(at) === 61;
}

function unquote(text: string): string {
  return text.includes("\\")
    ? text.replace(/\\(.)/g, (_all, escaped: string) => (escaped === "n" ? "\n" : escaped === "t" ? "\t" : escaped))
    : text;
}

const LOGFMT_HEAD = /^(?:time|ts|t|timestamp|level|lvl|msg|event|at)=/;

/** True when a text begins as logfmt does. */
export const startsAsLogfmt = (text: string): boolean => LOGFMT_HEAD.test(text);
