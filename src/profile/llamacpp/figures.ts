/** One line of a timing block. */
export interface Figure {
  kind: "prompt" | "decode" | "total";
  /** Milliseconds. From {@link readFigure} NaN for `nan` and `inf`. */
  ms: number | undefined;
  /** Undefined where the line counts none. */
  tokens: number | undefined;
}

const FIGURE =
  /^\s{0,24}(prompt eval|generation eval|eval|total) time {0,12}= {0,24}(\S{1,40}) ms(?: {0,8}\/ {0,16}(\S{1,24}) (?:tokens|runs))?/;
const DRAFT =
  /^\s{0,8}draft acceptance(?: rate)? = {0,8}\S{1,16} \( {0,16}(\d{1,12}) accepted \/ {0,16}(\d{1,12}) generated\)/;

const figure: Figure = { kind: "prompt", ms: Number.NaN, tokens: undefined };

/**
 * Reads `prompt eval time =     341.75 ms /    14 tokens (…)`, `eval time`, `generation eval time … runs` or `total time`.
 * The rates in brackets (`inf`, `-nan`, `1000000.00` for empty work) are not looked at.
 *
 * @returns A shared object, or undefined when `text` is no such line.
 * @see ggml-org/llama.cpp tools/server/server-context.cpp `print_timings` (2024–2026)
 */
export function readFigure(text: string): Figure | undefined {
  const found = FIGURE.exec(text);
  if (found === null) return undefined;
  figure.kind = found[1] === "prompt eval" ? "prompt" : found[1] === "total" ? "total" : "decode";
  figure.ms = toNumber(found[2]);
  figure.tokens = found[3] === undefined ? undefined : toNumber(found[3]);
  return figure;
}

/** Drafted tokens of `draft acceptance = 0.78205 (  244 accepted /   312 generated)`. */
export function readDraft(text: string): { readonly accepted: number; readonly generated: number } | undefined {
  const found = DRAFT.exec(text);
  return found === null ? undefined : { accepted: Number(found[1]), generated: Number(found[2]) };
}

/** Infinity is no measurement either: `inf` becomes NaN like `-nan(ind)`. */
const toNumber = (text: string | undefined): number => {
  const value = Number(text);
  return Number.isFinite(value) ? value : Number.NaN;
};
