import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { CATALOGUE } from "../../../src/failure/catalogue.ts";
import { causeOf, classifyFailure, FailureClassifier, UNKNOWN_CAUSE } from "../../../src/failure/classify.ts";
import { clusterScores } from "../../support/cluster-scores.ts";

interface Row {
  readonly id: string;
  readonly raw: string;
  readonly label?: string;
  readonly cause?: string;
}
const GOLDEN = path.join(import.meta.dirname, "../../golden/failures");
const rows = (file: string): Row[] =>
  readFileSync(path.join(GOLDEN, file), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Row);
const labelled = rows("labelled.jsonl");
const wordings = rows("wordings.jsonl");

const AZURE = (violence: boolean, jailbreak: boolean): string =>
  `openai.BadRequestError: Error code: 400 - {'error': {'message': "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.", 'code': 'content_filter', 'innererror': {'content_filter_result': {'hate': {'filtered': False, 'severity': 'safe'}, 'jailbreak': {'filtered': ${jailbreak ? "True" : "False"}, 'detected': ${jailbreak ? "True" : "False"}}, 'violence': {'filtered': ${violence ? "True" : "False"}, 'severity': '${violence ? "high" : "safe"}'}}}}}`;

test.for([
  {
    name: "429 of a provider",
    raw: "Error code: 429 - {'error': {'message': 'Rate limit reached for gpt-4o on tokens per min (TPM)'}}",
    cause: "rate_limited",
  },
  {
    name: "429 because the money is gone",
    raw: "openai.RateLimitError: Error code: 429 - {'error': {'message': 'You exceeded your current quota, please check your plan and billing details.', 'code': 'insufficient_quota'}}",
    cause: "quota_exhausted",
  },
  {
    name: "429 of the own full server",
    raw: 'HTTP 429 {"error":"Model is overloaded","error_type":"overloaded"}',
    cause: "queue_overflow",
  },
  {
    name: "429 of a store whose disk is full",
    raw: "TransportError(429, 'cluster_block_exception', 'index [kb] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, index has read-only-allow-delete block]')",
    cause: "disk_full",
  },
  { name: "429 alone is weak", raw: "HTTP 429", cause: UNKNOWN_CAUSE },
  {
    name: "503 of an overloaded provider",
    raw: "503 UNAVAILABLE. {'error': {'message': 'The model is overloaded. Please try again later.'}}",
    cause: "upstream_overloaded",
  },
  {
    name: "503 while loading",
    raw: '503 {"error":{"message":"Loading model","type":"unavailable_error","code":503}}',
    cause: "model_load_cold_start",
  },
  { name: "503 of a full queue", raw: "503 The request queue is full.", cause: "queue_overflow" },
  {
    name: "code=503 of Milvus",
    raw: "MilvusException: (code=503, message=fail to search on all shard leaders: channel not available)",
    cause: "vector_index_degraded",
  },
  {
    name: "503 of a hanging engine",
    raw: "503 Health check failed. Server couldn't get a response from detokenizer for last 20 seconds.",
    cause: "engine_hang_watchdog",
  },
  { name: "503 of a lost node", raw: "503 ray.exceptions.NodeDiedError: its node has died", cause: "worker_node_lost" },
  {
    name: "400 too long",
    raw: "BadRequestError: Error code: 400 - This model's maximum context length is 8192 tokens. However, you requested 9001 tokens",
    cause: "context_length_exceeded",
  },
  {
    name: "400 bad parameter",
    raw: "BadRequestError: Error code: 400 - temperature must be non-negative, got -1.0.",
    cause: "invalid_request",
  },
  {
    name: "400 chat template",
    raw: "BadRequestError: Error code: 400 - Conversation roles must alternate user/assistant/user/assistant/...",
    cause: "chat_template_error",
  },
  {
    name: "400 grammar",
    raw: "BadRequestError: Error code: 400 - The provided JSON schema contains features not supported by xgrammar.",
    cause: "structured_output_grammar",
  },
  {
    name: "400 image",
    raw: "BadRequestError: Error code: 400 - At most 1 image(s) may be provided in one request.",
    cause: "multimodal_input_invalid",
  },
  {
    name: "400 adapter",
    raw: "BadRequestError: Error code: 400 - LoRA rank 64 is greater than max_lora_rank 16.",
    cause: "lora_adapter_error",
  },
  {
    name: "400 chunk too long for the embedding model",
    raw: "400 POST /v1/embeddings This model's maximum context length is 512 tokens, you requested 700",
    cause: "embedding_input_too_long",
  },
  { name: "404 model", raw: "Error code: 404 - The model `x` does not exist.", cause: "model_not_found" },
  { name: "404 collection", raw: "404 (Not Found) Collection `kb` doesn't exist!", cause: "vector_index_missing" },
  { name: "404 adapter", raw: "404 No adapter found for /adapters/x", cause: "lora_adapter_error" },
  { name: "Azure: the violence flag", raw: AZURE(true, false), cause: "content_policy_block" },
  { name: "Azure: the jailbreak flag", raw: AZURE(false, true), cause: "prompt_injection_block" },
  {
    name: "Bedrock: INSULTS",
    raw: "guardrail intervened: contentPolicy filters type INSULTS action BLOCKED",
    cause: "content_policy_block",
  },
  {
    name: "Bedrock: PROMPT_ATTACK",
    raw: "guardrail intervened: contentPolicy filters type PROMPT_ATTACK action BLOCKED",
    cause: "prompt_injection_block",
  },
  { name: "out of memory on the GPU", raw: "CUDA error: out of memory", cause: "gpu_oom" },
  {
    name: "out of memory in SGLang's cache",
    raw: "RuntimeError: Prefill out of memory. Try to lower your batch size.",
    cause: "kv_cache_exhausted",
  },
  { name: "out of memory on the host", raw: "Out of memory: Killed process 77 (python3)", cause: "host_oom_killed" },
  {
    name: "no space on the disk",
    raw: "OSError: [Errno 28] No space left on device: '/models/a.safetensors'",
    cause: "disk_full",
  },
  {
    name: "no space in shared memory",
    raw: "Error while creating shared memory segment /dev/shm/nccl-1 (size 9637888): No space left on device",
    cause: "shm_exhausted",
  },
  { name: "the generic words alone are weak", raw: "Error: request failed: timeout", cause: UNKNOWN_CAUSE },
  {
    name: "LiteLLM: the class decides before a number in the text",
    raw: "litellm.ContextWindowExceededError: litellm.BadRequestError: prompt of 429 lines, rate 503",
    cause: "context_length_exceeded",
  },
  {
    name: "the root of the engine's death, where the block holds it",
    raw: 'EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause.\nTraceback (most recent call last):\n  File "/c.py", line 1, in f\ntorch.OutOfMemoryError: CUDA out of memory.',
    cause: "gpu_oom",
  },
])("classifyFailure: $name", ({ raw, cause }) => {
  expect(classifyFailure(raw).cause).toBe(cause);
});

test("a cause that the format decided stays", () => {
  expect(causeOf({ kind: "failure", timeMs: 0, text: "CUDA out of memory", cause: "client_cancelled" })).toBe(
    "client_cancelled",
  );
  expect(causeOf({ kind: "failure", timeMs: 0, text: "CUDA out of memory" })).toBe("gpu_oom");
});

test("the class of a record is evidence beside its text", () => {
  expect(causeOf({ kind: "failure", timeMs: 0, text: "call failed", errorClass: "ContextWindowExceededError" })).toBe(
    "context_length_exceeded",
  );
});

test("a verdict says whose words decided, and which message", () => {
  const found = classifyFailure(
    "ERROR call failed\nlitellm.BudgetExceededError: Budget has been exceeded! Current cost: 3.1, Max budget: 3.0",
  );
  expect(found).toMatchObject({ cause: "quota_exhausted", confidence: "certain" });
  expect(found.evidence[0]).toMatchObject({ by: "LiteLLM", weight: 10 });
  expect(found.deciding).toContain("Budget has been exceeded");
});

test.for(wordings.map((row) => ({ name: `${row.id} ${row.cause}`, row })))("wording $name", ({ row }) => {
  expect(classifyFailure(row.raw).cause).toBe(row.cause);
});

test("labelled failures: cause and clusters", () => {
  const found = labelled.map((row) => classifyFailure(row.raw));
  const right = found.filter(({ cause }, index) => cause === labelled[index]?.label).length;
  expect(right / labelled.length).toBeGreaterThan(0.98);
  const scores = clusterScores(
    labelled.map(({ label }) => label ?? ""),
    found.map(({ cause }, index) => (cause === UNKNOWN_CAUSE ? `unknown ${index}` : cause)),
  );
  expect(scores.ari).toBeGreaterThan(0.95);
  expect(scores.ami).toBeGreaterThan(0.95);
  expect(scores.b3F1).toBeGreaterThan(0.95);
});

test("strangers are given no name", () => {
  const named = rows("unknown.jsonl").filter(({ raw }) => classifyFailure(raw).cause !== UNKNOWN_CAUSE);
  expect(named.map(({ raw }) => raw)).toEqual([]);
});

test("a cause taken out of the catalogue is seldom called by another's name", () => {
  const all = [...labelled, ...wordings].map((row) => ({ raw: row.raw, cause: row.label ?? row.cause ?? "" }));
  let named = 0;
  let count = 0;
  for (const { name } of CATALOGUE) {
    const without = new FailureClassifier(CATALOGUE.filter((cause) => cause.name !== name));
    for (const { raw, cause } of all) {
      if (cause !== name) continue;
      count++;
      if (without.causeOf(raw) !== UNKNOWN_CAUSE) named++;
    }
  }
  expect(named / count).toBeLessThan(0.12);
});

test("ids of forms do not depend on what was seen before", () => {
  const [first, second] = [labelled, [...labelled].reverse()].map((order) => {
    const classifier = new FailureClassifier(CATALOGUE);
    return new Map(order.map(({ id, raw }) => [id, classifier.classify(raw).templateId]));
  });
  expect(first).toEqual(second && new Map([...second].reverse()));
});

test("no mutated text takes long", () => {
  const classifier = new FailureClassifier(CATALOGUE);
  const hostile = [
    "a".repeat(60_000),
    " ".repeat(60_000),
    "tokens ".repeat(8_000),
    "tool ".repeat(10_000),
    "{'a': ".repeat(9_000),
    '{"error":"'.repeat(5_000),
    "a.b.c.".repeat(9_000),
    "model '".repeat(8_000),
    `${"maximum context length ".repeat(400)}${"embedding ".repeat(4_000)}`,
    "Traceback (most recent call last):\n".repeat(1_500),
    ...labelled.slice(0, 100).map(({ raw }) => (raw + raw.replaceAll(" ", "  ")).repeat(20)),
  ];
  // the best of three: what a busy machine adds is not the text's fault
  const timeMs = (text: string): number =>
    Math.min(
      ...[1, 2, 3].map((run) => {
        const start = performance.now();
        classifier.classify(`${text} ${run}`);
        return performance.now() - start;
      }),
    );
  const slow = hostile.filter((text) => timeMs(text) > 20);
  expect(slow.map((text) => text.slice(0, 40))).toEqual([]);
});
