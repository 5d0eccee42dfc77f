import { UTC } from "../../core/timestamp.ts";
import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { TRACING_JSON_KEYS, tracingEvent } from "../tracing/event.ts";
import { TEI_CRATES, TeiParser } from "./parse.ts";

/** Hugging Face text-embeddings-inference. */
export const tei: Profile = {
  name: "tei",
  title: "Hugging Face text-embeddings-inference",
  upstream: "text-embeddings-inference router/src/http/server.rs, core/src/infer.rs at 0d124dc (1.9.3)",
  jsonKeys: TRACING_JSON_KEYS,
  firstCharacters: "0123456789",
  rank: "specific",
  tells: ["finished"],
  figures: ["e2e", "queue", "tokenization", "inference", "failures"],
  cannotTell: [
    "Token counts: `compute_tokens` is recorded in the code, but no span declares it, so it is never printed.",
    "How many requests failed: each input of a batch writes an error line of its own.",
    "Times, when the server runs with `--disable-spans`.",
  ],
  claims: (line: Line): boolean => tracingEvent(line, TEI_CRATES, UTC) !== undefined,
  open: (context) => new TeiParser(context),
};
