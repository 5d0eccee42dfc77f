import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { isCtxLimitLine, KoboldcppParser } from "./parse.ts";

export const koboldcpp: Profile = {
  name: "koboldcpp",
  title: "KoboldCpp",
  upstream: "koboldcpp gpttype_adapter.cpp at 2da346a5 (2024-10)",
  jsonKeys: [],
  firstCharacters: "C[",
  rank: "specific",
  tells: ["finished"],
  figures: ["prefill", "decode", "engine total", "time per output token (to early 2025)", "tokens out"],
  cannotTell: [
    "E2E and queue time: the printed total is that of processing and generation.",
    "Prompt tokens: `CtxLimit` counts the whole context, what was generated included.",
    "Model, finish reason, and whether a client left.",
  ],
  claims: (line: Line): boolean => isCtxLimitLine(line.text),
  open: (context) => new KoboldcppParser(context),
};
