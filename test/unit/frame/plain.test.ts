import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { stripAnsi } from "../../../src/core/ansi.ts";
import { frame, texts } from "./frame-lines.ts";

const GOLDEN = path.join(import.meta.dirname, "../../golden");
const logs = readdirSync(GOLDEN, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".log") && path.dirname(file) !== "frame")
  .sort();

test.for(logs)("no line of a log without wrapper changes: %s", (log) => {
  const bytes = readFileSync(path.join(GOLDEN, log));
  const lines = bytes.toString().replace(/\n$/, "").split("\n");
  expect(texts(bytes)).toEqual(lines.map((line) => stripAnsi(line.replace(/\r$/, ""))));
  expect(frame(bytes).framer.frame).toBe("plain");
});

test.for([
  // TGI, TEI, Qdrant, Dynamo and others of Rust: microseconds, or nanoseconds with another formatter
  "2026-05-12T07:23:19.627902Z  INFO text_generation_router::server: router/src/server.rs:1: ok",
  "2026-05-12T07:23:19.627902Z ERROR embed: text_embeddings_core::infer: x",
  "2026-05-12T07:23:19.627902Z DEBUG shard-manager: x",
  "2026-05-12T07:23:19.627902123Z  INFO qdrant::tonic: x",
  "2026-05-12T07:23:19.627902123Z ERROR embed{total_time=1ms}: x",
  "2026-05-12T07:23:19.627902123+00:00 INFO app: x",
  "2026-05-12T07:23:19Z listening on: 0.0.0.0:80",
  "2026-05-12T07:23:19+00:00 INFO started",
  "2026-05-12T07:23:19+00:00 worker starting: all fine",
  "2026-05-12T07:23:19.627Z [info] x",
  "2026-05-12T07:23:19.627902Z\twarning\tenvoy config",
  "2026-05-12 07:23:19 INFO x",
  "2026-05-12 07:23:19,123 - lmdeploy - INFO - x",
  "2026-05-12 07:23:19.123 | INFO     | uvicorn.protocols:send:476 - x",
  "2026-05-12 07:23:19.123 UTC [12] rag@ragdb LOG:  duration: 1 ms",
  "2026-03-02 | INFO | x",
  "[2026-05-12 07:23:19] INFO x",
  '[2026-05-12T07:23:19.000Z] "POST /v1/completions HTTP/1.1" 200',
  "[12] x",
  "[1.5] x",
  "[pod/x] y",
  "INFO 05-12 07:23:19 [loggers.py:1] x",
  "INFO     | app:main:1 - x",
  "info     | x",
  "app.main      | INFO x",
  "user | name",
  "slot print_timing: id  0 | task 1 | x",
  "srv  log_server_r: request: POST /completion 127.0.0.1 200",
  "Mar 02 10:00:00 INF started",
  "Mar  2 10:00:00.123 ERR failed",
  "May 5 tokens were left",
  "Mon 2026-03-02 10:00:00 x",
  "(APIServer pid=1) INFO 05-12 07:23:19 [loggers.py:1] x",
  "(ServeReplica:default:LLM pid=811) INFO x",
  "0.00.000.000 I slot x",
  "1791535999.123456 x",
  "12 <b>bold</b>",
  'data: {"MESSAGE":"x"}',
  'data: {"choices":[]}',
  "rag-api-7d9c5b7f4-x2x9p",
  "some-word-abcde is here now",
  '{"time":"2026-05-12T07:23:19Z","log":"x","stream":"stdout"}',
  "{}",
  "{",
  "<",
  "[",
  '    "a": 1,',
  "",
  " ",
])("a plain line stays: %s", (line) => {
  expect(texts(`${line}\n`)).toEqual([line]);
  expect(frame(`${line}\n`).framer.frame).toBe("plain");
});

test("syslog before it takes nothing from a Rust server's line", () => {
  const rust = "2026-05-12T07:23:19.627902Z ERROR embed: x";
  expect(texts(`2026-05-12T07:23:19.6+00:00 h a[1]: x\n${rust}\n`)).toEqual(["x", rust]);
});

test("no line takes long, whatever stands in it", () => {
  const parts = [
    "2026-03-02T17:00:00.669000423Z ",
    '<14>1 - - - - - [a b="',
    '{"log":"',
    '{"log":"a\\n","stream":"stdout","time":"2026-03-02T17:00:00Z"}',
    "40 <14>1 - - - - - - x",
    "vllm-1  | ",
    "Oct 09 08:53:20 ",
    "a-",
    "\\",
    "#012",
    " ",
    "\r",
    "[pod/",
    "\u001b]",
  ];
  for (const first of parts) {
    for (const again of parts) {
      const log = Buffer.from(`${first}${again.repeat(20_000 / again.length)}\n`);
      const fastest = Math.min(
        ...[1, 2, 3].map(() => {
          const started = performance.now();
          frame(log);
          return performance.now() - started;
        }),
      );
      expect(fastest, first + again).toBeLessThan(10);
    }
  }
});
