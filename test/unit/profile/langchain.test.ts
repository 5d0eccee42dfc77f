import { expect, test } from "vitest";
import { readLog } from "../../support/read-log.ts";

const ROOT = "chain:RunnableSequence";
const end = (type: string, crumbs: string, elapsed: string): string =>
  `[${type}/end] [${crumbs}] [${elapsed}] Exiting ${type === "llm" ? "LLM" : "Chain"} run with output:`;
const error = (type: string, crumbs: string, elapsed: string): string =>
  `[${type}/error] [${crumbs}] [${elapsed}] ${type === "llm" ? "LLM" : type === "tool" ? "Tool" : "Chain"} run errored with error:`;
const pretty = (value: unknown): string => JSON.stringify(value, null, 2);
const output = (usage: unknown): string => pretty({ generations: [[{ text: "ok" }]], llm_output: usage });
const USAGE = {
  token_usage: { completion_tokens: 193, prompt_tokens: 104, total_tokens: 297 },
  model_name: "gpt-4o-mini",
};
const colour = (header: string): string => {
  const [tag = "", ...rest] = header.split(" ");
  return `\u001b[36;1m\u001b[1;3m${tag}\u001b[0m \u001b[1m${rest.join(" ")}`;
};
const lines = (...parts: string[]): string => parts.join("\n");

test.for([
  {
    name: "plain",
    log: lines(
      end("llm", `${ROOT} > llm:ChatOpenAI`, "2.00s"),
      output(USAGE),
      end("chain", ROOT, "2.41s"),
      pretty({ output: "ok" }),
    ),
  },
  {
    name: "coloured",
    log: lines(
      colour(end("llm", `${ROOT} > llm:ChatOpenAI`, "2.00s")),
      `\u001b[0m${output(USAGE)}`,
      colour(end("chain", ROOT, "2.41s")),
      `\u001b[0m${pretty({ output: "ok" })}`,
    ),
  },
  {
    name: "numbered crumbs of old releases",
    log: lines(
      end("llm", "1:chain:RunnableSequence > 2:llm:ChatOpenAI", "2.00s"),
      output(USAGE),
      end("chain", "1:chain:RunnableSequence", "2.41s"),
      "[outputs]",
    ),
  },
  {
    name: "empty outputs",
    log: lines(end("llm", `${ROOT} > llm:ChatOpenAI`, "2.00s"), output(USAGE), end("chain", ROOT, "2.41s"), "{}"),
  },
])("langchain: only the root's end is the request, $name", ({ log }) => {
  const { report, unrecognised } = readLog(log);
  expect(unrecognised).toEqual([]);
  expect(report["requests"]).toMatchObject({ finished: 1, failed: 0, by_model: { "gpt-4o-mini": 1 } });
  expect(report["tokens"]).toMatchObject({ in: { count: 1, sum: 104 }, out: { count: 1, sum: 193 } });
  expect(report["latency_ms"].e2e.sum).toBeCloseTo(2410, 6);
  expect(report["latency_ms"].llm.sum).toBeCloseTo(2000, 6);
});

const METADATA = {
  input_tokens: 104,
  output_tokens: 193,
  input_token_details: { cache_read: 50 },
  output_token_details: { reasoning: 7 },
};
test.for([
  {
    name: "usage_metadata of a serialised message",
    value: {
      generations: [[{ text: "ok", message: { lc: 1, kwargs: { content: "ok", usage_metadata: METADATA } } }]],
      llm_output: null,
    },
    tokens: { in: 104, out: 193, in_cached: 50, out_reasoning: 7 },
  },
  {
    name: "usage_metadata of a plain message",
    value: { generations: [[{ message: { usage_metadata: METADATA } }]] },
    tokens: { in: 104, out: 193, in_cached: 50, out_reasoning: 7 },
  },
  {
    name: "both, counted once",
    value: {
      generations: [[{ message: { kwargs: { usage_metadata: { input_tokens: 104, output_tokens: 193 } } } }]],
      llm_output: USAGE,
    },
    tokens: { in: 104, out: 193 },
  },
  {
    name: "details of token_usage",
    value: {
      llm_output: {
        token_usage: {
          prompt_tokens: 104,
          completion_tokens: 193,
          prompt_tokens_details: { cached_tokens: 50 },
          completion_tokens_details: { reasoning_tokens: 7 },
        },
      },
    },
    tokens: { in: 104, out: 193, in_cached: 50, out_reasoning: 7 },
  },
  {
    name: "Anthropic",
    value: { llm_output: { usage: { input_tokens: 104, output_tokens: 193 }, model: "claude" } },
    tokens: { in: 104, out: 193 },
  },
  {
    name: "several generations share one usage",
    value: { generations: [[{ message: { usage_metadata: METADATA } }, { message: { usage_metadata: METADATA } }]] },
    tokens: { in: 104, out: 193, in_cached: 50, out_reasoning: 7 },
  },
  { name: "none", value: { generations: [[{ text: "ok" }]], llm_output: null }, tokens: {} },
  {
    name: "usage in a tool's arguments",
    value: {
      generations: [
        [
          {
            message: {
              kwargs: {
                tool_calls: [{ args: { llm_output: { token_usage: { prompt_tokens: 9 } }, usage_metadata: METADATA } }],
              },
            },
          },
        ],
      ],
    },
    tokens: {},
  },
  {
    name: "usage in the answer's text",
    value: { generations: [[{ text: '  "llm_output": {\n    "token_usage": {\n      "prompt_tokens": 9\n' }]] },
    tokens: {},
  },
])("langchain tokens: $name", ({ value, tokens }) => {
  const { report } = readLog(lines(end("llm", "llm:ChatOpenAI", "2.00s"), pretty(value)));
  expect(report["requests"].finished).toBe(1);
  expect(
    Object.fromEntries(Object.entries<{ sum: number }>(report["tokens"]).map(([key, { sum }]) => [key, sum])),
  ).toEqual(tokens);
});

test("langchain: a root's tokens are those of all its models", () => {
  const model = lines(end("llm", `${ROOT} > llm:A`, "1.00s"), output(USAGE));
  const { report } = readLog(lines(model, model, end("chain", ROOT, "3.00s"), pretty({ output: "ok" })));
  expect(report["tokens"].in).toEqual({ count: 1, sum: 208 });
});

test.for([
  { name: "milliseconds", elapsed: "456ms", ms: 456, rejected: {} },
  { name: "seconds", elapsed: "1.23s", ms: 1230, rejected: {} },
  { name: "negative", elapsed: "-5ms", ms: undefined, rejected: { "negative-duration": 1 } },
  { name: "without a unit", elapsed: "12", ms: undefined, rejected: { "unknown-unit": 1 } },
  { name: "no number", elapsed: "nans", ms: undefined, rejected: { "not-a-number": 1 } },
])("langchain duration: $name", ({ elapsed, ms, rejected }) => {
  const { report } = readLog(lines(end("chain", ROOT, elapsed), "[outputs]"));
  expect(report["requests"].finished).toBe(1);
  expect(report["latency_ms"].e2e?.sum).toBe(ms);
  expect(report["rejected_values"]).toEqual(rejected);
});

test.for([
  { name: "retrieve", crumb: "chain:retrieve", counted: 1 },
  { name: "retrieve_documents", crumb: "chain:retrieve_documents", counted: 1 },
  { name: "the whole retrieval chain", crumb: "chain:retrieval_chain", counted: undefined },
  { name: "another part", crumb: "chain:RunnableLambda", counted: undefined },
])("langchain retrieve chain: $name", ({ crumb, counted }) => {
  const { report } = readLog(lines(end("chain", `${ROOT} > ${crumb}`, "413ms"), "[outputs]"));
  expect(report["latency_ms"].retrieve_chain?.count).toBe(counted);
  expect(report["requests"].finished).toBe(null);
});

test("langchain: an error that passes through its runs is one failure", () => {
  const text = JSON.stringify(
    "RateLimitError('x')Traceback (most recent call last):\n\n\n  File x\n\n\nopenai.RateLimitError: Error code: 429",
  );
  const { report, records } = readLog(
    lines(
      error("llm", `${ROOT} > llm:ChatOpenAI`, "1.00s"),
      text,
      error("chain", `${ROOT} > chain:step`, "1.01s"),
      text,
      error("chain", ROOT, "1.02s"),
      text,
    ),
  );
  expect(report["requests"]).toMatchObject({ finished: 0, failed: 1 });
  expect(report["errors"].records).toEqual({ rate_limited: 1 });
  expect(report["latency_ms"]).toMatchObject({ llm: { count: 1 }, e2e: { count: 1 } });
  expect(records.find((record) => record.kind === "failure")).toMatchObject({ errorClass: "RateLimitError" });
});

test("langchain: a tool's error need not fail its request", () => {
  const { report } = readLog(
    lines(
      error("tool", `${ROOT} > tool:search_docs`, "30.00s"),
      "TimeoutError()",
      end("chain", ROOT, "31.00s"),
      "[outputs]",
    ),
  );
  expect(report["requests"]).toMatchObject({ finished: 1, failed: 0 });
  expect(report["errors"].records).toEqual({ tool_call_timeout: 1 });
  expect(report["latency_ms"].tool).toMatchObject({ count: 1, sum: 30_000 });
});

test("langchain: text of a tool is no log", () => {
  const hostile = lines(
    `"first`,
    end("chain", "chain:Evil", "99.00s"),
    "**********",
    "  |_CBEventType.QUERY ->  99.0 seconds",
    'INFO:     10.0.0.1:1 - "POST /v1/chat/completions HTTP/1.1" 200 OK"',
  );
  const { report } = readLog(
    lines(
      colour(`[tool/end] [${ROOT} > tool:fetch] [1.00s] Exiting Tool run with output:`),
      hostile,
      colour(end("chain", ROOT, "2.00s")),
      "[outputs]",
    ),
  );
  expect(report["requests"]).toMatchObject({ finished: 1, by_route: { RunnableSequence: 1 } });
  expect(report["latency_ms"].e2e).toMatchObject({ count: 1, sum: 2000 });
  expect(report["latency_ms"].llamaindex_query).toBeUndefined();
  expect(report["http"].inference).toEqual({});
});

test("langchain: an output that was cut ends at the next header", () => {
  const { report } = readLog(
    lines(
      end("llm", `${ROOT} > llm:A`, "1.00s"),
      "{",
      '  "llm_output": {',
      '    "token_usage": {',
      '      "prompt_tokens": 5',
      end("chain", ROOT, "2.00s"),
      "[outputs]",
    ),
  );
  expect(report["requests"].finished).toBe(1);
  expect(report["tokens"].in).toEqual({ count: 1, sum: 5 });
});

const trace = (...events: string[]): string => lines("**********", "Trace: query", ...events, "**********");
test.for([
  {
    name: "members of the enum",
    log: trace("  |_CBEventType.QUERY ->  2.040044 seconds", "    |_CBEventType.RETRIEVE ->  0.149701 seconds"),
    latency: { llamaindex_query: 2040.044, retrieval: 149.701 },
  },
  {
    name: "values of the enum",
    log: trace("  |_query ->  2.040044 seconds", "    |_retrieve ->  0.149701 seconds"),
    latency: { llamaindex_query: 2040.044, retrieval: 149.701 },
  },
  { name: "one blank", log: trace("  |_query -> 2.0 seconds"), latency: { llamaindex_query: 2000 } },
  { name: "exponents", log: trace("  |_CBEventType.RERANKING ->  5e-06 seconds"), latency: { rerank: 0.005 } },
  {
    name: "a query inside a query",
    log: trace(
      "  |_CBEventType.QUERY ->  3.0 seconds",
      "    |_CBEventType.SUB_QUESTION ->  2.0 seconds",
      "      |_CBEventType.QUERY ->  1.0 seconds",
    ),
    latency: { llamaindex_query: 3000 },
  },
  {
    name: "two retrievals side by side",
    log: trace("  |_CBEventType.RETRIEVE ->  1.0 seconds", "  |_CBEventType.RETRIEVE ->  2.0 seconds"),
    latency: { retrieval: 3000 },
  },
  { name: "models", log: trace("  |_CBEventType.LLM ->  1.5 seconds"), latency: { upstream_llm: 1500 } },
])("llamaindex: $name", ({ log, latency }) => {
  const { report, unrecognised } = readLog(log);
  expect(unrecognised).toEqual([]);
  expect(report["requests"].finished).toBe(null);
  expect(report["counters"].llamaindex_traces).toBe(1);
  const sums = Object.entries<{ sum: number }>(report["latency_ms"]).map(([key, { sum }]) => [
    key,
    Number(sum.toFixed(6)),
  ]);
  expect(Object.fromEntries(sums)).toEqual(latency);
});
