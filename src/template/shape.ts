import { SLOT, slotToken } from "./masks.ts";
import { isWord } from "./words.ts";

/** A message with its values masked. */
export interface Shape {
  /** Tokens as shown. */
  readonly tokens: string[];
  /** Messages with equal keys are one template whatever else is known. */
  readonly key: string;
}

/** Tokens looked at; what follows is one slot. */
const MAX_TOKENS = 120;
/** Joins the tokens of a key; no token holds white space. */
export const KEY_GAP = " ";

const UNITS = new Set("B KB MB GB TB PB KiB MiB GiB TiB kB kb ms us ns sec secs".split(" "));
const DATE_WORDS = new Set("Mon Tue Wed Thu Fri Sat Sun Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" "));
const SWITCHES = new Set(["on", "off", "(", ")"]);
const SWITCH_VALUE = /([=:([])(?:true|false|True|False|TRUE|FALSE|null|None|NULL|nil|yes|no)(?!\w)/g;
const BARE_SWITCH = /^(?:true|false|True|False|null|None|nil)([,;)\]}.]*)$/;

/**
 * Masks a message token by token. A pure function of the text: neither the order of messages nor what was seen before has a say.
 * The key is coarser than what is shown: units, switches and empty brackets count as values there.
 */
export function shapeOf(text: string, mask: (token: string) => string = slotToken): Shape {
  const tokens = split(text);
  for (let at = 0; at < tokens.length; at++) tokens[at] = mask(tokens[at] as string);
  maskDates(tokens);
  const shown = joinLists(tokens);
  let key = "";
  for (let at = 0; at < shown.length; at++) {
    const token = keyToken(shown[at] as string, shown[at - 1], shown[at + 1]);
    key += at === 0 ? token : KEY_GAP + token;
  }
  return { tokens: shown, key };
}

/** Splits at white space. */
function split(text: string): string[] {
  const tokens: string[] = [];
  let start = -1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const blank = code === 32 || (code >= 9 && code <= 13) || code === 160;
    if (blank && start >= 0) {
      tokens.push(text.slice(start, at));
      start = -1;
      if (tokens.length >= MAX_TOKENS) return [...tokens, SLOT];
    } else if (!blank && start < 0) start = at;
  }
  if (start >= 0) tokens.push(text.slice(start));
  return tokens;
}

/** `Fri Jun 17 20:55:07`: names of days and months beside a number or each other. */
function maskDates(tokens: string[]): void {
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] as string;
    if (token.length !== 3 || !DATE_WORDS.has(token)) continue;
    const next = tokens[at + 1] ?? "";
    if (next === SLOT || DATE_WORDS.has(next)) tokens[at] = SLOT;
  }
}

/** Lists of values are one slot however long: `a 1, 2, 3` and `a 1, 2`. So is a figure told twice: `1304 bytes (1.27 KB)`. */
function joinLists(tokens: string[]): string[] {
  const out: string[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] as string;
    const previous = out.at(-1);
    if (previous === "<*>," && (token === SLOT || token === "<*>,")) out[out.length - 1] = token;
    else if (token === "(<*>" && UNITS.has((tokens[at + 1] ?? "").slice(0, -1)) && previous === "bytes") at++;
    else if (token === "<<*>") {
      // `lifetime <1 sec`
      out.push(SLOT);
      if (UNITS.has(tokens[at + 1] ?? "")) at++;
    } else if (token === previous && token.length > SLOT.length + 1 && token.includes(SLOT) && isWord(token)) continue;
    else out.push(token);
  }
  return out;
}

function keyToken(token: string, previous: string | undefined, next: string | undefined): string {
  switch (token) {
    case "***":
    case "****":
      // A figure that did not fit its column.
      return previous === SLOT || next === SLOT ? SLOT : token;
    case "()":
      return "(<*>)";
    case "on":
    case "off":
      return (next !== undefined && SWITCHES.has(next)) || (previous !== undefined && SWITCHES.has(previous))
        ? SLOT
        : token;
  }
  const code = token.charCodeAt(token.length - 1);
  if (previous === SLOT || previous?.endsWith(SLOT) === true) {
    const bare = code < 65 ? token.replace(/[,;).]+$/, "") : token;
    if (UNITS.has(bare)) return SLOT + token.slice(bare.length);
  }
  if (token.length < 40) {
    if (BARE_SWITCH.test(token)) return token.replace(BARE_SWITCH, `${SLOT}$1`);
  }
  return token.includes("=") || token.includes(":") ? token.replace(SWITCH_VALUE, `$1${SLOT}`) : token;
}
