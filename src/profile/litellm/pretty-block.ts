import type { JsonObject } from "../../model/line.ts";

/**
 * The payload that `LITELLM_PRINT_STANDARD_LOGGING_PAYLOAD=true` prints with `json.dumps(payload, indent=4)`: one value a
 * line, between ordinary lines. Plain memory, part of parser state.
 */
export interface PrettyBlock {
  /** Blanks before a key of the payload itself; 0 until its first key was seen. */
  indent: number;
  /** The second key was seen too: this is a payload, and no other pretty-printed object. */
  sure: boolean;
  lines: string[];
  chars: number;
  /** Inside the value of a key that is not kept. */
  skipping: boolean;
  /** Lines of others that stood between. */
  interleaved: number;
  /** Too long: the rest is passed over, and nothing is read from it. */
  overflown: boolean;
}

const MAX_LINES = 5000;
const MAX_CHARS = 256 * 1024;
const MAX_INTERLEAVED = 50;
const FIRST_KEY = /^( {1,8})"(?:id|request_id|trace_id)": /;
const SECOND_KEY = /^ {1,8}"(?:trace_id|call_id|call_type)": /;
/** Whole conversations: never read, never held. */
const CONVERSATION =
  /^"(?:messages|response|model_parameters|proxy_server_request|model_map_information|hidden_params)": [[{]$/;

export const newPrettyBlock = (): PrettyBlock => ({
  indent: 0,
  sure: false,
  lines: ["{"],
  chars: 1,
  skipping: false,
  interleaved: 0,
  overflown: false,
});

/** `taken`: the line is a part; `foreign`: it is not, the block stays open; `given-up`: no such block after all. */
export type BlockStep = "taken" | "foreign" | "given-up" | { readonly object: JsonObject | undefined };

/** True for the first key of a printed payload, behind a brace that many programs print: where a block begins for sure. */
export function startsPayload(text: string): boolean {
  return text.startsWith('    "id": "') && text.endsWith('",');
}

/** Offers the line after the opening brace, and each later one. */
export function addToBlock(block: PrettyBlock, text: string): BlockStep {
  if (block.indent === 0) {
    const first = FIRST_KEY.exec(text);
    if (first === null) return "given-up";
    block.indent = first[1]?.length ?? 0;
  } else if (!block.sure) {
    if (!SECOND_KEY.test(text)) return "given-up";
    block.sure = true;
  }
  if (text === "}") return { object: block.overflown ? undefined : parse(block.lines) };
  if (!startsWithBlanks(text, block.indent)) {
    return ++block.interleaved > MAX_INTERLEAVED ? "given-up" : "foreign";
  }
  const own = text.charCodeAt(block.indent) !== 32;
  if (block.skipping) {
    // the bracket that closes the value stands at the payload's own indent
    if (own && (text.charCodeAt(block.indent) === 93 || text.charCodeAt(block.indent) === 125)) {
      block.skipping = false;
      if (text.endsWith(",")) block.lines.push(",");
    }
    return "taken";
  }
  const rest = text.slice(block.indent);
  if (own && CONVERSATION.test(rest)) {
    block.skipping = true;
    hold(block, `${rest.slice(0, -1)}null`);
  } else hold(block, rest);
  return "taken";
}

function hold(block: PrettyBlock, text: string): void {
  if (block.overflown) return;
  block.lines.push(text);
  block.chars += text.length + 1;
  if (block.lines.length > MAX_LINES || block.chars > MAX_CHARS) {
    block.overflown = true;
    block.lines = [];
  }
}

function startsWithBlanks(text: string, count: number): boolean {
  for (let at = 0; at < count; at++) if (text.charCodeAt(at) !== 32) return false;
  return true;
}

/** Python writes NaN and Infinity bare; such a figure is read as text, and refused where it is used. */
function parse(lines: readonly string[]): JsonObject | undefined {
  const text = lines
    .map((line) => line.replace(/^("\w+": )(-?(?:NaN|Infinity))(,?)$/, '$1"$2"$3'))
    .concat("}")
    .join("\n");
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    return undefined;
  }
}
