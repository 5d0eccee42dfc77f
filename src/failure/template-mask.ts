/** What a mask leaves in place of a value. */
export const WILDCARD = "<*>";
/** Longest part of a line that is looked at, characters. */
const MAX_LINE_CHARS = 1_500;

const TLD =
  "com|net|org|edu|gov|mil|info|biz|io|ai|dev|app|asia|cloud|local|localdomain|internal|lan|corp|cn|hk|tw|jp|kr|sg|de|fr|uk|nl|es|pl|ru|ch|se|fi|dk|cz|br|mx|ar|ca|au|nz|us|eu|tv|il|za|tr|ua|ro|hu|gr|pt|vn|ph";
const WEEKDAY = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6}";
const MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}";

interface Mask {
  /** The kind of value it stands for. */
  readonly type: string;
  readonly expression: RegExp;
  /** What is put in place of a match; the wildcard unless stated. */
  readonly leaves?: string;
  /** A character every match holds; lines without it are passed over. */
  readonly needs?: string;
}

/**
 * Typed masks in order: a value is taken by the first that fits, so the larger come before their parts (an address
 * before its numbers, a path before a date inside it). All of them are linear.
 */
export const MASKS: readonly Mask[] = [
  { type: "uuid", needs: "-", expression: /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi },
  { type: "url", needs: "://", expression: /\b[a-z][a-z0-9+.-]{1,15}:\/\/[^\s"'<>,;)\]}]+/gi },
  // POSIX and Windows; a query string belongs to it
  {
    type: "path",
    expression:
      /(?<![\w<>.:*])(?:[A-Za-z]:)?[\\/](?:[^\s\\/"'<>|:;,()[\]{}=?]+[\\/])*[^\s\\/"'<>|:;,()[\]{}=?]*(?:\?[^\s"'<>|;()[\]{}]*)?/g,
  },
  // Android and Java components, `com.acme.app/.ui.MainActivity`
  { type: "path", needs: "/", expression: /(?<![\w./])[a-z]\w{0,62}(?:\.\w{1,62}){1,8}\/[\w.$/]{1,200}/g },
  { type: "email", needs: "@", expression: /\b[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+\b/g },
  {
    type: "date",
    expression: new RegExp(
      `\\b${WEEKDAY},? (?:\\d{1,2} )?${MONTH} {1,2}(?:\\d{1,2} )?(?:\\d\\d:\\d\\d:\\d\\d )?(?:[A-Z]{3,4} )?\\d{4}(?: \\d\\d:\\d\\d:\\d\\d)?(?: GMT)?`,
      "g",
    ),
    needs: ":",
  },
  { type: "date", expression: /\b\d{4}[-/]\d\d[-/]\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?\b/g },
  { type: "address", needs: ".", expression: /\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b/g },
  { type: "address", needs: ":", expression: /\b[0-9a-f]{2}(?::[0-9a-f]{2}){5,7}\b/gi },
  {
    type: "address",
    needs: ":",
    expression: /(?<![\w:])(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{1,4}(?![\w:])|(?<![\w:])[0-9a-f]{0,4}::[0-9a-f:]{0,30}(?![\w:])/gi,
  },
  {
    type: "host",
    needs: ".",
    expression: new RegExp(`(?<![\\w./$-])(?:[a-z0-9_][\\w-]{0,62}\\.)+(?:${TLD})\\.?(?![\\w./(-])`, "gi"),
  },
  // `12801 bytes (12.5 KB)`: the size in parentheses says the figure before it once more
  { type: "size", needs: "B)", expression: / \((?:\d+(?:[.,]\d+)*|<\*>) ?[KMGTP]?i?B\)/g, leaves: "" },
  { type: "hex", expression: /\b0x[0-9a-f]+\b|\b[0-9a-f]{8,}\b/gi },
  // `<1 sec`
  { type: "duration", needs: "<", expression: /<(?=\d+ [a-z])/g, leaves: "" },
  // an empty value where others have one: `from 10.0.0.1 ()`
  { type: "empty", needs: "()", expression: /(?<=^|\s)\(\)/g, leaves: `(${WILDCARD})` },
  { type: "duration", needs: ":", expression: /\b\d{1,3}:\d\d(?::\d\d)?(?:[.,]\d+)?\b/g },
  {
    type: "size",
    expression: /(?<![\w.])[-+]?\d+(?:,\d{3})*(?:\.\d+)? ?(?:[KMGTP]i?B|[kKMG]?B|[mun\u00b5]s|s|sec|MHz|GHz)\b/g,
  },
  { type: "name", needs: "user ", expression: /(?<=\b(?:for|by|as|invalid|illegal) user )[\w.$@-]+/gi },
  { type: "name", needs: "password for ", expression: /(?<=\bpassword for )(?!invalid |illegal )[\w.$@-]+/g },
  { type: "boolean", expression: /(?<=\w ?[=:] ?)(?:true|false)\b/gi },
  { type: "number", expression: /(?<![A-Za-z0-9_.-])[-+]?\d+(?:,\d{3})*(?:\.\d+)*%?(?![A-Za-z0-9_])/g },
];

/** Characters, or runs of them, that part a line into words; kept, because they are part of the form. */
export const SEPARATORS = /(\.{2,}|[\s=:,;()[\]{}"'|#!?&@]+)/;
/** One digit inside a word of five letters or more: a name (`jk2_init`, `flush2DB`), no value. */
const NAME_WITH_DIGIT = /^(?=.{5})[A-Za-z_]+\d[A-Za-z_]+$/;
const DIGIT = /\d/;
const WILDCARD_RUN = /<\*>(?:[ ,]+<\*>)+/g;
const WILDCARD_JOINED = /<\*>(?:[-.+_/:&=]|#{1,2})?(?:<\*>(?:[-.+_/:&=]|#{1,2})?)*<\*>/g;

/**
 * The form of a message: its line with every value masked, every blank single. Messages of one form differ in values
 * that show themselves by their look; what only comparison shows (a user name) is the miner's work.
 */
export function shapeOf(message: string): string {
  let line = message.length > MAX_LINE_CHARS ? message.slice(0, MAX_LINE_CHARS) : message;
  line = line.trim().replace(/\s{2,}|[\t\r\n]/g, " ");
  for (const { expression, leaves, needs } of MASKS) {
    if (needs === undefined || line.includes(needs)) line = line.replace(expression, leaves ?? WILDCARD);
  }
  const parts = line.split(SEPARATORS);
  let shape = "";
  for (let index = 0; index < parts.length; index++) {
    const part = parts[index] ?? "";
    shape += index % 2 === 0 && isValue(part) ? WILDCARD : part;
  }
  return joinWildcards(shape);
}

/** Lists of values, and values joined by punctuation, are one value: `blk_1 blk_2 blk_3`, `10.0.0.1:80`. */
export function joinWildcards(shape: string): string {
  let before = shape;
  for (let round = 0; round < 4; round++) {
    const after = before.replace(WILDCARD_RUN, WILDCARD).replace(WILDCARD_JOINED, WILDCARD);
    if (after === before) return after;
    before = after;
  }
  return before;
}

function isValue(word: string): boolean {
  if (word === WILDCARD) return false;
  if (word.includes(WILDCARD)) return true;
  return DIGIT.test(word) && !NAME_WITH_DIGIT.test(word);
}
