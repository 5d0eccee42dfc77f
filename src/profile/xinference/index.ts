import { UTC } from "../../core/timestamp.ts";
import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { XinferenceParser } from "./parse.ts";
import { parseRecord } from "./record.ts";

export const xinference: Profile = {
  name: "xinference",
  title: "Xinference",
  upstream: "xinference deploy/utils.py, model/llm/vllm/core.py at 7ecec16b (3.2.1) and v1.5.0",
  jsonKeys: ["@timestamp"],
  firstCharacters: "0123456789",
  rank: "specific",
  // other ends are printed at a level or by a flag that may be off: none seen is not none
  tells: ["failed"],
  figures: [
    "requests finished (since 2026-05 at level DEBUG)",
    "tokens in",
    "tokens out",
    "finish reason",
    "e2e (since 2026-05, at level DEBUG)",
    "failures",
  ],
  cannotTell: [
    "TTFT and queue time.",
    "E2E before May 2026: `elapsed time` of `Leave …` is whole seconds and, for a stream, ends when the generator exists.",
    "Finished requests since May 2026 unless the level is DEBUG.",
    "Statistics of the embedded vLLM: it prints none.",
  ],
  claims(line: Line): boolean {
    return parseRecord(line, UTC) !== undefined;
  },
  open: (context) => new XinferenceParser(context),
};
