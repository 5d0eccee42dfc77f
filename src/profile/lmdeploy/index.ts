import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { HEAD, LmdeployParser } from "./parse.ts";
import { isPrintedStats } from "./stats.ts";

export const lmdeploy: Profile = {
  name: "lmdeploy",
  title: "LMDeploy",
  upstream: "lmdeploy serve/core/async_engine.py, metrics/loggers.py, utils.py at 1263d5cd (0.16) and versions of 2025",
  jsonKeys: [],
  firstCharacters: "[0123456789",
  rank: "specific",
  // other ends are printed at a level or by a flag that may be off: none seen is not none
  tells: ["failed"],
  figures: [
    "requests received, finished and aborted (`--log-level INFO`)",
    "e2e (from begin to end of a session's turn)",
    "tokens in",
    "tokens out",
    "finish reason",
    "running",
    "waiting",
    "KV cache usage",
    "tokens/s",
    "failures",
  ],
  cannotTell: [
    "TTFT and queue time.",
    "Requests and tokens at the default log level: sessions are printed with `--log-level INFO` only.",
  ],
  claims(line: Line): boolean {
    const { text } = line;
    const first = text.charCodeAt(0);
    if (first === 91) return isPrintedStats(text);
    return first >= 48 && first <= 57 && text.startsWith(" - lmdeploy - ", 23) && HEAD.test(text);
  },
  open: (context) => new LmdeployParser(context),
};
