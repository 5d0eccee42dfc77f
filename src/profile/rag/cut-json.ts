import { closingQuote } from "./logfmt.ts";

const COLON = /^\s*:\s*/;
/** A number, `true`, `false` or `null`, and the mark that shows its end. */
const BARE = /^([\w.+-]{1,40})\s*[,}\]]/;

/**
 * Reads a member of the outermost object of JSON that may be cut off: only members whose value is whole count. What
 * stands deeper, or inside strings, is never taken for a member.
 *
 * @returns The value, or undefined when it is missing or cut.
 */
export function memberOf(text: string, key: string): unknown {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34) {
      const close = closingQuote(text, at, text.length);
      if (depth === 1 && text.slice(at + 1, close) === key) {
        const colon = COLON.exec(text.slice(close + 1, close + 20));
        if (colon !== null) return wholeValue(text, close + 1 + colon[0].length);
      }
      at = close;
    } else if (code === 123 || code === 91) depth++;
    else if (code === 125 || code === 93) depth--;
  }
  return undefined;
}

function wholeValue(text: string, from: number): unknown {
  const end = endOfValue(text, from);
  if (end === undefined) return undefined;
  try {
    return JSON.parse(text.slice(from, end));
  } catch {
    return undefined;
  }
}

/** Index behind the value at `from`; undefined when it is cut. */
function endOfValue(text: string, from: number): number | undefined {
  const first = text.charCodeAt(from);
  if (first === 34) {
    const close = closingQuote(text, from, text.length);
    return close < text.length ? close + 1 : undefined;
  }
  if (first !== 123 && first !== 91) {
    const bare = BARE.exec(text.slice(from, from + 60))?.[1];
    return bare === undefined ? undefined : from + bare.length;
  }
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 34) at = closingQuote(text, at, text.length);
    else if (code === 123 || code === 91) depth++;
    else if ((code === 125 || code === 93) && --depth === 0) return at + 1;
  }
  return undefined;
}
