import { expect, test } from "vitest";
import { readLog } from "../../support/read-log.ts";

const HEAD = "2026-05-01 12:00:00.123 INFO:     ";
const METRICS =
  "Metrics (ID: 1f2e): 120 tokens generated in 3.2 seconds (Queue: 0.5 s, Process: 16 cached tokens and 411 new tokens at 1200.5 T/s, Generate: 45.1 T/s, Context: 427 tokens) ";
const TOKENS = {
  in: { count: 1, sum: 427 },
  in_processed: { count: 1, sum: 411 },
  in_cached: { count: 1, sum: 16 },
  out: { count: 1, sum: 120 },
};

test.for([
  { name: "one line", log: `${HEAD}${METRICS}\n`, tokens: TOKENS },
  {
    name: "wrapped by the console",
    log: `${HEAD}${METRICS.replace(" seconds", "\nseconds").replace(" new", "\nnew")}\n`,
    tokens: TOKENS,
  },
  { name: "an indeterminate rate", log: `${HEAD}${METRICS.replace("1200.5", "Indeterminate")}\n`, tokens: TOKENS },
  {
    name: "a truncated context is not the prompt",
    log: `${HEAD}${METRICS.replace("427 tokens)", "9000 tokens) <-- Not accurate (truncated)")}\n`,
    tokens: TOKENS,
  },
  {
    name: "2024: the context is the prompt, nothing of the cache",
    log: `${HEAD}Metrics: 120 tokens generated in 3.2 seconds (Queue: 0.5 s, Process: 1200.5 T/s, Generate: 45.1 T/s, Context: 427 tokens) \n`,
    tokens: { in: { count: 1, sum: 427 }, out: { count: 1, sum: 120 } },
  },
])("tabbyapi: $name", ({ log, tokens }) => {
  const { report, profiles } = readLog(log);
  expect(Object.keys(profiles)).toEqual(["tabbyapi"]);
  expect(report).toMatchObject({
    requests: { finished: 1, failed: null },
    latency_ms: { e2e: { count: 1, sum: 3200 }, queue: { count: 1, sum: 500 } },
  });
  expect(report["tokens"]).toEqual(tokens);
});

test("tabbyapi: access lines and errors in the company of its own", () => {
  const error = HEAD.replace("INFO: ", "ERROR:");
  const log = `${HEAD}${METRICS}\n${HEAD}127.0.0.1:5000 - "POST /v1/chat/completions HTTP/1.1" 200\n${error}Traceback (most recent call last):\n${error}ValueError: x\n`;
  const { report, records } = readLog(log);
  expect(report["http"]).toEqual({ inference: { 200: 1 }, other: 0 });
  expect(records.filter((record) => record.kind === "failure")).toMatchObject([
    { text: "Traceback (most recent call last):\nValueError: x" },
  ]);
});

test("tabbyapi: its words in a prompt are nothing", () => {
  expect(readLog(`${HEAD}Prompt: ${METRICS}\n`).records).toEqual([]);
});
