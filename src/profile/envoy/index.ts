import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { AiGatewayParser, startsRun } from "./ai-gateway.ts";
import { isAccess, isAiAccess } from "./json.ts";
import { EnvoyParser } from "./parse.ts";
import { startsAccess, startsLog } from "./text.ts";

/** Access log of Envoy AI Gateway: JSON with `gen_ai.…` or `mcp.…` fields, and the text of `aigw run`. */
export const envoyAiGateway: Profile = {
  name: "envoy-ai-gateway",
  title: "Envoy AI Gateway",
  upstream: "envoyproxy/ai-gateway examples/access-log, internal/extproc at c217da8a5",
  jsonKeys: ["response_code"],
  firstCharacters: "[",
  rank: "specific",
  tells: ["finished", "failed", "aborted"],
  figures: [
    "HTTP status",
    "e2e",
    "ttft",
    "itl",
    "tokens in",
    "cached tokens",
    "tokens out",
    "reasoning tokens",
    "tool",
    "errors",
  ],
  cannotTell: [
    "Tokens of failed or interrupted answers, and of routes without `llmRequestCosts`: the fields are null.",
    "TTFT, unless the access log lists `token_latency_ttft`.",
    "Cost, tenant.",
  ],
  claims(line: Line): boolean {
    const first = line.text.charCodeAt(0);
    if (first === 91) return startsRun(line.text);
    if (first !== 123) return false;
    const object = line.json;
    return object !== undefined && isAccess(object) && isAiAccess(object);
  },
  open: (context) => new AiGatewayParser(context),
};

/** Envoy's default access log, Istio's, JSON of Envoy Gateway, and Envoy's own log. */
export const envoy: Profile = {
  name: "envoy",
  title: "Envoy proxy",
  upstream: "envoyproxy/envoy access log default format; istio/istio mesh default format",
  jsonKeys: ["response_code"],
  firstCharacters: "[2",
  rank: "specific",
  tells: ["finished", "failed", "aborted"],
  figures: ["HTTP status", "e2e", "ttfb", "errors"],
  cannotTell: [
    "Model, tokens and cost.",
    "TTFT: the upstream's service time ends with its headers, not with its first token.",
    "Retries that succeeded.",
  ],
  claims(line: Line): boolean {
    const { text } = line;
    const first = text.charCodeAt(0);
    if (first === 123) {
      const object = line.json;
      return object !== undefined && isAccess(object) && !isAiAccess(object);
    }
    if (first === 91) return startsAccess(text) || startsLog(text);
    return first === 50 && startsLog(text) && !text.includes("\tenvoy wasm ", 20);
  },
  open: (context) => new EnvoyParser(context),
};
