/** What stands in front of a message of llama.cpp's log. */
export interface Unprefixed {
  /** Port of the child in router mode (`[42027] `); empty otherwise. */
  port: string;
  /** True when the time since process start is printed. */
  stamped: boolean;
  /** Level letter: `D`, `T`, `I`, `W`, `E` or `C`; empty when none is printed. */
  level: string;
  /** Index of the message's first character. */
  at: number;
}

const result: Unprefixed = { port: "", stamped: false, level: "", at: 0 };
const LEVELS = "DTIWEC";
const SPACE = 32;

const isDigit = (text: string, at: number): boolean => {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
};

/**
 * Reads `[port] M.SS.mmm.uuu L message`, every part optional. The level letter alone (`--log-prefix`) is taken only where a
 * server's message follows, because `I ` also begins English sentences: see {@link messageAt}.
 *
 * @returns A shared object, overwritten by the next call.
 * @see ggml-org/llama.cpp common/log.cpp (7675c555a, b10018); tools/server/server-models.cpp for `[%5d] `
 */
export function unprefix(text: string): Unprefixed {
  result.port = "";
  result.stamped = false;
  result.level = "";
  // late 2024 starts lines with \r; LM Studio indents them
  let at = blanksEnd(text, 0);
  if (text.charCodeAt(at) === 91) {
    const end = portEnd(text, at + 1);
    if (end > 0) {
      result.port = text.slice(at + 1, end).trim();
      at = end + 2;
    }
  }
  const stamp = stampEnd(text, at);
  if (stamp > 0) {
    result.stamped = true;
    at = stamp;
  }
  if (LEVELS.includes(text.charAt(at)) && at < text.length) {
    const blank = text.charCodeAt(at + 1);
    if (blank === SPACE ? result.stamped || isServerMessage(text, at + 2) : result.stamped && at + 1 === text.length) {
      result.level = text.charAt(at);
      at += blank === SPACE ? 2 : 1;
    }
  }
  result.at = at;
  return result;
}

function blanksEnd(text: string, from: number): number {
  let at = from;
  while (at < from + 16 && (text.charCodeAt(at) === SPACE || text.charCodeAt(at) === 13)) at++;
  return at;
}

/** Index of the `]` that ends a port of one to five digits, or 0. */
function portEnd(text: string, from: number): number {
  let at = from;
  while (at < from + 4 && text.charCodeAt(at) === SPACE) at++;
  const first = at;
  while (at < from + 5 && isDigit(text, at)) at++;
  return at > first && text.charCodeAt(at) === 93 && text.charCodeAt(at + 1) === SPACE ? at : 0;
}

/** Index after `M.SS.mmm.uuu `, or 0. Minutes are unbounded. */
function stampEnd(text: string, from: number): number {
  let at = from;
  while (at < from + 9 && isDigit(text, at)) at++;
  if (at === from) return 0;
  for (const width of [2, 3, 3]) {
    if (text.charCodeAt(at) !== 46) return 0;
    for (let index = 1; index <= width; index++) if (!isDigit(text, at + index)) return 0;
    at += width + 1;
  }
  return text.charCodeAt(at) === SPACE ? at + 1 : 0;
}

/** Writers within the server: slots, the server, its queues, common code, speculative decoding. */
const GROUPS = ["slot ", "srv  ", "que  ", "res  ", "cmn  ", "spec "];
/** Columns of group and function name (12, cut or padded) in front of the colon. */
const COLON_AT = 17;
/** Columns in front of what a group says. */
export const GROUP_WIDTH = 19;

/** True for `slot print_timing: …`: a known group, twelve columns of function name, a colon. */
export function hasGroup(text: string, at: number): boolean {
  return (
    text.charCodeAt(at + COLON_AT) === 58 &&
    (text.charCodeAt(at + COLON_AT + 1) === SPACE || text.length === at + COLON_AT + 1) &&
    GROUPS.some((group) => text.startsWith(group, at))
  );
}

const OPENINGS = [
  "main: HTTP server is listening",
  "main: server is listening on",
  "main: binding port with",
  "main: loading model",
  "main: model loaded",
  "main: chat template",
  "got exception: {",
  "Unauthorized: Invalid API Key",
  "print_timings: ",
];
const BUILD = /build: \d+ \([0-9a-f]+\) with /y;

/** True for a message that only llama-server writes, with its prefix removed. */
export function isServerMessage(text: string, at: number): boolean {
  if (hasGroup(text, at)) return true;
  switch (text.charCodeAt(at)) {
    case 98: // b
      BUILD.lastIndex = at;
      return BUILD.test(text);
    case 71: // G
    case 85: // U
    case 103: // g
    case 109: // m
    case 112: // p
      return OPENINGS.some((opening) => text.startsWith(opening, at));
    default:
      return false;
  }
}
