import type { ErrorBlock } from "./error-block.ts";

/** Typed figures and names of a failure. What the text does not say is undefined. */
export interface Slots {
  readonly httpStatus?: number;
  /** Exception or error class as printed, without package. */
  readonly errorClass?: string;
  /** The innermost machine-readable code, e.g. `context_length_exceeded`. */
  readonly errorCode?: string;
  /** Tokens the request had or asked for. */
  readonly tokens?: number;
  /** Most tokens allowed. */
  readonly tokenLimit?: number;
  /** Memory that was asked for, GiB. */
  readonly requestedGiB?: number;
  readonly freeGiB?: number;
  readonly totalGiB?: number;
  readonly timeoutS?: number;
  readonly retryAfterS?: number;
  readonly model?: string;
  /** Collection, index or table. */
  readonly collection?: string;
  /** Number of the GPU, e.g. `1`. */
  readonly gpu?: string;
  /** Host and port, or address, of the other side. */
  readonly upstream?: string;
  readonly tool?: string;
}

const MAX_CHARS = 4_000;
const NUMBER = "([0-9][0-9,_]{0,14})";
const NAME = "['\"`]?([A-Za-z0-9][\\w./:@+-]{0,120}?)['\"`]?";

const STATUS = [
  /\b(?:Error code|status(?:[ _]code)?|HTTP(?: error)?|http_status|statusCode|response_code)["']?\s{0,2}[:= ]\s{0,2}["']?([1-5]\d\d)\b/i,
  /\bHTTP\/[\d.]{1,3}"? ([1-5]\d\d)\b/,
  /\b([45]\d\d) (?:Client|Server) Error\b/,
  /\b([45]\d\d) (?:Bad Request|Unauthorized|Forbidden|Not Found|Too Many Requests|Internal Server Error|Bad Gateway|Service Unavailable|Gateway Time-?out|[A-Z][A-Z_]{5,40}\b)/,
  /["']code["']\s{0,2}:\s{0,2}["']?([45]\d\d)\b/,
];
const CLASS =
  /\b(?:[a-z_][\w]{0,60}\.){0,8}([A-Z]\w{0,80}(?:Error|Exception|Timeout|Disconnect|Exhausted|Denied|Unavailable|NotFound))\b/;
const CODES = /["'](?:code|error_code|type|reason)["']\s{0,2}[:=]\s{0,2}["']([A-Za-z][\w.-]{2,60})["']/g;
const STATUS_CODE = /\bStatusCode\.([A-Z_]{3,30})\b/;

const TOKENS: readonly RegExp[] = [
  new RegExp(`${NUMBER} tokens > ${NUMBER}`),
  new RegExp(`\\((\\d[\\d,_]{0,14}) tokens\\)[^\\n]{0,120}\\(${NUMBER} tokens\\)`),
  new RegExp(`input token count \\(${NUMBER}\\)[^\\n]{0,120}\\(${NUMBER}\\)`, "i"),
];
const REQUESTED = new RegExp(
  `\\b(?:requested|resulted in|contains|has|Given:|received|got|total of|length|prompt=)\\s{0,2}\\(?${NUMBER}\\)? ?(?:input |prompt )?(?:tokens|\`?inputs)?`,
  "i",
);
const LIMIT = new RegExp(
  `\\b(?:maximum context length (?:of|is)|limit(?: of|=)|maximum of|must be <=|must have less than|available context size \\(|maximum input length is|max(?:imum)?)\\s{0,2}\\(?${NUMBER}`,
  "i",
);
const GIB = "([0-9]{1,5}(?:\\.[0-9]{1,3})?) ?(GiB|MiB|KiB|GB|MB)";
const ASKED_MEMORY = new RegExp(
  `\\b(?:allocat\\w+|requires? more system memory \\(|requested=?"?)\\s{0,2}\\(?${GIB}`,
  "i",
);
const FREE_MEMORY = new RegExp(`${GIB} (?:is )?free|than is available \\(${GIB}`, "i");
const TOTAL_MEMORY = new RegExp(`total capacity of ${GIB}|${GIB} total capacity`, "i");
const TIMEOUT =
  /\b(?:timeout(?: value)?[= ]|timed out after |Waited |exceeded |within )\(?([0-9]{1,6}(?:\.[0-9]{1,3})?) ?(ms\b|milliseconds|s\b|sec|seconds|minutes|m\b)?/i;
const RETRY =
  /\b(?:try again in|retry after|Retry-After:?|retryDelay['": ]{1,5})\s{0,2}([0-9]{1,6}(?:\.[0-9]{1,6})?) ?(ms|m(?:in\w*)?\b|s\w*|h\w*)?/i;
const MODEL = [
  new RegExp(`\\b[Mm]odel(?: name passed in model)?(?:[=:]| named| with name)? ?${NAME}(?=['"\`\\s,.)\\]}]|$)`),
  /\bmodel["']?\s{0,2}[:=]\s{0,2}["']([\w./:@+-]{1,120})["']/,
];
const COLLECTION = [
  /\b(?:[Cc]ollection|[Ii]ndex|[Rr]elation|class)(?: named)?[ :=[]{1,2}['"`\\[]{0,2}([A-Za-z0-9][\w.-]{1,80})/,
  /\/collections\/([\w.-]{1,80})/,
];
const GPU = /\b(?:GPU|CUDA|cuda:|device|ROCm)[ =:]{0,2}(\d{1,2})\b/;
const UPSTREAM = [
  /\bupstream: "https?:\/\/([\w.-]{1,100}(?::\d{1,5})?)/,
  /\bhost='([\w.-]{1,100})', port=(\d{1,5})/,
  /\b(?:dial tcp|ECONNREFUSED|connect to host|Connect to|connecting to) (?:lookup )?([\w.-]{1,100}(?::\d{1,5})?)/i,
  /https?:\/\/([\w.-]{1,100}(?::\d{1,5})?)/,
];
const TOOL = /\b(?:tool|call_tool|Tool)[ :=>]{1,3}['"`]?([A-Za-z][\w.-]{1,60})/;
/** Words after "model" or "collection" that name no model. */
const NO_NAME = new Set(
  "is not was has does the and or to in for on with by of a an at load loading failed does weights server name error does's must cannot could requires expecting exists max'".split(
    " ",
  ),
);

/** Reads the typed slots of a block: its first 4,000 characters of messages. */
export function readSlots(
  block: ErrorBlock,
  hints: { httpStatus?: number | undefined; errorClass?: string | undefined },
): Slots {
  let text = block.messages.join("\n");
  if (text.length > MAX_CHARS) text = text.slice(0, MAX_CHARS);
  const slots: { -readonly [Key in keyof Slots]: Slots[Key] } = {};
  const status = hints.httpStatus ?? figure(first(STATUS, text));
  if (status !== undefined) slots.httpStatus = status;
  const errorClass = hints.errorClass ?? CLASS.exec(text)?.[1];
  if (errorClass !== undefined) slots.errorClass = errorClass;
  const code = innermostCode(text);
  if (code !== undefined) slots.errorCode = code;
  readTokens(text, slots);
  put(slots, "requestedGiB", gib(ASKED_MEMORY.exec(text)));
  put(slots, "freeGiB", gib(FREE_MEMORY.exec(text)));
  put(slots, "totalGiB", gib(TOTAL_MEMORY.exec(text)));
  put(slots, "timeoutS", seconds(TIMEOUT.exec(text)));
  put(slots, "retryAfterS", seconds(RETRY.exec(text)));
  put(slots, "model", name(first(MODEL, text)));
  put(slots, "collection", name(first(COLLECTION, text)));
  put(slots, "gpu", GPU.exec(text)?.[1]);
  const upstream = first(UPSTREAM, text);
  put(slots, "upstream", upstream?.[2] === undefined ? upstream?.[1] : `${upstream[1]}:${upstream[2]}`);
  put(slots, "tool", name(TOOL.exec(text)));
  return slots;
}

type Writable = { -readonly [Key in keyof Slots]: Slots[Key] };

function put<Key extends keyof Slots>(slots: Writable, key: Key, value: Slots[Key] | undefined): void {
  if (value !== undefined) slots[key] = value;
}

function first(expressions: readonly RegExp[], text: string): RegExpExecArray | undefined {
  for (const expression of expressions) {
    const found = expression.exec(text);
    if (found !== null) return found;
  }
  return undefined;
}

function innermostCode(text: string): string | undefined {
  let code: string | undefined;
  for (const [, found] of text.matchAll(CODES)) code = found;
  return code ?? STATUS_CODE.exec(text)?.[1];
}

function readTokens(text: string, slots: Writable): void {
  if (!/token|inputs|context/i.test(text)) return;
  const both = first(TOKENS, text);
  put(slots, "tokens", figure(both) ?? figure(REQUESTED.exec(text)));
  put(slots, "tokenLimit", both === undefined ? figure(LIMIT.exec(text)) : toNumber(both[2]));
}

const figure = (found: RegExpExecArray | null | undefined): number | undefined => toNumber(found?.[1]);

function toNumber(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text.replaceAll(/[,_]/g, ""));
  return Number.isFinite(value) ? value : undefined;
}

const GIB_IN: Readonly<Record<string, number>> = {
  gib: 1,
  mib: 1 / 1024,
  kib: 1 / 1024 ** 2,
  gb: 1e9 / 1024 ** 3,
  mb: 1e6 / 1024 ** 3,
};

function gib(found: RegExpExecArray | null): number | undefined {
  const value = found?.[1] ?? found?.[3];
  const unit = (found?.[2] ?? found?.[4])?.toLowerCase();
  return value === undefined || unit === undefined ? undefined : Number(value) * (GIB_IN[unit] ?? Number.NaN);
}

function seconds(found: RegExpExecArray | null): number | undefined {
  const value = toNumber(found?.[1]);
  if (value === undefined) return undefined;
  const unit = found?.[2]?.toLowerCase() ?? "s";
  if (unit.startsWith("mil") || unit === "ms") return value / 1000;
  if (unit.startsWith("m")) return value * 60;
  return unit.startsWith("h") ? value * 3600 : value;
}

function name(found: RegExpExecArray | null | undefined): string | undefined {
  const text = found?.[1];
  return text === undefined || NO_NAME.has(text.toLowerCase()) ? undefined : text;
}
