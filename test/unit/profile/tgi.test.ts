import { readFileSync } from "node:fs";
import path from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readLog } from "../../support/read-log.ts";
import { readWithRestarts } from "../../support/restart-log.ts";

const T = "2025-04-15T08:17:00.316147Z";
const TIMES =
  'total_time="2.3s" validation_time="12.5ms" queue_time="171.905µs" inference_time="2.2s" time_per_token="50ms" seed="None"';
const success = (spans: string): string =>
  `${T}  INFO ${spans}: text_generation_router::server: router/src/server.rs:432: Success\n`;
const sums = (log: string): Record<string, number> =>
  Object.fromEntries(
    Object.entries<{ sum: number }>(readLog(log).report["latency_ms"]).map(([name, { sum }]) => [name, sum]),
  );

describe("success", () => {
  const figures = { e2e: 2300, queue: 0.171905, validation: 12.5, inference: 2200, tpot: 50 };
  test.for([
    { name: "generate", spans: `generate{${TIMES}}`, route: "generate" },
    {
      name: "inside compat_generate",
      spans: `compat_generate{default_return_full_text=true compute_type=Extension(ComputeType("1-nvidia-a100"))}:generate_stream{${TIMES}}`,
      route: "generate_stream",
    },
    {
      name: "a stop string that looks like the end of the line",
      spans: `generate{parameters=GenerateParameters { stop: ["\\"} total_time=\\"9s\\"}: text_generation_router::server: router/src/server.rs:432: Success"], grammar: None } ${TIMES}}`,
      route: "generate",
    },
    {
      name: "parameters as one string",
      spans: `chat_completions{parameters="GenerateParameters { stop: [\\"total_time=\\\\\\"9s\\\\\\"\\"] }" ${TIMES}}`,
      route: "chat_completions",
    },
    {
      name: "inside an HTTP span, times on an outer span",
      spans: `HTTP request{http.user_agent=curl/8.0 otel.kind=server}:completions{${TIMES}}:inner`,
      route: "completions",
    },
    { name: "vertex", spans: `vertex_compatibility{${TIMES}}`, route: "vertex_compatibility" },
  ])("$name", ({ spans, route }) => {
    const { report } = readLog(success(spans));
    expect(report["requests"]).toMatchObject({
      finished: 1,
      failed: 0,
      received: null,
      aborted: null,
      by_route: { [route]: 1 },
    });
    expect(sums(success(spans))).toEqual(figures);
    expect(report["tokens"]).toEqual({});
    expect(report["tokens_estimated"]).toEqual({ out: 44 });
  });

  test("coloured, as it is by default", () => {
    const line = `\u001b[2m${T}\u001b[0m \u001b[32m INFO\u001b[0m \u001b[1mgenerate\u001b[0m\u001b[1m{\u001b[0m${TIMES.replaceAll("=", "\u001b[2m=\u001b[0m")}\u001b[1m}\u001b[0m\u001b[2m:\u001b[0m \u001b[2mtext_generation_router::server\u001b[0m\u001b[2m:\u001b[0m \u001b[2mrouter/src/server.rs\u001b[0m\u001b[2m:\u001b[0m\u001b[2m432:\u001b[0m Success\n`;
    expect(sums(line)).toEqual(figures);
  });

  test.for([
    { name: "a missing time is unknown", spans: 'generate{total_time="2.3s"}', figures: { e2e: 2300 }, rejected: [] },
    { name: "no spans at all", spans: "generate", figures: {}, rejected: [] },
    {
      name: "a text that is no duration",
      spans: 'generate{total_time="fast" queue_time="1ms"}',
      figures: { queue: 1 },
      rejected: ["not-a-number"],
    },
    {
      name: "tokens cannot be estimated from a zero",
      spans: 'generate{total_time="1s" inference_time="0ns" time_per_token="0ns"}',
      figures: { e2e: 1000, inference: 0, tpot: 0 },
      rejected: [],
    },
  ])("$name", ({ spans, figures, rejected }) => {
    const read = readLog(success(spans));
    expect(read.report["requests"].finished).toBe(1);
    expect(sums(success(spans))).toEqual(figures);
    expect(read.rejected).toEqual(rejected);
    expect(read.report["tokens_estimated"]).toEqual({});
  });

  test("JSON: router flattened, launcher nested", () => {
    const router = JSON.stringify({
      timestamp: T,
      level: "INFO",
      message: "Success",
      target: "text_generation_router::server",
      span: { name: "inner" },
      spans: [{ name: "compat_generate" }, { name: "generate", total_time: "2.3s" }, { name: "inner" }],
    });
    const launcher = JSON.stringify({
      timestamp: T,
      level: "ERROR",
      fields: { message: "Shard 1 crashed" },
      target: "text_generation_launcher",
    });
    const { report } = readLog(`${router}\n${launcher}\n`);
    expect(report["requests"]).toMatchObject({ finished: 1, by_route: { generate: 1 } });
    expect(report["latency_ms"].e2e.sum).toBe(2300);
    expect(report["errors"].records).toEqual({ shard_crash: 1 });
  });
});

describe("failures", () => {
  const infer =
    "generate{parameters=P { stop: [] }}:generate:generate_stream: text_generation_router::infer: router/src/infer/mod.rs:118";
  test.for([
    { name: "queue full", line: `ERROR ${infer}: Model is overloaded`, failed: 1, cause: "queue_overflow" },
    {
      name: "queue full, with fields",
      line: `ERROR ${infer}: Model is overloaded max_concurrent_requests=128`,
      failed: 1,
      cause: "queue_overflow",
    },
    {
      name: "prompt and answer longer than the model",
      line: `ERROR ${infer}: Input validation error: \`inputs\` tokens + \`max_new_tokens\` must be <= 4096. Given: 2711 \`inputs\` tokens and 2000 \`max_new_tokens\``,
      failed: 1,
      cause: "context_length_exceeded",
    },
    {
      name: "prompt longer than the model",
      line: `ERROR ${infer}: Input validation error: \`inputs\` must have less than 1024 tokens. Given: 4711`,
      failed: 1,
      cause: "context_length_exceeded",
    },
    {
      name: "a parameter out of range",
      line: `ERROR ${infer}: Input validation error: \`temperature\` must be strictly positive`,
      failed: 1,
      cause: "invalid_request",
    },
    {
      name: "template",
      line: `ERROR ${infer}: Template error: unknown role`,
      failed: 1,
      cause: "chat_template_error",
    },
    { name: "incomplete", line: `ERROR ${infer}: Incomplete generation`, failed: 1, cause: undefined },
    {
      name: "failed while generating",
      line: "ERROR generate{}:generate:send_error: text_generation_router_v3::backend: backends/v3/src/backend.rs:546: Request failed during generation: Server error: x",
      failed: 1,
      cause: undefined,
    },
    {
      name: "the client's own line is no further request",
      line: "ERROR batch{batch_size=1}:prefill:prefill{id=41 size=1}: text_generation_client: router/client/src/lib.rs:33: Server error: x",
      failed: null,
      cause: undefined,
    },
    {
      name: "a shard was killed",
      line: "ERROR shard-manager: text_generation_launcher: Shard process was signaled to shutdown with signal 9 rank=1",
      failed: null,
      cause: "shard_crash",
    },
  ])("$name", ({ line, failed, cause }) => {
    const { report, records } = readLog(`${T} ${line}\n`);
    expect(report["requests"].failed).toBe(failed);
    expect(records.filter(({ kind }) => kind === "failure")).toHaveLength(1);
    if (cause !== undefined) expect(report["errors"].records).toEqual({ [cause]: 1 });
  });

  test.for([
    {
      name: "bare traceback lines",
      lines: ["Traceback (most recent call last):", '  File "a.py", line 1, in f', "    g()", "RuntimeError: x", ""],
    },
    {
      name: "a traceback in a box",
      lines: [
        "╭───── Traceback (most recent call last) ─────╮",
        "│ /usr/src/a.py:1 in f │",
        "╰─────╯",
        "OutOfMemoryError: CUDA out of memory.",
      ],
    },
  ])("a shard's error is one record with its lines: $name", ({ lines }) => {
    const head = `${T} ERROR text_generation_launcher: Method Prefill encountered an error.`;
    const { records, unrecognised } = readLog(
      `${[head, ...lines, `${T}  INFO text_generation_launcher: next`].join("\n")}\n`,
    );
    expect(records).toHaveLength(1);
    expect(records[0]).toMatchObject({
      kind: "failure",
      text: ["Method Prefill encountered an error.", ...lines].join("\n").trimEnd(),
    });
    expect(unrecognised).toEqual([]);
  });

  test("the arguments it prints over several lines are recognised", () => {
    const log = `${T}  INFO text_generation_launcher: Args {\n    model_id: "a",\n    num_shard: Some(\n        2,\n    ),\n}\nother\n`;
    expect(readLog(log).unrecognised).toEqual(["other"]);
  });
});

describe("properties", () => {
  const log = readFileSync(path.join(import.meta.dirname, "../../golden/tgi/tgi.log"));
  test("any cutting of the bytes gives the same report", () => {
    const whole = readLog(log).report;
    fc.assert(
      fc.property(fc.array(fc.nat(log.length), { maxLength: 30 }), (cuts) => {
        expect(readLog(log, { cuts }).report).toEqual(whole);
      }),
      { numRuns: 20 },
    );
  });

  test("a restart between any lines gives the same records", () => {
    const whole = readWithRestarts(log.toString(), new Set());
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(38)), (restarts) => {
        expect(readWithRestarts(log.toString(), new Set(restarts))).toEqual(whole);
      }),
      { numRuns: 20 },
    );
  });
});
