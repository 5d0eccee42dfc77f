import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { parseHeader } from "./header.ts";
import { LangchainParser } from "./parse.ts";

/** Runs that LangChain's console handler prints (`verbose`, `set_debug(True)`). */
export const langchain: Profile = {
  name: "langchain",
  title: "LangChain console handler",
  upstream: "langchain-ai/langchain: libs/core/langchain_core/tracers/stdout.py (ConsoleCallbackHandler)",
  jsonKeys: [],
  firstCharacters: "[",
  rank: "specific",
  tells: ["finished", "failed"],
  figures: ["e2e", "llm", "tool", "retrieve_chain", "tokens in", "tokens out", "model", "errors"],
  cannotTell: [
    "When: lines hold no time.",
    "Which of two concurrent runs of one name a part belongs to: sums are right, their split may not be.",
    "Retrievers by themselves: the handler prints nothing for them.",
  ],
  claims: (line: Line): boolean => parseHeader(line.text) !== undefined,
  open: (context) => new LangchainParser(context),
};
