import { closingQuote } from "./logfmt.ts";

/**
 * Finds the end of bracketed groups. Brackets inside quotes do not count; should the quotes of a line not pair up, they
 * are plain text from then on. One object a line.
 */
export class BracketScanner {
  readonly #text: string;
  readonly #end: number;
  #quotes = true;

  constructor(text: string, end: number) {
    this.#text = text;
    this.#end = end;
  }

  /** Index of the bracket that closes the one at `open`; the end of what is scanned when none does. */
  close(open: number): number {
    if (this.#quotes) {
      const quoted = this.#match(open);
      if (quoted < this.#end) return quoted;
      this.#quotes = false;
    }
    const plain = this.#match(open);
    if (plain < this.#end) return plain;
    const next = this.#text.indexOf("] [", open);
    return next < 0 || next > this.#end ? this.#end : next;
  }

  #match(open: number): number {
    let depth = 0;
    for (let at = open; at < this.#end; at++) {
      const code = this.#text.charCodeAt(at);
      if (code === 34 && this.#quotes) at = closingQuote(this.#text, at, this.#end);
      else if (code === 91) depth++;
      else if (code === 93 && --depth === 0) return at;
    }
    return this.#end;
  }
}
