/** Characters of a line that are read; what stands beyond is no field we use. */
const MAX_CHARS = 64 * 1024;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r" };

/**
 * Reads `key=value key="quoted value" flag` as Go's loggers write it. A value that starts with a quote ends at the next
 * quote that is not escaped; the first of two equal keys counts, so that text cannot overwrite a field in front of it.
 */
export function parseLogfmt(text: string): Map<string, string> {
  const fields = new Map<string, string>();
  const end = Math.min(text.length, MAX_CHARS);
  let at = 0;
  while (at < end) {
    while (at < end && text.charCodeAt(at) === 32) at++;
    const keyAt = at;
    while (at < end && text.charCodeAt(at) !== 61 && text.charCodeAt(at) !== 32) at++;
    const key = text.slice(keyAt, at);
    let value = "";
    if (text.charCodeAt(at) === 61) {
      at++;
      if (text.charCodeAt(at) === 34) {
        const close = closingQuote(text, at, end);
        value = unescapeQuoted(text.slice(at + 1, close));
        at = close + 1;
      } else {
        const valueAt = at;
        while (at < end && text.charCodeAt(at) !== 32) at++;
        value = text.slice(valueAt, at);
      }
    }
    if (key !== "" && !fields.has(key)) fields.set(key, value);
  }
  return fields;
}

/** Index of the quote that closes the one at `open`; `end` when none does. */
export function closingQuote(text: string, open: number, end: number): number {
  for (let at = open + 1; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code === 92) at++;
    else if (code === 34) return at;
  }
  return end;
}

/** Undoes Go's `%q` as far as our figures need it: `\"`, `\\`, `\n`, `\t`, `\r`; other escapes lose their backslash. */
export function unescapeQuoted(text: string): string {
  return text.includes("\\") ? text.replace(/\\(.)/gs, (_all, code: string) => ESCAPES[code] ?? code) : text;
}
