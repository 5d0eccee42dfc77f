import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { isRagflow, RagflowParser } from "./parse.ts";

/** RAGFlow's server and task executors. */
export const ragflow: Profile = {
  name: "ragflow",
  title: "RAGFlow",
  upstream:
    "infiniflow/ragflow at b1b8cd6235: common/log_utils.py, rag/llm/chat_model.py, api/db/services/llm_service.py",
  jsonKeys: [],
  firstCharacters: "0123456789",
  rank: "specific",
  tells: ["finished"],
  figures: ["tokens in total", "embedding tokens", "errors", "retries"],
  cannotTell: [
    "Durations of retrieval, rerank and answer: they stand in the answer's text and in Langfuse only.",
    "Prompt and completion tokens apart: only their sum is written.",
    "Failed requests by number: a model that gives up is a failure, the request around it is not logged.",
  ],
  claims(line: Line): boolean {
    const first = line.text.charCodeAt(0);
    return first >= 48 && first <= 57 && isRagflow(line.text);
  },
  open: (context) => new RagflowParser(context),
};
