import { describe, expect, test } from "vitest";
import { parseTritonLine } from "../../../src/profile/triton/prefix.ts";
import { readLog } from "../../support/read-log.ts";

const P = "I0512 07:01:00.909395 1 http_server.cc:4580] ";

test.for([
  {
    name: "default format: UTC, the year from the time of reading",
    text: `${P}"a \\"b\\"\\nc"`,
    is: { level: "I", timeMs: Date.UTC(2026, 4, 12, 7, 1, 0, 909), file: "http_server.cc", message: 'a "b"\nc' },
  },
  {
    name: "ISO format",
    text: '2026-08-03T07:00:00Z W 1 dynamic_batch_scheduler.cc:71] "x"',
    is: { level: "W", timeMs: Date.UTC(2026, 7, 3, 7), message: "x" },
  },
  { name: "not escaped", text: `${P}plain "text`, is: { message: 'plain "text' } },
  { name: "klog, which pads the process id", text: "I0512 07:01:00.909395       1 server.go:12] x", is: undefined },
  { name: "another word with I", text: "INFO something", is: undefined },
])("parseTritonLine: $name", ({ text, is }) => {
  const line = parseTritonLine(text, Date.UTC(2026, 5, 1));
  if (is === undefined) expect(line).toBeUndefined();
  else expect(line).toMatchObject(is);
});

describe("requests", () => {
  test.for([
    { name: "generate", request: "2 /v2/models/m/generate", received: 1, probes: undefined },
    { name: "streamed", request: "2 /v2/models/m/generate_stream", received: 1, probes: undefined },
    { name: "infer, with a version", request: "2 /v2/models/m/versions/3/infer", received: 1, probes: undefined },
    { name: "OpenAI front end", request: "2 /v1/chat/completions", received: 1, probes: undefined },
    { name: "health", request: "0 /v2/health/ready", received: null, probes: 1 },
    { name: "model readiness", request: "0 /v2/models/m/ready", received: null, probes: 1 },
    { name: "a model's metadata", request: "0 /v2/models/m", received: null, probes: undefined },
    { name: "GET of an inference path", request: "0 /v2/models/m/infer", received: null, probes: undefined },
    { name: "repository index", request: "2 /v2/repository/index", received: null, probes: undefined },
  ])("$name", ({ request, received, probes }) => {
    for (const message of [`"HTTP request: ${request}"`, `HTTP request: ${request}`]) {
      const { report } = readLog(`${P}${message}\n`);
      expect(report["requests"]).toMatchObject({ received, finished: null, failed: null, aborted: null });
      expect(report["counters"]["health_probes"]).toBe(probes);
      expect(report["latency_ms"]).toEqual({});
    }
  });
});

describe("failures", () => {
  const head = (level: string): string => `${level}0512 07:01:17.305566 1 scheduler_utils.cc:175] `;
  test.for([
    {
      name: "queue full",
      log: `${head("E")}"[request id: req-90] Exceeds maximum queue size"`,
      records: [
        { text: "[request id: req-90] Exceeds maximum queue size", cause: "queue_overflow", requestId: "req-90" },
      ],
    },
    {
      name: "a wait that expired is a warning",
      log: `${head("W")}"[request id: <id_unknown>] Request timeout expired"`,
      records: [{ text: "[request id: <id_unknown>] Request timeout expired", requestId: undefined }],
    },
    { name: "other warnings are none", log: `${head("W")}"Unable to get power limit for GPU 0."`, records: [] },
    {
      name: "Python backend, escaped",
      log: `${head("E")}"Failed to process the request(s) for model 'm_0_0', message: X: a\\n\\nAt:\\n  /m.py(890): execute\\n"`,
      records: [
        {
          text: "Failed to process the request(s) for model 'm_0_0', message: X: a\n\nAt:\n  /m.py(890): execute",
          model: "m_0_0",
        },
      ],
    },
    {
      name: "Python backend, not escaped: its lines follow",
      log: `${head("E")}Failed to process the request(s) for model 'm_0_0', message: X: a\n\nAt:\n  /m.py(890): execute\n\n${P}next`,
      records: [
        { text: "Failed to process the request(s) for model 'm_0_0', message: X: a\n\nAt:\n  /m.py(890): execute" },
      ],
    },
    {
      name: "the TensorRT-LLM backend's bare line with numbered frames",
      log: `${P}a\n[TensorRT-LLM][ERROR] CUDA runtime error: out of memory (/a.h:124)\n1       0x7f00aa /a.so(+0x7f00aa) [0x7f00aa]\n2       0x7f00bb b::c + 412\n${P}next`,
      records: [
        {
          text: "CUDA runtime error: out of memory (/a.h:124)\n1       0x7f00aa /a.so(+0x7f00aa) [0x7f00aa]\n2       0x7f00bb b::c + 412",
        },
      ],
    },
    {
      name: "a Python backend's own logger",
      log: `${P}a\nE0512 07:01:18.305566 1 model.py:90] "bad input"`,
      records: [{ text: "bad input" }],
    },
  ])("$name", ({ log, records }) => {
    const read = readLog(`${log}\n`);
    expect(read.records).toHaveLength(records.length);
    for (const [index, record] of records.entries())
      expect(read.records[index]).toMatchObject({ kind: "failure", ...record });
    expect(read.unrecognised).toEqual([]);
  });

  test("a table of the start-up that is not escaped is recognised", () => {
    const log = `${P}\n+-------+---------+\n| Model | Version |\n+-------+---------+\n`;
    expect(readLog(log).unrecognised).toEqual([]);
  });
});
