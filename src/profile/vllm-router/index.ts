import { UTC } from "../../core/timestamp.ts";
import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { parseRouterLine, VllmRouterParser } from "./parse.ts";

export const vllmRouter: Profile = {
  name: "vllm-router",
  title: "vLLM production-stack router",
  upstream:
    "vllm production-stack src/vllm_router/log.py, stats/log_stats.py, services/request_service/request.py at a6c01db0",
  jsonKeys: ["logger"],
  firstCharacters: "[",
  rank: "specific",
  tells: ["received"],
  figures: ["running", "waiting", "prefix cache hits", "failures"],
  cannotTell: [
    "The end of a request, its duration, status and tokens: only its routing is printed.",
    "Latencies: the statistics are averages over a window.",
  ],
  claims: (line: Line): boolean => parseRouterLine(line, UTC) !== undefined,
  open: (context) => new VllmRouterParser(context),
};
