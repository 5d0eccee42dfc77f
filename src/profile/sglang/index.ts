import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { SglangParser } from "./parse.ts";
import { isForeign, parseSglangLine } from "./prefix.ts";

const JSON_EVENTS = new Set<unknown>(["request.received", "request.finished", "scheduler.status"]);

export const sglang: Profile = {
  name: "sglang",
  title: "SGLang",
  upstream:
    "sglang srt/managers/scheduler_metrics_mixin.py, srt/utils/request_logger.py, srt/managers/io_struct.py at 013a199bc (0.5.9), cd10654e7 (2024-08)",
  rank: "specific",
  tells: ["received", "finished", "aborted"],
  figures: [
    "e2e",
    "queue",
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
      return json !== undefined && JSON_EVENTS.has(json["event"]) && ("rid" in json || "rank" in json);
    }
    const parsed = parseSglangLine(text);
    return parsed !== undefined && !isForeign(parsed.message);
  },
  open: (context) => new SglangParser(context),
};
