import { UTC } from "../src/core/timestamp.ts";
import { Line } from "../src/model/line.ts";
import type { Parser } from "../src/profile/profile.ts";
import { structured } from "../src/profile/structured/index.ts";

/**
 * Nanoseconds a line of `claims` and `parse` of the structured profile, text and JSON of each line ready:
 * `node bench/structured-parse.ts`. The best of several rounds, so that a busy machine shows in the spread and not here.
 */
const LINES = 20_000;
const ROUNDS = 9;

const time = (index: number): string => new Date(Date.UTC(2026, 2, 2, 10) + index * 37).toISOString();

const KINDS: Readonly<Record<string, (index: number) => string>> = {
  "JSON, ttft and e2e": (index) =>
    `{"ts":"${time(index)}","level":"info","msg":"request finished","model":"llama-3-8b","route":"/v1/chat/completions","tenant":"acme","status":200,"stream":true,"ttft_ms":${100 + (index % 97)}.5,"e2e_latency_ms":${900 + (index % 997)},"tokens_in":${index % 900},"tokens_out":${index % 300}}`,
  "JSON, nested usage, ids": (index) =>
    `{"level":"info","time":"${time(index)}","msg":"chat completed","tenant":"acme","model":"gpt-4o-mini","request_id":"req-${index}","trace_id":"${index}0af7651916cd43dd","status":200,"duration_ms":${1000 + (index % 997)}.25,"ttft_ms":${100 + (index % 97)}.5,"retrieval_ms":12.5,"scores":[0.4,0.8,0.9],"usage":{"prompt_tokens":${index % 900},"completion_tokens":${index % 300}},"cost_usd":0.0003}`,
  "JSON, message differs": (index) =>
    `{"ts":"${time(index)}","level":"info","msg":"served request ${index} in time","model":"llama-3-8b","ttft_ms":${100 + (index % 97)}.5,"e2e_latency_ms":${900 + (index % 997)},"tokens_in":${index % 900},"tokens_out":${index % 300}}`,
  "JSON, no figures": (index) =>
    `{"ts":"${time(index)}","level":"info","msg":"cache refreshed","component":"prompts","entries":${index},"worker":"w-3"}`,
  logfmt: (index) =>
    `time=${time(index)} level=info msg="llm call" model=llama-3-8b latency_ms=${900 + (index % 997)}.475 prompt_tokens=${index % 900} completion_tokens=${index % 300} status=200`,
  "text with pairs": (index) =>
    `2026-03-02 10:00:00,123 INFO rag.api chat done ttft_ms=${100 + (index % 97)}.3,e2e_latency_ms=${900 + (index % 997)}.5,tokens_out=${index % 300}`,
};

function prepare(text: (index: number) => string): Line[] {
  return Array.from({ length: LINES }, (_, index) => {
    const line = new Line();
    line.setText(text(index));
    void line.json;
    return line;
  });
}

let records = 0;
const open = (): Parser =>
  structured.open({
    emit: () => {
      records++;
    },
    reject: () => {},
    zone: UTC,
  });

for (const [name, text] of Object.entries(KINDS)) {
  const lines = prepare(text);
  const parser = open();
  const rounds: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = process.hrtime.bigint();
    for (const line of lines) if (structured.claims(line)) parser.parse(line);
    rounds.push(Number(process.hrtime.bigint() - start) / LINES);
  }
  rounds.sort((a, b) => a - b);
  const [best = Number.NaN, worst = Number.NaN] = [rounds[0], rounds.at(-1)];
  console.log(`${name.padEnd(26)} ${best.toFixed(0).padStart(6)} ns/line (worst round ${worst.toFixed(0)})`);
}
console.log(`${records} records`);
