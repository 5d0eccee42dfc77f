import fc from "fast-check";
import { expect, test } from "vitest";
import { readErrorBlock, searchableText } from "../../../src/failure/error-block.ts";

const DIRECT = "\nThe above exception was the direct cause of the following exception:\n";
const DURING = "\nDuring handling of the above exception, another exception occurred:\n";
const FRAME = '  File "/app/client.py", line 81, in post\n    response = self._send(request)\n';
const raised = (text: string): string => `Traceback (most recent call last):\n${FRAME}${text}\n`;

test.for([
  { name: "a single line decides itself", raw: "CUDA error: out of memory", deciding: "CUDA error: out of memory" },
  {
    name: "the exception after the frames decides, not the code between them",
    raw: raised("ValueError: nope"),
    deciding: "ValueError: nope",
  },
  {
    name: "of a chain with a direct cause the first exception is the root",
    raw:
      raised("httpcore.ConnectError: [Errno 111] Connection refused") +
      DIRECT +
      raised("openai.APIConnectionError: Connection error."),
    deciding: "httpcore.ConnectError: [Errno 111] Connection refused",
  },
  {
    name: "during handling: the first exception is the root",
    raw: raised("torch.OutOfMemoryError: CUDA out of memory.") + DURING + raised("RuntimeError: worker failed"),
    deciding: "torch.OutOfMemoryError: CUDA out of memory.",
  },
  {
    name: "during handling of a missing key: the exception after it",
    raw: raised("KeyError: 'chatcmpl-9'") + DURING + raised("ValueError: prompt is too long"),
    deciding: "ValueError: prompt is too long",
  },
  {
    name: "of several processes that crashed the first traceback",
    raw: `[rank1]: Traceback (most recent call last):\n[rank1]:   File "/a.py", line 3, in f\n[rank1]: RuntimeError: NCCL error: remote process exited\n[rank0]: Traceback (most recent call last):\n[rank0]:   File "/a.py", line 3, in f\n[rank0]: RuntimeError: boom`,
    deciding: "RuntimeError: NCCL error: remote process exited",
  },
  {
    name: "vLLM's prefix stands on every line of its traceback",
    raw: [
      "(EngineCore pid=7) ERROR 06-02 11:20:33 [core.py:710] EngineCore encountered a fatal error.",
      "(EngineCore pid=7) ERROR 06-02 11:20:33 [core.py:710] Traceback (most recent call last):",
      '(EngineCore pid=7) ERROR 06-02 11:20:33 [core.py:710]   File "/v/core.py", line 701, in run',
      "(EngineCore pid=7) ERROR 06-02 11:20:33 [core.py:710]     self.run()",
      "(EngineCore pid=7) ERROR 06-02 11:20:33 [core.py:710] ValueError: bad",
    ].join("\r\n"),
    deciding: "ValueError: bad",
  },
  {
    name: "the innermost Caused by of Java",
    raw: "org.acme.SearchException: failed\n\tat org.acme.Search.run(Search.java:10)\nCaused by: java.util.concurrent.ExecutionException: later\n\t... 12 more\nCaused by: java.net.ConnectException: Connection refused\n\tat java.base/sun.nio.ch.Net.connect(Net.java:1)",
    deciding: "java.net.ConnectException: Connection refused",
  },
  {
    name: "a Go panic, not its goroutines",
    raw: "time=2026-06-02T10:00:00Z level=INFO msg=serving\npanic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\nmain.main()\n\t/app/main.go:11 +0x1d",
    deciding: "panic: runtime error: index out of range [3] with length 3",
  },
  {
    name: "the message after a Rust panic's place",
    raw: "thread 'tokio-runtime-worker' panicked at src/shard.rs:31:9:\nWAL buffer size exceeds available disk space\nnote: run with `RUST_BACKTRACE=1` environment variable",
    deciding: "WAL buffer size exceeds available disk space",
  },
  {
    name: "a JSON log line: message, then the error it carries",
    raw: '{"level":"error","ts":1.5,"msg":"search failed","error":"collection not loaded"}',
    deciding: "search failed",
  },
  {
    name: "an error body names its type",
    raw: '{"error":{"message":"Overloaded","type":"overloaded_error","code":null}}',
    deciding: "overloaded_error: Overloaded",
  },
  {
    name: "an error body inside a string inside a container's line",
    raw: '{"log":"2026-06-02 10:00:00,123 - app - ERROR - call failed: 429\\n","stream":"stderr","time":"2026-06-02T10:00:00Z"}',
    deciding: "call failed: 429",
  },
  {
    name: "containerd's prefix before a logger's",
    raw: '2026-06-02T10:00:00.824Z stderr F [2026-06-02 10:00:00 TP0] Scheduler hit an exception: Traceback (most recent call last):\n2026-06-02T10:00:00.824Z stderr F   File "/s.py", line 1, in f\n2026-06-02T10:00:00.824Z stderr F RuntimeError: Prefill out of memory.',
    deciding: "RuntimeError: Prefill out of memory.",
  },
  {
    name: "Go's slog: message and error",
    raw: 'time=2026-06-02T10:00:00.000+02:00 level=ERROR source=sched.go:456 msg="error loading llama server" error="timed out"',
    deciding: "error loading llama server: timed out",
  },
  {
    name: "tracing spans and targets before the message",
    raw: '2026-06-02T10:00:00.000001Z ERROR generate{parameters=GenerateParameters { stop: ["}: x"] } id=1}:prefill{size=1}: text_generation_router::infer: router/src/infer.rs:10: Model is overloaded',
    deciding: "Model is overloaded",
  },
  {
    name: "syslog and the kernel's ring buffer",
    raw: "Jun  2 10:00:01 inf-3 kernel: [91823.1] Memory cgroup out of memory: Killed process 411",
    deciding: "Memory cgroup out of memory: Killed process 411",
  },
  { name: "an empty block decides nothing", raw: "\n\n", deciding: "" },
])("readErrorBlock: $name", ({ raw, deciding }) => {
  expect(readErrorBlock(raw).deciding).toBe(deciding);
});

test("frames are counted and their code is no message", () => {
  const block = readErrorBlock(raised("ValueError: x") + DIRECT + raised("RuntimeError: y"));
  expect(block.stackDepth).toBe(2);
  expect(block.messages).toEqual(["ValueError: x", "RuntimeError: y"]);
});

test("the loggers' source files stay as places", () => {
  expect(readErrorBlock("ERROR 05-10 08:31:34 [serving_embedding.py:1917] ValueError: x").places).toEqual([
    "serving_embedding.py",
  ]);
});

test("escapes and quotes are made equal in the searchable text", () => {
  expect(searchableText(readErrorBlock('b\'{\\"error\\":\\"Collection `kb` doesn\\\'t   exist\\"}\''))).toContain(
    '"error":"collection \'kb\' doesn\'t exist"',
  );
});

test("any text is taken apart without an error, within bounds", () => {
  const pieces = [
    "Traceback (most recent call last):",
    '  File "/a.py", line 1, in f',
    "    x()",
    "ValueError: x",
    "Caused by: y",
    DIRECT.trim(),
    "{",
    '{"error":',
    "\u0000",
    "a".repeat(5000),
    "[",
    "<13>",
    "thread 'a' panicked at b:",
    "\t",
    "",
  ];
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 40 })), { maxLength: 60 }),
      (lines) => {
        const block = readErrorBlock(lines.join("\n"));
        expect(block.messages.length).toBeLessThanOrEqual(24);
        expect(searchableText(block).length).toBeLessThanOrEqual(11_000);
      },
    ),
    { numRuns: 300 },
  );
});

test("access and statistics lines between do not decide, unless there is nothing else", () => {
  const noise =
    'INFO:     10.0.0.7:41234 - "POST /v1/chat/completions HTTP/1.1" 504 Gateway Timeout\n[2026-06-02 10:00:00 TP0] Decode batch, #running-req: 2, #queue-req: 0';
  expect(readErrorBlock(`${noise}\nERROR 06-02 10:00:01 [a.py:1] ValueError: x`).messages).toEqual(["ValueError: x"]);
  expect(readErrorBlock(noise).messages).toHaveLength(2);
});
