/** From the write of a line to its being visible in /metrics, at 1,000 lines/s: half the probes' polling pause is included. */
import { appendFileSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { BenchDaemon, requestLines } from "./tail/daemon.ts";

const PROBES = Number(process.env["PROBES"] ?? 200);
const LINES_PER_SECOND = 1000;

await using daemon = new BenchDaemon();
writeFileSync(daemon.at("a.log"), "");
await daemon.start();
await daemon.ready();
let written = 0;
const write = (count: number): void => {
  appendFileSync(daemon.at("a.log"), requestLines(written, count));
  written += count;
};
const background = setInterval(() => write(LINES_PER_SECOND / 100), 10);
await delay(1000);
const waitsMs: number[] = [];
for (let probe = 0; probe < PROBES; probe++) {
  write(1);
  const wanted = written;
  const start = performance.now();
  while ((await daemon.metric("llm_requests_total")) < wanted) await delay(2);
  waitsMs.push(performance.now() - start);
  await delay(20 + ((probe * 37) % 60));
}
clearInterval(background);
waitsMs.sort((a, b) => a - b);
const quantile = (q: number): number =>
  Math.round(waitsMs[Math.min(waitsMs.length - 1, Math.floor(waitsMs.length * q))] ?? 0);
console.log(
  `write to visible at ${LINES_PER_SECOND} lines/s: p50 ${quantile(0.5)} ms, p90 ${quantile(0.9)} ms, p99 ${quantile(0.99)} ms, slowest ${quantile(1)} ms of ${PROBES}`,
);
