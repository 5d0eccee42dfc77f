/** Characters of one span or value looked at. */
const MAX_CHARS = 128 * 1024;

/**
 * Index after the bracket that closes the one at `at`; brackets inside quoted strings do not count.
 *
 * @returns −1 when it is not closed.
 */
export function balancedEnd(text: string, at: number): number {
  const end = Math.min(text.length, at + MAX_CHARS);
  let depth = 0;
  for (let index = at; index < end; index++) {
    switch (text.charCodeAt(index)) {
      case 34: // "
        index = quotedEnd(text, index) - 1;
        if (index < 0) return -1;
        break;
      case 123: // {
      case 91: // [
      case 40: // (
        depth++;
        break;
      case 125: // }
      case 93: // ]
      case 41: // )
        if (--depth === 0) return index + 1;
        break;
      default:
    }
  }
  return -1;
}

/** Index after the quote that closes the one at `at`; −1 when there is none. */
export function quotedEnd(text: string, at: number): number {
  const end = Math.min(text.length, at + MAX_CHARS);
  for (let index = at + 1; index < end; index++) {
    const code = text.charCodeAt(index);
    if (code === 34) return index + 1;
    if (code === 92) index++;
  }
  return -1;
}

/** The text of a string in Rust's `{:?}`: `"a \"b\""`. Escapes that stand for no plain character stay as they are. */
export function unquote(quoted: string): string {
  const inner = quoted.slice(1, -1);
  return inner.includes("\\") ? inner.replace(/\\(["'\\nrt])/g, (_, code: string) => ESCAPES[code] ?? code) : inner;
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

/**
 * Reads `key=value` pairs: a value is a quoted string, or goes on to the next space outside of brackets and quotes. Words that
 * are no pair (`{ best_of: None }` after `parameters=GenerateParameters`) are stepped over. The last of equal keys wins: fields
 * recorded later are appended.
 */
export function readFields(raw: string): Map<string, string> {
  const fields = new Map<string, string>();
  let at = 0;
  while (at < raw.length) {
    if (raw.charCodeAt(at) === 32) {
      at++;
      continue;
    }
    const from = at;
    while (isKey(raw.charCodeAt(at))) at++;
    if (at === from || raw.charCodeAt(at) !== 61) {
      at = wordEnd(raw, at);
      continue;
    }
    const key = raw.slice(from, at);
    const value = ++at;
    if (raw.charCodeAt(at) === 34) {
      const end = quotedEnd(raw, at);
      if (end < 0) return fields;
      fields.set(key, unquote(raw.slice(at, end)));
      at = end;
    } else {
      at = wordEnd(raw, at);
      fields.set(key, raw.slice(value, at));
    }
  }
  return fields;
}

function wordEnd(text: string, at: number): number {
  let index = at;
  while (index < text.length) {
    const code = text.charCodeAt(index);
    if (code === 32) return index;
    if (code === 34 || code === 123 || code === 91 || code === 40) {
      const end = code === 34 ? quotedEnd(text, index) : balancedEnd(text, index);
      if (end < 0) return text.length;
      index = end;
    } else index++;
  }
  return index;
}

const isKey = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95 || code === 46;
