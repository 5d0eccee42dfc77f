import { UTC } from "../../src/core/timestamp.ts";
import { StreamPipeline } from "../../src/pipeline/stream-pipeline.ts";
import { PROFILES } from "../../src/profile/registry.ts";
import { DuplicateFilter } from "../../src/request/duplicate-filter.ts";
import { Random } from "../../src/simulate/random.ts";
import { goldenLogs } from "./golden-logs.ts";
import { mutate } from "./mutate.ts";

/** Longest time that one line may take, milliseconds. */
export const LINE_LIMIT_MS = 5;

export interface FuzzResult {
  readonly lines: number;
  /** Lines over the limit in each of several tries (one slow moment of the machine is none). */
  readonly slow: ReadonlyArray<{ readonly ms: number; readonly line: string }>;
}

/** Pushes mutated lines of a folder's golden logs, mixed with whole ones, through the pipeline. An exception is thrown on. */
export function fuzz(folder: string, lines: number, seed: number): FuzzResult {
  const random = new Random(seed);
  const corpus = goldenLogs
    .filter((log) => log.folder === folder)
    .flatMap((log) => log.bytes.toString("latin1").split("\n"));
  const others = goldenLogs.map((log) => log.bytes.toString("latin1").slice(0, 500));
  const open = (): StreamPipeline =>
    new StreamPipeline({
      stream: { name: "fuzz", labels: {}, profile: "auto" },
      profiles: PROFILES,
      consumer: { record: () => {}, reject: () => {}, unrecognised: () => {} },
      duplicates: new DuplicateFilter(),
      zone: UTC,
    });
  let pipeline = open();
  const slow: Array<{ ms: number; line: string }> = [];
  for (let at = 0; at < lines; at++) {
    if (at % 5000 === 4999) {
      pipeline.end(0);
      pipeline = open();
    }
    const line = random.chance(0.2) ? random.pick(corpus) : mutate(random.pick(corpus), random, others);
    const bytes = Buffer.from(`${line}\n`, "latin1");
    const start = performance.now();
    pipeline.push(bytes, 0, 0);
    let ms = performance.now() - start;
    for (let tries = 0; ms > LINE_LIMIT_MS && tries < 4; tries++) {
      const again = open();
      const from = performance.now();
      again.push(bytes, 0, 0);
      ms = Math.min(ms, performance.now() - from);
    }
    if (ms > LINE_LIMIT_MS) slow.push({ ms, line: line.slice(0, 300) });
  }
  pipeline.end(0);
  return { lines, slow };
}

if (import.meta.main) {
  const lines = Number(process.argv[2] ?? 100_000);
  for (const folder of new Set(goldenLogs.map((log) => log.folder))) {
    const { slow } = fuzz(folder, lines, 1);
    console.log(`${folder}: ${lines} mutated lines, ${slow.length} over ${LINE_LIMIT_MS} ms`);
    for (const { ms, line } of slow.slice(0, 3)) console.log(`  ${ms.toFixed(1)} ms  ${JSON.stringify(line)}`);
    if (slow.length > 0) process.exitCode = 1;
  }
}
