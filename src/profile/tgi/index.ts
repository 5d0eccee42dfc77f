import { UTC } from "../../core/timestamp.ts";
import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { TRACING_JSON_KEYS, tracingEvent } from "../tracing/event.ts";
import { TGI_CRATES, TgiParser } from "./parse.ts";

/** Hugging Face text-generation-inference: router and launcher. */
export const tgi: Profile = {
  name: "tgi",
  title: "Hugging Face text-generation-inference",
  upstream:
    "text-generation-inference router/src/server.rs, router/src/logging.rs, launcher/src/main.rs at db931fcf (3.3.7)",
  jsonKeys: TRACING_JSON_KEYS,
  firstCharacters: "0123456789",
  rank: "specific",
  tells: ["finished", "failed"],
  figures: ["e2e", "queue", "validation", "inference", "tpot", "tokens out (estimated)", "failures"],
  cannotTell: [
    "TTFT: no line holds it.",
    "Token counts: output tokens are estimated from the two times that the router divided, input tokens are in no line.",
    "Requests whose client left.",
  ],
  claims: (line: Line): boolean => tracingEvent(line, TGI_CRATES, UTC) !== undefined,
  open: (context) => new TgiParser(context),
};
