import { RE2JS, RE2JSException } from "re2js";
import { analyse } from "scslre";

/** Longest part of a line that an expression of a user sees. */
const MAX_CHARS = 32_768;

/**
 * A regular expression of a user, anchored at the start of the line and matched in time linear in the line (RE2), whatever it is.
 * One that would backtrack exponentially elsewhere is refused all the same: it rarely means what its author thinks.
 */
export class Pattern {
  /** Names of its capture groups. */
  readonly groups: readonly string[];
  readonly #compiled: RE2JS;

  /** @throws {PatternError} With the reason in words. */
  constructor(source: string) {
    const fault = backtrackingFault(source);
    if (fault !== undefined) throw new PatternError(fault);
    try {
      this.#compiled = RE2JS.compile(`^(?:${source})`);
    } catch (cause) {
      if (!(cause instanceof RE2JSException)) throw cause;
      throw new PatternError(
        `${cause.message.replace(/^error parsing regexp: /, "").replaceAll("\u0060", '"')}; look-around and back-references are not supported`,
      );
    }
    this.groups = Object.keys(this.#compiled.namedGroups());
  }

  /** The named groups that took part in the match, or undefined when the line does not match. */
  match(text: string): Record<string, string> | undefined {
    const matcher = this.#compiled.matcher(text.length > MAX_CHARS ? text.slice(0, MAX_CHARS) : text);
    if (!matcher.find()) return undefined;
    const found: Record<string, string> = {};
    for (const name of this.groups) {
      const value = matcher.group(name);
      if (value !== null && value !== undefined) found[name] = value;
    }
    return found;
  }

  test(text: string): boolean {
    return this.#compiled.matcher(text.length > MAX_CHARS ? text.slice(0, MAX_CHARS) : text).find();
  }
}

export class PatternError extends Error {
  override readonly name = "PatternError";
}

/** Why an expression would take exponential time in a backtracking engine, or undefined. */
function backtrackingFault(source: string): string | undefined {
  let expression: RegExp;
  try {
    // RE2 spells named groups (?P<name>…) too
    expression = new RegExp(`^(?:${source.replaceAll("(?P<", "(?<")})`);
  } catch {
    return undefined;
  }
  const report = analyse(expression, { reportTypes: { Move: false, Self: true, Trade: true } }).reports.find(
    ({ exponential }) => exponential,
  );
  return report === undefined
    ? undefined
    : "a repetition inside a repetition can match the same text in exponentially many ways, e.g. (a+)+; make the inner part unambiguous";
}
