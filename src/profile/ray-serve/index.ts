import { UTC } from "../../core/timestamp.ts";
import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { parseProcessLine, parseVllmLine } from "../vllm/prefix.ts";
import { RayServeParser } from "./parse.ts";
import { actorPrefix, parseServeRecord } from "./record.ts";

export const rayServe: Profile = {
  name: "ray-serve",
  title: "Ray Serve",
  upstream: "ray serve/_private/logging_utils.py, serve/_private/constants.py at 05d92bf7 (2.5x) and 2.9",
  jsonKeys: ["deployment", "component_name"],
  firstCharacters: "(DIWEC",
  rank: "specific",
  tells: ["finished", "failed", "aborted"],
  figures: ["e2e (the whole stream)", "HTTP status", "replica rejections", "failures"],
  cannotTell: ["TTFT, queue time and tokens.", "The model of a request: its line names the deployment of the router."],
  claims(line: Line): boolean {
    if (parseServeRecord(line, UTC) !== undefined) return true;
    const { text } = line;
    // a vLLM line that Ray's driver copied is vLLM's
    return actorPrefix(text) > 0 && parseVllmLine(text) === undefined && parseProcessLine(text) === undefined;
  },
  open: (context) => new RayServeParser(context),
};
