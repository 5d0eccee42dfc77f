import { scanPairs } from "../key-value.ts";
import type { Value } from "./segment.ts";

/** Longest line that is learned; longer ones are prompts. */
export const MAX_LAYOUT_BYTES = 8192;
const MAX_VALUES = 64;
const MAX_DEPTH = 6;

const PLAIN_KEY = /^[A-Za-z_@][\w.@/-]*$/;
// oxlint-disable-next-line no-control-regex
const NOT_PLAIN = /[^\x20-\x7e]|["\\]/;

/**
 * Where the values of a JSON object stand.
 *
 * @param text A valid object, one character a byte.
 * @returns Undefined when it holds what a layout cannot: unusual keys, one key twice, or too much of anything.
 */
export function findJsonValues(text: string): readonly Value[] | undefined {
  const scan = new JsonScan(text);
  return scan.run() ? scan.values : undefined;
}

class JsonScan {
  readonly values: Value[] = [];
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  run(): boolean {
    this.#blanks();
    if (!this.#object([], 0)) return false;
    this.#blanks();
    return this.#at === this.#text.length;
  }

  #object(path: readonly string[], depth: number): boolean {
    if (this.#text[this.#at] !== "{" || depth > MAX_DEPTH) return false;
    this.#at++;
    const seen = new Set<string>();
    this.#blanks();
    if (this.#text[this.#at] === "}") {
      this.#at++;
      return true;
    }
    for (;;) {
      this.#blanks();
      if (this.#text[this.#at] !== '"') return false;
      const close = this.#quoteEnd(this.#at);
      const key = this.#text.slice(this.#at + 1, close);
      if (close < 0 || !PLAIN_KEY.test(key) || key === "__proto__" || seen.has(key)) return false;
      seen.add(key);
      this.#at = close + 1;
      this.#blanks();
      if (this.#text[this.#at] !== ":") return false;
      this.#at++;
      this.#blanks();
      if (!this.#value([...path, key], depth)) return false;
      this.#blanks();
      const mark = this.#text[this.#at++];
      if (mark === "}") return true;
      if (mark !== ",") return false;
    }
  }

  #value(path: readonly string[], depth: number): boolean {
    const start = this.#at;
    const first = this.#text[start];
    if (this.values.length >= MAX_VALUES) return false;
    if (first === "{") {
      const at = this.values.length;
      if (!this.#object(path, depth + 1)) return false;
      this.values.splice(at, 0, { path, start, end: this.#at, kind: "object", quoted: false, plain: true });
      return true;
    }
    if (first === '"') {
      const close = this.#quoteEnd(start);
      if (close < 0) return false;
      this.#at = close + 1;
      const plain = !NOT_PLAIN.test(this.#text.slice(start + 1, close));
      this.values.push({ path, start: start + 1, end: close, kind: "string", quoted: true, plain });
      return true;
    }
    if (first === "[") {
      const end = this.#arrayEnd(start);
      if (end < 0) return false;
      this.#at = end;
      this.values.push({ path, start, end, kind: "array", quoted: false, plain: true });
      return true;
    }
    let end = start;
    while (end < this.#text.length && !", }]\t\r\n".includes(this.#text[end] as string)) end++;
    if (end === start) return false;
    this.#at = end;
    const kind = /^-?\d/.test(this.#text.slice(start, end)) ? "number" : "word";
    this.values.push({ path, start, end, kind, quoted: false, plain: true });
    return true;
  }

  #blanks(): void {
    while (" \t\r\n".includes(this.#text[this.#at] ?? "x")) this.#at++;
  }

  /** Index of the quote that closes the one at `open`; -1 when none does. */
  #quoteEnd(open: number): number {
    for (let at = open + 1; at < this.#text.length; at++) {
      if (this.#text[at] === "\\") at++;
      else if (this.#text[at] === '"') return at;
    }
    return -1;
  }

  #arrayEnd(open: number): number {
    let depth = 0;
    for (let at = open; at < this.#text.length; at++) {
      const mark = this.#text[at];
      if (mark === '"') {
        at = this.#quoteEnd(at);
        if (at < 0) return -1;
      } else if (mark === "[" || mark === "{") depth++;
      else if ((mark === "]" || mark === "}") && --depth === 0) return at + 1;
    }
    return -1;
  }
}

const PAIR = /([A-Za-z_@][\w./-]*)=(?:"([^"\\\u0000-\u001f]*)"|([\w.:/@+-]*))(?: |$)/y;

/**
 * Where the values of a logfmt line stand: `key=value` after `key=value`, one blank between them, and nothing else.
 *
 * @param text One character a byte.
 */
export function findPairValues(text: string): readonly Value[] | undefined {
  const values: Value[] = [];
  const read = scanPairs(text);
  PAIR.lastIndex = 0;
  while (PAIR.lastIndex < text.length) {
    const at = PAIR.lastIndex;
    const pair = PAIR.exec(text);
    if (pair === null || values.length >= MAX_VALUES) return undefined;
    const key = pair[1] as string;
    const quoted = pair[2] !== undefined;
    const value = pair[2] ?? pair[3] ?? "";
    // the general reader must have seen the same
    if (read.keys[values.length] !== key || read.values[values.length] !== value) return undefined;
    const start = at + key.length + (quoted ? 2 : 1);
    const end = start + value.length;
    values.push({ path: [key], start, end, kind: "string", quoted, plain: !NOT_PLAIN.test(value) });
  }
  if (text.endsWith(" ") || !read.logfmt || read.count !== values.length) return undefined;
  return values;
}
