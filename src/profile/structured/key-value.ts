/** Characters of a line that are looked at, and pairs that are kept: what is longer is a prompt. */
const MAX_CHARS = 16_384;
const MAX_PAIRS = 128;

/** Pairs of one line, in order; a shared object, overwritten by the next scan. */
export interface Pairs {
  readonly keys: string[];
  readonly values: string[];
  count: number;
  /** The line begins with a pair: logfmt, where a word without `=` is a flag. */
  logfmt: boolean;
  /** Where the first kept pair begins. */
  firstAt: number;
}

/** The text that `pairs` holds: a line is claimed and then parsed, and scanned once for both. */
let scanned: string | undefined;
const pairs: Pairs = { keys: [], values: [], count: 0, logfmt: false, firstAt: 0 };

const QUOTE = 34;
const APOSTROPHE = 39;
const BACKSLASH = 92;
const EQUALS = 61;

/** Classes of ASCII characters, as bits. */
const SPACE = 1;
/** May stand between pairs: blanks, comma, semicolon, bar, brackets. */
const SEPARATOR = 2;
const LETTER = 4;
const KEY = 8;
/** Ends a bare value wherever it stands. */
const STOP = 16;
const DIGIT = 32;
const CLASSES = new Uint8Array(128);
for (let code = 0; code < 128; code++) {
  const character = String.fromCharCode(code);
  let bits = 0;
  if (/[ \t\n\r]/.test(character)) bits |= SPACE | SEPARATOR | STOP;
  if (/[,;|()[\]{}]/.test(character)) bits |= SEPARATOR;
  if (/[;|)\]}]/.test(character)) bits |= STOP;
  if (/[A-Za-z_@]/.test(character)) bits |= LETTER;
  if (/[\w./-]/.test(character)) bits |= KEY;
  if (/\d/.test(character)) bits |= DIGIT;
  CLASSES[code] = bits;
}
const classOf = (code: number): number => (code < 128 ? (CLASSES[code] as number) : 0);
const isSeparator = (code: number): boolean => (classOf(code) & SEPARATOR) !== 0;
const isDigit = (code: number): boolean => code >= 48 && code <= 57;

/**
 * Finds `key=value` pairs: logfmt (`level=info msg="…" ttft_ms=12`), comma-separated ones (`ttft_ms=12,tokens_out=5`) and
 * pairs at the end of a plain message. What stands in quotes is never searched, and in a plain message a lone pair
 * followed by more words is part of the sentence: only two pairs in a row, or pairs that end the line, count.
 *
 * @returns A shared object, valid until the next call.
 */
export function scanPairs(text: string): Pairs {
  if (text === scanned) return pairs;
  scanned = text;
  pairs.count = 0;
  pairs.logfmt = false;
  pairs.firstAt = 0;
  const end = Math.min(text.length, MAX_CHARS);
  let at = 0;
  while (at < end && (classOf(text.charCodeAt(at)) & SPACE) !== 0) at++;
  const first = at;
  // pairs before `kept` are sure; those after it belong to the run that is still going
  let kept = 0;
  let keptAt = -1;
  let runAt = -1;
  while (at < end && pairs.count < MAX_PAIRS) {
    const code = text.charCodeAt(at);
    const kind = classOf(code);
    if ((kind & SEPARATOR) !== 0) {
      at++;
      continue;
    }
    const start = at;
    if ((kind & LETTER) !== 0) {
      // lines of one statement repeat their keys: the key of the line before has its end and its hash ready
      const before = pairs.keys[pairs.count];
      const repeated =
        before !== undefined && text.charCodeAt(start + before.length) === EQUALS && text.startsWith(before, start);
      if (repeated) at += before.length;
      else {
        at++;
        while (at < end && (classOf(text.charCodeAt(at)) & KEY) !== 0) at++;
      }
      if (at < end && text.charCodeAt(at) === EQUALS && text.charCodeAt(at + 1) !== EQUALS) {
        if (pairs.count === kept) runAt = start;
        if (start === first) pairs.logfmt = true;
        if (!repeated) pairs.keys[pairs.count] = text.slice(start, at);
        at = readValue(text, at + 1, end);
        pairs.count++;
        continue;
      }
    }
    // a word: quoted, a flag, a unit behind its number, or prose
    const quoted = code === QUOTE || (code === APOSTROPHE && closes(text, start, end)) || code === 96;
    if (quoted) at = quoteEnd(text, start, end);
    else while (at < end && !isSeparator(text.charCodeAt(at)) && text.charCodeAt(at) !== QUOTE) at++;
    if (at === start) at++;
    if (pairs.logfmt) continue;
    if (pairs.count > kept && !quoted && isUnit(text, start, at)) {
      pairs.values[pairs.count - 1] += text.slice(start, at);
      continue;
    }
    if (pairs.count > kept) {
      if (pairs.count - kept < 2) pairs.count = kept;
      else {
        if (keptAt < 0) keptAt = runAt;
        kept = pairs.count;
      }
    }
  }
  if (pairs.count > kept && keptAt < 0) keptAt = runAt;
  pairs.firstAt = keptAt < 0 ? text.length : keptAt;
  return pairs;
}

/** Stores the value that begins at `start` for the pair being read. @returns The index after it. */
function readValue(text: string, start: number, end: number): number {
  const open = text.charCodeAt(start);
  if (start < end && (open === QUOTE || open === APOSTROPHE)) {
    const close = quoteEnd(text, start, end);
    const inner = text.slice(start + 1, text.charCodeAt(close - 1) === open && close - 1 > start ? close - 1 : close);
    pairs.values[pairs.count] = inner.includes("\\") ? unescape(inner) : inner;
    return close;
  }
  let at = start;
  if (open === 91 || open === 123) at = bracketEnd(text, start, end);
  for (; at < end; at++) {
    const code = text.charCodeAt(at);
    if ((classOf(code) & STOP) !== 0) break;
    // a comma before a digit is part of a figure
    if (code === 44 && !isDigit(text.charCodeAt(at + 1))) break;
  }
  pairs.values[pairs.count] = text.slice(start, at);
  return at;
}

/** Index after the quote that closes the one at `open`; the end of the text when none does. */
function quoteEnd(text: string, open: number, end: number): number {
  const quote = text.charCodeAt(open);
  if (quote === QUOTE) {
    // nearly always there is no escape in it
    const close = text.indexOf('"', open + 1);
    if (close < 0 || close >= end) return end;
    if (text.charCodeAt(close - 1) !== BACKSLASH) return close + 1;
  }
  for (let at = open + 1; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code === BACKSLASH) at++;
    else if (code === quote) return at + 1;
  }
  return end;
}

/** An apostrophe opens a quotation only when another one closes it before a separator: `don't` has none. */
function closes(text: string, open: number, end: number): boolean {
  const close = quoteEnd(text, open, end);
  return (
    close > open + 1 &&
    text.charCodeAt(close - 1) === APOSTROPHE &&
    (close === end || isSeparator(text.charCodeAt(close)))
  );
}

function bracketEnd(text: string, open: number, end: number): number {
  let depth = 0;
  for (let at = open; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = quoteEnd(text, at, end) - 1;
    else if (code === 91 || code === 123) depth++;
    else if ((code === 93 || code === 125) && --depth === 0) return at + 1;
  }
  return end;
}

/** `ttft=127.3 ms`: the word behind a number that says what it counts. */
function isUnit(text: string, start: number, end: number): boolean {
  const length = end - start;
  if (length > 2 || !isDigit((pairs.values[pairs.count - 1] ?? "").charCodeAt(0))) return false;
  const code = text.charCodeAt(start);
  if (length === 1) return code === 115 && isDigit(text.charCodeAt(start - 2));
  return (
    text.charCodeAt(start + 1) === 115 &&
    (code === 109 || code === 117 || code === 110 || code === 0xb5 || code === 0x3bc)
  );
}

function unescape(text: string): string {
  return text.replace(/\\(.)/gs, (_all, code: string) => (code === "n" ? "\n" : code === "t" ? "\t" : code));
}
