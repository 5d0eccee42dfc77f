import path from "node:path";
import { type RawPath, rawPath } from "./raw-path.ts";

/** One step of a pattern from the root down: a name, names that match, or `**`. */
export type GlobSegment =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "match"; readonly regex: RegExp }
  | { readonly kind: "any-depth" };

const MAGIC = /[*?[\]{}]/;
/** Alternatives of one pattern, `{a,b}{c,d}`; more are refused. */
const MAX_ALTERNATIVES = 256;

/** @returns True when `text` holds a character that means something in a pattern. */
export const isPattern = (text: string): boolean => MAGIC.test(text);

/** The literal path as one segment chain: a name may hold any character. */
export function literalSegments(text: string): GlobSegment[] {
  return segmentsOf(absolute(text)).map((name) => ({ kind: "name", name }));
}

/** The alternatives of a pattern (`{a,b}`), each from the root down. */
export function globSegments(pattern: string): GlobSegment[][] {
  return alternatives(absolute(pattern)).map((text) => segmentsOf(text).map(segment));
}

/** One regular expression over whole raw paths. */
export function globRegex(pattern: string): RegExp {
  const bodies = alternatives(absolute(pattern)).map((text) =>
    segmentsOf(text)
      .map((name) => (name === "**" ? "(?:/[^/]+)*?" : `/${body(name)}`))
      .join(""),
  );
  return new RegExp(`^(?:${bodies.join("|")})$`, "s");
}

function absolute(text: string): RawPath {
  return rawPath(path.resolve(text));
}

function segmentsOf(text: RawPath): string[] {
  return text.split("/").filter((name) => name !== "");
}

function segment(name: string): GlobSegment {
  if (name === "**") return { kind: "any-depth" };
  if (!MAGIC.test(name)) return { kind: "name", name };
  return { kind: "match", regex: new RegExp(`^${body(name)}$`, "s") };
}

/** A wildcard does not match a leading dot, as in a shell. */
function body(name: string): string {
  let regex = /^[*?[]/.test(name) ? "(?!\\.)" : "";
  for (let at = 0; at < name.length; at++) {
    const character = name.charAt(at);
    if (character === "*") {
      while (name.charAt(at + 1) === "*") at++;
      regex += "[^/]*";
    } else if (character === "?") regex += "(?:[\\x00-\\x7f]|[\\xc0-\\xff][\\x80-\\xbf]*|[\\x80-\\xbf])";
    else if (character === "[") {
      const end = name.indexOf("]", at + 2);
      if (end < 0) regex += "\\[";
      else {
        const set = name
          .slice(at + 1, end)
          .replace(/[\\\]^]/g, (found, index: number) => (found === "^" && index === 0 ? "^" : `\\${found}`));
        regex += `[${set.replace(/^!/, "^")}]`;
        at = end;
      }
    } else if (character === "\\" && at + 1 < name.length) regex += quoted(name.charAt(++at));
    else regex += quoted(character);
  }
  return regex;
}

const quoted = (character: string): string => character.replace(/[$()*+.?[\\\]^{|}/-]/, "\\$&");

function alternatives(text: string): string[] {
  let open = [text];
  const done: string[] = [];
  while (open.length > 0) {
    const next: string[] = [];
    for (const candidate of open) {
      const braces = /\{([^{}]*,[^{}]*)\}/.exec(candidate);
      if (braces === null) done.push(candidate);
      else {
        const [whole, inner = ""] = braces;
        for (const choice of inner.split(","))
          next.push(candidate.slice(0, braces.index) + choice + candidate.slice(braces.index + whole.length));
      }
    }
    if (done.length + next.length > MAX_ALTERNATIVES) return [text];
    open = next;
  }
  return done;
}
