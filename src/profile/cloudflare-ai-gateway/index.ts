import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { CloudflareParser } from "./parse.ts";

/** Log entries of Cloudflare AI Gateway as its API gives them, one a line. */
export const cloudflareAiGateway: Profile = {
  name: "cloudflare-ai-gateway",
  title: "Cloudflare AI Gateway",
  upstream: "Cloudflare API documentation, ai-gateway logs (fields; one object a line is an assumption)",
  jsonKeys: ["tokens_in"],
  firstCharacters: "",
  rank: "specific",
  tells: ["finished", "failed", "aborted"],
  figures: ["HTTP status", "e2e", "tokens in", "tokens out", "cost", "cache hits", "fallbacks", "errors"],
  cannotTell: ["TTFT, cached tokens of the provider, reasoning tokens.", "The words of an error: only its status."],
  claims(line: Line): boolean {
    if (line.text.charCodeAt(0) !== 123) return false;
    const object = line.json;
    return (
      object !== undefined &&
      "tokens_in" in object &&
      "tokens_out" in object &&
      "provider" in object &&
      ("created_at" in object || "cached" in object) &&
      ("status_code" in object || "success" in object)
    );
  },
  open: (context) => new CloudflareParser(context),
};
