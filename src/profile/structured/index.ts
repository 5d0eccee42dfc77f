import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { Field, meaningOf, normalise } from "./fields.ts";
import { type Pairs, scanPairs, startsAsLogfmt } from "./key-value.ts";
import { StructuredParser } from "./parse.ts";

/** Any application's structured log: JSON lines and key=value text. */
export const structured: Profile = {
  name: "structured",
  title: "structured log (JSON or key=value)",
  upstream:
    "output of pino 10.4, winston 3.19, python-json-logger 2.0 and 4.2, structlog 22.3 and 26.1, loguru 0.6 and 0.7, zap 1.23, zerolog 1.26; ECS 8.11 and OpenTelemetry GenAI attribute names",
  rank: "generic",
  tells: ["finished", "failed", "aborted"],
  figures: [
    "e2e",
    "ttft",
    "tpot",
    "queue",
    "prefill",
    "decode",
    "retrieval",
    "rerank",
    "embedding",
    "tool",
    "tokens in",
    "tokens out",
    "cached tokens",
    "cost",
    "scores",
    "HTTP status",
    "failures",
  ],
  cannotTell: [
    "More than the application writes: a bare number whose unit neither its key nor its logger names is refused.",
  ],
  claims(line: Line): boolean {
    if (line.json !== undefined) return true;
    const { text } = line;
    if (!text.includes("=")) return text.endsWith("}") && text.includes("\t{");
    if (startsAsLogfmt(text)) return true;
    return hasFigure(scanPairs(text)) || (text.endsWith("}") && text.includes("\t{"));
  },
  open: (context) => new StructuredParser(context),
};

function hasFigure({ keys, count }: Pairs): boolean {
  for (let index = 0; index < count; index++) if (isFigure(keys[index] as string)) return true;
  return false;
}

const figures = new Map<string, boolean>();

/** True for keys whose value is a duration or a token count by name alone. */
function isFigure(key: string): boolean {
  let known = figures.get(key);
  if (known === undefined) {
    const meaning = meaningOf(key.split(".").map(normalise));
    known =
      meaning !== undefined &&
      ((meaning.field === Field.duration && meaning.llm) ||
        (meaning.field === Field.duration && meaning.unitMs > 0) ||
        (meaning.field >= Field.tokensIn && meaning.field <= Field.tokensOutReasoning));
    if (figures.size < 5000) figures.set(key, known);
  }
  return known;
}
