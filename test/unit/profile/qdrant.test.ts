import { expect, test } from "vitest";
import { readLog } from "../../support/read-log.ts";

const AT = "2026-03-02T08:00:01.314765Z";
const ACCESS = `${AT}  INFO actix_web::middleware::logger:`;
const search = (status: number, seconds = "0.250000", path = "/collections/kb/points/search"): string =>
  `${ACCESS} 10.0.0.6 "POST ${path} HTTP/1.1" ${status} 7371 "-" "python-httpx/0.27.0" ${seconds}    `;
const PANIC = `${AT} ERROR qdrant::actix::helpers: Error processing request: Service internal error: Task panicked    `;

test.for([
  { name: "search", path: "/collections/kb/points/search", retrieval: true },
  { name: "batch with a query string", path: "/collections/kb/points/search/batch?timeout=60", retrieval: true },
  { name: "groups", path: "/collections/kb/points/query/groups", retrieval: true },
  { name: "recommend", path: "/collections/kb/points/recommend/batch", retrieval: true },
  { name: "discover", path: "/collections/kb/points/discover", retrieval: true },
  { name: "scroll", path: "/collections/kb/points/scroll", retrieval: true },
  { name: "a matrix of distances is analytics", path: "/collections/kb/points/search/matrix/pairs", retrieval: false },
  { name: "count", path: "/collections/kb/points/count", retrieval: false },
  { name: "points by id", path: "/collections/kb/points", retrieval: false },
  { name: "collections of clusters", path: "/collections/kb/cluster", retrieval: false },
])("qdrant route: $name", ({ path, retrieval }) => {
  const { report } = readLog(search(200, "0.250000", path));
  expect(report["requests"].finished).toBe(retrieval ? 1 : null);
  expect(report["http"].other).toBe(retrieval ? 0 : 1);
  expect(report["latency_ms"].retrieval?.sum).toBe(retrieval ? 250 : undefined);
});

test.for([
  {
    name: "colours of a terminal",
    line: `\u001b[2m${AT}\u001b[0m \u001b[32m INFO\u001b[0m \u001b[2mactix_web::middleware::logger\u001b[0m\u001b[2m:\u001b[0m 10.0.0.6 "POST /collections/kb/points/search HTTP/1.1" 200 1 "-" "x" 0.250000    `,
  },
  {
    name: "brackets of releases before 1.4",
    line: '[2023-02-13T08:16:22Z INFO  actix_web::middleware::logger] 127.0.0.1 "POST /collections/kb/points/search HTTP/1.1" 200 1 "-" "x" 0.250000',
  },
  { name: "a second time in front", line: `2026-03-02 09:00:01 ${search(200)}` },
  {
    name: "JSON",
    line: JSON.stringify({
      timestamp: AT,
      level: "INFO",
      fields: { message: search(200).slice(ACCESS.length + 1) },
      target: "actix_web::middleware::logger",
    }),
  },
  {
    name: "JSON of the log crate",
    line: JSON.stringify({
      timestamp: AT,
      level: "INFO",
      fields: { message: search(200).slice(ACCESS.length + 1), "log.target": "actix_web::middleware::logger" },
      target: "log",
    }),
  },
  {
    name: "flattened JSON",
    line: JSON.stringify({
      timestamp: AT,
      level: "INFO",
      message: search(200).slice(ACCESS.length + 1),
      target: "actix_web::middleware::logger",
    }),
  },
])("qdrant shape: $name", ({ line }) => {
  const { records, report } = readLog(line);
  expect(report["requests"].finished).toBe(1);
  expect(records[1]).toMatchObject({ kind: "step", durationMs: 250, collection: "kb", outcome: "ok" });
});

test("qdrant: what clients choose does not move the figures", () => {
  const hostile = `${ACCESS} 10.0.0.6 "POST /collections/kb/points/search HTTP/1.1" 200 7 "-" "x" 404 9.9 "POST /collections/a/points/search HTTP/1.1" 500 1 "-" "y" 0.250000`;
  const { report } = readLog(hostile);
  expect(report["requests"]).toMatchObject({ finished: 1, failed: 0 });
  expect(report["latency_ms"].retrieval).toMatchObject({ count: 1, sum: 250 });
});

test.for([
  { name: "the reason before the answer", lines: [PANIC, search(500)] },
  { name: "the reason after the answer", lines: [search(500), PANIC] },
  { name: "another answer between", lines: [search(500), search(200), PANIC] },
])("qdrant counts one failure: $name", ({ lines }) => {
  const { report, records } = readLog(lines.join("\n"));
  expect(report["requests"].failed).toBe(1);
  expect(report["errors"].records).toEqual({ upstream_error: 1 });
  expect(records.find((record) => record.kind === "failure")?.text).toContain("Task panicked");
});

test("qdrant: a reason without an answer is a failure of its own, a far one too", () => {
  const later = search(500).replace("08:00:01", "08:00:09");
  const { report } = readLog([PANIC, later].join("\n"));
  expect(Object.values<number>(report["errors"].records).reduce((a, b) => a + b)).toBe(2);
});

test.for([
  { name: "404", status: 404, cause: "vector_index_missing" },
  { name: "401", status: 401, cause: "auth_invalid_key" },
  { name: "403", status: 403, cause: "permission_denied" },
  { name: "429", status: 429, cause: "rate_limited" },
  { name: "503", status: 503, cause: "upstream_overloaded" },
])("qdrant cause of status $name", ({ status, cause }) => {
  const { report } = readLog(search(status));
  expect(report["errors"].records).toEqual({ [cause]: 1 });
  expect(report["requests"]).toMatchObject({ finished: 0, failed: 1 });
});

test.for([
  {
    name: "deadline",
    text: 'gRPC /qdrant.Points/Search failed with Deadline expired before operation could complete "Timeout" 5.000321',
    failed: 1,
    aborted: null,
    causes: { upstream_timeout: 1 },
  },
  {
    name: "missing collection",
    text: 'gRPC /qdrant.Points/Query failed with Some requested entity was not found "Not found: Collection `a` doesn\'t exist!" 0.1',
    failed: 1,
    aborted: null,
    causes: { vector_index_missing: 1 },
  },
  {
    name: "unexpected",
    text: 'gRPC /qdrant.Points/Scroll unexpectedly failed with Internal error "Service internal error" 0.1',
    failed: 1,
    aborted: null,
    causes: { upstream_error: 1 },
  },
  {
    name: "a write is no request",
    text: 'gRPC /qdrant.Points/Upsert failed with The service is currently unavailable "x" 0.1',
    failed: null,
    aborted: null,
    causes: { upstream_overloaded: 1 },
  },
  {
    name: "a shard's part is no request",
    text: 'gRPC /qdrant.PointsInternal/CoreSearchBatch failed with Internal error "x" 0.1',
    failed: null,
    aborted: null,
    causes: { upstream_error: 1 },
  },
  { name: "success at TRACE", text: "gRPC /qdrant.Points/Search Ok 0.000412", failed: 0, aborted: null, causes: {} },
  { name: "cancelled at TRACE", text: "gRPC /qdrant.Points/Search 0.000412", failed: 0, aborted: 1, causes: {} },
])("qdrant gRPC: $name", ({ text, failed, aborted, causes }) => {
  const { report } = readLog(`${AT}  INFO qdrant::tonic::logging: ${text}    `);
  expect(report["requests"]).toMatchObject({ failed, aborted });
  expect(report["errors"].records).toEqual(causes);
});

test("qdrant joins the two records of a panic and its backtrace", () => {
  const { records } = readLog(
    [
      `${AT} ERROR qdrant::startup: Panic backtrace: `,
      "   0: qdrant::startup::setup_panic_hook::{{closure}}",
      "   1: std::panicking::rust_panic_with_hook",
      "",
      `${AT} ERROR qdrant::startup: Panic occurred in file /qdrant/lib/x.rs at line 12: boom`,
    ].join("\n"),
  );
  expect(records).toHaveLength(1);
  expect(records[0]).toMatchObject({ kind: "failure", text: expect.stringContaining("Panic occurred in file") });
});

test.for([
  { name: "negative", seconds: "-0.5", reason: "negative-duration" },
  { name: "no number", seconds: "fast", reason: "not-a-number" },
  { name: "not a number", seconds: "NaN", reason: "not-a-number" },
])("qdrant refuses a $name duration and keeps the request", ({ seconds, reason }) => {
  const { report } = readLog(search(200, seconds));
  expect(report["requests"].finished).toBe(1);
  expect(report["latency_ms"].retrieval).toBeUndefined();
  expect(report["rejected_values"]).toEqual({ [reason]: 1 });
});

test.for([
  {
    name: "a write",
    line: `${ACCESS} 10.0.0.5 "PUT /collections/kb/points?wait=true HTTP/1.1" 200 75 "-" "x" 0.3`,
    causes: {},
    writes: 1,
  },
  {
    name: "a failed write",
    line: `${ACCESS} 10.0.0.5 "PUT /collections/kb/points?wait=true HTTP/1.1" 429 75 "-" "x" 0.3`,
    causes: { rate_limited: 1 },
    writes: undefined,
  },
  {
    name: "a look whether a collection exists",
    line: `${ACCESS} 10.0.0.5 "GET /collections/kb HTTP/1.1" 404 75 "-" "x" 0.3`,
    causes: {},
    writes: undefined,
  },
])("qdrant: $name is no request", ({ line, causes, writes }) => {
  const { report } = readLog(line);
  expect(report["requests"]).toMatchObject({ finished: null, failed: null });
  expect(report["errors"].records).toEqual(causes);
  expect(report["counters"].writes).toBe(writes);
});

test("qdrant leaves lines of other Rust servers alone", () => {
  const { profiles } = readLog("2026-03-02T08:00:01.314765Z  INFO text_generation_router::server: success");
  expect(profiles["qdrant"]).toBeUndefined();
});

const audit = (fields: Record<string, unknown>): string =>
  JSON.stringify({
    timestamp: "2026-03-02T08:30:10.420065Z",
    method: "search_points",
    api: "POST /collections/kb/points/search",
    auth_type: "Jwt",
    subject: "acme",
    remote: "10.0.0.8",
    collection: "kb",
    tracing_id: "t-1",
    result: "ok",
    ...fields,
  });

test.for([
  { name: "a permitted search", fields: {}, finished: 1, failed: 0, causes: {} },
  {
    name: "a refused search",
    fields: { result: "denied", error: "Forbidden: Access to collection kb is required" },
    finished: 0,
    failed: 1,
    causes: { permission_denied: 1 },
  },
  { name: "a write is no request", fields: { method: "upsert_points" }, finished: null, failed: null, causes: {} },
  {
    name: "a refused write is a failure",
    fields: { method: "delete_collection", result: "denied" },
    finished: null,
    failed: null,
    causes: { permission_denied: 1 },
  },
])("qdrant-audit: $name", ({ fields, finished, failed, causes }) => {
  const { report, profiles } = readLog(audit(fields));
  expect(profiles).toEqual({ "qdrant-audit": 1 });
  expect(report["requests"]).toMatchObject({ finished, failed });
  expect(report["errors"].records).toEqual(causes);
  if (finished === 1) expect(report["requests"].by_tenant).toEqual({ acme: 1 });
});
