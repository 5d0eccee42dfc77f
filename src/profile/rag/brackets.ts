import { closingQuote } from "./logfmt.ts";

/** Index of the bracket that closes the one at `open`. Should quotes not pair up, they are taken as plain text. */
export function closingBracket(text: string, open: number, end: number): number {
  const quoted = matchBracket(text, open, end, true);
  if (quoted < end) return quoted;
  const plain = matchBracket(text, open, end, false);
  if (plain < end) return plain;
  const next = text.indexOf("] [", open);
  return next < 0 || next > end ? end : next;
}

function matchBracket(text: string, open: number, end: number, quotes: boolean): number {
  let depth = 0;
  for (let at = open; at < end; at++) {
    const code = text.charCodeAt(at);
    if (quotes && code === 34) at = closingQuote(text, at, end);
    else if (code === 91) depth++;
    else if (code === 93 && --depth === 0) return at;
  }
  return end;
}
