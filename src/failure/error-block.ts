import { stripAnsi } from "../core/ansi.ts";
import { textOfLogObject } from "./log-object.ts";
import { unwrapLine } from "./unwrap-line.ts";

/** What is looked at of one block; more says nothing new and costs time. */
const MAX_BLOCK_CHARS = 64 * 1024;
const MAX_LINES = 500;
const MAX_TEXT_CHARS = 10_000;
const MAX_LINE_CHARS = 3_000;
/** Lines that may go on the message of one exception. */
const MAX_MESSAGE_LINES = 6;
const MAX_CANDIDATES = 24;

/** A failure as logged, taken apart. */
export interface ErrorBlock {
  /** The message that, by its place in the block, is the root. */
  readonly deciding: string;
  /** Every message, the likeliest root first: exceptions of the chain, then the lines around them. */
  readonly messages: readonly string[];
  /** Source files and modules that the loggers' prefixes name, e.g. `serving_embedding.py`; at most 12. */
  readonly places: readonly string[];
  /** Stack frames seen, over all tracebacks. */
  readonly stackDepth: number;
}

type Link = "none" | "direct" | "during";
interface Raised {
  text: string;
  /** How this exception came out of the one before. */
  readonly link: Link;
  readonly chain: number;
}

const TRACEBACK = "Traceback (most recent call last)";
const DIRECT_CAUSE = /^The above exception was the direct cause of the following exception:?\s*/;
const DURING = /^During handling of the above exception, another exception occurred:?\s*/;
const PYTHON_FRAME = /^\s+File "[^"\n]{1,400}", line \d+/;
const STACK_FRAME =
  /^\s+at [\w$.<>[\]/@: ]{1,200}\(|^\s+at (?:async )?\S{1,300}:\d+(?::\d+)?\)?$|^\s+\.\.\. \d+ more|^\s*goroutine \d+ |^\t\S{1,300}:\d+(?: \+0x[0-9a-f]+)?$|^created by |^\s+\d{1,3}: {1,4}(?:0x[0-9a-f]+ - )?[\w<>:$]{2,200}(?:::|$)|^\s*#?\d{1,3} {1,6}0x[0-9a-f]{6,16}\b|^\s+[~^]+\s*$|^frame #\d+:/;
const GO_FUNCTION = /^[\w./-]{1,200}\.[\w.*()-]{1,120}\(/;
/** What languages print around a stack, and no message. */
const NOTE = /^(?:note: run with `RUST_BACKTRACE|stack backtrace:)/;
const CAUSED_BY = /^\s*(?:Caused by|\[cause\]|Root cause|cause): ?/;
/** `Class: text`, `pkg.Class: text` or a bare class, as languages print an exception. */
const EXCEPTION =
  /^(?:[A-Za-z_]\w{0,60}[.:]{1,2}){0,8}[A-Z]\w{0,80}(?:Error|Exception|Timeout|Disconnect|Interrupt|Exit|Fault|Panic|Warning|Stop|Crashed|Died|Denied|NotFound|Exceeded)\w{0,20}(?::|$|\s\()/;
/** First words of a line that by itself tells a failure, without a class. */
const TELLS_FAILURE =
  /\b(?:error|failed|failure|fatal|panic|exception|cannot|can't|could not|couldn't|unable|denied|refused|killed|timed out|timeout|exceed\w*|invalid|out of memory|overloaded|not found|does not exist|died|crashed|lost|aborted|rejected|exhausted|too long|too large|full)\b/i;
/** Exceptions that a program meets on its way to the real one. */
const INCIDENTAL =
  /^(?:[\w.]*\.)?(?:KeyError|AttributeError|StopIteration|StopAsyncIteration|ImportError|ModuleNotFoundError|IndexError|CancelledError|NoneType|UnicodeDecodeError|FileNotFoundError)\b/;

/** Takes a raw block (still with carriers and prefixes, or clean) apart. Linear in its length, which is capped. */
export function readErrorBlock(raw: string): ErrorBlock {
  const places: string[] = [];
  const { lines, stackDepth, raised } = scan(physicalLines(raw, places));
  const messages: string[] = [];
  const add = (text: string): void => {
    const clean = text.trim();
    if (clean !== "" && messages.length < MAX_CANDIDATES && !messages.includes(clean)) messages.push(clean);
  };
  for (const index of rootFirst(raised)) add(raised[index]?.text ?? "");
  if (messages.length === 0) {
    add(lines.find((line) => EXCEPTION.test(line.trim())) ?? lines.find((line) => TELLS_FAILURE.test(line)) ?? "");
  }
  for (const line of lines) add(line);
  return { deciding: messages[0] ?? "", messages, places, stackDepth };
}

/** The messages as one text, lower case, quotes made equal, escapes of JSON and of Python's `repr` undone; at most 10,000 characters. */
export function searchableText(block: ErrorBlock): string {
  let text = "";
  for (const message of block.messages) {
    if (text.length >= MAX_TEXT_CHARS) break;
    text += text === "" ? message : `\n${message}`;
  }
  if (text.length > MAX_TEXT_CHARS) text = text.slice(0, MAX_TEXT_CHARS);
  if (block.places.length > 0) text += `\n${block.places.join(" ")}`;
  if (text.includes("\\")) text = text.replace(/\\{1,4}n/g, "\n").replace(/\\+(?=["'`/])/g, "");
  return text
    .replace(/[`\u2018\u2019]/g, "'")
    .replace(/[ \t\r\u00a0]{2,}|[\t\r\u00a0]/g, " ")
    .toLowerCase();
}

const PLACE = /[\w/]{1,80}\.(?:py|go|rs|cc|cpp|cu|java|ts|js)\b|\b[a-z]\w{1,60}(?:::\w{1,60}){1,6}/g;
const MAX_PLACES = 12;

function physicalLines(raw: string, places: string[]): string[] {
  let text = raw;
  // both ends tell more than the middle of a very long block
  if (text.length > MAX_BLOCK_CHARS) {
    text = `${text.slice(0, MAX_BLOCK_CHARS / 2)}\n${text.slice(text.length - MAX_BLOCK_CHARS / 2)}`;
  }
  if (text.includes("\u001b")) text = stripAnsi(text);
  let lines = text.split("\n");
  if (lines.length > MAX_LINES) lines = [...lines.slice(0, MAX_LINES / 2), ...lines.slice(-MAX_LINES / 2)];
  const out: string[] = [];
  const chatter: string[] = [];
  const put = (line: string, bare: string): void => {
    const cut = bare.length > MAX_LINE_CHARS ? bare.slice(0, MAX_LINE_CHARS) : bare;
    if (CHATTER.test(bare) || QUIET_LEVEL.test(line.slice(0, line.length - bare.length))) chatter.push(cut);
    else out.push(cut);
  };
  for (const line of lines) {
    const bare = unwrapLine(line);
    if (bare.length < line.length && places.length < MAX_PLACES) {
      for (const [place] of line.slice(0, line.length - bare.length).matchAll(PLACE)) {
        if (!places.includes(place)) places.push(place);
      }
    }
    const inner = bare.charCodeAt(0) === 123 ? textOfLogObject(bare) : undefined;
    if (inner === undefined) put(line, logfmtText(bare) ?? bare);
    else for (const part of inner.split("\n")) put(part, unwrapLine(part));
  }
  // lines of a quiet level that stand between decide only when there is nothing else
  return out.some((line) => line.trim() !== "") ? out : [...out, ...chatter];
}

/** A logger's prefix that says the line is no trouble. */
const QUIET_LEVEL = /(?:^|[^A-Za-z])(?:INFO|DEBUG|TRACE)(?![A-Za-z])/;
/** Periodic and access lines of servers that print no level. */
const CHATTER =
  /^(?:Prefill|Decode) batch\b|^[\w.:[\]-]{2,60} - "(?:GET|POST|PUT|DELETE|HEAD|OPTIONS|PATCH) \S{1,300} HTTP\/[\d.]{1,3}" \d{3}\b/;

const LOGFMT = /^(?:time|ts|level|lvl|t)=\S{1,60} .{0,400}?\bmsg=/;
const LOGFMT_VALUE = /\b(msg|error|err|reason)=("(?:[^"\\]|\\.){0,2000}"|\S{1,400})/g;

/** `msg` and the error fields of a logfmt line (Go's slog, Ollama), `message: error`. */
function logfmtText(line: string): string | undefined {
  if (!LOGFMT.test(line)) return undefined;
  const found: string[] = [];
  for (const [, , value = ""] of line.matchAll(LOGFMT_VALUE)) {
    found.push(value.startsWith('"') ? value.slice(1, -1).replaceAll('\\"', '"').replaceAll("\\n", " ") : value);
  }
  const rest = line.slice(line.indexOf("msg=")).replace(LOGFMT_VALUE, "").trim();
  return found.length === 0 ? undefined : [found.join(": "), rest].filter((part) => part !== "").join(" ");
}

/** One pass over the lines: frames are dropped, exceptions collected with their links, everything else kept. */
function scan(physical: readonly string[]): { lines: string[]; stackDepth: number; raised: Raised[] } {
  const lines: string[] = [];
  const raised: Raised[] = [];
  let stackDepth = 0;
  let inTraceback = false;
  let codeExpected = false;
  let link: Link = "none";
  let chain = 0;
  let open: Raised | undefined;
  let openLines = 0;
  let rustPanic = false;
  let inGoroutine = false;
  const raise = (text: string, how: Link): void => {
    if (how === "none") chain++;
    open = { text, link: how, chain };
    openLines = 1;
    raised.push(open);
    link = "none";
    inTraceback = false;
  };
  for (const whole of physical) {
    const line = whole.replace(/^\s*(?:\| ){1,4}/, "");
    const direct = DIRECT_CAUSE.exec(line);
    const during = direct ?? DURING.exec(line);
    if (during !== null) {
      link = direct === null ? "during" : "direct";
      open = undefined;
      inTraceback = false;
      const rest = line.slice(during[0].length);
      if (rest.trim() !== "") raise(rest, link);
      continue;
    }
    const traceback = line.indexOf(TRACEBACK);
    if (traceback >= 0) {
      const before = line.slice(0, traceback).trim();
      if (before !== "" && before !== "+ Exception Group") lines.push(before);
      inTraceback = true;
      open = undefined;
      continue;
    }
    if (PYTHON_FRAME.test(line)) {
      stackDepth++;
      codeExpected = true;
      open = undefined;
      continue;
    }
    if (STACK_FRAME.test(line) || (inGoroutine && GO_FUNCTION.test(line))) {
      inGoroutine ||= line.startsWith("goroutine ");
      stackDepth++;
      continue;
    }
    if (NOTE.test(line)) continue;
    const indented = line.charCodeAt(0) === 32 || line.charCodeAt(0) === 9;
    if (inTraceback || codeExpected) {
      if (indented) {
        codeExpected = false;
        inTraceback = true;
        continue;
      }
      codeExpected = false;
      if (line.trim() === "") continue;
      raise(line, link);
      continue;
    }
    const caused = CAUSED_BY.exec(line);
    if (caused !== null) {
      // the innermost cause is printed last: each one becomes the root of those before
      const inner = line.slice(caused[0].length).trim();
      if (inner !== "") {
        chain = Math.max(chain, 1);
        raised.unshift({ text: inner, link: "none", chain });
        open = raised[0];
        openLines = 1;
      }
      continue;
    }
    if (/^thread '[^'\n]{0,100}' (?:\(\d+\) )?panicked at /.test(line)) {
      // since Rust 1.73 the message stands on the next line
      rustPanic = line.endsWith(":");
      raise(line, "none");
      continue;
    }
    if (rustPanic && line.trim() !== "") {
      rustPanic = false;
      if (open !== undefined) open.text = line.trim();
      continue;
    }
    if (/^(?:panic|fatal error): /.test(line)) {
      raise(line, "none");
      continue;
    }
    if (line.trim() === "") {
      // a message may hold one blank line (Hugging Face's errors do)
      openLines++;
      continue;
    }
    if (open !== undefined && openLines < MAX_MESSAGE_LINES && !EXCEPTION.test(line)) {
      open.text += `\n${line.trim()}`;
      openLines++;
      continue;
    }
    open = undefined;
    lines.push(line);
  }
  return { lines, stackDepth, raised };
}

/**
 * Order in which exceptions may be the root. Of one chain: with "direct cause" the first; with "during handling" the
 * first too, unless it is of the kind a program stumbles over on its way (a missing key, an import); then the last, which
 * was shown to the caller. Of several chains (several processes crashed) the first.
 */
function rootFirst(raised: readonly Raised[]): number[] {
  const order: number[] = [];
  let start = 0;
  while (start < raised.length) {
    let end = start + 1;
    while (end < raised.length && raised[end]?.link !== "none") end++;
    let root = start;
    while (root + 1 < end && raised[root + 1]?.link === "during" && INCIDENTAL.test(raised[root]?.text ?? "")) root++;
    order.push(root);
    for (let index = end - 1; index >= start; index--) if (index !== root) order.push(index);
    start = end;
  }
  return order;
}
