import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { parseConfig } from "../../../src/config/load.ts";
import { profilesOf } from "../../../src/config/profiles.ts";
import type { RequestRecord } from "../../../src/model/record.ts";
import { runTests } from "../../../src/profile/user/index.ts";
import { readLog } from "../../support/read-log.ts";

const config = (profile: Record<string, unknown>): ReturnType<typeof parseConfig> =>
  parseConfig(JSON.stringify({ sources: [{ files: ["a.log"] }], profiles: [{ name: "mine", ...profile }] }), "test");
const read = (profile: Record<string, unknown>, log: string): ReturnType<typeof readLog> =>
  readLog(log, { profiles: profilesOf(config(profile), "test") });
const first = (log: ReturnType<typeof readLog>): RequestRecord =>
  log.records.find((record) => record.kind === "request") as RequestRecord;

test("the example in docs/profiles.md passes its own tests", () => {
  const page = readFileSync(path.join(import.meta.dirname, "../../../docs/profiles.md"), "utf8");
  const yaml = /```yaml\n(# gateway\.yml[^]*?)```/.exec(page)?.[1] ?? "";
  const { profiles } = parseConfig(yaml, "docs/profiles.md");
  expect(profiles.map((profile) => [profile.tests.length, runTests(profile)])).toEqual([[2, []]]);
});

test.for([
  {
    name: "regex",
    match: { regex: "(?<m>\\S+) took (?<t>[0-9.]+) out=(?<o>\\d+)" },
    from: { e2e_ms: { from: "t", unit: "s" }, model: "m", tokens_out: "o" },
    line: "llama took 1.5 out=7",
  },
  {
    name: "grok",
    match: { grok: "%{WORD:m} took %{NUMBER:t} out=%{INT:o}" },
    from: { e2e_ms: { from: "t", unit: "s" }, model: "m", tokens_out: "o" },
    line: "llama took 1.5 out=7",
  },
  {
    name: "JSON with nested paths",
    match: { json: { "log.app": "gw" } },
    from: { e2e_ms: { from: "r.took", unit: "s" }, model: "r.model", tokens_out: "r.out" },
    line: '{"log":{"app":"gw"},"r":{"took":1.5,"model":"llama","out":7}}',
  },
  {
    name: "JSON with dotted keys",
    match: { json: { "log.app": { exists: true } } },
    from: { e2e_ms: { from: "r.took", unit: "s" }, model: "r.model", tokens_out: "r.out" },
    line: '{"log.app":"gw","r.took":"1.5","r.model":"llama","r.out":"7"}',
  },
  {
    name: "logfmt",
    match: { logfmt: { app: { regex: "g." } } },
    from: { e2e_ms: { from: "took", unit: "s" }, model: "model", tokens_out: "out" },
    line: 'app=gw model=llama msg="out=9 took=3" took=1.5 out=7',
  },
])("match by $name", ({ match, from, line }) => {
  const log = read({ match, fields: from }, `${line}\nsomething else\n`);
  const record = first(log);
  expect({
    model: record.model,
    out: record.tokensOut,
    e2e: log.report["latency_ms"].e2e.sum,
    profiles: log.profiles["mine"],
  }).toEqual({ model: "llama", out: 7, e2e: 1500, profiles: 1 });
});

test.for([
  { name: "a value that carries its unit", value: "1.2s", unit: "auto", e2e: 1200, rejected: [] },
  {
    name: "a bare number without a unit is refused",
    value: "12",
    unit: "auto",
    e2e: undefined,
    rejected: ["unknown-unit"],
  },
  { name: "a word is refused", value: "soon", unit: "ms", e2e: undefined, rejected: ["not-a-number"] },
  { name: "a negative figure is refused", value: "-4", unit: "ms", e2e: undefined, rejected: ["negative-duration"] },
  { name: "a dash is unknown", value: "-", unit: "ms", e2e: undefined, rejected: [] },
])("durations: $name", ({ value, unit, e2e, rejected }) => {
  const log = read({ match: { regex: "took (?<t>\\S+)" }, fields: { e2e_ms: { from: "t", unit } } }, `took ${value}\n`);
  expect({ e2e: log.report["latency_ms"].e2e?.sum, rejected: log.rejected }).toEqual({ e2e, rejected });
});

test.for([
  { name: "status 200", line: "s=200 o=- e=-", outcome: "ok" },
  { name: "status 500", line: "s=500 o=- e=-", outcome: "error" },
  { name: "status 499", line: "s=499 o=- e=-", outcome: "aborted" },
  { name: "an error text", line: "s=- o=- e=broken", outcome: "error" },
  { name: "outcome cancelled", line: "s=200 o=cancelled e=-", outcome: "aborted" },
])("outcome: $name", ({ line, outcome }) => {
  const log = read(
    { match: { regex: "s=(?<s>\\S+) o=(?<o>\\S+) e=(?<e>\\S+)" }, fields: { status: "s", outcome: "o", error: "e" } },
    `${line}\n`,
  );
  expect(first(log).outcome).toBe(outcome);
});

test("multiline joins what does not begin a record", () => {
  const profile = {
    match: { regex: "REQ (?<m>\\w+)\\s+tokens: (?<o>\\d+)" },
    multiline: { start: "REQ " },
    fields: { model: "m", tokens_out: "o" },
  };
  const log = read(profile, "REQ llama\n  tokens: 7\nREQ qwen\n  tokens: 9\n");
  expect(log.records.map((record) => (record.kind === "request" ? [record.model, record.tokensOut] : []))).toEqual([
    ["llama", 7],
    ["qwen", 9],
  ]);
});

test.for([
  {
    name: "a repetition inside a repetition",
    profile: { match: { regex: "(a+)+$" }, fields: {} },
    says: "profiles[0].match.regex: a repetition inside a repetition can match the same text in exponentially many ways",
  },
  {
    name: "a broken expression",
    profile: { match: { regex: "(a" }, fields: {} },
    says: "profiles[0].match.regex: missing closing )",
  },
  {
    name: "look-ahead",
    profile: { match: { regex: "(?=a)b" }, fields: {} },
    says: "look-around and back-references are not supported",
  },
  {
    name: "a group that is not there",
    profile: { match: { regex: "(?<time>x)" }, fields: { e2e_ms: "tme" } },
    says: 'profiles[0].fields.e2e_ms: the expression has no group "tme"; did you mean "time"?',
  },
  { name: "an unknown field", profile: { match: { regex: "x" }, fields: { ttft_mss: "x" } }, says: "ttft_mss" },
  {
    name: "an unknown grok name",
    profile: { match: { grok: "%{NUMBR:x}" }, fields: {} },
    says: 'no grok pattern "NUMBR"; did you mean "NUMBER"?',
  },
  {
    name: "two ways to match",
    profile: { match: { regex: "x", grok: "y" }, fields: {} },
    says: "needs exactly one of regex, grok, json, logfmt",
  },
  {
    name: "a name that is taken",
    profile: { name: "vllm-v1", match: { regex: "x" }, fields: {} },
    says: 'profiles[0].name: "vllm-v1" is taken',
  },
])("refused at load: $name", ({ profile, says }) => {
  expect(() => config(profile)).toThrow(says);
});

test("an ambiguous expression that no analysis finds is still matched in linear time", () => {
  const log = read({ match: { regex: "(?:(?:a|a)*$)" }, fields: {} }, `${"a".repeat(5000)}!\n`);
  expect(log.unrecognised.length).toBe(1);
});
