import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { isJsonLog } from "./json-line.ts";
import { isBanner, isBareError, LitellmParser } from "./parse.ts";
import { isPayload } from "./payload.ts";
import { startsPayload } from "./pretty-block.ts";
import { startsRecord } from "./text-record.ts";

/** The default text log of the proxy, with uvicorn's access lines. */
export const litellmText: Profile = {
  name: "litellm-text",
  title: "LiteLLM proxy, text log",
  upstream: "BerriAI/litellm litellm/_logging.py at 01191be4, router_utils at 0159f7ae and 04f21172",
  jsonKeys: [],
  rank: "specific",
  tells: ["finished", "failed"],
  figures: ["HTTP status", "retries", "fallbacks", "errors"],
  cannotTell: [
    "Tokens, cost and latency: the text log holds none (have the proxy log payloads).",
    "The date of a line: it prints the time alone.",
    "Whether a streamed answer ended well: the access line is written when the headers go out.",
  ],
  claims(line: Line): boolean {
    const { text } = line;
    return startsRecord(text) || isBanner(text) || isBareError(text);
  },
  open: (context) => new LitellmParser(context),
};

/** The proxy with `json_logs: true`. */
export const litellmJson: Profile = {
  name: "litellm-json",
  title: "LiteLLM proxy, JSON log",
  upstream: "BerriAI/litellm litellm/_logging.py JsonFormatter at 01191be4; older shapes before PR 19705",
  jsonKeys: ["message"],
  firstCharacters: "",
  rank: "specific",
  tells: ["finished", "failed"],
  figures: ["HTTP status", "retries", "fallbacks", "errors", "e2e", "ttft", "tokens in", "tokens out", "cost"],
  cannotTell: [
    "Tokens, cost and latency, unless a callback logs the payload of each request.",
    "The zone of its times.",
  ],
  claims(line: Line): boolean {
    if (line.text.charCodeAt(0) !== 123) return false;
    const object = line.json;
    return object !== undefined && isJsonLog(object);
  },
  open: (context) => new LitellmParser(context),
};

/** StandardLoggingPayload and SpendLogs: one object a line, or pretty-printed on the proxy's output. */
export const litellmSlp: Profile = {
  name: "litellm-slp",
  title: "LiteLLM payloads (StandardLoggingPayload, SpendLogs)",
  upstream: "BerriAI/litellm types/utils.py, litellm_core_utils/litellm_logging.py",
  jsonKeys: ["call_type"],
  firstCharacters: " {",
  rank: "specific",
  tells: ["finished", "failed"],
  figures: [
    "e2e",
    "ttft",
    "tokens in",
    "cached tokens",
    "tokens out",
    "reasoning tokens",
    "cost",
    "retrieval",
    "retries",
    "fallbacks",
    "errors",
  ],
  cannotTell: [
    "The status of an answered request.",
    "TTFT of streams whose first token is stamped at their end; such stamps are counted as `ttft_suspect`.",
  ],
  claims(line: Line): boolean {
    const { text } = line;
    if (text.charCodeAt(0) !== 123) return startsPayload(text);
    const object = line.json;
    return object !== undefined && isPayload(object) && !isJsonLog(object);
  },
  open: (context) => new LitellmParser(context),
};
