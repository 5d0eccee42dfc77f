/** Pairs read of one line; a text with more is cut there. */
const MAX_PAIRS = 200;
/** Characters looked at: figures stand at the head of a line, prompts make it long. */
const MAX_CHARS = 16_384;

const isKeyStart = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || code === 95 || code === 64;
const isKey = (code: number): boolean => isKeyStart(code) || (code >= 48 && code <= 57) || code === 46 || code === 45;
/** Space, tab, comma, semicolon, pipe or an opening bracket may stand before a key. */
const isBoundary = (code: number): boolean =>
  code === 32 || code === 9 || code === 44 || code === 59 || code === 124 || code === 40 || code === 91 || code === 123;

/**
 * Reads `key=value` pairs out of a text: logfmt, `a=1,b=2`, or pairs behind a free message. Values may be quoted with `"` or `'`;
 * what stands inside quotes is never read as a pair, so a prompt cannot forge one.
 */
export function scanPairs(text: string): Array<readonly [key: string, value: string]> {
  const pairs: Array<readonly [string, string]> = [];
  const end = Math.min(text.length, MAX_CHARS);
  let at = 0;
  let boundary = true;
  while (at < end && pairs.length < MAX_PAIRS) {
    const code = text.charCodeAt(at);
    if (code === 34) {
      at = quoteEnd(text, at, end);
      boundary = false;
      continue;
    }
    if (!boundary || !isKeyStart(code)) {
      boundary = isBoundary(code);
      at++;
      continue;
    }
    const keyStart = at;
    while (at < end && isKey(text.charCodeAt(at))) at++;
    if (text.charCodeAt(at) !== 61 || at + 1 > end) {
      boundary = false;
      continue;
    }
    const key = text.slice(keyStart, at);
    const valueStart = at + 1;
    const quote = text.charCodeAt(valueStart);
    if (quote === 34 || quote === 39) {
      at = quoteEnd(text, valueStart, end);
      pairs.push([key, unquote(text.slice(valueStart + 1, at - 1))]);
    } else {
      at = bareEnd(text, valueStart, end);
      pairs.push([key, text.slice(valueStart, at)]);
    }
    boundary = false;
  }
  return pairs;
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
    if (code === 32 || code === 9 || code === 41 || code === 93 || code === 125 || code === 59 || code === 124) break;
    if (code === 44 && (at + 1 >= end || text.charCodeAt(at + 1) === 32 || pairFollows(text, at + 1, end))) break;
  }
  return at;
}

function pairFollows(text: string, start: number, end: number): boolean {
  if (!isKeyStart(text.charCodeAt(start))) return false;
  let at = start + 1;
  while (at < end && isKey(text.charCodeAt(at))) at++;
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
