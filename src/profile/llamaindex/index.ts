import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { isEvent, LlamaindexParser, STARS } from "./parse.ts";

/** Traces that LlamaIndex's debug handler prints. */
export const llamaindex: Profile = {
  name: "llamaindex",
  title: "LlamaIndex debug handler",
  upstream: "run-llama/llama_index: llama-index-core/llama_index/core/callbacks/llama_debug.py (LlamaDebugHandler)",
  jsonKeys: [],
  firstCharacters: "* ",
  rank: "specific",
  tells: [],
  figures: ["llamaindex_query", "retrieval", "rerank", "embedding", "upstream_llm"],
  cannotTell: ["When: lines hold no time.", "Tokens, models, errors and outcomes."],
  claims(line: Line): boolean {
    const { text } = line;
    const first = text.charCodeAt(0);
    return first === 42 ? text === STARS : first === 32 && isEvent(text);
  },
  open: (context) => new LlamaindexParser(context),
};
