import { didYouMean } from "../../core/told.ts";
import type { JsonObject, Line } from "../../model/line.ts";
import { GROK_NAMES, grokToRegex } from "./grok.ts";
import { Pattern, PatternError } from "./pattern.ts";
import type { UserProfile } from "./schema.ts";

/** Reads a value of a matched line by the name a field gives. */
export type Values = (from: string) => unknown;
/** The values of a line, or undefined when it is not this writer's. */
export type Matcher = (line: Line) => Values | undefined;

/** A fault of a user profile: where in it, and what. */
export class UserProfileError extends Error {
  override readonly name = "UserProfileError";
  readonly at: string;
  constructor(at: string, message: string) {
    super(message);
    this.at = at;
  }
}

export function pattern(source: string, at: string): Pattern {
  try {
    return new Pattern(source);
  } catch (error) {
    if (error instanceof PatternError) throw new UserProfileError(at, error.message);
    throw error;
  }
}

/** @throws {UserProfileError} For an expression that cannot be used, or a field whose source the expression does not name. */
export function compileMatch({ match, fields }: UserProfile): Matcher {
  if (match.json !== undefined) return jsonMatcher(match.json);
  if (match.logfmt !== undefined) return logfmtMatcher(match.logfmt);
  const at = match.grok === undefined ? "match.regex" : "match.grok";
  const compiled = pattern(match.grok === undefined ? (match.regex ?? "") : grok(match.grok), at);
  for (const [field, source] of Object.entries(fields)) {
    const from = typeof source === "string" ? source : source?.from;
    if (from !== undefined && !compiled.groups.includes(from)) {
      throw new UserProfileError(
        `fields.${field}`,
        `the expression has no group "${from}"${didYouMean(from, compiled.groups)}`,
      );
    }
  }
  return (line) => {
    const found = compiled.match(line.text);
    return found === undefined ? undefined : (from) => found[from];
  };
}

function grok(expression: string): string {
  try {
    return grokToRegex(expression);
  } catch (error) {
    const name = (error as RangeError).message;
    throw new UserProfileError("match.grok", `no grok pattern "${name}"${didYouMean(name, GROK_NAMES)}`);
  }
}

type Conditions = NonNullable<UserProfile["match"]["json"]>;

function jsonMatcher(conditions: Conditions): Matcher {
  const tests = compileConditions(conditions, "match.json");
  return (line) => {
    const { json } = line;
    if (json === undefined) return undefined;
    const values: Values = (from) => valueAt(json, from);
    return tests.every(([path, holds]) => holds(values(path))) ? values : undefined;
  };
}

function logfmtMatcher(conditions: Conditions): Matcher {
  const tests = compileConditions(conditions, "match.logfmt");
  return (line) => {
    if (!line.text.includes("=")) return undefined;
    const pairs = readPairs(line.text);
    const values: Values = (from) => pairs.get(from);
    return tests.every(([key, holds]) => holds(values(key))) ? values : undefined;
  };
}

const PAIR = /([A-Za-z_@][\w.@-]*)=(?:"((?:[^"\\]|\\.)*)"|([^\s,;]*))/y;

function readPairs(text: string): Map<string, string> {
  const pairs = new Map<string, string>();
  let at = 0;
  while (at < text.length && pairs.size < 200) {
    PAIR.lastIndex = at;
    const found = PAIR.exec(text);
    if (found !== null) {
      pairs.set(found[1] ?? "", found[2]?.replace(/\\(.)/g, "$1") ?? found[3] ?? "");
      at = PAIR.lastIndex;
    } else at++;
    // to the next place where a key may begin
    while (at < text.length && !/[\s,;([{|]/.test(text[at - 1] ?? " ")) at++;
  }
  return pairs;
}

type Test = readonly [path: string, holds: (value: unknown) => boolean];

function compileConditions(conditions: Conditions, at: string): Test[] {
  return Object.entries(conditions).map(([path, condition]): Test => {
    if (typeof condition !== "object") return [path, (value) => plainText(value) === String(condition)];
    if ("exists" in condition) return [path, (value) => value !== undefined && value !== null];
    const expression = pattern(condition.regex, `${at}.${path}`);
    return [
      path,
      (value) => {
        const text = plainText(value);
        return text !== undefined && expression.test(text);
      },
    ];
  });
}

/** Text, numbers and booleans as text; undefined for anything else. */
function plainText(value: unknown): string | undefined {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? String(value)
    : undefined;
}

/** The value at a path of keys joined by dots; a key that itself holds dots is tried whole first. */
export function valueAt(object: JsonObject, path: string): unknown {
  if (path in object) return object[path];
  for (let dot = path.indexOf("."); dot > 0; dot = path.indexOf(".", dot + 1)) {
    const inner = object[path.slice(0, dot)];
    if (typeof inner === "object" && inner !== null && !Array.isArray(inner)) {
      const found = valueAt(inner as JsonObject, path.slice(dot + 1));
      if (found !== undefined) return found;
    }
  }
  return undefined;
}
