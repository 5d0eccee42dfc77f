import { describe, expect, test } from "vitest";
import { readLog } from "../../support/read-log.ts";

const T = "2025-08-09T19:31:00.315603Z";
const AT = "text_embeddings_router::http::server: router/src/http/server.rs:738";

describe("success", () => {
  test.for(["embed", "embed_all", "embed_sparse", "openai_embed", "rerank", "predict", "similarity"])("%s", (route) => {
    const { report } = readLog(
      `${T}  INFO ${route}{total_time="999ns" tokenization_time="10.5ms" queue_time="671.88µs" inference_time="1.2s"}: ${AT}: Success\n`,
    );
    expect(report["requests"]).toMatchObject({ finished: 1, failed: null, aborted: null, by_route: { [route]: 1 } });
    expect(report["latency_ms"]).toMatchObject({
      e2e: { count: 1 },
      tokenization: { sum: 10.5 },
      queue: { count: 1 },
      inference: { sum: 1200 },
    });
    expect(report["latency_ms"].e2e.sum).toBeCloseTo(0.000999, 9);
    expect(report["tokens"]).toEqual({});
  });

  test("without spans only the count is left", () => {
    const { report } = readLog(`${T}  INFO ${AT}: Success\n`);
    expect(report["requests"]).toMatchObject({ finished: 1, by_route: {} });
    expect(report["latency_ms"]).toEqual({});
  });

  test("JSON", () => {
    const line = JSON.stringify({
      timestamp: T,
      level: "INFO",
      message: "Success",
      target: "text_embeddings_router::http::server",
      span: { name: "embed", total_time: "5ms", queue_time: "1ms" },
      spans: [{ name: "embed", total_time: "5ms", queue_time: "1ms" }],
    });
    expect(readLog(`${line}\n`).report["latency_ms"]).toMatchObject({ e2e: { count: 1, sum: 5 }, queue: { sum: 1 } });
  });
});

test.for([
  {
    name: "input too long",
    line: "openai_embed:embed_pooled{truncate=false}: text_embeddings_core::infer: core/src/infer.rs:332: Input validation error: `inputs` must have less than 512 tokens. Given: 3002",
    cause: "embedding_input_too_long",
  },
  {
    name: "input empty",
    line: "embed: text_embeddings_core::infer: core/src/infer.rs:332: Input validation error: `inputs` cannot be empty",
    cause: "invalid_request",
  },
  {
    name: "overloaded",
    line: "embed: text_embeddings_core::infer: core/src/infer.rs:102: Model is overloaded",
    cause: "queue_overflow",
  },
  {
    name: "batch too large",
    line: `embed: ${AT}: batch size 64 > maximum allowed batch size 32`,
    cause: "invalid_request",
  },
])("failure: $name", ({ line, cause }) => {
  const { report } = readLog(`${T} ERROR ${line}\n`);
  expect(report["errors"].records).toEqual({ [cause]: 1 });
  expect(report["requests"].failed).toBeNull();
});

test("a backend's error leaves the cause to its text", () => {
  const [record] = readLog(
    `${T} ERROR text_embeddings_backend: backends/src/lib.rs:388: Backend error: DriverError(CUDA_ERROR_OUT_OF_MEMORY, "out of memory")\n`,
  ).records;
  expect(record).toMatchObject({
    kind: "failure",
    text: 'Backend error: DriverError(CUDA_ERROR_OUT_OF_MEMORY, "out of memory")',
  });
});
