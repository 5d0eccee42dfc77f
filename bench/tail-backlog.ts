/** Catch-up of the real daemon with a large backlog: lines a second, memory, slowest answer of /metrics. GIB=2 by default. */
import { appendFileSync, statSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { BenchDaemon, requestLines } from "./tail/daemon.ts";

const BYTES = Number(process.env["GIB"] ?? 2) * 2 ** 30;
const BLOCK_LINES = 50_000;

await using daemon = new BenchDaemon();
writeFileSync(daemon.at("a.log"), "");
let written = 0;
while (statSync(daemon.at("a.log")).size < BYTES) {
  appendFileSync(daemon.at("a.log"), requestLines(written, BLOCK_LINES));
  written += BLOCK_LINES;
}
const start = performance.now();
await daemon.start();
const answersMs: number[] = [];
for (;;) {
  const asked = performance.now();
  const counted = await daemon.metric("llm_requests_total");
  answersMs.push(performance.now() - asked);
  if (counted >= written) break;
  await delay(100);
}
const seconds = (performance.now() - start) / 1000;
answersMs.sort((a, b) => a - b);
console.log(
  `${(BYTES / 2 ** 30).toFixed(1)} GiB, ${written} lines in ${seconds.toFixed(1)} s: ${Math.round(written / seconds)} lines/s, ${Math.round(BYTES / 2 ** 20 / seconds)} MiB/s`,
);
console.log(`peak RSS ${Math.round(daemon.memoryMiB("VmHWM"))} MiB`);
console.log(
  `/metrics: median ${Math.round(answersMs[answersMs.length >> 1] ?? 0)} ms, slowest ${Math.round(answersMs.at(-1) ?? 0)} ms of ${answersMs.length}`,
);
