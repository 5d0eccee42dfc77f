/** What people do about a cause: `page` = users fail now and it will not heal; `ticket` = mend in working hours; `info` = the caller's affair. */
export type Severity = "page" | "ticket" | "info";

/**
 * One typed piece of evidence for a cause. Weights: 10 names the cause beyond doubt, 5 is enough alone, below 5 needs
 * company (a bare status, a generic word), 1 only breaks ties.
 */
export interface Evidence {
  /** Phrase in the small language of {@link compilePhrase}, or an expression over lower-case text. */
  readonly says: string | RegExp;
  /** A whole lower-case word that any match holds: the key of the prefilter. Derived from a phrase; stated for an expression. */
  readonly word?: string;
  readonly weight: number;
  /** Whose words these are. */
  readonly by: string;
  /** The evidence is void when this is found in the block. */
  readonly unless?: RegExp;
  /** The evidence counts only when this, too, is found in the block. */
  readonly also?: RegExp;
}

/** A cause of failures: what it means, what to look at first, and how the servers word it. */
export interface Cause {
  readonly name: string;
  /** The meaning in one line. */
  readonly title: string;
  readonly severity: Severity;
  /** What to look at, most telling first. */
  readonly firstChecks: readonly string[];
  readonly evidence: readonly Evidence[];
}

/** Phrases of one writer, all of one weight. */
export function says(
  weight: number,
  by: string,
  phrases: readonly string[],
  guard: { readonly unless?: RegExp; readonly also?: RegExp } = {},
): Evidence[] {
  return phrases.map((phrase) => ({ says: phrase, weight, by, ...guard }));
}

/** An expression over lower-case text, with the word that its matches always hold. */
export function matches(
  weight: number,
  by: string,
  word: string,
  expression: RegExp,
  guard: { readonly unless?: RegExp; readonly also?: RegExp } = {},
): Evidence {
  return { says: expression, word, weight, by, ...guard };
}

const SPECIAL = /[\\^$.+?()[\]{}|]/g;
/** Longest stretch a `*` of a phrase passes over, characters of one line. */
const STAR_CHARS = 100;

/** One expression that may be met by any of several words: one piece of evidence for each. */
export function matchesBy(
  weight: number,
  by: string,
  words: readonly string[],
  expression: RegExp,
  guard: { readonly unless?: RegExp; readonly also?: RegExp } = {},
): Evidence[] {
  return words.map((word) => matches(weight, by, word, expression, guard));
}

/** Where a phrase is found in a text, -1 if nowhere. */
export type Finder = (text: string) => number;

const isWordCode = (code: number): boolean =>
  (code >= 97 && code <= 122) || (code >= 48 && code <= 57) || code === 95 || (code >= 65 && code <= 90);

/**
 * How to look a phrase up in lower-case text whose blanks are single: plain words by `indexOf` (ten times as fast as an
 * expression), anything else by the expression once its first literal part is there.
 */
export function phraseFinder(phrase: string): Finder {
  const literal = phrase.toLowerCase();
  const special = literal.search(/[<*#~]/);
  if (special < 0) {
    const startsWord = isWordCode(literal.charCodeAt(0));
    const endsWord = isWordCode(literal.charCodeAt(literal.length - 1));
    return (text) => {
      for (let at = text.indexOf(literal); at >= 0; at = text.indexOf(literal, at + 1)) {
        if (startsWord && isWordCode(text.charCodeAt(at - 1))) continue;
        if (endsWord && isWordCode(text.charCodeAt(at + literal.length))) continue;
        return at;
      }
      return -1;
    };
  }
  const expression = compilePhrase(phrase);
  const needle = literal.slice(0, special).trimEnd();
  return (text) => (needle !== "" && !text.includes(needle) ? -1 : (expression.exec(text)?.index ?? -1));
}

/**
 * Compiles a phrase: letters match in any case, blanks match any white space, `*` up to 100 characters of the same line,
 * `#` a number, `~` the rest of a word, `<a|b>` one of several. Anything else stands for itself.
 */
export function compilePhrase(phrase: string): RegExp {
  const parts = phrase.toLowerCase().split(/(<[^>]*>|\*|#|~|\s+)/);
  const body = parts
    .map((part) => {
      if (part.startsWith("<")) {
        return `(?:${part
          .slice(1, -1)
          .split("|")
          .map((option) => option.replace(SPECIAL, "\\$&"))
          .join("|")})`;
      }
      if (part === "*") return `[^\\n]{0,${STAR_CHARS}}?`;
      if (part === "#") return "\\d[\\d.,_]*";
      if (part === "~") return "\\w*";
      if (/^\s+$/.test(part)) return "\\s+";
      return part.replace(SPECIAL, "\\$&");
    })
    .join("");
  const start = /^\w/.test(phrase) ? "(?<!\\w)" : "";
  const end = /\w$/.test(phrase) ? "(?!\\w)" : "";
  return new RegExp(start + body + end);
}

/** Letters of a word's beginning that a phrase like `throttl~` is looked up by. */
export const STEM_CHARS = 6;

/**
 * The words that each match of a phrase holds whole; if there is none, the beginning of one, {@link STEM_CHARS} long and
 * marked `~`.
 */
export function wordsOf(phrase: string): string[] {
  const text = phrase.toLowerCase();
  const words = text.replace(/<[^>]*>|[*#~]/g, "\u0001").match(/(?<![\w\u0001])\w+(?![\w\u0001])/g);
  if (words !== null) return words;
  for (const [, stem = ""] of text.matchAll(/(?<![\w*#>])(\w+)~/g)) {
    if (stem.length >= STEM_CHARS) return [`${stem.slice(0, STEM_CHARS)}~`];
  }
  throw new RangeError(`Phrase "${phrase}" holds no whole word to look it up by`);
}
