import { readFileSync } from "node:fs";
import path from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { UTC } from "../../../src/core/timestamp.ts";
import { Line } from "../../../src/model/line.ts";
import type { LogRecord } from "../../../src/model/record.ts";
import { structured } from "../../../src/profile/structured/index.ts";
import { type Report, readLog } from "../../support/read-log.ts";
import { readWithRestarts } from "../../support/restarts.ts";

const log = (...lines: readonly (string | object)[]): string =>
  `${lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n")}\n`;
const read = (...lines: readonly (string | object)[]) => readLog(log(...lines), { profiles: [structured] });
const report = (...lines: readonly (string | object)[]): Report => read(...lines).report;
const sum = (from: Report, name: string): number | undefined => from["latency_ms"][name]?.sum;

/** One request of one second, as each logger writes it: time, level, message, an unknown key, and the latency in its own unit. */
const AT = Date.UTC(2026, 2, 2, 18, 0, 1, 832);
test.for<{ name: string; line: string; ms?: number; at?: number }>([
  {
    name: "pino: time in epoch milliseconds, numeric level",
    line: '{"level":30,"time":1772474401832,"pid":7,"hostname":"api","latency_ms":1000,"status":200,"msg":"llm call"}',
  },
  {
    name: "pino with ISO time",
    line: '{"level":"info","time":"2026-03-02T18:00:01.832Z","pid":7,"hostname":"api","latency_ms":1000,"status":200,"msg":"llm call"}',
  },
  {
    name: "pino-http: responseTime, req and res",
    line: '{"level":30,"time":1772474401832,"pid":7,"hostname":"api","req":{"id":1,"method":"POST","url":"/v1/chat/completions"},"res":{"statusCode":200},"responseTime":1000,"msg":"request completed"}',
  },
  {
    name: "winston: message and timestamp, sorted keys",
    line: '{"latency_ms":1000,"level":"info","message":"llm call","service":"rag","status":200,"timestamp":"2026-03-02T18:00:01.832Z"}',
  },
  {
    name: "winston with an object as message",
    line: '{"level":"info","message":{"event":"llm call","latency_ms":1000,"status":200},"timestamp":"2026-03-02T18:00:01.832Z"}',
  },
  {
    name: "winston's logstash format",
    line: '{"@fields":{"latency_ms":1000,"level":"info","status":200},"@message":"llm call","@timestamp":"2026-03-02T18:00:01.832Z"}',
  },
  { name: "winston's simple format", line: 'info: llm call {"latency_ms":1000,"status":200}', at: Number.NaN },
  {
    name: "python-json-logger: asctime and levelname",
    line: '{"asctime": "2026-03-02 18:00:01,832", "levelname": "INFO", "name": "rag", "message": "llm call", "latency_ms": 1000, "status": 200}',
  },
  {
    name: "python-json-logger with bare NaN beside it",
    line: '{"asctime": "2026-03-02 18:00:01,832", "levelname": "INFO", "message": null, "event": "llm call", "n": NaN, "inf": -Infinity, "latency_ms": 1000, "status": 200}',
  },
  {
    name: "structlog: event is the message",
    line: '{"latency_ms": 1000, "status": 200, "event": "llm call", "level": "info", "timestamp": "2026-03-02T18:00:01.832000Z"}',
  },
  {
    name: "structlog with an epoch float",
    line: '{"latency_ms": 1000, "status": 200, "event": "llm call", "level": "info", "timestamp": 1772474401.832}',
  },
  {
    name: "zap production: durations in seconds beside an epoch ts",
    line: '{"level":"info","ts":1772474401.832,"caller":"rag/main.go:41","msg":"llm call","latency":1.0,"status":200}',
  },
  {
    name: "zap development: columns and a JSON tail",
    line: '2026-03-02T18:00:01.832Z\tINFO\trag/main.go:41\tllm call\t{"latency": "1s", "status": 200}',
  },
  {
    name: "zerolog: durations in milliseconds beside time and message",
    line: '{"level":"info","latency":1000,"status":200,"time":"2026-03-02T18:00:01Z","message":"llm call"}',
    at: AT - 832,
  },
  {
    name: "zerolog without a message",
    line: '{"level":"info","latency":1000,"status":200,"model":"m","time":"2026-03-02T18:00:01Z"}',
    at: AT - 832,
  },
  {
    name: "zerolog without a level, epoch milliseconds",
    line: '{"latency":1000,"status":200,"time":1772474401832,"message":"llm call"}',
  },
  {
    name: "logrus: durations with their unit",
    line: '{"latency_ms":1000,"level":"warning","msg":"llm call","status":200,"time":"2026-03-02T18:00:01Z"}',
    at: AT - 832,
  },
  {
    name: "slog: durations in nanoseconds beside an upper-case level",
    line: '{"time":"2026-03-02T18:00:01.832Z","level":"INFO","msg":"llm call","latency":1000000000,"status":200}',
  },
  {
    name: "slog with a level between two",
    line: '{"time":"2026-03-02T18:00:01.832Z","level":"INFO+2","msg":"llm call","latency":1000000000,"status":200}',
  },
  {
    name: "slog's text handler",
    line: 'time=2026-03-02T18:00:01.832Z level=INFO msg="llm call" latency=1s status=200',
  },
  {
    name: "loguru serialised: fields in record.extra",
    line: '{"text": "2026-03-02 18:00:01.832 | INFO | llm call latency_ms=9\\n", "record": {"elapsed": {"repr": "0:00:09", "seconds": 9.0}, "exception": null, "extra": {"latency_ms": 1000, "status": 200}, "file": {"name": "a.py", "path": "/a.py"}, "level": {"icon": "i", "name": "INFO", "no": 20}, "line": 1, "message": "llm call", "process": {"id": 1, "name": "MainProcess"}, "time": {"repr": "2026-03-02 18:00:01.832000+00:00", "timestamp": 1772474401.832}}}',
  },
  {
    name: "tracing: fields.message and a span",
    line: '{"timestamp":"2026-03-02T18:00:01.832Z","level":"INFO","fields":{"message":"llm call","latency_ms":1000,"status":200},"target":"rag","span":{"name":"request"},"spans":[{"name":"request","latency_ms":9}]}',
  },
  {
    name: "ECS dotted: event.duration in nanoseconds",
    line: '{"@timestamp":"2026-03-02T18:00:01.832Z","log.level":"INFO","message":"llm call","ecs.version":"8.11","event.duration":1000000000,"http.response.status_code":200}',
  },
  {
    name: "ECS nested",
    line: '{"@timestamp":"2026-03-02T18:00:01.832Z","log":{"level":"INFO"},"message":"llm call","event":{"duration":1000000000,"outcome":"success"},"http":{"response":{"status_code":200}}}',
  },
  {
    name: "logfmt with quoted values and flags",
    line: 'a="x y" b=2 ok q="say \\"latency_ms=9\\"" event="llm call" latency_ms=1000 status=200 timestamp=2026-03-02T18:00:01.832Z level=info',
  },
  {
    name: "structlog's key-value renderer",
    line: "event='llm call' latency_ms=1000 status=200 timestamp=1772474401.832 level='info'",
  },
  {
    name: "GELF: leading underscores, epoch seconds, a syslog level",
    line: '{"version":"1.1","host":"api","short_message":"llm call","level":6,"timestamp":1772474401.832,"_latency_ms":1000,"_status":200}',
  },
  {
    name: "Google Cloud: severity and httpRequest",
    line: '{"severity":"INFO","timestamp":"2026-03-02T18:00:01.832Z","message":"request completed","httpRequest":{"requestMethod":"POST","requestUrl":"https://x/v1/chat/completions","status":200,"latency":"1.000s"}}',
  },
  {
    name: "Python's logging with pairs behind the message",
    line: "2026-03-02 18:00:01,832 INFO rag.api chat done latency_ms=1000 status=200 tokens_out=156",
  },
  {
    name: "comma-separated pairs behind the message",
    line: "2026-03-02 18:00:01.832 INFO chat done: e2e_latency_ms=1000,status=200,tokens_out=156",
  },
  { name: "pairs alone", line: "ttft_ms=127.3,e2e_latency_ms=1000,tokens_out=156,status=200", at: Number.NaN },
  {
    name: "a time, a level and JSON behind them",
    line: '2026-03-02 18:00:01,832 INFO rag.api {"event": "llm call", "latency_ms": 1000, "status": 200}',
  },
  {
    name: "a time that ends in UTC",
    line: '{"timestamp":"2026-03-02 18:00:01.832 UTC","latency_ms":1000,"status":200}',
  },
  {
    name: "a time with an offset",
    line: '{"time":"2026-03-02T20:00:01.832+02:00","latency_ms":1000,"status":200,"msg":"llm call"}',
  },
  { name: "epoch nanoseconds", line: '{"ts":1772474401832000000,"latency_ms":1000,"status":200,"msg":"llm call"}' },
])("structured reads $name", ({ line, ms = 1000, at = AT }) => {
  const { records, unrecognised, report: got } = read(line);
  expect(unrecognised).toEqual([]);
  const requests = records.filter((record) => record.kind === "request");
  expect(requests).toHaveLength(1);
  expect(requests[0]).toMatchObject({ outcome: "ok", httpStatus: 200 });
  expect(sum(got, "e2e")).toBeCloseTo(ms, 9);
  expect(got["rejected_values"]).toEqual({});
  expect(Math.round(requests[0]?.timeMs ?? 0)).toEqual(at);
});

test.for<{ name: string; line: string }>([
  {
    name: "pino",
    line: '{"level":30,"time":1772474401832,"pid":7,"hostname":"api","latency":5,"status":200,"msg":"llm call"}',
  },
  {
    name: "winston",
    line: '{"latency":5,"level":"info","message":"llm call","status":200,"timestamp":"2026-03-02T18:00:01Z"}',
  },
  {
    name: "structlog",
    line: '{"latency": 5, "status": 200, "event": "llm call", "timestamp": "2026-03-02T18:00:01Z"}',
  },
  {
    name: "python-json-logger",
    line: '{"asctime": "2026-03-02 18:00:01,832", "message": "llm call", "latency": 5, "status": 200}',
  },
  {
    name: "zap whose ts is no epoch",
    line: '{"level":"info","ts":"2026-03-02T18:00:01Z","msg":"llm call","latency":5,"status":200}',
  },
  {
    name: "slog with a fraction",
    line: '{"time":"2026-03-02T18:00:01Z","level":"INFO","msg":"llm call","latency":5.5,"status":200}',
  },
  { name: "logrus", line: '{"latency":5,"level":"info","msg":"llm call","status":200,"time":"2026-03-02T18:00:01Z"}' },
  {
    name: "tracing",
    line: '{"time":"2026-03-02T18:00:01Z","level":"INFO","target":"a::b","message":"llm call","latency":5,"status":200}',
  },
])("structured guesses no unit for a bare number of $name", ({ line }) => {
  const got = report(line);
  expect(got["latency_ms"]).toEqual({});
  expect(got["rejected_values"]).toEqual({ "unknown-unit": 1 });
  expect(got["requests"].finished).toBe(1);
});

test.for<{ name: string; line: string; failures: number }>([
  { name: "pino 50", line: '{"level":50,"time":1,"msg":"x"}', failures: 1 },
  { name: "pino 60", line: '{"level":60,"time":1,"msg":"x"}', failures: 1 },
  { name: "pino 40 with an error", line: '{"level":40,"time":1,"err":{"message":"y"},"msg":"x"}', failures: 0 },
  { name: "Python levelno 40", line: '{"levelno":40,"message":"x"}', failures: 1 },
  { name: "Python levelno 30", line: '{"levelno":30,"message":"x"}', failures: 0 },
  { name: "syslog 3", line: '{"level":3,"short_message":"x"}', failures: 1 },
  { name: "syslog 6", line: '{"level":6,"short_message":"x"}', failures: 0 },
  { name: "syslog priority 2", line: '{"priority":"2","message":"x"}', failures: 1 },
  { name: "ERROR", line: '{"levelname":"ERROR","message":"x"}', failures: 1 },
  { name: "err", line: '{"level":"err","message":"x"}', failures: 1 },
  { name: "CRITICAL", line: '{"severity":"CRITICAL","message":"x"}', failures: 1 },
  { name: "fatal", line: "level=fatal msg=x", failures: 1 },
  { name: "panic", line: '{"level":"panic","msg":"x"}', failures: 1 },
  { name: "WARNING", line: '{"levelname":"WARNING","message":"x"}', failures: 0 },
  {
    name: "loguru's level.no",
    line: '{"text":"x","record":{"level":{"no":40},"message":"x","extra":{}}}',
    failures: 1,
  },
  { name: "zap development ERROR", line: "2026-03-02T18:00:01.832Z\tERROR\ta/b.go:4\tx", failures: 1 },
])("structured takes the severity of $name", ({ line, failures }) => {
  expect(read(line).records.filter(({ kind }) => kind === "failure")).toHaveLength(failures);
});

test.for<{ name: string; line: string | object; cause: string; outcome?: string }>([
  { name: "error_kind", line: { status: 429, error_kind: "rate_limit", msg: "chat failed" }, cause: "rate_limited" },
  {
    name: "error.type",
    line: { event: "request.failed", error: { type: "context_window" } },
    cause: "context_length_exceeded",
  },
  {
    name: "an SDK's class",
    line: {
      msg: "chat failed",
      model: "m",
      err: { type: "openai.RateLimitError", message: "slow down" },
      level: "error",
    },
    cause: "rate_limited",
  },
  {
    name: "the code before a wide type",
    line: { status: 400, error: { type: "invalid_request_error", code: "context_length_exceeded" }, duration_ms: 1 },
    cause: "context_length_exceeded",
  },
  {
    name: "a Node error code",
    line: {
      level: "error",
      msg: "chat failed",
      model: "m",
      err: { code: "ECONNREFUSED", message: "connect ECONNREFUSED 10.0.0.1:80" },
    },
    cause: "upstream_unreachable",
  },
  {
    name: "a word as error",
    line: 'level=error msg="chat failed" status=504 error=upstream_timeout',
    cause: "upstream_timeout",
  },
  {
    name: "the status where nothing is said",
    line: { status: 503, msg: "llm call failed" },
    cause: "upstream_overloaded",
  },
  { name: "the status of a bare line", line: { status: 401, duration_ms: 3 }, cause: "auth_invalid_key" },
  {
    name: "status 499",
    line: { status: 499, duration_ms: 3, msg: "request completed" },
    cause: "client_cancelled",
    outcome: "aborted",
  },
  {
    name: "a cancelled request",
    line: { event: "request.cancelled", duration_ms: 3 },
    cause: "client_cancelled",
    outcome: "aborted",
  },
  {
    name: "status as a word",
    line: { status: "cancelled", model: "m", duration_ms: 3 },
    cause: "client_cancelled",
    outcome: "aborted",
  },
  { name: "a gRPC code", line: { status: "DEADLINE_EXCEEDED", model: "m", duration_ms: 3 }, cause: "upstream_timeout" },
  {
    name: "an event that timed out",
    line: { event: "request.timeout", duration_ms: 30_000 },
    cause: "upstream_timeout",
  },
  {
    name: "a cause by its own name",
    line: { status: 500, duration_ms: 1, error_kind: "kv_cache_exhausted" },
    cause: "kv_cache_exhausted",
  },
])("structured names the cause by $name", ({ line, cause, outcome = "error" }) => {
  const { records, report: got } = read(line);
  expect(records.find(({ kind }) => kind === "request")).toMatchObject({ outcome });
  expect(got["errors"].records).toEqual({ [cause]: 1 });
});

test.for<{ name: string; line: object; text: string }>([
  {
    name: "a wide class",
    line: {
      status: 400,
      duration_ms: 1,
      msg: "chat failed",
      error: { type: "invalid_request_error", message: "maximum context length is 8192 tokens" },
    },
    text: "chat failed: invalid_request_error: maximum context length is 8192 tokens",
  },
  {
    name: "an unknown class",
    line: {
      status: 500,
      duration_ms: 1,
      msg: "chat failed",
      err: {
        type: "TypeError",
        message: "x is not a function",
        stack: "TypeError: x is not a function\n    at a.js:1",
      },
    },
    text: "chat failed\nTypeError: x is not a function\n    at a.js:1",
  },
  {
    name: "a status with a message",
    line: { status: 500, duration_ms: 1, msg: "CUDA out of memory" },
    text: "CUDA out of memory",
  },
  {
    name: "a Python traceback",
    line: {
      levelname: "ERROR",
      message: "boom",
      exc_info: 'Traceback (most recent call last):\n  File "a.py", line 1\nZeroDivisionError: division by zero',
    },
    text: 'boom\nTraceback (most recent call last):\n  File "a.py", line 1\nZeroDivisionError: division by zero',
  },
])("structured leaves the cause of $name to the text", ({ line, text }) => {
  const { records } = read(line);
  const failures = records.filter((record: LogRecord) => record.kind === "failure");
  expect(failures).toMatchObject([{ text }]);
});

test.for<{ name: string; lines: readonly string[]; text: string }>([
  {
    name: "a traceback behind a text line",
    lines: [
      "2026-03-02 18:00:01,832 ERROR rag.api call failed ttft_ms=1",
      "Traceback (most recent call last):",
      '  File "a.py", line 1',
      "ValueError: bad",
    ],
    text: 'rag.api call failed\nTraceback (most recent call last):\n  File "a.py", line 1\nValueError: bad',
  },
])("structured joins $name", ({ lines, text }) => {
  const { records, unrecognised } = read(...lines);
  expect(unrecognised).toEqual([]);
  expect(records.filter(({ kind }) => kind === "failure").map((failure) => "text" in failure && failure.text)).toEqual([
    text,
  ]);
});

test("structured takes the Go stack behind a line of zap's development encoder", () => {
  const { unrecognised, records } = read(
    '2026-03-02T18:00:01.832Z\tERROR\tgz/main.go:5\tw\t{"a": 1}',
    "main.main",
    "\t/srv/app/main.go:5",
    "runtime.main",
    "\t/usr/lib/go-1.19/src/runtime/proc.go:250",
    "another program's line",
  );
  expect(unrecognised).toEqual(["another program's line"]);
  expect(records).toHaveLength(1);
});

test.for<{ name: string; text: string }>([
  { name: "prose", text: "The model is loaded and ready" },
  { name: "an assignment in code", text: "x = a == b ? 1 : 2" },
  { name: "a lone pair inside a sentence", text: "2026-03-02 10:00:00 INFO user asked what ttft_ms=9 means here" },
  { name: "pairs inside double quotes", text: 'user asked: "ttft_ms=9 tokens_out=5"' },
  { name: "pairs inside single quotes", text: "user asked: 'ttft_ms=9 tokens_out=5'" },
  { name: "pairs inside back ticks", text: "user asked: `ttft_ms=9 tokens_out=5`" },
  { name: "an open quote", text: 'user asked: "ttft_ms=9 tokens_out=5' },
  { name: "arguments of a server", text: "non-default args: model='m', port=8000, dtype=auto, max_model_len=8192" },
  { name: "a URL's query", text: "GET /v1/models?limit=5&ttft_ms=9 done" },
  { name: "settings of the environment", text: "OLLAMA_HOST=0.0.0.0 PATH=/usr/bin" },
  { name: "broken JSON", text: '{"ttft_ms":9,"tokens_out":' },
  { name: "JSON in the middle", text: 'got {"ttft_ms":9} from upstream' },
  { name: "JSON behind prose", text: 'the user said {"ttft_ms":9}' },
  { name: "an error of another program", text: "error: could not open file" },
])("structured does not claim $name", ({ text }) => {
  const line = new Line();
  line.setText(text);
  expect(structured.claims(line)).toBe(false);
});

test("structured reads no pairs out of quoted values", () => {
  const got = report(
    'level=info msg="asked: ttft_ms=9 tokens_out=5" prompt="x \\" ttft_ms=8" ttft_ms=127 status=200 model=m',
  );
  expect(sum(got, "ttft")).toBe(127);
  expect(got["tokens"]).toEqual({});
});

const GOLDEN = path.join(import.meta.dirname, "../../golden/structured");
const LOGS = ["app-json", "app-json-conventions", "rag-app-events", "cumulative-stream-usage", "writers"];

test.for(LOGS)("structured reads %s the same however it is cut", (name) => {
  const bytes = readFileSync(path.join(GOLDEN, `${name}.log`));
  const whole = readLog(bytes).report;
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), (cuts) => {
      expect(readLog(bytes, { cuts }).report).toEqual(whole);
    }),
    { numRuns: 25 },
  );
});

test.for(LOGS)("structured goes on with %s after a restart at any line", (name) => {
  const bytes = readFileSync(path.join(GOLDEN, `${name}.log`));
  const { files: _files, ...whole } = readLog(bytes).report;
  const { files: _none, ...restarted } = readWithRestarts(bytes);
  expect(restarted).toEqual(whole);
});

test("structured survives any text in no time", () => {
  const line = new Line();
  const nasty = fc.oneof(
    fc.string({ maxLength: 300 }),
    fc
      .array(
        fc.constantFrom(
          "ttft_ms=",
          '"',
          "'",
          "`",
          "{",
          "[",
          "\\",
          "=",
          ",",
          " ",
          "\t",
          "level=info",
          "1",
          "µs",
          "2026-03-02 10:00:00",
        ),
        { maxLength: 200 },
      )
      .map((parts) => parts.join("")),
  );
  fc.assert(
    fc.property(nasty, (text) => {
      line.setText(text);
      structured.claims(line);
      readLog(`${text}\n`, { profiles: [structured] });
    }),
    { numRuns: 300 },
  );
});

test.for<{ name: string; text: string }>([
  ...["'", '"', "a=", "a='", "{", "[", "a=[", "a.b.", "\\", " ttft_ms=1", "x\t{", "a' ", "Aa", "1 "].map((part) => ({
    name: `${JSON.stringify(part)} without end`,
    text: `level=info ${part.repeat(60_000)}`,
  })),
  {
    name: "keys without end",
    text: JSON.stringify(Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`key_of_${at}_ms`, at]))),
  },
  { name: "objects without end", text: `${'{"a":'.repeat(3000)}1${"}".repeat(3000)}` },
  { name: "a key without end", text: `{"${"a_".repeat(60_000)}ms":1}` },
  {
    name: "a message without end",
    text: JSON.stringify({ msg: "request Failed ".repeat(60_000), status: 500, level: "error" }),
  },
  {
    name: "an id without end",
    text: JSON.stringify({ event: "llm.completed", request_id: "x".repeat(500_000), duration_ms: 1 }),
  },
])("structured reads $name in a few milliseconds", ({ text }) => {
  const line = new Line();
  line.setText(text);
  void line.json;
  const best = Math.min(
    ...[0, 1, 2, 3].map(() => {
      const parser = structured.open({ emit: () => {}, reject: () => {}, zone: UTC });
      const copy = new Line();
      copy.setText(`${text} `);
      void copy.json;
      const start = performance.now();
      if (structured.claims(copy)) parser.parse(copy);
      return performance.now() - start;
    }),
  );
  expect(best).toBeLessThan(10);
});
