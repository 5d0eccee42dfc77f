import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { KongParser } from "./parse.ts";

/** Log plugins of Kong (`file-log` and its kin), with the AI block of `ai-proxy`. */
export const kong: Profile = {
  name: "kong",
  title: "Kong AI proxy",
  upstream: "Kong/kong kong/pdk/log.lua, kong/llm/plugin/observability.lua at 22246ef28c; ai-proxy of 3.6–3.9",
  jsonKeys: ["latencies"],
  firstCharacters: "",
  rank: "specific",
  tells: ["finished", "failed", "aborted"],
  figures: ["HTTP status", "e2e", "upstream_llm", "tokens in", "tokens out", "cost", "retries", "errors"],
  cannotTell: [
    "TTFT: `time_per_token` is the whole latency over the completion tokens.",
    "Tokens of streams without the provider's usage: Kong estimates them; the estimate is kept apart.",
    "Which guard refused a prompt: the line of a refusal holds no reason.",
  ],
  claims(line: Line): boolean {
    if (line.text.charCodeAt(0) !== 123) return false;
    const object = line.json;
    return (
      object !== undefined &&
      "latencies" in object &&
      "request" in object &&
      "response" in object &&
      ("started_at" in object || "tries" in object)
    );
  },
  open: (context) => new KongParser(context),
};
