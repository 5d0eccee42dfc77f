import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { TRACING_JSON_KEYS } from "../tracing/event.ts";
import { SmgParser, smgEvent } from "./parse.ts";

export const smg: Profile = {
  name: "smg",
  title: "SGLang Model Gateway",
  upstream: "smg model_gateway/src/observability/logging.rs, model_gateway/src/middleware at 73da68ca (2026-08)",
  jsonKeys: TRACING_JSON_KEYS,
  firstCharacters: "0123456789",
  rank: "specific",
  tells: ["received", "finished", "failed"],
  figures: ["time to the head of the answer", "HTTP status", "failures"],
  cannotTell: [
    "E2E and TTFT: the latency ends when the head of the answer goes out.",
    "Whether a streamed answer ended well, for the same reason.",
    "Model and tokens.",
  ],
  claims: (line: Line): boolean => smgEvent(line) !== undefined,
  open: (context) => new SmgParser(context),
};
