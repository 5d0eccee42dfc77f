import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { readFields } from "./fields.ts";
import { HigressParser } from "./parse.ts";

/** Higress's access log with the `ai_log` of its ai-statistics plugin, and the log lines of its wasm plugins. */
export const higress: Profile = {
  name: "higress",
  title: "Higress (ai-proxy, ai-statistics)",
  upstream: "higress-group/higress helm/core/templates/configmap.yaml, plugins/wasm-go/extensions at 8e4041c9b",
  jsonKeys: ["ai_log"],
  firstCharacters: "2{",
  rank: "specific",
  tells: ["finished", "failed", "aborted"],
  figures: ["HTTP status", "e2e", "ttft", "upstream_llm", "tokens in", "tokens out", "errors"],
  cannotTell: [
    "Tokens of streams without `stream_options.include_usage`.",
    "Cost.",
    "Values with a quote in them to the last character: the log escapes nothing.",
  ],
  claims(line: Line): boolean {
    const { text } = line;
    const first = text.charCodeAt(0);
    if (first === 123) return readFields(line) !== undefined;
    return first === 50 && text.charCodeAt(10) === 84 && text.slice(0, 60).includes("\tenvoy wasm ");
  },
  open: (context) => new HigressParser(context),
};
