import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import { readLog } from "../../support/read-log.ts";
import { readWithRestarts } from "../../support/restarts.ts";

const OLD = "2025-07-08 17:36:59,526 xinference.model.llm.vllm.core 458 INFO     ";
const NEW =
  "2026-05-28T10:00:00.123Z DEBUG xinference.model.llm.vllm.core pid:458 role:worker address:10.0.0.3:41021 node:gpu-1 ";
const EMPTY = "2026-05-28T10:00:00.123Z INFO xinference.model.llm.vllm.core pid:458 role: address: node:gpu-1 ";
const FINISHED =
  "Generate finished, request_id: 1f2e, stop reason: stop, prompt tokens: 30, completion tokens: 24, all tokens: 54";
const json = (level: string, module: string, message: string, exception?: string): string =>
  JSON.stringify({
    "@timestamp": "2026-05-28T10:00:00.123Z",
    level,
    module,
    pid: 458,
    role: "worker",
    address: "10.0.0.3:41021",
    node: "gpu-1",
    message,
    exception,
  });

describe("xinference", () => {
  test.for([
    { name: "1.x has no duration", line: OLD + FINISHED, e2e: undefined, time: "2025-07-08T17:36:59.526Z" },
    {
      name: "since 2026-05 in UTC with the time elapsed",
      line: `${NEW}${FINISHED}, elapsed: 0.810s, throughput: 29.6 tokens/s`,
      e2e: 810,
      time: "2026-05-28T10:00:00.123Z",
    },
    { name: "empty role and address", line: EMPTY + FINISHED, e2e: undefined, time: "2026-05-28T10:00:00.123Z" },
    {
      name: "JSON",
      line: json("DEBUG", "xinference.model.llm.vllm.core", `${FINISHED}, elapsed: 0.810s, throughput: 29.6 tokens/s`),
      e2e: 810,
      time: "2026-05-28T10:00:00.123Z",
    },
  ])("a finished request: $name", ({ line, e2e, time }) => {
    const { records, profiles } = readLog(`${line}\n`);
    expect(profiles).toEqual({ xinference: 1 });
    expect(records[0]).toMatchObject({
      kind: "request",
      outcome: "ok",
      id: "1f2e",
      finishReason: "stop",
      tokensIn: 30,
      tokensOut: 24,
      timeMs: Date.parse(time),
    });
    expect(records[0]?.kind === "request" && records[0].latencies.get(0 as never)).toBe(e2e);
  });

  test.for([
    {
      name: "a word for a number is refused, the rest kept",
      line: OLD + FINISHED.replace("24,", "n/a,"),
      tokens: { in: { count: 1, sum: 30 } },
      rejected: ["not-a-number"],
    },
    {
      name: "whole seconds of Leave are no duration",
      line: "2025-07-08 17:36:59,526 xinference.core.model 458 DEBUG    [request 9c] Leave chat, elapsed time: 2 s",
      tokens: {},
      rejected: [],
    },
    {
      name: "a prompt with the words of an end",
      line: `2025-07-08 17:36:59,526 xinference.core.model 458 DEBUG    [request 9c] Enter chat, args: '${FINISHED}'`,
      tokens: {},
      rejected: [],
    },
    { name: "a foreign line around it", line: `note: ${OLD}${FINISHED}`, tokens: {}, rejected: [] },
  ])("$name", ({ line, tokens, rejected }) => {
    const log = readLog(`${line}\n`);
    expect(log.report["tokens"]).toEqual(tokens);
    expect(log.report["latency_ms"]).toEqual({});
    expect(log.rejected).toEqual(rejected);
  });

  const TRACEBACK =
    'Traceback (most recent call last):\n  File "x.py", line 1, in create_chat_completion\n    f()\nRuntimeError: x';
  const LEAVE = "[request 9c] Leave chat, error: [address=10.9.0.3:1, pid=4] CUDA out of memory., elapsed time: 2 s";
  const old = (module: string, message: string): string => `2025-07-08 17:36:59,526 ${module} 458 ERROR    ${message}`;
  test.for([
    {
      name: "a model's error is a failed request",
      log: `${old("xinference.core.model", LEAVE)}\n${TRACEBACK}`,
      failed: 1,
      failures: [`${LEAVE}\n${TRACEBACK}`],
    },
    {
      name: "its echo in the API is a second record of the same request",
      log: `${old("xinference.core.model", LEAVE)}\n${TRACEBACK}\n${old("xinference.api.restful_api", "[address=10.9.0.3:2, pid=5] CUDA out of memory.")}\n${TRACEBACK}`,
      failed: 1,
      failures: [`${LEAVE}\n${TRACEBACK}`, `[address=10.9.0.3:2, pid=5] CUDA out of memory.\n${TRACEBACK}`],
    },
    {
      name: "an error of the API alone is one too",
      log: `${old("xinference.api.restful_api", "Rate limit reached")}\n${TRACEBACK}`,
      failed: 1,
      failures: [`Rate limit reached\n${TRACEBACK}`],
    },
    {
      name: "an error of launching is none",
      log: `${old("xinference.api.restful_api", "Boom")}\n${TRACEBACK.replace("create_chat_completion", "launch_model")}`,
      failed: null,
      failures: [`Boom\n${TRACEBACK.replace("create_chat_completion", "launch_model")}`],
    },
    {
      name: "nor is a launch that left with an error",
      log: old("xinference.core.worker", "[request 9c] Leave launch_builtin_model, error: no GPU, elapsed time: 2 s"),
      failed: null,
      failures: ["[request 9c] Leave launch_builtin_model, error: no GPU, elapsed time: 2 s"],
    },
    {
      name: "JSON carries the traceback in a field",
      log: json("ERROR", "xinference.core.model", LEAVE, TRACEBACK),
      failed: 1,
      failures: [`${LEAVE}\n${TRACEBACK}`],
    },
  ])("$name", ({ log, failed, failures }) => {
    const { records, report } = readLog(`${log}\n`);
    expect(records.flatMap((record) => (record.kind === "failure" ? [record.text] : []))).toEqual(failures);
    expect(report["requests"].failed).toBe(failed);
  });

  test("JSON holds uvicorn's lines", () => {
    const line = json("INFO", "uvicorn.access", '10.9.0.10:50100 - "POST /v1/chat/completions HTTP/1.1" 200');
    expect(readLog(`${line}\n`).report["http"]).toEqual({ inference: { 200: 1 }, other: 0 });
  });

  test("a restart after any line goes on exactly", () => {
    const log = readFileSync(path.join(import.meta.dirname, "../../golden/xinference/xinference.log"));
    const { report } = readLog(log);
    const restarted = readWithRestarts(log);
    for (const key of ["requests", "http", "tokens", "errors"]) expect(restarted[key]).toEqual(report[key]);
  });
});
