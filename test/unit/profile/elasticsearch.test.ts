import { expect, test } from "vitest";
import { readLog } from "../../support/read-log.ts";

const ecs = (fields: Record<string, unknown> = {}): string =>
  JSON.stringify({
    "@timestamp": "2026-03-02T12:00:06.853Z",
    "log.level": "WARN",
    "log.logger": "index.search.slowlog.query",
    "event.dataset": "elasticsearch.index_search_slowlog",
    "elasticsearch.slowlog.message": "[kb-acme][1]",
    "elasticsearch.slowlog.took": "59.6ms",
    "elasticsearch.slowlog.took_millis": 59,
    "elasticsearch.slowlog.source": '{"took_millis":9999}',
    ...fields,
  });
const seven = (fields: Record<string, unknown> = {}): string =>
  JSON.stringify({
    type: "index_search_slowlog",
    timestamp: "2026-03-02T12:00:06,853+02:00",
    level: "WARN",
    component: "i.s.s.query",
    "cluster.name": "rag",
    "node.name": "n",
    message: "[kb-acme][1]",
    took: "59.6ms",
    took_millis: "59",
    ...fields,
  });
const text = (rest: string, logger = "i.s.s.query               "): string =>
  `[2026-03-02T12:30:04,963][INFO ][${logger}] [node-0] ${rest}`;
const SHARD =
  '[kb-acme][1] took[59.6ms], took_millis[59], total_hits[5 hits], stats[], search_type[QUERY_THEN_FETCH], total_shards[3], source[{"query":"a], took_millis[9999], id[x]"}], id[req-1], ';
const request = (shards: string, took = "took[1.3s], took_millis[1306]"): string =>
  text(
    `${took}, phase_took_millis[{expand=0, query=1044, fetch=130}], total_hits[5 hits], search_type[QUERY_THEN_FETCH], shards[${shards}], source[{"size":5,"q":"[[]"}], id[req-51c971dc]`,
    "c.s.r.slowlog",
  );

test.for([
  { name: "ECS, dotted", line: ecs(), profile: "elasticsearch" },
  {
    name: "ECS, nested",
    line: JSON.stringify({
      "@timestamp": "2026-03-02T12:00:06.853Z",
      log: { logger: "index.search.slowlog.query" },
      elasticsearch: { slowlog: { message: "[kb-acme][1]", took: "59.6ms", took_millis: 59 } },
    }),
    profile: "elasticsearch",
  },
  {
    name: "ECS, half nested",
    line: JSON.stringify({
      "@timestamp": "2026-03-02T12:00:06.853Z",
      "log.logger": "index.search.slowlog.query",
      "elasticsearch.slowlog": { message: "[kb-acme][1]", took: "59.6ms", took_millis: 59 },
    }),
    profile: "elasticsearch",
  },
  { name: "7.x, figures as text", line: seven(), profile: "elasticsearch" },
  { name: "text", line: text(SHARD), profile: "opensearch" },
  { name: "text with the full logger", line: text(SHARD, "index.search.slowlog.query"), profile: "opensearch" },
])("slow log shape: $name", ({ line, profile }) => {
  const { records, profiles, report } = readLog(line);
  expect(profiles).toEqual({ [profile]: 1 });
  expect(records.find((record) => record.kind === "step")).toMatchObject({ durationMs: 59, collection: "kb-acme" });
  expect(Object.keys(report["latency_ms"])).toEqual(["shard_query"]);
  expect(report["requests"].finished).toBe(null);
});

test.for([
  { name: "query", logger: "index.search.slowlog.query", kind: "shard_query" },
  { name: "fetch", logger: "index.search.slowlog.fetch", kind: "shard_fetch" },
])("slow log phase $name", ({ logger, kind }) => {
  expect(Object.keys(readLog(ecs({ "log.logger": logger })).report["latency_ms"])).toEqual([kind]);
});

test.for([
  { name: "whole milliseconds are took_millis", took: "4.2s", millis: 4279, ms: 4279 },
  { name: "below one millisecond it is took", took: "747.3micros", millis: 0, ms: 0.7473 },
  { name: "nanoseconds", took: "900nanos", millis: 0, ms: 0.0009 },
  { name: "nothing took nothing", took: "0s", millis: 0, ms: 0 },
  { name: "only took", took: "1.2m", millis: undefined, ms: 72_000 },
  { name: "only took_millis", took: undefined, millis: 12, ms: 12 },
  { name: "an unreadable took_millis", took: "12ms", millis: "x", ms: 12 },
])("slow log duration: $name", ({ took, millis, ms }) => {
  const { report } = readLog(ecs({ "elasticsearch.slowlog.took": took, "elasticsearch.slowlog.took_millis": millis }));
  expect(report["latency_ms"].shard_query.sum).toBeCloseTo(ms, 9);
});

test.for([
  { name: "unreadable", took: "long", millis: "x", rejected: { "not-a-number": 1 } },
  { name: "negative", took: "-1", millis: -1, rejected: { "negative-duration": 1 } },
  { name: "absent", took: undefined, millis: undefined, rejected: {} },
])("slow log: an $name duration is unknown", ({ took, millis, rejected }) => {
  const { report } = readLog(ecs({ "elasticsearch.slowlog.took": took, "elasticsearch.slowlog.took_millis": millis }));
  expect(report["latency_ms"]).toEqual({});
  expect(report["rejected_values"]).toEqual(rejected);
});

test.for([
  {
    name: "all shards answered",
    shards: "{total:3, successful:3, skipped:0, failed:0}",
    finished: 1,
    failed: 0,
    partial: undefined,
  },
  { name: "some failed", shards: "{total:3, successful:2, skipped:0, failed:1}", finished: 1, failed: 0, partial: 1 },
  { name: "none answered", shards: "{total:3, successful:0, skipped:0, failed:3}", finished: 0, failed: 1, partial: 1 },
])("opensearch request: $name", ({ shards, finished, failed, partial }) => {
  const { report, records } = readLog(request(shards));
  expect(report["requests"]).toMatchObject({ finished, failed });
  expect(report["latency_ms"].retrieval).toMatchObject({ count: 1, sum: 1306 });
  expect(report["counters"].partial_shard_failures).toBe(partial);
  expect(records.find((record) => record.kind === "request")).toMatchObject({ id: "req-51c971dc" });
});

test("opensearch request in JSON", () => {
  const { report, profiles } = readLog(
    JSON.stringify({
      type: "search_request_slowlog",
      timestamp: "2026-03-02T12:30:01,495Z",
      level: "WARN",
      component: "c.s.r.slowlog",
      took: "1.3s",
      took_millis: "1306",
      phase_took: "{expand=0, query=1044, fetch=130}",
      shards: "{total:3, successful:3, skipped:0, failed:0}",
      source: "{}",
      id: "req-1",
    }),
  );
  expect(profiles).toEqual({ opensearch: 1 });
  expect(report["latency_ms"].retrieval).toMatchObject({ count: 1, sum: 1306 });
});

test("slow log times keep their zone", () => {
  expect(readLog(seven()).records[0]?.timeMs).toBe(Date.UTC(2026, 2, 2, 10, 0, 6, 853));
});

test.for([
  {
    name: "an indexing slow log",
    line: text("[kb][1] took[59.6ms], took_millis[59], id[1], source[{}]", "i.i.s.index"),
  },
  { name: "a server line", line: text("publish address {10.0.0.1:9300}", "o.e.n.Node                ") },
])("slow logs leave alone $name", ({ line }) => {
  expect(readLog(line).profiles).toEqual({});
});
