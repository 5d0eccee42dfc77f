import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { isLegacyJson, isLegacyText } from "./legacy-record.ts";
import { LlamaCppParser } from "./parse.ts";
import { isServerMessage, unprefix } from "./prefix.ts";

/** First characters, blanks skipped, that a line of the server can have. */
const FIRST = new Set("0123456789[sqrcDTIWECVUGgmbp".split("").map((character) => character.charCodeAt(0)));

/** True for a line that llama-server itself wrote, of any version. */
export function isLlamaCppLine(line: Line): boolean {
  const { text } = line;
  let first = 0;
  while (first < 16 && (text.charCodeAt(first) === 32 || text.charCodeAt(first) === 13)) first++;
  const code = text.charCodeAt(first);
  if (code === 123) return isLegacyJson(line);
  if (!FIRST.has(code)) return false;
  const { port, stamped, level, at } = unprefix(text);
  if (stamped && level !== "") return true;
  return (
    isServerMessage(text, at) ||
    (port !== "" && text.startsWith("cmd_child_to_router:", at)) ||
    (port === "" && isLegacyText(text))
  );
}

export const llamacpp: Profile = {
  name: "llamacpp",
  title: "llama.cpp server",
  upstream:
    "ggml-org/llama.cpp examples/server/server.cpp, utils.hpp at fc54ef0d1 (2024-08), 47f931c8f (2024-11); tools/server at 7675c555a (2025-06), b10018 (2026-07); common/log.cpp; ik_llama.cpp at 8337e4cd",
  jsonKeys: ["function"],
  rank: "specific",
  tells: ["finished", "failed", "aborted"],
  figures: [
    "prefill",
    "decode",
    "engine_total",
    "tokens in (to May 2026, later with -lv 4)",
    "tokens in less cached ones",
    "cached tokens (to May 2026, later with -lv 4)",
    "tokens out",
    "drafted tokens",
    "HTTP status (to June 2026)",
    "failures",
  ],
  cannotTell: [
    "Time spent waiting for a slot, and the time of the HTTP exchange: neither TTFT nor end-to-end latency.",
    "The time of a line: up to May 2026 none is printed, since then only the time since the process started.",
    "HTTP status since June 2026, and requests refused before they became a task.",
    "Who received an answer: the log shows no client, and a client that left late goes unnoticed.",
  ],
  claims: isLlamaCppLine,
  open: (context) => new LlamaCppParser(context),
};
