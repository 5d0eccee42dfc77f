import { describe, expect, test } from "vitest";
import { readEventFields } from "../../../src/profile/dynamo/event.ts";
import { readLog } from "../../support/read-log.ts";

const HEAD = "2026-06-03T18:00:32.112148Z  INFO http-request: dynamo_llm::http::service::metrics: ";
const SPAN = 'method=POST uri=/v1/chat/completions?x=1 version=HTTP/1.1 model="m" trace_id=t1';
const event = (fields: string, span = SPAN, head = HEAD): string =>
  `${head}request completed request_id=r1 model=m endpoint=chat_completions request_type=${fields} ${span}\n`;
const json = (fields: object): string =>
  `${JSON.stringify({ time: "2026-06-03T18:00:32.112148Z", level: "INFO", target: "dynamo_llm::http::service::metrics", ...fields })}\n`;
const completed = (fields: object): string =>
  json({
    message: "request completed",
    request_id: "r1",
    model: "m",
    endpoint: "chat_completions",
    uri: "/v1/chat/completions",
    ...fields,
  });

describe("completed requests", () => {
  test.for([
    {
      name: "readable, streamed",
      log: event(
        "stream status=success elapsed_ms=1834",
        `${SPAN} input_tokens=411 output_tokens=120 ttft_ms="152.31" avg_itl_ms="14.11"`,
      ),
    },
    {
      name: "JSON, numbers as strings",
      log: completed({
        request_type: "stream",
        status: "success",
        elapsed_ms: "1834",
        ttft_ms: "152.31",
        avg_itl_ms: "14.11",
        input_tokens: "411",
        output_tokens: "120",
      }),
    },
    {
      name: "JSON, numbers as numbers",
      log: completed({
        request_type: "stream",
        status: "success",
        elapsed_ms: 1834,
        ttft_ms: 152.31,
        avg_itl_ms: 14.11,
        input_tokens: 411,
        output_tokens: 120,
      }),
    },
    {
      name: "local time with offset",
      log: event(
        "stream status=success elapsed_ms=1834",
        `${SPAN} input_tokens=411 output_tokens=120 ttft_ms="152.31" avg_itl_ms="14.11"`,
        HEAD.replace("18:00:32.112148Z", "20:00:32.112148+02:00"),
      ),
    },
  ])("$name", ({ log }) => {
    const { report, records } = readLog(log);
    expect(report["requests"]).toMatchObject({
      finished: 1,
      failed: 0,
      aborted: 0,
      by_model: { m: 1 },
      by_route: { "/v1/chat/completions": 1 },
    });
    expect(report["latency_ms"]).toMatchObject({ e2e: { sum: 1834 }, ttft: { sum: 152.31 }, itl: { sum: 14.11 } });
    expect(report["tokens"]).toEqual({ in: { count: 1, sum: 411 }, out: { count: 1, sum: 120 } });
    expect(records[0]).toMatchObject({ id: "r1", stream: true, timeMs: Date.UTC(2026, 5, 3, 18, 0, 32, 112) });
  });

  test.for([
    { name: "readable", log: event("unary status=success elapsed_ms=902") },
    { name: "JSON", log: completed({ request_type: "unary", status: "success", elapsed_ms: "902" }) },
  ])("without streaming there are no tokens and no TTFT: $name", ({ log }) => {
    const { report } = readLog(log);
    expect(Object.keys(report["latency_ms"])).toEqual(["e2e"]);
    expect(report["tokens"]).toEqual({});
  });

  test("a text that is no number is refused", () => {
    const { report, rejected } = readLog(completed({ status: "success", elapsed_ms: "fast", ttft_ms: "-3" }));
    expect(report["latency_ms"]).toEqual({});
    expect(rejected).toEqual(["not-a-number", "negative-duration"]);
  });
});

describe("requests that did not end well", () => {
  test.for([
    { type: "validation", cause: "invalid_request" },
    { type: "not_found", cause: "model_not_found" },
    { type: "overload", cause: "upstream_overloaded" },
    { type: "unavailable", cause: "upstream_unreachable" },
    { type: "response_timeout", cause: "upstream_timeout" },
    { type: "internal", cause: "internal_error" },
    { type: "not_implemented", cause: "invalid_request" },
  ])("error_type $type", ({ type, cause }) => {
    for (const log of [
      event(
        `stream status=error error_type=${type} error_detail=something went wrong elapsed_ms=3`,
        SPAN,
        HEAD.replace(" INFO", "ERROR"),
      ),
      completed({
        level: "ERROR",
        status: "error",
        error_type: type,
        error_detail: "something went wrong",
        elapsed_ms: "3",
      }),
    ]) {
      const { report } = readLog(log);
      expect(report["requests"]).toMatchObject({ finished: 0, failed: 1, aborted: 0 });
      expect(report["errors"].records).toEqual({ [cause]: 1 });
      expect(report["root_causes"][0].example).toBe(`${type}: something went wrong`);
      expect(report["latency_ms"]).toEqual({});
    }
  });

  test.for([
    { name: "its own status", status: "cancelled" },
    { name: "an error of that type (earlier versions)", status: "error" },
  ])("cancelled: $name", ({ status }) => {
    const { report } = readLog(
      event(
        `stream status=${status} error_type=cancelled error_detail="cancelled before completion" elapsed_ms=2211`,
        `${SPAN} input_tokens=300 output_tokens=77`,
      ),
    );
    expect(report["requests"]).toMatchObject({ finished: 0, failed: 0, aborted: 1 });
    expect(report["errors"].records).toEqual({ client_cancelled: 1 });
    expect(report["tokens"]).toEqual({});
  });
});

test("arrivals", () => {
  const text = `${HEAD}request received request_id=r1 model=m endpoint=chat_completions request_type=stream ${SPAN}\n`;
  expect(readLog(text + json({ message: "request received", request_id: "r2" })).report["requests"].received).toBe(2);
});

test.for([
  { name: "an error of the runtime", log: json({ level: "ERROR", message: "worker lost" }), texts: ["worker lost"] },
  {
    name: "an error that a Python part logs",
    log: json({ level: "ERROR", target: "log", message: "boom", "log.target": "main.init" }),
    texts: ["boom"],
  },
  {
    name: "readable, with its fields",
    log: "2026-06-03T18:03:00.277082Z ERROR dynamo_runtime::pipeline: lib/runtime/src/a.rs:402: worker lost id=7\n",
    texts: ["worker lost id=7"],
  },
  { name: "a warning is none", log: json({ level: "WARN", message: "worker 7 marked down" }), texts: [] },
  { name: "closed spans are none", log: json({ message: "SPAN_CLOSED", "time.duration_us": "12" }), texts: [] },
])("failures: $name", ({ log, texts }) => {
  const { records, unrecognised } = readLog(log);
  expect(records.map((record) => (record.kind === "failure" ? record.text : record.kind))).toEqual(texts);
  expect(unrecognised).toEqual([]);
});

describe("request traces", () => {
  const trace = (request: object, more: object = {}): string =>
    `${JSON.stringify({ schema: "dynamo.request.trace.v1", event_type: "request_end", event_time_unix_ms: 1_780_509_632_112, request, ...more })}\n`;

  test("a trace alone is a request, with what only it holds", () => {
    const { report } = readLog(
      trace({
        request_id: "r1",
        model: "m",
        input_tokens: 10,
        output_tokens: 20,
        cached_tokens: 5,
        ttft_ms: 100.5,
        total_time_ms: 900,
        avg_itl_ms: null,
        prefill_wait_time_ms: 2,
        prefill_time_ms: 50,
      }),
    );
    expect(report["requests"]).toMatchObject({ finished: 1, received: null });
    expect(report["tokens"].in_cached).toEqual({ count: 1, sum: 5 });
    expect(report["latency_ms"]).toMatchObject({
      e2e: { sum: 900 },
      ttft: { sum: 100.5 },
      queue: { sum: 2 },
      prefill: { sum: 50 },
    });
  });

  test("a request told by the log and by its trace is one", () => {
    const log = completed({ request_type: "unary", status: "success", elapsed_ms: "902" });
    const traced = trace({ request_id: "r1", total_time_ms: 902 });
    expect(readLog(log + traced).report["requests"].finished).toBe(1);
    expect(readLog(traced + log).report["requests"].finished).toBe(1);
    // the client used its id again
    expect(readLog(log + traced + log + traced).report["requests"].finished).toBe(2);
    expect(readLog(log + log).report["requests"].finished).toBe(2);
  });

  test("events of the harness are no requests", () => {
    const { records, unrecognised } = readLog(trace({}, { event_type: "tool_end", tool: { duration_ms: 5 } }));
    expect(records).toEqual([]);
    expect(unrecognised).toEqual([]);
  });
});

test.for([
  { name: "plain", text: "a=1 b=2", is: { a: "1", b: "2" } },
  {
    name: "a value with spaces",
    text: 'd=no answer in time e="x y" f=1',
    is: { d: "no answer in time", e: "x y", f: "1" },
  },
  {
    name: "a model's name that holds fields",
    text: 'model=x status=success ttft_ms=1 endpoint=e endpoint=chat status=error elapsed_ms=3 model="x status=success"',
    is: { model: "x status=success", endpoint: "chat", status: "error", elapsed_ms: "3" },
  },
  {
    name: "a request id that holds fields",
    text: "request_id=a input_tokens=9 model=m model=n endpoint=chat status=error",
    is: { request_id: "a input_tokens=9 model=m", model: "n", endpoint: "chat", status: "error" },
  },
  { name: "escaped quotes", text: 'a="x\\" b=2" c=3', is: { a: 'x" b=2', c: "3" } },
  { name: "a quote that is not closed", text: 'a=1 b="x c=2', is: { a: "1" } },
])("readEventFields: $name", ({ text, is }) => {
  expect(Object.fromEntries(readEventFields(text))).toEqual(is);
});
