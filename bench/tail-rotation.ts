/** Lines lost and doubled by the real daemon under rotation: five renames with a late reopen, then copytruncate with copies kept. */
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  openSync,
  renameSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { eventually } from "../test/support/processes.ts";
import { BenchDaemon, requestLines } from "./tail/daemon.ts";

const LINES_PER_SECOND = 4850;
const TICK_MS = 20;
const PER_TICK = (LINES_PER_SECOND * TICK_MS) / 1000;

/** Calls `write` as often as the rate asks for until `ms` have passed. @returns The lines written. */
async function writeFor(ms: number, write: (count: number) => void): Promise<number> {
  const start = performance.now();
  let written = 0;
  for (;;) {
    const elapsed = performance.now() - start;
    const due = Math.min(ms, elapsed);
    const count = Math.round((due / TICK_MS) * PER_TICK) - written;
    if (count > 0) write(count);
    written += count;
    if (elapsed >= ms) return written;
    await delay(TICK_MS);
  }
}

async function report(name: string, daemon: BenchDaemon, written: number, tookMs: number): Promise<void> {
  await eventually("all lines", async () => (await daemon.metric("llm_requests_total")) >= written, 8000).catch(
    () => {},
  );
  const counted = await daemon.metric("llm_requests_total");
  const lost = await daemon.metric("tokentail_lost_bytes_total");
  console.log(
    `${name}: ${written} lines at ${Math.round((written / tookMs) * 1000)}/s, ${Math.max(0, written - counted)} lost, ${Math.max(0, counted - written)} doubled, ${lost} bytes told lost`,
  );
}

async function renames(): Promise<void> {
  await using daemon = new BenchDaemon();
  writeFileSync(daemon.at("a.log"), "");
  await daemon.start();
  let written = 0;
  let fd = openSync(daemon.at("a.log"), "a");
  const write = (count: number): void => {
    writeSync(fd, requestLines(written, count));
    written += count;
  };
  const start = performance.now();
  for (let round = 1; round <= 5; round++) {
    await writeFor(1200, write);
    renameSync(daemon.at("a.log"), daemon.at(`a.log.${round}`));
    await writeFor(400, write);
    closeSync(fd);
    fd = openSync(daemon.at("a.log"), "a");
  }
  await writeFor(500, write);
  await report("rename, reopened 0.4 s later, five times", daemon, written, performance.now() - start);
}

async function copies(patterns: readonly string[]): Promise<void> {
  await using daemon = new BenchDaemon();
  writeFileSync(daemon.at("a.log"), "");
  await daemon.start({ patterns });
  let written = 0;
  const write = (count: number): void => {
    appendFileSync(daemon.at("a.log"), requestLines(written, count));
    written += count;
  };
  const start = performance.now();
  for (let round = 1; round <= 5; round++) {
    await writeFor(1500, write);
    copyFileSync(daemon.at("a.log"), daemon.at(`a.log.${round}`));
    truncateSync(daemon.at("a.log"));
  }
  await writeFor(500, write);
  await report(`copytruncate each 1.5 s, pattern ${patterns[0]}`, daemon, written, performance.now() - start);
}

await renames();
await copies(["a.log"]);
await copies(["a.log*"]);
