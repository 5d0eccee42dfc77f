import { expect, test } from "vitest";
import { readLog } from "../../support/read-log.ts";

const line = (message: string, level = "INFO", process = 31, time = "14:00:02,827"): string =>
  `2026-03-02 ${time} ${level.padEnd(8)} ${process} ${message}`;
const TRACEBACK = ["Traceback (most recent call last):", '  File "/ragflow/x.py", line 1, in f', "    await g()"];

test.for([
  { name: "chat", message: "LLMBundle.async_chat used_tokens: 1512", requests: 1, tokens: { total: 1512 } },
  {
    name: "streamed chat",
    message: "LLMBundle.async_chat_streamly used_tokens: 842",
    requests: 1,
    tokens: { total: 842 },
  },
  { name: "chat of old releases", message: "LLMBundle.chat used_tokens: 7", requests: 1, tokens: { total: 7 } },
  { name: "encode", message: "LLMBundle.encode used_tokens: 2082", requests: null, tokens: { embedding: 2082 } },
  {
    name: "encode queries",
    message: "LLMBundle.encode_queries used_tokens: 1063",
    requests: null,
    tokens: { embedding: 1063 },
  },
  {
    name: "a built-in model",
    message:
      "LLMBundle.encode_queries query: refund, used_tokens: 99?, emd len: 1024, used_tokens: 12. Builtin model don't need to update token usage",
    requests: null,
    tokens: { embedding: 12 },
  },
  { name: "similarity", message: "LLMBundle.similarity used_tokens: 30", requests: null, tokens: {} },
  {
    name: "usage that could not be written down",
    message: "LLMBundle.encode can't update token usage for t/EMBEDDING used_tokens: 12",
    requests: null,
    tokens: {},
  },
  { name: "no number", message: "LLMBundle.async_chat used_tokens: None", requests: 1, tokens: {} },
])("ragflow tokens: $name", ({ message, requests, tokens }) => {
  const { report } = readLog(line(message));
  expect(report["requests"].finished).toBe(requests);
  expect(
    Object.fromEntries(Object.entries<{ sum: number }>(report["tokens"]).map(([key, { sum }]) => [key, sum])),
  ).toEqual(tokens);
});

test("ragflow: nothing in a printed history counts", () => {
  const { report, unrecognised, profiles } = readLog(
    [
      line("[HISTORY STREAMLY]["),
      "    {",
      '        "role": "user",',
      `        "content": "${line("LLMBundle.async_chat used_tokens: 99999")}"`,
      "    }",
      "]",
      line("LLMBundle.async_chat used_tokens: 10"),
    ].join("\n"),
  );
  expect(unrecognised).toEqual([]);
  expect(profiles).toEqual({ ragflow: 7 });
  expect(report["tokens"].total).toEqual({ count: 1, sum: 10 });
});

test("ragflow: a query over several lines hides no figures", () => {
  const { report } = readLog(
    [
      line("LLMBundle.encode_queries query: first"),
      line("LLMBundle.async_chat used_tokens: 99999"),
      "last, emd len: 1024, used_tokens: 12. Builtin model don't need to update token usage",
      line("LLMBundle.async_chat used_tokens: 10"),
    ].join("\n"),
  );
  expect(report["tokens"].total).toEqual({ count: 1, sum: 10 });
  expect(report["tokens"].embedding).toEqual({ count: 1, sum: 12 });
});

test("ragflow: attempts belong to the line that retries or gives up", () => {
  const attempt = [line("OpenAI async completion", "ERROR"), ...TRACEBACK, "openai.RateLimitError: Error code: 429"];
  const { report, records } = readLog(
    [
      ...attempt,
      line("Error: RATE_LIMIT_EXCEEDED. Retrying in 6.46 seconds... (Attempt 1/5)", "WARNING"),
      ...attempt,
      line("async base giving up: **ERROR**: MAX_RETRIES_EXCEEDED - Error code: 429 - Too Many Requests", "ERROR"),
    ].join("\n"),
  );
  expect(report["counters"]).toEqual({ retries: 1 });
  expect(report["errors"].records).toEqual({ rate_limited: 1 });
  expect(records.filter((record) => record.kind === "failure")).toHaveLength(1);
});

test.for([
  { name: "key", message: "AUTH_ERROR - Error code: 401 - Incorrect API key provided", cause: "auth_invalid_key" },
  {
    name: "the message decides, not the code",
    message: "INVALID_REQUEST - Error code: 429 - Rate limit of 400 requests",
    cause: "rate_limited",
  },
])("ragflow giving up: $name", ({ message, cause }) => {
  expect(readLog(line(`async base giving up: **ERROR**: ${message}`, "ERROR")).report["errors"].records).toEqual({
    [cause]: 1,
  });
});

test("ragflow: the timeouts of one search and its giving up are one failure", () => {
  const timeout = [
    line("ES request timeout", "ERROR"),
    ...TRACEBACK,
    "elastic_transport.ConnectionTimeout: Connection timed out",
  ];
  const { report, unrecognised } = readLog(
    [
      ...timeout,
      ...timeout,
      line("ESConnection.search timeout for 2 times!", "ERROR"),
      line("ESConnection.search timeout for 2 times!", "ERROR"),
    ].join("\n"),
  );
  expect(unrecognised).toEqual([]);
  expect(report["errors"].records["upstream_timeout"]).toBe(1);
  // the second giving up had no attempt before it
  expect(Object.values<number>(report["errors"].records).reduce((a, b) => a + b)).toBe(2);
});

test("ragflow: a tool that timed out", () => {
  const { report } = readLog(
    [line("Tool call failed: Call(name='search')", "ERROR"), ...TRACEBACK, "TimeoutError"].join("\n"),
  );
  expect(report["errors"].records).toEqual({ tool_call_timeout: 1 });
});

test("ragflow: werkzeug's answers are no requests", () => {
  const { report } = readLog(
    line('127.0.0.1 - - [02/Mar/2026 14:00:02] "POST /v1/conversation/completion HTTP/1.1" 200 -'),
  );
  expect(report["http"].inference).toEqual({ 200: 1 });
  expect(report["requests"].finished).toBe(null);
});
