/** Keys under which prompts, answers and documents stand in logs. */
const BODY_KEYS =
  "prompt|prompts|content|contents|input|inputs|text|texts|query|question|answer|system|system_prompt|user_message|messages|document|documents|completion|output|outputs|generated_text|response_text|context|passages?";

interface Rule {
  readonly expression: RegExp;
  readonly by: string | ((found: string, ...groups: string[]) => string);
  /** A piece of text every match holds, lower case; spares the search. */
  readonly needs?: readonly string[];
}

const bodyMark = (characters: number): string => `<text: ${characters} characters>`;
const quoted = (head: string, open: string, body: string, close: string): string =>
  body.length <= SHORT ? head + open + body + close : `${head}${open}${bodyMark(body.length)}${close}`;
/** A body this short names something (`"input": "body"`), it is no prompt. */
const SHORT = 24;
const MAX_BODY = 100_000;

/** In order: secrets before bodies, because a body hides what stands in it anyway. All linear. */
const RULES: readonly Rule[] = [
  {
    needs: ["-----begin"],
    expression: /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[^]{0,10000}?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g,
    by: "<private key>",
  },
  // keys that show themselves by their beginning
  { expression: /\b(?:sk|pk|rk)-(?:ant-|proj-|or-v1-|lf-|svcacct-)?[A-Za-z0-9_-]{16,}/g, needs: ["k-"], by: "<key>" },
  {
    expression:
      /\b(?:gsk|xai|hf|pplx|r8|nvapi|tgp|csk|fw|ghp|gho|ghs|github_pat|glpat|xoxb|xoxp|co|voyage|pa|jina|pcsk|lsv2_pt|lsv2_sk|dop_v1|tvly)[_-][A-Za-z0-9_-]{16,}/g,
    by: "<key>",
  },
  { expression: /\bAIza[\w-]{30,}/g, needs: ["aiza"], by: "<key>" },
  { expression: /\b(?:AKIA|ASIA|ABIA)[0-9A-Z]{16}\b/g, by: "<key>" },
  { expression: /\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]{0,2000})?/g, needs: ["eyj"], by: "<token>" },
  // keys that are told by the name before them
  {
    needs: ["bearer", "basic "],
    expression: /\b(Bearer|Basic|Token) +[A-Za-z0-9._~+/=-]{6,}/gi,
    by: (_found, scheme) => `${scheme} <token>`,
  },
  {
    expression:
      /\b((?:x-)?api[-_ ]?key|apikey|access[-_]?key(?:[-_]?id)?|secret(?:[-_]?(?:access[-_]?)?key)?|client[-_]?secret|auth[-_]?token|access[-_]?token|refresh[-_]?token|id[-_]?token|master[-_]?key|virtual[-_]?key|password|passwd|pwd|authorization|cookie|set-cookie|session[-_]?token)(["']?\s{0,2}[:=]\s{0,2}["']?)(?!<|None\b|null\b|true\b|false\b|Bearer\b|Basic\b|Token\b|[\w-]{0,12}(?:\*{3}|\.{3}))([^\s"',;&}\])<]{4,})/gi,
    by: (_found, name, between) => `${name}${between}<secret>`,
  },
  // user and password in an address
  {
    needs: ["://"],
    expression: /(:\/\/[^\s:/@"']{0,100}):[^\s/@"']{1,200}@/g,
    by: (_found, head) => `${head}:<secret>@`,
  },
  { needs: ["@"], expression: /\b[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,6}\b/g, by: "<email>" },
  { expression: /;base64,[A-Za-z0-9+/=]{64,}/g, needs: [";base64,"], by: ";base64,<data>" },
  // bodies: JSON, Python's repr and keyword arguments, Rust's String("…"); an end that was cut off counts as the end
  {
    expression: new RegExp(
      `(["'](?:${BODY_KEYS})["']\\s{0,3}:\\s{0,3})(")((?:[^"\\\\]|\\\\.){0,${MAX_BODY}})("|$)`,
      "gs",
    ),
    by: (_found, head = "", open = "", body = "", close = "") => quoted(head, open, body, close),
  },
  {
    expression: new RegExp(
      `(["'](?:${BODY_KEYS})["']\\s{0,3}:\\s{0,3})(')((?:[^'\\\\]|\\\\.){0,${MAX_BODY}})('|$)`,
      "gs",
    ),
    by: (_found, head = "", open = "", body = "", close = "") => quoted(head, open, body, close),
  },
  {
    expression: new RegExp(
      `(\\b(?:${BODY_KEYS})\\s?[=:]\\s?(?:String\\()?)(")((?:[^"\\\\]|\\\\.){0,${MAX_BODY}})("|$)`,
      "gs",
    ),
    by: (_found, head = "", open = "", body = "", close = "") => quoted(head, open, body, close),
  },
  {
    expression: new RegExp(`(\\b(?:${BODY_KEYS})\\s?[=:]\\s?)(')((?:[^'\\\\]|\\\\.){0,${MAX_BODY}})('|$)`, "gs"),
    by: (_found, head = "", open = "", body = "", close = "") => quoted(head, open, body, close),
  },
];

/**
 * Masks what must not be stored or shown: keys, tokens, passwords, e-mail addresses, and the text of prompts, answers and
 * documents (their length stays). What says why a request failed stays readable.
 */
export function redact(text: string): string {
  const lower = text.toLowerCase();
  let result = text;
  for (const { expression, by, needs } of RULES) {
    if (needs !== undefined && !needs.some((piece) => lower.includes(piece))) continue;
    result = typeof by === "string" ? result.replace(expression, by) : result.replace(expression, by);
  }
  return result;
}
