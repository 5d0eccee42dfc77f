import { expect, test } from "vitest";
import { classifyFailure } from "../../../src/failure/classify.ts";

test.for([
  {
    name: "memory of PyTorch",
    raw: "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB. GPU 1 has a total capacity of 79.11 GiB of which 1.84 GiB is free.",
    slots: { errorClass: "OutOfMemoryError", requestedGiB: 0.5, freeGiB: 1.84, totalGiB: 79.11, gpu: "1" },
  },
  {
    name: "tokens of vLLM",
    raw: "This model's maximum context length is 8,192 tokens. However, you requested 9410 tokens",
    slots: { tokens: 9410, tokenLimit: 8192 },
  },
  {
    name: "tokens of Anthropic",
    raw: "prompt is too long: 213011 tokens > 200000 maximum",
    slots: { tokens: 213011, tokenLimit: 200000 },
  },
  {
    name: "status, code and class of an SDK's error",
    raw: "openai.NotFoundError: Error code: 404 - {'error': {'message': 'The model `gpt-9` does not exist', 'type': 'invalid_request_error', 'code': 'model_not_found'}}",
    slots: { httpStatus: 404, errorClass: "NotFoundError", errorCode: "model_not_found", model: "gpt-9" },
  },
  {
    name: "host and port",
    raw: "HTTPConnectionPool(host='rerank', port=8080): Read timed out. (read timeout=30)",
    slots: { upstream: "rerank:8080" },
  },
  {
    name: "collection",
    raw: "Not found: Collection `policies_v2` doesn't exist!",
    slots: { collection: "policies_v2" },
  },
  { name: "how long to wait", raw: "Rate limit reached. Please try again in 120ms.", slots: { retryAfterS: 0.12 } },
])("slots: $name", ({ raw, slots }) => {
  expect(classifyFailure(raw).slots).toMatchObject(slots);
});

test("what the text does not say is not there", () => {
  expect(classifyFailure("something failed").slots).toEqual({});
});
