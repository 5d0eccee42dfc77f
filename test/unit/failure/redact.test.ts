import fc from "fast-check";
import { expect, test } from "vitest";
import { redact } from "../../../src/failure/redact.ts";

const LONG = "Tell me everything about the merger of Acme and Globex";

test.for([
  {
    name: "provider keys",
    text: "Incorrect API key provided: sk-proj-AbCdEf0123456789AbCdEf. You can",
    is: "Incorrect API key provided: <key>. You can",
  },
  { name: "Hugging Face tokens", text: "token hf_AbCdEfGhIjKlMnOpQrStUvWx used", is: "token <key> used" },
  { name: "AWS key ids", text: "for AKIAIOSFODNN7EXAMPLE denied", is: "for <key> denied" },
  { name: "bearer tokens", text: "Authorization: Bearer abc.def-123456", is: "Authorization: Bearer <token>" },
  {
    name: "JSON web tokens",
    text: "jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_1 expired",
    is: "jwt <token> expired",
  },
  {
    name: "named secrets in JSON and query strings",
    text: '{"api_key":"12345-abcde"} ?password=hunter22&x=1',
    is: '{"api_key":"<secret>"} ?password=<secret>&x=1',
  },
  {
    name: "passwords in addresses",
    text: "postgresql://rag:s3cret@db:5432/kb",
    is: "postgresql://rag:<secret>@db:5432/kb",
  },
  { name: "e-mail addresses", text: "user jane.doe+x@mail.example.com over budget", is: "user <email> over budget" },
  {
    name: "prompts in JSON",
    text: `{"prompt": "${LONG}", "max_tokens": 5}`,
    is: '{"prompt": "<text: 54 characters>", "max_tokens": 5}',
  },
  {
    name: "escaped quotes inside a prompt",
    text: `{"content":"he said \\"${LONG}\\" twice","role":"user"}`,
    is: '{"content":"<text: 72 characters>","role":"user"}',
  },
  {
    name: "prompts in Python's repr",
    text: `Received request r: prompt: '${LONG}', params: None`,
    is: "Received request r: prompt: '<text: 54 characters>', params: None",
  },
  {
    name: "prompts of Rust",
    text: `embed{inputs=String("${LONG}") truncate=false}`,
    is: 'embed{inputs=String("<text: 54 characters>") truncate=false}',
  },
  { name: "a prompt that was cut off", text: `{"prompt": "${LONG}`, is: '{"prompt": "<text: 54 characters>' },
  {
    name: "what is masked already stays",
    text: "Received API Key = sk-...Zz, api_key=***",
    is: "Received API Key = sk-...Zz, api_key=***",
  },
  {
    name: "the reason of a failure stays",
    text: "{'error': {'message': 'This model\\'s maximum context length is 8192 tokens', 'type': 'invalid_request_error', 'input': 'body'}}",
    is: "{'error': {'message': 'This model\\'s maximum context length is 8192 tokens', 'type': 'invalid_request_error', 'input': 'body'}}",
  },
  {
    name: "token counts stay",
    text: "prompt_tokens: 512, max_tokens=99, tokens: 7",
    is: "prompt_tokens: 512, max_tokens=99, tokens: 7",
  },
])("redact: $name", ({ text, is }) => {
  expect(redact(text)).toBe(is);
});

test("redacting twice changes nothing more", () => {
  const pieces = [
    "sk-proj-AbCdEf0123456789AbCdEf",
    "Bearer abcdefgh1234",
    "a@b.example.com",
    `"prompt": "${LONG}"`,
    "password=hunter22",
    " ",
    "{",
    "'",
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), (parts) => {
      const once = redact(parts.join(" "));
      expect(redact(once)).toBe(once);
      expect(once).not.toContain("hunter22");
      expect(once).not.toContain("AbCdEf0123456789");
    }),
  );
});
