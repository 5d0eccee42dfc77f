import { UTC } from "../../core/timestamp.ts";
import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { parseEvent } from "./header.ts";
import { QdrantParser } from "./parse.ts";

/** Qdrant's own log: REST access lines, gRPC failures, errors. */
export const qdrant: Profile = {
  name: "qdrant",
  title: "Qdrant",
  upstream: "qdrant/qdrant 1.19.0 at 74f3e85b94: src/actix/mod.rs, src/tonic/logging.rs, src/tracing",
  jsonKeys: ["target"],
  firstCharacters: "0123456789[",
  rank: "specific",
  tells: ["finished", "failed"],
  figures: ["retrieval", "HTTP status", "errors"],
  cannotTell: [
    "Successful gRPC requests: they are written at TRACE only, so counts of a gRPC client hold its failures alone.",
    "The tenant of a request: only the collection stands in the path (the audit log names the subject).",
    "Slow queries as such, scores and the number of hits.",
  ],
  claims(line: Line): boolean {
    const first = line.text.charCodeAt(0);
    // a time, `[` and a time, or a JSON object
    if (first !== 123 && first !== 91 && !(first >= 48 && first <= 57)) return false;
    return parseEvent(line, UTC) !== undefined;
  },
  open: (context) => new QdrantParser(context),
};
