/** Token usage as one source in the output tells it; texts as written. */
export interface UsageTexts {
  in?: string;
  out?: string;
  cached?: string;
  reasoning?: string;
}

/** What is gathered from a printed output, line by line; plain data. */
export interface OutputReading {
  /** Keys from the outside to the last line, by depth; `""` for an element of a list. */
  path: string[];
  /** By source, the most trusted first: `llm_output`, the message's `usage_metadata`, its `response_metadata`. */
  usage: [UsageTexts, UsageTexts, UsageTexts];
  model: string | undefined;
}

export const newReading = (): OutputReading => ({ path: [], usage: [{}, {}, {}], model: undefined });

const MAX_DEPTH = 64;
// `json.dumps(…, indent=2)`: two blanks a level, one member a line, strings without newlines
const MEMBER = /^( +)"((?:[^"\\]|\\.){1,200})": (.*)$/;
const LEAVES: ReadonlySet<string> = new Set(
  "prompt_tokens completion_tokens input_tokens output_tokens cached_tokens cache_read cache_read_input_tokens reasoning_tokens reasoning model_name model".split(
    " ",
  ),
);
const MESSAGE = "generations///message/";

/**
 * Reads one line of a pretty-printed output. A figure counts only at the path where LangChain puts it: what a model or a
 * tool wrote stands in strings, or at other paths.
 */
export function readOutputLine(reading: OutputReading, text: string): void {
  const indent = text.length - text.trimStart().length;
  const depth = indent >> 1;
  if (depth === 0 || depth > MAX_DEPTH) return;
  const member = MEMBER.exec(text);
  const key = member?.[2] ?? "";
  reading.path.length = Math.min(reading.path.length, depth - 1);
  while (reading.path.length < depth - 1) reading.path.push("");
  reading.path.push(key);
  if (member === null || !LEAVES.has(key)) return;
  const value = (member[3] ?? "").replace(/,$/, "");
  if (value === "{" || value === "[" || value === "null") return;
  put(reading, reading.path.join("/"), value);
}

function put(reading: OutputReading, path: string, value: string): void {
  const source = path.startsWith("llm_output/") ? 0 : path.startsWith(MESSAGE) ? 1 : -1;
  if (source < 0) return;
  const inner = source === 0 ? path.slice(11) : path.slice(MESSAGE.length).replace(/^kwargs\//, "");
  if (/^(?:response_metadata\/)?model(?:_name)?$/.test(inner)) {
    reading.model ??= value.replace(/^"|"$/g, "");
    return;
  }
  const metadata = inner.startsWith("usage_metadata/");
  if (source === 0 && /^(?:token_usage|usage)\//.test(inner)) note(reading.usage[0], inner, value);
  else if (source === 1 && metadata) note(reading.usage[1], inner, value);
  else if (source === 1 && /^response_metadata\/(?:token_usage|usage)\//.test(inner)) {
    note(reading.usage[2], inner.slice(18), value);
  }
}

const FIELDS: ReadonlyArray<readonly [field: keyof UsageTexts, path: RegExp]> = [
  ["in", /^\w+\/(?:prompt_tokens|input_tokens)$/],
  ["out", /^\w+\/(?:completion_tokens|output_tokens)$/],
  [
    "cached",
    /^\w+\/(?:(?:prompt_tokens_details|input_tokens_details)\/cached_tokens|input_token_details\/cache_read)$/,
  ],
  [
    "reasoning",
    /^\w+\/(?:(?:completion_tokens_details|output_tokens_details)\/reasoning_tokens|output_token_details\/reasoning)$/,
  ],
];

/** The first of several generations counts: they share one usage. */
function note(usage: UsageTexts, path: string, value: string): void {
  const field = FIELDS.find(([, pattern]) => pattern.test(path))?.[0];
  if (field !== undefined) usage[field] ??= value;
}

/** The usage of the most trusted source that tells one. */
export const usageOf = (reading: OutputReading): UsageTexts | undefined =>
  reading.usage.find((usage) => usage.in !== undefined || usage.out !== undefined);
