import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { eventOf, HaystackParser, isOwn } from "./parse.ts";

/** Haystack pipelines with structlog's JSON. */
export const haystack: Profile = {
  name: "haystack",
  title: "Haystack",
  upstream: "deepset-ai/haystack at c7cb46c0f2: haystack/logging.py, haystack/tracing/logging_tracer.py",
  jsonKeys: ["lineno"],
  firstCharacters: "",
  rank: "specific",
  tells: [],
  figures: ["component runs", "errors"],
  cannotTell: [
    "Durations, even of the logging tracer: it prints a span's name and tags, not its times.",
    "Requests and tokens.",
  ],
  claims(line: Line): boolean {
    const json = eventOf(line);
    return json !== undefined && isOwn(json);
  },
  open: (context) => new HaystackParser(context),
};
