import { expect, test } from "vitest";
import { readLog } from "../../support/read-log.ts";

const AT = "2026/03/02 09:00:00.543 +00:00";
const access = (
  fields: {
    method?: string;
    status?: string;
    code?: string;
    msg?: string;
    trace?: string;
    cost?: string;
    db?: string;
    expr?: string;
  } = {},
): string => {
  const {
    method = "Search",
    status = "Successful",
    code = "0",
    msg = "",
    trace = "645f29a691499ebe27dfd5598c35cb46",
    cost = "250ms",
    db = "default",
    expr = "",
  } = fields;
  return `[${AT}] [ACCESS] <root: tcp-10.0.0.9:45261> ${method} [status: ${status}] [code: ${code}] [sdk: Python-2.5.3] [msg: ${msg}] [traceID: ${trace}] [timeCost: ${cost}] [database: ${db}] [collection: kb] [partitions: [a b]] [expr: ${expr}] [nq: 1] [params: {"topk":5}]`;
};
const component = (level: string, message: string, fields: string): string =>
  `[${AT}] [${level}] [proxy/impl.go:2901] [${message}] [traceID=645f29a691499ebe27dfd5598c35cb46] ${fields}`;

test.for([
  { name: "microseconds", cost: "823.443µs", ms: 0.823443 },
  { name: "the other mu", cost: "823.443μs", ms: 0.823443 },
  { name: "minutes", cost: "1m2.5s", ms: 62_500 },
  { name: "milliseconds", cost: "146.791ms", ms: 146.791 },
])("milvus time cost in $name", ({ cost, ms }) => {
  const { report } = readLog(access({ cost }));
  expect(report["latency_ms"].retrieval.sum).toBeCloseTo(ms, 6);
});

test.for([
  { name: "unknown", cost: "Unknown", rejected: {} },
  { name: "without a unit", cost: "12", rejected: { "unknown-unit": 1 } },
  { name: "no duration", cost: "slow", rejected: { "not-a-number": 1 } },
  { name: "negative", cost: "-3ms", rejected: { "negative-duration": 1 } },
])("milvus counts a request whose time cost is $name", ({ cost, rejected }) => {
  const { report } = readLog(access({ cost }));
  expect(report["requests"].finished).toBe(1);
  expect(report["latency_ms"].retrieval).toBeUndefined();
  expect(report["rejected_values"]).toEqual(rejected);
});

test.for([
  {
    name: "brackets in the message",
    fields: { status: "Failed", code: "100", msg: "collection not found[database=default][collection=kb]" },
  },
  { name: "brackets in the expression", fields: { expr: 'id in [1, 2, 3] and tag == "a]"' } },
  {
    name: "newer quotes",
    fields: {
      status: "Failed",
      code: "100",
      msg: '"collection not found[collection=\\"a]\\"]"',
      expr: '"tenant == \\"acme\\""',
    },
  },
  { name: "a quote that is never closed", fields: { status: "Failed", code: "100", msg: 'syntax error near "' } },
  {
    name: "fields in the user's text",
    fields: { expr: 'x == "] [timeCost: 99h] [status: Failed] [collection: evil]"' },
  },
])("milvus reads the fields around $name", ({ fields }) => {
  const { records, report } = readLog(access(fields));
  expect(records.find((record) => record.kind === "step")).toMatchObject({ durationMs: 250, collection: "kb" });
  expect(report["requests"].failed).toBe(fields.status === "Failed" ? 1 : 0);
});

test.for([
  { name: "Search", method: "Search", requests: 1 },
  { name: "HybridSearch", method: "HybridSearch", requests: 1 },
  { name: "Query", method: "Query", requests: 1 },
  { name: "REST search", method: "/v2/vectordb/entities/search", requests: 1 },
  { name: "REST of version 1", method: "/v1/vector/query", requests: 1 },
  { name: "Insert", method: "Insert", requests: null },
  { name: "DescribeCollection", method: "DescribeCollection", requests: null },
  { name: "REST insert", method: "/v2/vectordb/entities/insert", requests: null },
])("milvus method $name", ({ method, requests }) => {
  const { report } = readLog(access({ method }));
  expect(report["requests"].finished).toBe(requests);
  expect(report["counters"].other_methods).toBe(requests === null ? 1 : undefined);
});

test.for([
  {
    name: "missing collection",
    status: "Failed",
    code: "100",
    msg: "collection not found[collection=kb]",
    cause: "vector_index_missing",
  },
  {
    name: "not loaded",
    status: "Failed",
    code: "101",
    msg: "collection not loaded[collection=kb]",
    cause: "vector_index_degraded",
  },
  {
    name: "lost channel",
    status: "Failed",
    code: "503",
    msg: "channel not available[channel=x]",
    cause: "vector_index_degraded",
  },
  {
    name: "no leaders",
    status: "Failed",
    code: "503",
    msg: "no available shard leaders",
    cause: "upstream_overloaded",
  },
  { name: "rate", status: "Failed", code: "8", msg: "rate limit exceeded[rate=10]", cause: "rate_limited" },
  {
    name: "deadline",
    status: "GrpcDeadlineExceeded",
    code: "1",
    msg: "context deadline exceeded",
    cause: "upstream_timeout",
  },
  { name: "key", status: "GrpcUnauthenticated", code: "1400", msg: "auth check failure", cause: "auth_invalid_key" },
  { name: "REST 401", status: "HttpError401", code: "Unknown", msg: "", cause: "auth_invalid_key" },
])("milvus cause: $name", ({ status, code, msg, cause }) => {
  const { report } = readLog(access({ status, code, msg }));
  expect(report["requests"].failed).toBe(1);
  expect(report["errors"].records).toEqual({ [cause]: 1 });
});

test("milvus: a cancelled call is aborted", () => {
  const { report } = readLog(access({ status: "GrpcCanceled", code: "1", msg: "context canceled" }));
  expect(report["requests"]).toMatchObject({ finished: 0, failed: 0, aborted: 1 });
  expect(report["errors"].records).toEqual({ client_cancelled: 1 });
});

test("milvus: a database of its own is the tenant", () => {
  expect(readLog(access({ db: "acme" })).report["requests"].by_tenant).toEqual({ acme: 1 });
  expect(readLog(access({ db: "default" })).report["requests"].by_tenant).toEqual({});
  expect(readLog(access({ db: "Unknown" })).report["requests"].by_tenant).toEqual({});
});

test.for([
  {
    name: "order and names changed",
    line: `[${AT}] [ACCESS] [method: Search] [cost: 250ms] [db: acme] [collection_name: kb] [method_status: Successful]`,
  },
  {
    name: "without a mark",
    line: `[${AT}] Search [status: Successful] [timeCost: 250ms] [collection: kb] [database: acme]`,
  },
  { name: "bare words", line: `${AT} Search Successful 250ms collection=kb db=acme` },
  {
    name: "keys with equals",
    line: `[${AT}] [ACCESS] method=Search status=Successful time_cost=250ms collection=kb database=acme`,
  },
  {
    name: "keys with colons",
    line: `[${AT}] [ACCESS] method: Search status: Successful cost: 250ms collection: kb database: acme`,
  },
  {
    name: "no time",
    line: "[ACCESS] <root: tcp-1> Search [status: Successful] [timeCost: 250ms] [collection: kb] [database: acme]",
  },
  {
    name: "no status",
    line: `[${AT}] [ACCESS] <root: tcp-1> Search [timeCost: 250ms] [collection: kb] [database: acme]`,
  },
])("milvus customised access format: $name", ({ line }) => {
  const { records, report } = readLog(line);
  expect(report["requests"]).toMatchObject({ finished: 1, failed: 0, by_tenant: { acme: 1 } });
  expect(records.find((record) => record.kind === "step")).toMatchObject({ durationMs: 250, collection: "kb" });
});

test.for([
  { name: "search", message: '"Search slow"', count: 1 },
  { name: "hybrid search", message: '"HybridSearch slow"', count: 1 },
  { name: "a step of a search", message: "tr/Search", count: undefined },
  { name: "a sentence about slowness", message: '"disk is slow"', count: undefined },
])("milvus component log: $name", ({ message, count }) => {
  const { report } = readLog(
    component("INFO", message, '[msg="search request enqueue"] [collection=kb] [duration=5.58s]'),
  );
  expect(report["latency_ms"].retrieval?.sum).toBe(count === undefined ? undefined : 5580);
  expect(report["counters"].slow_searches).toBe(count);
  expect(report["requests"].finished).toBe(null);
});

test("milvus: JSON of a component", () => {
  const { report, profiles } = readLog(
    JSON.stringify({
      level: "INFO",
      time: AT,
      caller: "proxy/impl.go:2901",
      message: "Search slow",
      traceID: "1f",
      collection: "kb",
      duration: "5.58s",
    }),
  );
  expect(profiles).toEqual({ milvus: 1 });
  expect(report["latency_ms"].retrieval.sum).toBe(5580);
});

test.for([
  {
    name: "a failed request",
    level: "WARN",
    message: '"Search failed to WaitToFinish"',
    fields: '[error="collection not found[collection=a]"]',
    count: 1,
  },
  {
    name: "an error",
    level: "ERROR",
    message: '"failed to load segment"',
    fields: '[error="node offline[node=1]"]',
    count: 1,
  },
  {
    name: "a retry",
    level: "WARN",
    message: '"retry func failed"',
    fields: '[error="collection not found[collection=a]"]',
    count: 0,
  },
  { name: "a warning", level: "WARN", message: '"memory is scarce"', fields: "", count: 0 },
])("milvus component failures: $name", ({ level, message, fields, count }) => {
  const { records } = readLog(component(level, message, fields));
  expect(records.filter((record) => record.kind === "failure")).toHaveLength(count);
});

test("milvus counts a request of both logs in one stream once", () => {
  const slow = component("INFO", '"Search slow"', "[collection=kb] [duration=5.58s]");
  const failed = component("WARN", '"Search failed to WaitToFinish"', '[error="collection not found[collection=kb]"]');
  const { report } = readLog(
    [
      slow,
      access({ cost: "5.6s" }),
      // the same trace may hold another search
      access({ cost: "20ms" }),
      failed,
      access({ status: "Failed", code: "100", msg: "collection not found[collection=kb]", cost: "1ms" }),
    ].join("\n"),
  );
  expect(report["requests"]).toMatchObject({ finished: 2, failed: 1 });
  expect(report["latency_ms"].retrieval).toMatchObject({ count: 3, sum: 5601 });
  expect(report["errors"].records).toEqual({ vector_index_missing: 1 });
});

test("milvus joins a Go stack to its error", () => {
  const { records, unrecognised } = readLog(
    [
      component("ERROR", '"panic in task"', '[error="boom"]'),
      "goroutine 1 [running]:",
      "github.com/milvus-io/milvus/internal/proxy.(*Proxy).Search(0xc000)",
      "\t/go/src/github.com/milvus-io/milvus/internal/proxy/impl.go:10 +0x1",
      access(),
    ].join("\n"),
  );
  expect(unrecognised).toEqual([]);
  expect(records.filter((record) => record.kind === "failure")).toHaveLength(1);
});
