import { expect, test } from "vitest";
import { readLog } from "../../support/read-log.ts";

const VECTOR =
  "SELECT id, embedding <=> $1 AS distance FROM chunks WHERE tenant_id = $2 ORDER BY embedding <=> $1 LIMIT 5";
const PREFIX = "2026-03-02 11:00:01.720 UTC [402] rag@ragdb ";
const at = (session: number, message: string): string => `${PREFIX.replace("402", String(session))}${message}`;
const execute = (sql = VECTOR, ms = "50.310"): string => `LOG:  duration: ${ms} ms  execute <unnamed>: ${sql}`;
const tenant = (name: string): string => `DETAIL:  Parameters: $1 = '[0.013,0.221]', $2 = '${name}'`;

test.for([
  { name: "Docker", prefix: "2026-03-02 11:00:01.720 UTC [402] " },
  { name: "Debian", prefix: "2026-03-02 11:00:01.720 UTC [402] rag@ragdb " },
  { name: "Debian of old", prefix: "2026-03-02 11:00:01 UTC [402-1] rag@ragdb " },
  { name: "pgBadger", prefix: "2026-03-02 11:00:01 UTC [402]: user=rag,db=ragdb,app=rag-api,client=10.0.0.8 " },
  {
    name: "pgBadger with a counter",
    prefix: "2026-03-02 11:00:01 UTC [402]: [3-1] user=rag,db=ragdb,app=[unknown],client=10.0.0.8 ",
  },
  { name: "RDS", prefix: "2026-03-02 11:00:01 UTC:10.0.0.8(41234):rag@ragdb:[402]:" },
  { name: "Azure", prefix: "2026-03-02 11:00:01 UTC-69a56e10.192-" },
  { name: "Spilo", prefix: "2026-03-02 11:00:01 UTC [402]: [3-1] 69a56e10.192 0 ragdb rag rag-api 10.0.0.8 " },
  { name: "angle brackets", prefix: "< 2026-03-02 11:00:01.720 UTC >" },
  { name: "epoch", prefix: "1772449201.720 [402] " },
  { name: "process alone", prefix: "[402] " },
  { name: "user and database alone", prefix: "rag@ragdb " },
  { name: "none", prefix: "" },
  { name: "syslog's counter", prefix: "[7-1] 2026-03-02 11:00:01.720 UTC [402] " },
])("postgres prefix: $name", ({ prefix }) => {
  const { report, profiles, unrecognised } = readLog(
    [
      `${prefix}${execute("SELECT id")}`,
      `\tFROM chunks`,
      `\tORDER BY embedding <-> '[1]'`,
      `${prefix}ERROR:  out of memory`,
    ].join("\n"),
  );
  expect(unrecognised).toEqual([]);
  expect(profiles).toEqual({ postgres: 4 });
  expect(report["requests"].finished).toBe(1);
  expect(report["latency_ms"].retrieval.sum).toBeCloseTo(50.31, 9);
});

test.for([
  { name: "UTC", stamp: "2026-03-02 11:00:01.720 UTC", utc: "2026-03-02T11:00:01.720Z" },
  { name: "summer time", stamp: "2026-07-02 11:00:01.720 CEST", utc: "2026-07-02T09:00:01.720Z" },
  { name: "New York", stamp: "2026-03-02 11:00:01 EST", utc: "2026-03-02T16:00:01.000Z" },
  {
    name: "an offset, where there is no abbreviation",
    stamp: "2026-03-02 11:00:01.720 +03",
    utc: "2026-03-02T08:00:01.720Z",
  },
  { name: "a half hour", stamp: "2026-03-02 11:00:01.720 +0530", utc: "2026-03-02T05:30:01.720Z" },
  {
    name: "an ambiguous abbreviation is local time",
    stamp: "2026-03-02 11:00:01.720 CST",
    utc: "2026-03-02T11:00:01.720Z",
  },
])("postgres time: $name", ({ stamp, utc }) => {
  const { records } = readLog(`${stamp} [402] ${execute()}`);
  expect(new Date(records[0]?.timeMs ?? Number.NaN).toISOString()).toBe(utc);
});

test.for([
  { name: "operator in ORDER BY", sql: "SELECT id FROM chunks ORDER BY embedding <-> '[1]' LIMIT 5", search: true },
  { name: "negative inner product", sql: "select id from chunks order by e <#> $1", search: true },
  {
    name: "taxicab, Hamming and Jaccard",
    sql: "select id from chunks order by e <+> $1, b <~> $2, b <%> $3",
    search: true,
  },
  { name: "schema-qualified operator", sql: "SELECT id FROM chunks ORDER BY e OPERATOR(public.<=>) $1", search: true },
  {
    name: "name of the distance",
    sql: "SELECT id, e <=> $1 AS distance FROM chunks ORDER BY distance ASC",
    search: true,
  },
  { name: "function", sql: "SELECT id FROM chunks ORDER BY cosine_distance(e, $1)", search: true },
  {
    name: "inner query",
    sql: "WITH s AS (SELECT id FROM chunks ORDER BY e <=> $1 LIMIT 20) SELECT id FROM s ORDER BY id",
    search: true,
  },
  {
    name: "after a setting",
    sql: "SET LOCAL hnsw.ef_search = 100; SELECT id FROM chunks ORDER BY e <=> $1",
    search: true,
  },
  { name: "distance as a filter only", sql: "SELECT id FROM chunks WHERE e <-> $1 < 0.5 ORDER BY id", search: false },
  {
    name: "other order, distance selected",
    sql: "SELECT id, e <=> $1 AS distance FROM chunks ORDER BY id",
    search: false,
  },
  { name: "text in a literal", sql: "SELECT id FROM notes WHERE body = 'ORDER BY e <-> x' ORDER BY id", search: false },
  { name: "text behind a doubled quote", sql: "SELECT 'it''s ORDER BY e <-> x' FROM notes", search: false },
  { name: "text in an escaped literal", sql: "SELECT E'\\' ORDER BY e <-> x' FROM notes", search: false },
  { name: "text in dollar quotes", sql: "SELECT $a$ ORDER BY e <-> x $a$ FROM notes", search: false },
  { name: "text in a comment", sql: "SELECT id FROM notes -- ORDER BY e <-> x", search: false },
  { name: "text in a long comment", sql: "SELECT id /* ORDER BY e <-> x */ FROM notes", search: false },
  { name: "a write", sql: "INSERT INTO nearest SELECT id FROM chunks ORDER BY e <-> $1", search: false },
  { name: "an index", sql: "CREATE INDEX ON chunks USING hnsw (e vector_cosine_ops)", search: false },
  { name: "a preparation", sql: "PREPARE s AS SELECT id FROM chunks ORDER BY e <-> $1", search: false },
])("postgres vector search: $name", ({ sql, search }) => {
  const { report } = readLog(`${PREFIX}LOG:  duration: 5 ms  statement: ${sql}`);
  expect(report["counters"]).toEqual(search ? { vector_searches: 1 } : { other_statements: 1 });
  expect(report["latency_ms"].retrieval?.count).toBe(search ? 1 : undefined);
});

test("postgres: of parse, bind, execute and further fetches only execute counts", () => {
  const { report } = readLog(
    [
      "parse <unnamed>",
      "bind <unnamed>",
      "execute <unnamed>",
      "execute fetch from <unnamed>/C_1",
      "bind S_1",
      "execute S_1",
    ]
      .map((step) => `${PREFIX}LOG:  duration: 10 ms  ${step}: ${VECTOR}`)
      .join("\n"),
  );
  expect(report["latency_ms"].retrieval).toMatchObject({ count: 2, sum: 20 });
  expect(report["counters"]).toEqual({ bind_or_parse_lines: 3, vector_searches: 2, fetch_lines: 1 });
});

test("postgres: a plan of auto_explain repeats a statement and is not counted", () => {
  const { report, unrecognised } = readLog(
    [
      at(402, "LOG:  duration: 49.9 ms  plan:"),
      `\tQuery Text: ${VECTOR}`,
      "\tLimit  (cost=0.00..1.00 rows=5 width=36)",
      at(402, execute()),
    ].join("\n"),
  );
  expect(unrecognised).toEqual([]);
  expect(report["latency_ms"].retrieval).toMatchObject({ count: 1 });
});

test("postgres: a duration without its statement is paired by process", () => {
  const { report } = readLog(
    [
      at(1, `LOG:  duration: 0.2 ms`),
      at(1, `LOG:  execute <unnamed>: ${VECTOR}`),
      at(1, tenant("acme")),
      at(2, `LOG:  statement: ${VECTOR.replaceAll("$1", "'[1]'")}`),
      at(3, "LOG:  statement: select 2"),
      at(2, "LOG:  duration: 20 ms"),
      at(3, "LOG:  duration: 300 ms"),
      at(1, "LOG:  duration: 1 ms"),
      at(1, "LOG:  duration: 5 ms"),
    ].join("\n"),
  );
  expect(report["latency_ms"].retrieval).toMatchObject({ count: 2, sum: 21 });
  expect(report["requests"].by_tenant).toEqual({ acme: 1 });
});

test("postgres: a statement that failed waits for no duration", () => {
  const { report } = readLog(
    [
      at(1, `LOG:  statement: ${VECTOR}`),
      at(1, "ERROR:  canceling statement due to statement timeout"),
      at(1, `STATEMENT:  ${VECTOR}`),
      at(1, "LOG:  duration: 5 ms"),
    ].join("\n"),
  );
  expect(report["latency_ms"].retrieval).toBeUndefined();
  expect(report["requests"]).toMatchObject({ finished: 0, failed: 1 });
});

test.for([
  { name: "before 16", detail: "DETAIL:  parameters: $1 = '[0.1]', $2 = 'acme'", tenants: { acme: 1 } },
  { name: "since 16", detail: tenant("acme"), tenants: { acme: 1 } },
  { name: "with a quote", detail: tenant("o''neil"), tenants: { "o'neil": 1 } },
  {
    name: "behind text that looks like parameters",
    detail: "DETAIL:  Parameters: $1 = 'x'', $2 = ''evil', $2 = 'acme'",
    tenants: { acme: 1 },
  },
  { name: "NULL", detail: "DETAIL:  Parameters: $1 = '[0.1]', $2 = NULL", tenants: {} },
  { name: "cut", detail: "DETAIL:  Parameters: $1 = '[0.1]', $2 = 'acm...'", tenants: {} },
  { name: "missing", detail: "DETAIL:  Parameters: $1 = '[0.1]'", tenants: {} },
])("postgres tenant: $name", ({ detail, tenants }) => {
  const { report } = readLog([at(402, execute()), at(402, detail)].join("\n"));
  expect(report["requests"]).toMatchObject({ finished: 1, by_tenant: tenants });
});

test.for([
  {
    name: "in JSON metadata",
    sql: "SELECT id FROM chunks WHERE metadata->>'tenant' = $2 ORDER BY e <=> $1",
    tenants: { acme: 1 },
  },
  {
    name: "qualified and cast",
    sql: 'SELECT id FROM chunks c WHERE c."tenant_id" = $2::text ORDER BY e <=> $1',
    tenants: { acme: 1 },
  },
  { name: "a literal is none", sql: "SELECT id FROM chunks WHERE tenant_id = 'acme' ORDER BY e <=> $1", tenants: {} },
])("postgres tenant column: $name", ({ sql, tenants }) => {
  const { report } = readLog([at(402, execute(sql)), at(402, tenant("acme"))].join("\n"));
  expect(report["requests"].by_tenant).toEqual(tenants);
});

test("postgres: parts of records of several processes find their own", () => {
  const { report, records } = readLog(
    [at(1, execute()), at(2, execute()), at(1, tenant("acme")), at(2, tenant("globex"))].join("\n"),
  );
  expect(report["requests"].by_tenant).toEqual({ acme: 1, globex: 1 });
  expect(records.find((record) => record.kind === "step")).toMatchObject({ collection: "chunks" });
});

test.for([
  {
    name: "missing table",
    message: 'relation "chunks_v2" does not exist at character 61',
    cause: "vector_index_missing",
  },
  { name: "timeout", message: "canceling statement due to statement timeout", cause: "upstream_timeout" },
  { name: "connections", message: "sorry, too many clients already", cause: "db_pool_exhausted" },
  {
    name: "reserved connections",
    message: "remaining connection slots are reserved for roles with the SUPERUSER attribute",
    cause: "db_pool_exhausted",
  },
  { name: "password", message: 'password authentication failed for user "rag"', cause: "auth_invalid_key" },
  { name: "permission", message: "permission denied for table chunks", cause: "permission_denied" },
  { name: "dimensions", message: "different vector dimensions 3 and 1536", cause: "embedding_dim_mismatch" },
  { name: "dimensions of a column", message: "expected 1536 dimensions, not 768", cause: "embedding_dim_mismatch" },
  { name: "disk", message: 'could not extend file "base/1/2": No space left on device', cause: "disk_full" },
  {
    name: "shared memory",
    message: 'could not resize shared memory segment "/PostgreSQL.1" to 67128672 bytes: No space left on device',
    cause: "shm_exhausted",
  },
  { name: "syntax", message: 'syntax error at or near "rate limit exceeded"', cause: "invalid_request" },
])("postgres cause: $name", ({ message, cause }) => {
  expect(readLog(at(402, `ERROR:  ${message}`)).report["errors"].records).toEqual({ [cause]: 1 });
  expect(readLog(at(402, `FATAL:  ${message}`)).report["errors"].records).toEqual({ [cause]: 1 });
});

test("postgres: a failure is its whole record, and one", () => {
  const { records, report } = readLog(
    [
      at(402, "ERROR:  canceling statement due to user request"),
      at(402, "CONTEXT:  unnamed portal with parameters: $1 = '[1]', $2 = 'acme'"),
      at(402, "STATEMENT:  SELECT id, embedding <=> $1 AS distance FROM chunks"),
      "\t WHERE tenant_id = $2",
      "\t ORDER BY embedding <=> $1",
    ].join("\n"),
  );
  expect(report["requests"]).toMatchObject({ failed: 0, aborted: 1, by_tenant: { acme: 1 } });
  const failures = records.filter((record) => record.kind === "failure");
  expect(failures).toHaveLength(1);
  expect(failures[0]).toMatchObject({
    cause: "client_cancelled",
    text: expect.stringContaining("STATEMENT:  SELECT id"),
  });
});

const csv = (message: string, extra = "", session = "402"): string =>
  `2026-03-02 11:00:01.720 UTC,"rag","ragdb",${session},"10.0.0.8:41234",69a56e10.192,1,"SELECT",2026-03-02 11:00:00 UTC,3/0,0,LOG,00000,"${message}",${extra},,,,,,,,"rag-api","client backend",,0`;

test.for([
  {
    name: "one line",
    log: csv(`duration: 50 ms  execute <unnamed>: ${VECTOR}`, `"Parameters: $1 = '[1]', $2 = 'acme'"`),
    finished: 1,
    lines: 1,
  },
  {
    name: "a statement over lines",
    log: csv("duration: 50 ms  statement: SELECT id\n FROM chunks\n ORDER BY e <-> '[1]'"),
    finished: 1,
    lines: 3,
  },
  {
    name: "quotes in it",
    log: csv('duration: 50 ms  statement: SELECT id FROM ""chunks""\n WHERE t = \'""\'\n ORDER BY e <-> \'[1]\''),
    finished: 1,
    lines: 3,
  },
  {
    name: "a fake record in it",
    log: csv(
      `duration: 50 ms  statement: SELECT '\n${csv("duration: 9 ms  statement: SELECT 1 ORDER BY e <-> 1").replaceAll('"', '""')}\n' FROM chunks`,
    ),
    finished: null,
    lines: 3,
  },
])("postgres csvlog: $name", ({ log, finished, lines }) => {
  const { report, profiles, unrecognised } = readLog(`${log}\n${csv("duration: 1 ms  statement: select 1")}`);
  expect(unrecognised).toEqual([]);
  expect(profiles).toEqual({ postgres: lines + 1 });
  expect(report["requests"].finished).toBe(finished);
  expect(report["counters"].other_statements).toBe(finished === null ? 2 : 1);
});

test("postgres csvlog: a quote that was lost does not swallow the log", () => {
  const lost = `${csv("duration: 50 ms  statement: select 1").slice(0, 120)}"\n`;
  const rest = `${csv("duration: 1 ms  statement: select 1")}\n`.repeat(6000);
  const { report } = readLog(lost + rest);
  expect(report["counters"].other_statements).toBeGreaterThan(900);
});

test.for([
  {
    name: "jsonlog",
    line: {
      timestamp: "2026-03-02 11:00:01.709 UTC",
      dbname: "ragdb",
      pid: 403,
      session_id: "69a56e10.193",
      error_severity: "LOG",
      message: `duration: 50 ms  execute <unnamed>: ${VECTOR}`,
      detail: "Parameters: $1 = '[1]', $2 = 'acme'",
      backend_type: "client backend",
    },
  },
  {
    name: "CloudNativePG",
    line: {
      level: "info",
      ts: "2026-03-02T11:00:01Z",
      logger: "postgres",
      msg: "record",
      record: {
        log_time: "2026-03-02 11:00:01.709 UTC",
        database_name: "ragdb",
        process_id: "403",
        error_severity: "LOG",
        sql_state_code: "00000",
        message: `duration: 50 ms  execute <unnamed>: ${VECTOR}`,
        detail: "Parameters: $1 = '[1]', $2 = 'acme'",
      },
    },
  },
])("postgres JSON: $name", ({ line }) => {
  const { report, profiles } = readLog(JSON.stringify(line));
  expect(profiles).toEqual({ postgres: 1 });
  expect(report["requests"]).toMatchObject({ finished: 1, by_tenant: { acme: 1 } });
  expect(report["latency_ms"].retrieval.sum).toBe(50);
});

test("postgres: SQLSTATE decides where the words are foreign", () => {
  const line = {
    timestamp: "2026-03-02 11:00:01.709 UTC",
    pid: 1,
    error_severity: "ERROR",
    state_code: "42P01",
    message: "Relation »chunks« existiert nicht",
    backend_type: "client backend",
  };
  expect(readLog(JSON.stringify(line)).report["errors"].records).toEqual({ vector_index_missing: 1 });
});

test("postgres: EXECUTE of a prepared statement is what was prepared", () => {
  const { report } = readLog(
    [
      at(402, "LOG:  duration: 5 ms  statement: execute s('[1]')"),
      at(402, "DETAIL:  prepare: prepare s(vector) as select id from chunks order by e <-> $1"),
    ].join("\n"),
  );
  expect(report["requests"].finished).toBe(1);
});

test.for([
  { name: "negative", ms: "-5.0", rejected: { "negative-duration": 1 } },
  { name: "no number", ms: "fast", rejected: { "not-a-number": 1 } },
])("postgres refuses a $name duration", ({ ms, rejected }) => {
  const { report } = readLog(at(402, execute(VECTOR, ms)));
  expect(report["requests"].finished).toBe(1);
  expect(report["latency_ms"].retrieval).toBeUndefined();
  expect(report["rejected_values"]).toEqual(rejected);
});

test.for([
  { name: "uvicorn", line: "WARNING:  Invalid HTTP request received." },
  {
    name: "a quoted line of PostgreSQL",
    line: 'app said "2026-03-02 11:00:01 UTC [1] LOG:  duration: 5 ms  statement: select 1"',
  },
  { name: "JSON of others", line: '{"timestamp":"2026-03-02","error_severity":"LOG","message":"duration: 5 ms"}' },
])("postgres leaves alone $name", ({ line }) => {
  expect(readLog(line).profiles["postgres"]).toBeUndefined();
});
