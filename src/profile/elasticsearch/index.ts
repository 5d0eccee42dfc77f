import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { shapeOf } from "./json.ts";
import { ElasticsearchParser } from "./parse.ts";

/** Search slow logs in JSON: Elasticsearch 8 and later, Elasticsearch 7, and OpenSearch's log of shards. */
export const elasticsearch: Profile = {
  name: "elasticsearch",
  title: "Elasticsearch search slow log",
  upstream: "elastic/elasticsearch 8.x index-modules-slowlog; 7.x ESJsonLayout",
  jsonKeys: ["type", "log.logger", "log", "event.dataset", "event"],
  firstCharacters: "",
  rank: "specific",
  tells: [],
  figures: ["shard query", "shard fetch"],
  cannotTell: [
    "Requests and their duration: there is one line a shard and phase, and only for those above a threshold.",
    "Failed searches and ES|QL queries.",
  ],
  claims(line: Line): boolean {
    const shape = shapeOf(line);
    return shape !== undefined && shape !== "search_request_slowlog";
  },
  open: (context) => new ElasticsearchParser(context),
};
