import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { SglangParser } from "./parse.ts";
import { isForeign, isOwn, parseSglangLine } from "./prefix.ts";

const JSON_EVENTS = new Set<unknown>([
  "request.received",
  "request.received.openai",
  "request.finished",
  "scheduler.status",
]);

export const sglang: Profile = {
  name: "sglang",
  title: "SGLang",
  upstream:
    "sglang srt/managers/scheduler_metrics_mixin.py, srt/utils/request_logger.py, srt/managers/io_struct.py at 013a199bc (0.5.9), cd10654e7 (2024-08)",
  jsonKeys: ["event"],
  firstCharacters: "[RF",
  rank: "specific",
  // whether arrivals are logged shows when the first one is
  tells: ["finished", "aborted"],
  figures: [
    "e2e",
    "queue",
    "forward (with --enable-request-time-stats-logging)",
    "ttft (with --enable-metrics)",
    "tokens in",
    "tokens out",
    "cached tokens",
    "running",
    "waiting",
    "KV cache usage",
    "tokens/s",
    "HTTP status",
    "failures",
  ],
  cannotTell: [
    "Requests, latencies and tokens without `--log-requests`: the default log holds batch lines only.",
    "TTFT without `--enable-metrics`.",
    "All requests when `SGLANG_LOG_REQUEST_EXCEEDED_MS` is set: only slow ones are printed.",
  ],
  claims(line: Line): boolean {
    const { text } = line;
    if (text.charCodeAt(0) === 123) {
      const { json } = line;
      return json !== undefined && JSON_EVENTS.has(json["event"]) && ("rid" in json || "rank" in json || "obj" in json);
    }
    const parsed = parseSglangLine(text);
    return parsed !== undefined && isOwn(parsed) && !isForeign(parsed.message);
  },
  open: (context) => new SglangParser(context),
};
