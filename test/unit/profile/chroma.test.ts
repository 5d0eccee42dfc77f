import { expect, test } from "vitest";
import { readLog } from "../../support/read-log.ts";

const COLLECTION = "tenants/acme/databases/default_database/collections/591c8d28-a83a-4cf0-a0ba-e8b6d26d914f";
const line = (path: string, status = 200, method = "POST", time = "10:30:20"): string =>
  `INFO:     [02-03-2026 ${time}] 10.0.0.5:33729 - "${method} ${path} HTTP/1.1" ${status} OK`;

test.for([
  { name: "query", path: `/api/v2/${COLLECTION}/query`, finished: 1, tenant: "acme" },
  { name: "get", path: `/api/v2/${COLLECTION}/get`, finished: 1, tenant: "acme" },
  { name: "search", path: `/api/v2/${COLLECTION}/search`, finished: 1, tenant: "acme" },
  {
    name: "an encoded tenant",
    path: `/api/v2/${COLLECTION.replace("acme", "a%20b")}/query`,
    finished: 1,
    tenant: "a b",
  },
  {
    name: "v1, tenant as a parameter",
    path: "/api/v1/collections/591c8d28/query?tenant=globex&database=d",
    finished: 1,
    tenant: "globex",
  },
  { name: "v1 without a tenant", path: "/api/v1/collections/591c8d28/query", finished: 1, tenant: undefined },
  { name: "add", path: `/api/v2/${COLLECTION}/add`, finished: null, tenant: undefined },
  { name: "count", path: `/api/v2/${COLLECTION}/count`, finished: null, tenant: undefined },
  { name: "heartbeat", path: "/api/v2/heartbeat", finished: null, tenant: undefined },
])("chroma path: $name", ({ path, finished, tenant }) => {
  const { report, profiles } = readLog(line(path));
  expect(profiles).toEqual({ chroma: 1 });
  expect(report["requests"].finished).toBe(finished);
  expect(report["requests"].by_tenant).toEqual(tenant === undefined ? {} : { [tenant]: 1 });
  expect(report["http"].other).toBe(finished === null ? 1 : 0);
});

test("chroma dates are day-month-year", () => {
  const { records } = readLog(line(`/api/v2/${COLLECTION}/query`));
  expect(records[0]?.timeMs).toBe(Date.UTC(2026, 2, 2, 10, 30, 20));
});

test("chroma: a line of old releases is known by its path", () => {
  const { profiles, report } = readLog(
    'INFO:     10.0.0.5:1 - "POST /api/v1/collections/591c8d28/query HTTP/1.1" 404 Not Found',
  );
  expect(profiles).toEqual({ chroma: 1 });
  expect(report["errors"].records).toEqual({ vector_index_missing: 1 });
});

test("chroma joins the exception with the answer it caused", () => {
  const { report, records } = readLog(
    [
      line(`/api/v2/${COLLECTION}/query`, 500),
      "ERROR:    [02-03-2026 10:30:20] Exception in ASGI application",
      "Traceback (most recent call last):",
      '  File "/chroma/chromadb/segment.py", line 1, in query',
      "    raise InvalidDimensionException(x)",
      "chromadb.errors.InvalidDimensionException: Embedding dimension 384 does not match collection dimensionality 1536",
      line("/api/v2/heartbeat", 200, "GET", "10:30:25"),
    ].join("\n"),
  );
  expect(report["requests"].failed).toBe(1);
  const failures = records.filter((record) => record.kind === "failure");
  expect(failures).toHaveLength(1);
  expect(failures[0]).toMatchObject({
    httpStatus: 500,
    tenant: "acme",
    text: expect.stringContaining("384 does not match"),
  });
});
