import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { parseEvent } from "./event.ts";
import { WeaviateParser } from "./parse.ts";

/** Weaviate's log: slow and sampled queries by shard, errors. */
export const weaviate: Profile = {
  name: "weaviate",
  title: "Weaviate",
  upstream: "weaviate/weaviate at adcffc5432: logrus JSON and text, adapters/repos/db/helpers/slow_queries.go",
  jsonKeys: ["build_wv_version", "build_git_commit", "build_image_tag", "collection", "action"],
  firstCharacters: "tl",
  rank: "specific",
  tells: [],
  figures: ["retrieval by shard", "errors"],
  cannotTell: [
    "Requests: HTTP is logged at debug only; slow queries are off by default, sampled ones are one in a hundred.",
    "The duration a user saw: each line is one shard's part, or the coordinator's view of the same query.",
  ],
  claims(line: Line): boolean {
    const first = line.text.charCodeAt(0);
    // `{`, `time="`, `level=`
    return (first === 123 || first === 116 || first === 108) && parseEvent(line) !== undefined;
  },
  open: (context) => new WeaviateParser(context),
};
