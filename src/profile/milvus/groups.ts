import { BracketScanner } from "../rag/brackets.ts";
import { unescapeQuoted } from "../rag/logfmt.ts";

/** Characters of a line that are read, and groups kept of it. */
const MAX_CHARS = 64 * 1024;
const MAX_GROUPS = 100;

/** One piece of a line: `[…]`, `<…>` or a bare word. */
export interface Piece {
  readonly kind: "bracket" | "angle" | "word";
  readonly text: string;
}

/**
 * Cuts a line into its bracketed groups and the words between them. Brackets inside a group and inside quotes belong to
 * the group (`[msg: not found[collection=a]]`, `[expr: id in [1, 2] and t == "]"]`).
 */
export function cutPieces(text: string): Piece[] {
  const pieces: Piece[] = [];
  const end = Math.min(text.length, MAX_CHARS);
  const scanner = new BracketScanner(text, end);
  let at = 0;
  while (at < end && pieces.length < MAX_GROUPS) {
    const code = text.charCodeAt(at);
    if (code === 32) at++;
    else if (code === 91) {
      const close = scanner.close(at);
      pieces.push({ kind: "bracket", text: text.slice(at + 1, close) });
      at = close + 1;
    } else if (code === 60) {
      const close = text.indexOf(">", at);
      const stop = close < 0 || close > end ? end : close;
      pieces.push({ kind: "angle", text: text.slice(at + 1, stop) });
      at = stop + 1;
    } else {
      const from = at;
      while (at < end && text.charCodeAt(at) !== 32 && text.charCodeAt(at) !== 91) at++;
      pieces.push({ kind: "word", text: text.slice(from, at) });
    }
  }
  return pieces;
}

/** Characters of a quoted value that are unquoted. */
const MAX_VALUE_CHARS = 16 * 1024;

/** A value without the quotes that newer versions put around `msg` and `expr`, and zap around blanks. */
export function unquote(value: string): string {
  return value.length >= 2 && value.startsWith('"') && value.endsWith('"')
    ? unescapeQuoted(value.slice(1, -1).slice(0, MAX_VALUE_CHARS))
    : value;
}
