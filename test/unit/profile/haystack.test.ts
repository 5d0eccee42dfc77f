import { expect, test } from "vitest";
import { readLog } from "../../support/read-log.ts";

const line = (fields: Record<string, unknown>): string =>
  JSON.stringify({
    event: "Running component",
    level: "info",
    timestamp: "2026-03-02T15:00:01.943762Z",
    lineno: 58,
    module: "haystack.core.pipeline.base",
    ...fields,
  });

test.for([
  { name: "a run", fields: {}, counters: { component_runs: 1 } },
  {
    name: "a run named in the text",
    fields: { event: "Running component retriever" },
    counters: { component_runs: 1 },
  },
  {
    name: "an operation",
    fields: { event: "Operation: haystack.component.run", level: "debug" },
    counters: { operation_lines: 1 },
  },
  {
    name: "a tag",
    fields: { event: "haystack.component.name=retriever", tag_name: "haystack.component.name", level: "debug" },
    counters: { tag_lines: 1 },
  },
])("haystack counts $name", ({ fields, counters }) => {
  const { report, profiles } = readLog(line(fields));
  expect(profiles).toEqual({ haystack: 1 });
  expect(report["counters"]).toEqual(counters);
});

test.for([
  {
    name: "a structured exception",
    exception: [{ exc_type: "ReadTimeout", exc_value: "timed out", frames: [] }],
    cause: "upstream_timeout",
  },
  {
    name: "a chain: the outermost decides",
    exception: [
      { exc_type: "ConnectError", exc_value: "refused" },
      { exc_type: "OSError", exc_value: "x" },
    ],
    cause: "upstream_unreachable",
  },
  {
    name: "an exception as text",
    exception: "Traceback (most recent call last):\n  File x\nhttpx.ReadTimeout: timed out",
    cause: "upstream_timeout",
  },
])("haystack failure: $name", ({ exception, cause }) => {
  const { report } = readLog(line({ level: "error", event: "Component reranker failed", exception }));
  expect(report["errors"].records).toEqual({ [cause]: 1 });
});

test("haystack: other modules in its stream", () => {
  const call = line({
    module: "httpx",
    event: 'HTTP Request: POST https://api.openai.com/v1/embeddings "HTTP/1.1 429 Too Many Requests"',
  });
  expect(readLog(call).profiles["haystack"]).toBeUndefined();
  const { report, profiles } = readLog(`${line({})}\n${call}`);
  expect(profiles).toEqual({ haystack: 2 });
  expect(report["http"].inference).toEqual({ 429: 1 });
  expect(report["errors"].records).toEqual({ rate_limited: 1 });
});
