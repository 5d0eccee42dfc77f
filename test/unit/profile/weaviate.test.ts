import { expect, test } from "vitest";
import { readLog } from "../../support/read-log.ts";

const json = (fields: Record<string, unknown>): string =>
  JSON.stringify({
    build_wv_version: "1.32.4",
    level: "warning",
    msg: "Slow query detected (5.118s)",
    time: "2026-03-02T10:00:02Z",
    collection: "Acme",
    is_coordinator: false,
    tenant: "a",
    took: 5_118_374_004,
    ...fields,
  });
const text = (fields: string): string =>
  `time="2026-03-02T10:00:02Z" level=warning msg="Slow query detected (5.118s)" build_wv_version=1.32.4 collection=Acme is_coordinator=false ${fields}`;

test.for([
  { name: "JSON: int64 nanoseconds", line: json({}), sum: 5118.374004 },
  { name: "JSON: numbers quoted", line: json({ took: "5118374004" }), sum: 5118.374004 },
  { name: "JSON without took: the message", line: json({ took: undefined }), sum: 5118 },
  { name: "text: Go's seconds", line: text("took=5.118374004s"), sum: 5118.374004 },
  { name: "text: Go's microseconds", line: text("took=823.443µs"), sum: 0.823443 },
  { name: "text: Go's minutes", line: text("took=1m2.5s"), sum: 62_500 },
  { name: "text without took: the message", line: text(""), sum: 5118 },
  { name: "before lines carried the build", line: json({ build_wv_version: undefined }), sum: 5118.374004 },
])("weaviate duration, $name", ({ line, sum }) => {
  const { report, profiles } = readLog(line);
  expect(profiles).toEqual({ weaviate: 1 });
  expect(report["latency_ms"].retrieval_shard).toMatchObject({ count: 1 });
  expect(report["latency_ms"].retrieval_shard.sum).toBeCloseTo(sum, 6);
  expect(report["requests"]).toMatchObject({ finished: null, failed: null });
});

test.for([
  { name: "text: a number without a unit", line: text("took=5118374004"), reason: "unknown-unit" },
  { name: "text: no duration", line: text("took=soon"), reason: "not-a-number" },
  { name: "JSON: negative", line: json({ took: -1 }), reason: "negative-duration" },
])("weaviate refuses $name", ({ line, reason }) => {
  const { report } = readLog(line);
  expect(report["latency_ms"].retrieval_shard).toBeUndefined();
  expect(report["rejected_values"]).toEqual({ [reason]: 1 });
});

test.for([
  { name: "slow", fields: {}, counters: { slow_queries: 1 } },
  {
    name: "sampled",
    fields: { msg: "Sampled query (12ms)", level: "info", took: 12_000_000 },
    counters: { sampled_queries: 1 },
  },
  { name: "by the coordinator", fields: { is_coordinator: true }, counters: { slow_queries: 1, coordinator_lines: 1 } },
])("weaviate counts a $name query apart", ({ fields, counters }) => {
  const { report, records } = readLog(json(fields));
  expect(report["counters"]).toEqual(counters);
  expect(records.find((record) => record.kind === "step")).toMatchObject({ collection: "Acme", tenant: "a" });
});

test.for([
  {
    name: "a module's 429",
    msg: "send error: vectorize: remote client vectorize: connection to: OpenAI API failed with status: 429 error: Rate limit reached",
    cause: "rate_limited",
  },
  {
    name: "a module's 401",
    msg: "connection to: Cohere API failed with status: 401 error: invalid api token",
    cause: "auth_invalid_key",
  },
  { name: "an unknown class", msg: "could not find class Missing in schema", cause: "vector_index_missing" },
])("weaviate error: $name", ({ msg, cause }) => {
  const { report } = readLog(json({ level: "error", action: "batch_objects", msg, took: undefined }));
  expect(report["errors"].records).toEqual({ [cause]: 1 });
});

test("weaviate: an error field is part of the failure", () => {
  const { records } = readLog(
    json({ level: "error", msg: "put objects", error: "disk usage too high", took: undefined }),
  );
  expect(records[0]).toMatchObject({ kind: "failure", text: "put objects: disk usage too high" });
});

test.for([
  {
    name: "another Go program's slow query",
    line: '{"level":"warning","msg":"Slow query detected (2s)","time":"2026-03-02T10:00:02Z"}',
  },
  {
    name: "another Go program's logfmt",
    line: 'time="2026-03-02T10:00:02Z" level=error msg="build_wv_version=1 failed"',
  },
])("weaviate leaves alone $name", ({ line }) => {
  expect(readLog(line).profiles["weaviate"]).toBeUndefined();
});
