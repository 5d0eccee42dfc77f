import { expect, test } from "vitest";
import { readLog } from "../../support/read-log.ts";

const AT = "2026-03-02 14:30:31.912";
const UVICORN = "uvicorn.protocols.http.httptools_impl:send:476";
const access = (path: string, status = 200, method = "POST", time = AT): string =>
  `${time} | INFO     | ${UVICORN} - 10.0.0.5:47675 - "${method} ${path} HTTP/1.1" ${status}`;
const json = (fields: Record<string, unknown>): string =>
  JSON.stringify({
    ts: "2026-03-02T14:30:31.912+00:00",
    level: "info",
    msg: '10.0.0.5:1 - "POST /api/chat/completions HTTP/1.1" 200',
    caller: UVICORN,
    ...fields,
  });

test.for([
  { name: "chat", path: "/api/chat/completions", asked: true },
  { name: "retrieval", path: "/api/v1/retrieval/query/collection", asked: true },
  { name: "Ollama", path: "/ollama/api/chat", asked: true },
  { name: "Ollama, a server chosen", path: "/ollama/api/chat/1", asked: true },
  { name: "OpenAI", path: "/openai/chat/completions", asked: true },
  { name: "a title", path: "/api/v1/tasks/title/completions", asked: true },
  { name: "a chat that is stored", path: "/api/v1/chats/new", asked: false },
  { name: "a chat that is finished", path: "/api/chat/completed", asked: false },
  { name: "a file", path: "/static/favicon.png", asked: false },
])("open-webui path: $name", ({ path, asked }) => {
  // paths with everyday names are Open WebUI's in its own stream only
  const { report, profiles } = readLog(`${AT} | INFO     | open_webui.main:lifespan:10 - ready\n${access(path)}`);
  expect(profiles).toEqual({ "open-webui": 2 });
  expect(report["requests"].finished).toBe(asked ? 1 : null);
  expect(report["http"]).toEqual(asked ? { inference: { 200: 1 }, other: 0 } : { inference: {}, other: 1 });
});

test("open-webui: extras behind the message", () => {
  expect(readLog(`${access("/api/chat/completions")} - {"trace_id": "ab"}`).report["requests"].finished).toBe(1);
});

const FAILED = [
  `${AT} | ERROR    | open_webui.routers.openai:generate_chat_completion:812 - Cannot connect to host vllm:8000`,
  "Traceback (most recent call last):",
  "",
  '> File "/usr/local/lib/x.py", line 1, in f',
  "    sock = await start_connection(",
  "           └ <function start_connection at 0x7f>",
  "",
  "ConnectionRefusedError: [Errno 111] Connect call failed",
];

test.for([
  { name: "before the answer", lines: [...FAILED, access("/api/chat/completions", 500)] },
  { name: "after the answer", lines: [access("/api/chat/completions", 500), ...FAILED] },
])("open-webui: the error $name is its reason", ({ lines }) => {
  const { report, unrecognised } = readLog(lines.join("\n"));
  expect(unrecognised).toEqual([]);
  expect(report["requests"]).toMatchObject({ finished: 0, failed: 1 });
  expect(report["errors"].records).toEqual({ upstream_unreachable: 1 });
});

test("open-webui: an error beside answers that went well is a failure of its own", () => {
  const { report } = readLog([...FAILED, access("/api/chat/completions")].join("\n"));
  expect(report["requests"]).toMatchObject({ finished: 1, failed: 0 });
  expect(report["errors"].records).toEqual({ upstream_unreachable: 1 });
});

test.for([
  { name: "an answer", line: json({}), finished: 1 },
  {
    name: "an audit entry in the same stream is not a second request",
    line: json({ caller: "open_webui.utils.audit:write:84", msg: "", extra: { auditable: true, verb: "POST" } }),
    finished: null,
  },
])("open-webui JSON: $name", ({ line, finished }) => {
  const { report, profiles } = readLog(line);
  expect(profiles).toEqual({ "open-webui": 1 });
  expect(report["requests"].finished).toBe(finished);
});

test("open-webui JSON: the stack is part of an error", () => {
  const error = {
    type: "ReadTimeout",
    message: "timed out",
    stacktrace: "Traceback (most recent call last):\n  File x\nhttpx.ReadTimeout: timed out",
  };
  const { report } = readLog(json({ level: "error", caller: "open_webui.routers.openai:f:1", msg: "failed", error }));
  expect(report["errors"].records).toEqual({ upstream_timeout: 1 });
});

test.for([
  { name: "loguru of another application", line: `${AT} | INFO     | my_app.main:run:3 - started` },
  {
    name: "uvicorn in another application",
    line: `${AT} | INFO     | ${UVICORN} - 10.0.0.5:1 - "POST /v1/chat/completions HTTP/1.1" 200`,
  },
])("open-webui leaves alone $name, unless it stands in its stream", ({ line }) => {
  expect(readLog(line).profiles["open-webui"]).toBeUndefined();
  expect(readLog(`${access("/api/chat/completions")}\n${line}`).profiles["open-webui"]).toBe(2);
});

const audit = (fields: Record<string, unknown>): string =>
  JSON.stringify({
    id: "9cb53448",
    timestamp: 1_772_463_044,
    user: { id: "u-101" },
    audit_level: "REQUEST_RESPONSE",
    verb: "POST",
    request_uri: "http://chat.example/api/chat/completions",
    response_status_code: 200,
    request_object: '{"model": "llama3.1:8b", "stream": true, "messages": [{"content": "hi"}]}',
    response_object: "",
    extra: {},
    ...fields,
  });
const USAGE =
  '{"id": "c", "usage": {"prompt_tokens": 59, "completion_tokens": 258, "prompt_tokens_details": {"cached_tokens": 40}}}';

test.for([
  { name: "whole", response: USAGE, tokens: { in: 59, out: 258, in_cached: 40 } },
  { name: "cut before the usage", response: '{"id": "c", "choices": [{"message": {"content": "a long', tokens: {} },
  {
    name: "cut behind the usage",
    response: `${USAGE.slice(0, -1)}, "choices": [{"message": {"content": "a long`,
    tokens: { in: 59, out: 258, in_cached: 40 },
  },
  { name: "cut inside the usage", response: '{"usage": {"prompt_tokens": 59, "compl', tokens: {} },
  {
    name: "usage in the answer's text",
    response: String.raw`{"choices": [{"message": {"content": "\"usage\": {\"prompt_tokens\": 9}"}}], "x": "`,
    tokens: {},
  },
  {
    name: "usage of an inner object",
    response: '{"choices": [{"usage": {"prompt_tokens": 9, "completion_tokens": 9}}]}',
    tokens: {},
  },
  {
    name: "streamed, cumulative",
    response:
      'data: {"usage": {"prompt_tokens": 59, "completion_tokens": 1}}\n\ndata: {"usage": {"prompt_tokens": 59, "completion_tokens": 258}}\n\ndata: [DONE]',
    tokens: { in: 59, out: 258 },
  },
  {
    name: "streamed and cut",
    response: 'data: {"usage": {"prompt_tokens": 59, "completion_tokens": 1}}\n\ndata: {"usage": {"prompt_to',
    tokens: { in: 59, out: 1 },
  },
  {
    name: "Ollama",
    response: '{"model": "m", "done": true, "prompt_eval_count": 59, "eval_count": 258}',
    tokens: { in: 59, out: 258 },
  },
  { name: "no JSON", response: "[REDACTED]", tokens: {} },
])("open-webui audit usage: $name", ({ response, tokens }) => {
  const { report } = readLog(audit({ response_object: response }));
  expect(report["requests"]).toMatchObject({ finished: 1, by_model: { "llama3.1:8b": 1 } });
  expect(
    Object.fromEntries(Object.entries<{ sum: number }>(report["tokens"]).map(([key, { sum }]) => [key, sum])),
  ).toEqual(tokens);
});

test.for([
  { name: "no body", request: "", model: {} },
  {
    name: "cut behind the model",
    request: '{"stream": true, "model": "m", "messages": [{"content": "a',
    model: { m: 1 },
  },
  { name: "cut inside the model", request: '{"stream": true, "model": "m', model: {} },
  { name: "a model in a message", request: '{"messages": [{"model": "evil"}], "x', model: {} },
])("open-webui audit model: $name", ({ request, model }) => {
  expect(readLog(audit({ request_object: request })).report["requests"].by_model).toEqual(model);
});

test.for([
  { name: "unknown, below REQUEST_RESPONSE", status: null, counts: { finished: 1, failed: 0 }, unknown: 1, http: {} },
  { name: "200", status: 200, counts: { finished: 1, failed: 0 }, unknown: undefined, http: { 200: 1 } },
  { name: "403", status: 403, counts: { finished: 0, failed: 1 }, unknown: undefined, http: { 403: 1 } },
])("open-webui audit status $name", ({ status, counts, unknown, http }) => {
  const { report } = readLog(audit({ response_status_code: status }));
  expect(report["requests"]).toMatchObject(counts);
  expect(report["counters"].status_unknown).toBe(unknown);
  expect(report["http"].inference).toEqual(http);
});

test("open-webui audit: other pages are no requests", () => {
  const { report } = readLog(audit({ request_uri: "http://chat.example/api/v1/chats/new" }));
  expect(report["requests"].finished).toBe(null);
  expect(report["http"].other).toBe(1);
});

test("open-webui audit: what the answer says is the failure", () => {
  const { records } = readLog(audit({ response_status_code: 400, response_object: '{"detail": "Model not found"}' }));
  expect(records.find((record) => record.kind === "failure")).toMatchObject({
    text: "Model not found",
    cause: "model_not_found",
    model: "llama3.1:8b",
  });
});
