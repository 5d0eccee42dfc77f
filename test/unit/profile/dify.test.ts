import { expect, test } from "vitest";
import { readLog } from "../../support/read-log.ts";

const text = (
  message: string,
  fields: { level?: string; thread?: string; column?: string; time?: string } = {},
): string => {
  const { level = "INFO", thread = "MainThread", column = " - ", time = "2026-03-02 13:00:00,724.724" } = fields;
  return `${time} ${level} [${thread}] [_client.py:1038] ${column}${message}`;
};
const call = (status: number, url = "https://api.openai.com/v1/chat/completions"): string =>
  `HTTP Request: POST ${url} "HTTP/1.1 ${status} Whatever"`;
const json = (fields: Record<string, unknown>): string =>
  JSON.stringify({
    ts: "2026-03-02T13:30:01.134Z",
    severity: "INFO",
    service: "langgenius/dify",
    caller: "_client.py:1038",
    message: call(200),
    ...fields,
  });

test.for([
  { name: "milliseconds twice", fields: {} },
  { name: "a date format of its own", fields: { time: "2026-03-02 13:00:00.724" } },
  { name: "no fraction", fields: { time: "2026-03-02 13:00:00" } },
  { name: "a thread with blanks and brackets", fields: { thread: "Thread-3 (_generate_worker) [x]" } },
  { name: "a trace id", fields: { column: "7e18c547c25271bf3f966294e015b461 - " } },
  { name: "no column (old releases)", fields: { column: "- " } },
  { name: "no dash (excerpts)", fields: { column: "" } },
])("dify text: $name", ({ fields }) => {
  const { records, profiles } = readLog(text(call(200), fields));
  expect(profiles).toEqual({ dify: 1 });
  expect(records[0]).toMatchObject({ kind: "http", status: 200, route: "/v1/chat/completions", inference: true });
  expect(Math.floor((records[0]?.timeMs ?? 0) / 1000)).toBe(Date.UTC(2026, 2, 2, 13) / 1000);
});

test.for([
  { name: "429", status: 429, cause: "rate_limited" },
  { name: "500", status: 500, cause: "upstream_error" },
  { name: "502", status: 502, cause: "upstream_unreachable" },
  { name: "504", status: 504, cause: "upstream_timeout" },
])("dify: an outbound call answered $name is a failure", ({ status, cause }) => {
  expect(readLog(text(call(status))).report["errors"].records).toEqual({ [cause]: 1 });
});

test("dify: ids in outbound paths are put aside", () => {
  const url = "http://plugin_daemon:5002/plugin/52794b9f-fae6-4b5c-acc7-d67ab425b575/dispatch/llm/invoke?x=1";
  expect(readLog(text(call(200, url))).records[0]).toMatchObject({ route: "/plugin/{id}/dispatch/llm/invoke" });
});

const TRACEBACK = [
  "Traceback (most recent call last):",
  '  File "/app/api/x.py", line 72, in f',
  "    yield",
  "httpcore.ReadTimeout: timed out",
  "",
  "During handling of the above exception, another exception occurred:",
  "",
  "Traceback (most recent call last):",
  '  File "/app/api/y.py", line 59, in _run',
  "    results = fetch(query)",
];

test.for([
  { name: "timeout", last: "httpx.ReadTimeout: timed out", cause: "upstream_timeout" },
  { name: "refused", last: "httpx.ConnectError: [Errno 111] Connection refused", cause: "upstream_unreachable" },
  {
    name: "rate",
    last: "core.model_runtime.errors.invoke.InvokeRateLimitError: [openai] Rate Limit Error",
    cause: "rate_limited",
  },
  {
    name: "pool",
    last: "sqlalchemy.exc.TimeoutError: QueuePool limit of size 30 overflow 10 reached, connection timed out",
    cause: "db_pool_exhausted",
  },
])("dify: the last exception of a traceback decides: $name", ({ last, cause }) => {
  const { report, unrecognised, records } = readLog(
    [text("Error when running knowledge retrieval node", { level: "ERROR" }), ...TRACEBACK, last, text(call(200))].join(
      "\n",
    ),
  );
  expect(unrecognised).toEqual([]);
  expect(report["errors"].records).toEqual({ [cause]: 1 });
  expect(records.find((record) => record.kind === "failure")).toMatchObject({ text: expect.stringContaining(last) });
});

test("dify: an exception of any name ends its traceback", () => {
  const { unrecognised } = readLog(
    [text("boom", { level: "ERROR" }), ...TRACEBACK, "werkzeug.exceptions.NotFound: 404 Not Found"].join("\n"),
  );
  expect(unrecognised).toEqual([]);
});

test("dify: a failed call and its request's own error are one failure", () => {
  const column = "7e18c547c25271bf3f966294e015b461 - ";
  const { report, records } = readLog(
    [
      text(call(429), { column }),
      text("[openai] quota", { level: "ERROR", column }),
      text(call(429), { column: "aa - " }),
    ].join("\n"),
  );
  expect(report["errors"].records).toEqual({ rate_limited: 2 });
  expect(records.find((record) => record.kind === "failure")).toMatchObject({
    text: "[openai] quota",
    httpStatus: 429,
  });
});

test.for([
  { name: "a call", fields: {}, causes: {} },
  {
    name: "an error with its stack",
    fields: {
      severity: "ERROR",
      message: "Error while executing node",
      stack_trace: "Traceback (most recent call last):\n  File x\nhttpx.ReadTimeout: timed out\n",
      identity: { tenant_id: "t-1" },
    },
    causes: { upstream_timeout: 1 },
  },
  { name: "a warning", fields: { severity: "WARN", message: "slow" }, causes: {} },
])("dify JSON: $name", ({ fields, causes }) => {
  const { report, records, profiles } = readLog(json(fields));
  expect(profiles).toEqual({ dify: 1 });
  expect(report["errors"].records).toEqual(causes);
  if ("identity" in fields) expect(records[0]).toMatchObject({ tenant: "t-1" });
});

const gunicorn = (level: string, message: string): string => `[2026-03-02 13:40:40 +0000] [1] [${level}] ${message}`;

test("dify: gunicorn's lines in its stream, a killed worker once", () => {
  const { report, profiles } = readLog(
    [
      text(call(200)),
      gunicorn("INFO", "Booting worker with pid: 36"),
      gunicorn("CRITICAL", "WORKER TIMEOUT (pid:35)"),
      gunicorn("ERROR", "Worker (pid:35) was sent SIGKILL! Perhaps out of memory?"),
    ].join("\n"),
  );
  expect(profiles).toEqual({ dify: 4 });
  expect(report["errors"].records).toEqual({ engine_hang_watchdog: 1 });
});

test("dify leaves gunicorn of other applications alone", () => {
  expect(readLog(gunicorn("INFO", "Listening at: http://0.0.0.0:8000")).profiles["dify"]).toBeUndefined();
});
