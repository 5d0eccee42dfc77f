/** What a mask replaces: the kind of the value, which also names the slot of a template. */
export interface Mask {
  readonly name: string;
  /** Source of a regular expression without capturing groups. Repetitions are bounded or over disjoint classes. */
  readonly source: string;
}

/** Text of a masked value. */
export const SLOT = "<*>";

const ENDINGS =
  "com|net|org|edu|gov|mil|io|ai|eu|cn|hk|de|jp|uk|fr|it|ru|br|kr|tw|nl|pl|local|internal|lan|svc|cluster";
const SOURCE_FILES = "java|scala|kt|py|go|rs|c|cc|cpp|cu|cuh|h|hpp|js|ts|rb|php|cs";

/**
 * The masks in order: at one position the first that matches wins. Every value that changes from message to message and can be
 * told by its form is here; words are told apart by how many of them share a context (see {@link TemplateMiner}).
 */
export const MASKS: readonly Mask[] = [
  { name: "url", source: "\\b[a-zA-Z][a-zA-Z0-9+.-]{1,15}://[^\\s\"'<>()\\[\\]{},;]*" },
  { name: "email", source: "\\b[\\w.+-]{1,64}@[\\w-]{1,63}(?:\\.[\\w-]{1,63}){1,5}" },
  { name: "uuid", source: "\\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\\b" },
  {
    name: "datetime",
    source:
      "\\b\\d{4}[-/]\\d{1,2}[-/]\\d{1,2}(?:[T:_]\\d{1,2}:\\d{2}:\\d{2}(?:[.,]\\d{1,9})?(?:Z|[+-]\\d{2}:?\\d{2})?)?(?![\\w-])",
  },
  { name: "mac", source: "\\b(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}\\b" },
  { name: "ip_port", source: "\\b\\d{1,3}(?:\\.\\d{1,3}){3}:\\d{1,5}\\b" },
  { name: "ip", source: "\\b\\d{1,3}(?:\\.\\d{1,3}){3}(?![\\w-]|\\.\\w)" },
  { name: "ip", source: "(?<![\\w:.])(?:[0-9a-fA-F]{0,4}:){3,7}[0-9a-fA-F]{1,4}(?![\\w:])" },
  { name: "time", source: "\\b\\d{1,2}:\\d{2}(?::\\d{2}(?:[.,]\\d{1,9})?)?(?![\\w:])" },
  {
    name: "host_port",
    source: `\\b(?!\\w+\\.(?:${SOURCE_FILES}):)[A-Za-z][\\w-]{0,62}(?:\\.[\\w-]{1,63}){1,8}:\\d{1,5}(?!\\w)`,
  },
  {
    name: "host",
    source: `(?<![\\w.@/-])(?!(?:org|com|net|edu|io|java|javax)\\.)[\\w-]{1,63}(?:\\.[\\w-]{1,63}){0,8}\\.(?:${ENDINGS})(?![\\w.-]\\w|\\w)`,
  },
  {
    name: "host",
    source: "(?<![\\w.@/-])(?=[a-z-]{0,62}\\d)[\\w-]{1,63}(?:\\.[\\w-]{1,63}){2,8}(?<=\\.[a-z]{2,6})(?![\\w.-]\\w|\\w)",
  },
  { name: "component", source: "\\b[A-Za-z]\\w{0,62}(?:\\.\\w{1,63}){1,8}/\\.?[A-Za-z][\\w.$]*" },
  {
    name: "path",
    source:
      "(?<![\\w>.])(?:[A-Za-z]:[\\\\/]|~?/|\\.{1,2}/)[^\\s\"'<>()\\[\\]{},;:=|\\\\/]+(?:[\\\\/][^\\s\"'<>()\\[\\]{},;:=|\\\\/]*)+",
  },
  { name: "hex", source: "\\b0[xX][0-9a-fA-F]+\\b" },
  {
    name: "hex",
    source: "(?<![A-Za-z0-9])(?=[a-fA-F]{0,32}\\d)(?=\\d{0,32}[a-fA-F])[0-9a-fA-F]{7,}(?![A-Za-z0-9])",
  },
  { name: "size", source: "(?<![A-Za-z])\\d+(?:\\.\\d+)?(?:[KMGTP]i?B|[kKMGT]b?|Bytes|bytes|B)\\b" },
  { name: "duration", source: "(?<![A-Za-z])\\d+(?:\\.\\d+)?(?:ms|us|µs|ns|secs?|min|hrs?|[smhd])\\b" },
  {
    name: "id",
    source: "(?<![A-Za-z0-9])(?:(?:[A-Za-z]+\\d+){2,}[A-Za-z]*|(?:\\d+[A-Za-z]+){2,}\\d*)(?![A-Za-z0-9])",
  },
  { name: "number", source: "(?:(?<![A-Za-z0-9)\\]>.-])[-+])?\\d+(?:\\.\\d+)*%?" },
];

const COMBINED = new RegExp(MASKS.map(({ source }) => `(${source})`).join("|"), "g");
/** Slots with nothing but a joint between them are one slot. */
const JOINED_SLOTS = /<\*>(?:[.:,/_@+x-]?(?:[a-z]_)?<\*>)+/g;
/** A number between letters belongs to the name: `jk2_init`, `Slf4jLogger`. */
const LETTER = /[A-Za-z]/;
const AFTER_DIGIT = /[A-Za-z_$]/;
/** Of a longer token only this much is looked at; the rest is a slot. */
const MAX_TOKEN_CHARS = 400;

/**
 * Masks one token (text without white space).
 *
 * @param slot What a value of this kind becomes.
 */
export function maskToken(token: string, slot: (name: string, value: string) => string): string {
  const text = token.length > MAX_TOKEN_CHARS ? token.slice(0, MAX_TOKEN_CHARS) : token;
  const masked = text.replace(COMBINED, (...found: unknown[]) => {
    const value = found[0] as string;
    let group = 1;
    while (found[group] === undefined) group++;
    const name = (MASKS[group - 1] as Mask).name;
    if (name === "number" && value.length === 1) {
      const at = found[MASKS.length + 1] as number;
      if (LETTER.test(text[at - 1] ?? "") && AFTER_DIGIT.test(text[at + 1] ?? "")) return value;
    }
    return slot(name, value);
  });
  return token.length > MAX_TOKEN_CHARS ? masked + slot("text", token.slice(MAX_TOKEN_CHARS)) : masked;
}

const asSlot = (): string => SLOT;

/** Masks one token with {@link SLOT}. Most tokens are words: they cost one look at their characters. */
export function slotToken(token: string): string {
  if (!mayHoldValue(token)) return token;
  if (isDigits(token)) return SLOT;
  const masked = maskToken(token, asSlot);
  return masked.length > 6 && masked.includes("<*>") ? masked.replace(JOINED_SLOTS, SLOT) : masked;
}

function isDigits(token: string): boolean {
  for (let at = 0; at < token.length; at++) {
    const code = token.charCodeAt(at);
    if (code < 48 || code > 57) return false;
  }
  return true;
}

/** Every mask needs a digit, a slash, a backslash, a dot or an at-sign. */
function mayHoldValue(token: string): boolean {
  for (let at = 0; at < token.length; at++) {
    const code = token.charCodeAt(at);
    if (code >= 46 && code <= 57) return true; // . / 0–9
    if (code === 64 || code === 92) return true; // @ \
  }
  return false;
}

/** Masks a message with typed slots, `Served block <number> to <ip>`; white space stays. */
export function maskMessage(text: string): string {
  return text.replace(/\S+/g, (token) => (mayHoldValue(token) ? maskToken(token, (name) => `<${name}>`) : token));
}
