import { UTC } from "../../core/timestamp.ts";
import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { parseDynamoEvent, TRACE_SCHEMA } from "./event.ts";
import { DynamoParser } from "./parse.ts";

/** NVIDIA Dynamo's frontend and runtime. */
export const dynamo: Profile = {
  name: "dynamo",
  title: "NVIDIA Dynamo",
  upstream:
    "ai-dynamo/dynamo lib/llm/src/http/service/metrics.rs at 0014908a, lib/runtime/src/logging.rs at 003174ad, docs/observability/logging.md at 000f10e5",
  jsonKeys: ["target", "schema"],
  firstCharacters: "0123456789",
  rank: "specific",
  // arrivals show in the log, but not in request traces
  tells: ["finished", "failed", "aborted"],
  figures: ["e2e", "ttft", "itl", "tokens in", "tokens out", "failures"],
  cannotTell: [
    "Tokens and TTFT of requests without streaming.",
    "The HTTP status: only success, cancelled or the kind of error.",
    "Queueing: the time to the first token holds it.",
  ],
  claims(line: Line): boolean {
    const first = line.text.charCodeAt(0);
    if (first !== 123 && !(first >= 48 && first <= 57)) return false;
    return parseDynamoEvent(line, UTC) !== undefined || line.json?.["schema"] === TRACE_SCHEMA;
  },
  open: (context) => new DynamoParser(context),
};
