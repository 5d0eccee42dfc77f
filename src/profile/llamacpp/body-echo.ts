/**
 * A request body that `-v` prints raw after `request:  `. A body of several lines may hold anything, even a whole timing
 * block, so that its lines are not lines of the log.
 */
export interface BodyEcho {
  /** Whether the server prints times: the `response: ` record that ends the body then has one too. */
  readonly stamped: boolean;
  depth: number;
  quoted: boolean;
  /** No JSON any more: only `response: ` ends it. */
  broken: boolean;
  lines: number;
}

/** Lines after which a body without end is given up. */
const MAX_LINES = 1000;
/** A longer line is not looked into: its body ends at the response. */
const MAX_LINE_CHARS = 256 * 1024;

/** @param first What the line itself shows of the body. @returns The open echo, or undefined when the body ended on this line. */
export function openBody(stamped: boolean, first: string): BodyEcho | undefined {
  if (first.trim() === "") return undefined;
  const body: BodyEcho = { stamped, depth: 0, quoted: false, broken: false, lines: 0 };
  return addToBody(body, first) ? undefined : body;
}

/** Offers one more line. @returns True when the body is complete with it (or given up). */
export function addToBody(body: BodyEcho, text: string): boolean {
  if (++body.lines > MAX_LINES) return true;
  if (text.length > MAX_LINE_CHARS) body.broken = true;
  if (body.broken) return false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (body.quoted) {
      if (code === 92) at++;
      else if (code === 34) body.quoted = false;
      continue;
    }
    switch (code) {
      case 123:
      case 91:
        body.depth++;
        break;
      case 125:
      case 93:
        if (--body.depth > 0) break;
        // text after the end is no JSON: what follows may be forged
        body.broken = body.depth < 0 || text.slice(at + 1).trim() !== "";
        return !body.broken;
      case 34:
        if (body.depth > 0) body.quoted = true;
        else {
          body.broken = true;
          return false;
        }
        break;
      case 9:
      case 13:
      case 32:
        break;
      default:
        if (body.depth === 0) {
          body.broken = true;
          return false;
        }
    }
  }
  // a raw newline within a string is no JSON
  if (body.quoted) body.broken = true;
  return false;
}
