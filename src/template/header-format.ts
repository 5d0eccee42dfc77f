/** Finds the message in a line; undefined if the line has not this header. */
export type ContentFinder = (line: string) => string | undefined;

interface Variant {
  /** Field, literal, field, literal … A literal is text with single blanks for any white space. */
  readonly parts: readonly { readonly field?: string; readonly literal?: string }[];
}

/**
 * Compiles a header as published with Loghub: `<Date> <Time> \[<Process>\] <Component>(\[<PID>\])?: <Content>`.
 * Fields in angle brackets hold as little text as possible; a blank stands for white space; a backslash makes the next character
 * literal; `( … )?` may be missing. Matching is linear in the line: no regular expression is run.
 *
 * @throws {RangeError} If there is no `<Content>`, or two fields touch.
 */
export function headerFormat(format: string): ContentFinder {
  const variants = expand(format.trim()).map(parseVariant);
  return (line) => {
    let best: { ends: number[]; content: string } | undefined;
    for (const variant of variants) {
      const found = match(variant, line);
      if (found !== undefined && (best === undefined || isBefore(found.ends, best.ends))) best = found;
    }
    return best?.content;
  };
}

/** `a(b)?c` as `abc` and `ac`. */
function expand(format: string): string[] {
  const close = format.indexOf(")?");
  if (close < 0) return [format];
  let open = close;
  while (open >= 0 && !(format[open] === "(" && format[open - 1] !== "\\")) open--;
  if (open < 0) throw new RangeError(`Cannot read the format: no "(" before ")?" in "${format}"`);
  const rest = format.slice(close + 2);
  return [format.slice(0, open) + format.slice(open + 1, close) + rest, format.slice(0, open) + rest].flatMap(expand);
}

function parseVariant(format: string): Variant {
  const parts: { field?: string; literal?: string }[] = [];
  let content = 0;
  for (const piece of format.split(/(<[A-Za-z]\w*>)/)) {
    if (piece === "") continue;
    if (/^<[A-Za-z]\w*>$/.test(piece)) {
      if (parts.at(-1)?.field !== undefined)
        throw new RangeError(`Cannot read the format: two fields touch at ${piece}`);
      parts.push({ field: piece.slice(1, -1) });
      if (piece === "<Content>") content++;
    } else parts.push({ literal: piece.replace(/\\(.)/g, "$1").replace(/\s+/g, " ") });
  }
  if (content !== 1) throw new RangeError("Cannot read the format: it needs one <Content>");
  return { parts };
}

function match({ parts }: Variant, line: string): { ends: number[]; content: string } | undefined {
  const text = line.trim();
  const ends: number[] = [];
  let content = "";
  let at = 0;
  for (let index = 0; index < parts.length; index++) {
    const { field, literal } = parts[index] as Variant["parts"][number];
    if (literal !== undefined) {
      const end = literalAt(text, at, literal);
      if (end === undefined) return undefined;
      at = end;
      continue;
    }
    const next = parts[index + 1]?.literal;
    let end = next === undefined ? text.length : at;
    if (next !== undefined) {
      while (literalAt(text, end, next) === undefined) {
        end++;
        if (end > text.length) return undefined;
      }
    }
    ends.push(end);
    if (field === "Content") content = text.slice(at, end);
    at = end;
  }
  return at === text.length ? { ends, content } : undefined;
}

/** Where the literal ends that begins at `at`. */
function literalAt(text: string, at: number, literal: string): number | undefined {
  let position = at;
  for (let index = 0; index < literal.length; index++) {
    const code = literal.charCodeAt(index);
    if (code === 32) {
      const start = position;
      while (isBlank(text.charCodeAt(position))) position++;
      if (position === start) return undefined;
    } else if (text.charCodeAt(position) === code) position++;
    else return undefined;
  }
  return position;
}

const isBlank = (code: number): boolean => code === 32 || (code >= 9 && code <= 13);

function isBefore(left: readonly number[], right: readonly number[]): boolean {
  for (let at = 0; at < left.length && at < right.length; at++) {
    if (left[at] !== right[at]) return (left[at] as number) < (right[at] as number);
  }
  return left.length > right.length;
}
