/** CPU and memory of the real daemon on 20,000 files of which 100 have grown lately: idle, and with the 100 growing slowly. */
import { appendFileSync, mkdirSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { BenchDaemon, requestLines } from "./tail/daemon.ts";

const FILES = 20_000;
const LIVE = 100;
const WINDOW_MS = 30_000;

await using daemon = new BenchDaemon();
mkdirSync(daemon.at("logs"));
for (let at = 0; at < FILES; at++) writeFileSync(daemon.at(`logs/f${at}.log`), requestLines(at, 1));
await daemon.start({ patterns: ["logs/*.log"] });
await daemon.ready();
let written = FILES;
const grow = (): void => {
  for (let at = 0; at < LIVE; at++)
    appendFileSync(daemon.at(`logs/f${at * (FILES / LIVE)}.log`), requestLines(written++, 1));
};
grow();
await delay(15_000);
const measure = async (name: string, tick: () => void): Promise<void> => {
  const start = performance.now();
  const cpu = daemon.cpuSeconds;
  while (performance.now() - start < WINDOW_MS) {
    tick();
    await delay(1000);
  }
  const share = ((daemon.cpuSeconds - cpu) / (performance.now() - start)) * 1000;
  console.log(`${name}: ${(share * 100).toFixed(2)} % of a core, RSS ${Math.round(daemon.memoryMiB("VmRSS"))} MiB`);
};
await measure(`${FILES} files, idle`, () => {});
await measure(`${FILES} files, ${LIVE} of them one line a second`, grow);
await delay(1000);
console.log(
  `${await daemon.metric("llm_requests_total")} of ${written} lines counted, ${await daemon.metric("tokentail_files")} files followed`,
);
