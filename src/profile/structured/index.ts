import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { StructuredParser } from "./parse.ts";
import { TextKind, textKind } from "./text-line.ts";

/** JSON lines and key=value text of any application: what no profile of its own reads. */
export const structured: Profile = {
  name: "structured",
  title: "structured application log",
  upstream:
    "output of pino 10.4, winston 3.19, python-json-logger 2.0 and 4.2, structlog 22.3 and 26.1, loguru 0.6 and 0.7, zap 1.23, zerolog 1.26; Elastic Common Schema 8.11; OpenTelemetry GenAI attribute names up to 1.41",
  rank: "generic",
  tells: ["finished", "failed", "aborted"],
  figures: [
    "e2e",
    "ttft",
    "queue",
    "prefill",
    "decode",
    "tpot",
    "itl",
    "upstream_llm",
    "retrieval",
    "rerank",
    "embedding",
    "tool",
    "tokens in",
    "tokens cached",
    "tokens out",
    "tokens reasoning",
    "cost",
    "retrieval scores",
    "HTTP status",
    "retries",
  ],
  cannotTell: [
    "Anything the application does not write.",
    "A duration whose unit neither its key, its value nor its logger names: it is refused and counted.",
  ],
  claims: (line: Line): boolean => line.json !== undefined || textKind(line.text) !== TextKind.none,
  open: (context) => new StructuredParser(context),
};
