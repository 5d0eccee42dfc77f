import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { parseVllmLine } from "../vllm/prefix.ts";
import { writerOf } from "../vllm/writer.ts";
import { LightllmParser } from "./parse.ts";

export const lightllm: Profile = {
  name: "lightllm",
  title: "LightLLM",
  upstream: "lightllm server/httpserver/manager.py at fc72ffab (2025-07), utils/log_utils.py at 04c56fb3",
  jsonKeys: [],
  firstCharacters: "DIWECF",
  rank: "specific",
  tells: ["received", "finished", "failed", "aborted"],
  figures: ["e2e", "ttft", "time per output token", "tokens in", "cached tokens", "tokens out", "failures"],
  cannotTell: [
    "Queue time, and the year of its times.",
    "Time per output token as others define it: the printed mean divides by all tokens, the first included.",
  ],
  claims(line: Line): boolean {
    const parsed = parseVllmLine(line.text);
    return parsed !== undefined && writerOf(parsed) === "lightllm";
  },
  open: (context) => new LightllmParser(context),
};
