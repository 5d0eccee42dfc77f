import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { ChromaParser, isChroma } from "./parse.ts";

/** Chroma's Python server. */
export const chroma: Profile = {
  name: "chroma",
  title: "Chroma",
  upstream: "chroma-core/chroma at 93652ec086: chromadb/log_config.yml, chromadb/server/fastapi",
  jsonKeys: [],
  firstCharacters: "IWECD",
  rank: "specific",
  tells: ["finished", "failed"],
  figures: ["HTTP status", "tenant", "errors"],
  cannotTell: [
    "Durations: the access line holds none.",
    "Anything of the Rust server, which writes its requests to OTLP only.",
    "The name of a collection: paths hold its id.",
  ],
  claims(line: Line): boolean {
    const { text } = line;
    const first = text.charCodeAt(0);
    // I, W, E, C, D
    return (first === 73 || first === 87 || first === 69 || first === 67 || first === 68) && isChroma(text);
  },
  open: (context) => new ChromaParser(context),
};
