/**
 * Resident memory of `tokentail run` while it follows a log that grows by a steady number of lines a second.
 *
 *   node bench/memory.ts [--rate 20000] [--seconds 60]
 */
import { spawn } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { writeWorkload } from "./workloads.ts";

const { values } = parseArgs({
  options: { rate: { type: "string", default: "20000" }, seconds: { type: "string", default: "60" } },
});
const rate = Number(values.rate);
const seconds = Math.min(600, Number(values.seconds));
const TICK_MS = 100;

const folder = mkdtempSync(path.join(tmpdir(), "tokentail-memory-"));
const log = path.join(folder, "app.log");
writeFileSync(log, "");
const sample = path.join(folder, "sample");
writeWorkload("json", sample, 100_000);
const lines = readFileSync(sample, "utf8").split("\n").slice(0, -1);

const daemon = spawn(
  process.execPath,
  [path.join(import.meta.dirname, "../src/main.ts"), "run", log, "--listen", "127.0.0.1:0"],
  { stdio: ["ignore", "ignore", "pipe"] },
);
const url = await new Promise<string>((resolve, reject) => {
  let said = "";
  daemon.stderr.on("data", (chunk: Buffer) => {
    said += chunk.toString();
    const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said);
    if (found !== null) resolve(found[0]);
  });
  daemon.on("exit", () => reject(new Error(`the daemon ended: ${said}`)));
});

const residentMib = (): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${daemon.pid}/status`, "utf8"))?.[1]) / 1024;
const samples: number[] = [];
let written = 0;
try {
  const start = performance.now();
  while (performance.now() - start < seconds * 1000) {
    const due = Math.floor(((performance.now() - start) / 1000) * rate);
    let block = "";
    for (; written < due; written++) block += `${lines[written % lines.length]}\n`;
    appendFileSync(log, block);
    samples.push(residentMib());
    await new Promise((resolve) => {
      setTimeout(resolve, TICK_MS);
    });
  }
  const read = async (): Promise<number> =>
    [...(await body()).matchAll(/^llm_requests_total\{[^}]*\} (\d+)$/gm)].reduce(
      (sum, [, value]) => sum + Number(value),
      0,
    );
  const body = async (): Promise<string> => (await fetch(`${url}/metrics`)).text();
  for (let tries = 0; tries < 100 && (await read()) < written; tries++) {
    await new Promise((resolve) => {
      setTimeout(resolve, TICK_MS);
    });
  }
  const mean = (part: readonly number[]): number => part.reduce((sum, value) => sum + value, 0) / part.length;
  const third = Math.floor(samples.length / 3);
  const figures = {
    lines_written: written,
    requests_counted: await read(),
    rss_mib_max: Math.round(Math.max(...samples)),
    rss_mib_second_third: Math.round(mean(samples.slice(third, 2 * third))),
    rss_mib_last_third: Math.round(mean(samples.slice(2 * third))),
  };
  console.log(JSON.stringify(figures));
} finally {
  daemon.kill("SIGTERM");
  rmSync(folder, { recursive: true, force: true });
}
