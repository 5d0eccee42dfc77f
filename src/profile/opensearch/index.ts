import { UTC } from "../../core/timestamp.ts";
import type { Line } from "../../model/line.ts";
import { shapeOf } from "../elasticsearch/json.ts";
import type { Profile } from "../profile.ts";
import { OpenSearchParser } from "./parse.ts";
import { readText } from "./text.ts";

/** OpenSearch's slow logs: whole requests (text, JSON) and shards (text, shared with Elasticsearch up to 7). */
export const opensearch: Profile = {
  name: "opensearch",
  title: "OpenSearch search slow log",
  upstream:
    "opensearch-project/OpenSearch: distribution/src/config/log4j2.properties, SearchRequestSlowLog, SearchSlowLog",
  jsonKeys: ["type"],
  firstCharacters: "[",
  rank: "specific",
  tells: ["finished", "failed"],
  figures: ["retrieval", "shard query", "shard fetch"],
  cannotTell: [
    "All requests: only those above `cluster.search.request.slowlog.threshold.*` are written.",
    "The index of a whole request, tenants, and searches that failed.",
  ],
  claims(line: Line): boolean {
    const first = line.text.charCodeAt(0);
    if (first === 123) return shapeOf(line) === "search_request_slowlog";
    return first === 91 && readText(line.text, UTC) !== undefined;
  },
  open: (context) => new OpenSearchParser(context),
};
