import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { isGinLine } from "./gin.ts";
import { OllamaParser } from "./parse.ts";
import { isOllamaSlog } from "./slog.ts";

/** Ollama of any version; from 0.30 on also the lines of the llama.cpp server that it runs. */
export const ollama: Profile = {
  name: "ollama",
  title: "Ollama",
  upstream:
    "ollama/ollama server/routes.go, server/sched.go, llm/server.go, llm/llama_server.go at fb307609 (2026-08, 0.33-rc); gin-gonic/gin logger.go v1.10.0, dcaa4296",
  jsonKeys: [],
  firstCharacters: "[t",
  rank: "specific",
  tells: ["finished", "failed", "aborted"],
  figures: [
    "e2e",
    "model_load",
    "HTTP status",
    "prefill (0.30 and later)",
    "decode (0.30 and later)",
    "tokens in (0.30 and later)",
    "tokens out (0.30 and later)",
    "truncated prompts",
    "failures",
  ],
  cannotTell: [
    "Tokens and TTFT before 0.30.",
    "Time spent waiting for a slot or for the model to load: end-to-end latency contains both.",
    "Which answer a client cut off before 0.30: its access line says 200 like the others.",
    "Latency below a second of calls longer than one minute.",
    "The model's name of a request.",
  ],
  claims(line: Line): boolean {
    const { text } = line;
    switch (text.charCodeAt(0)) {
      case 91: // [
        return isGinLine(text);
      case 116: // t
        return isOllamaSlog(text);
      default:
        return false;
    }
  },
  open: (context) => new OllamaParser(context),
};
