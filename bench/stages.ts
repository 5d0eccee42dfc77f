/**
 * Processor nanoseconds a line of each stage of `analyze`, by leaving out the stages behind it: newline scan, framing,
 * records (general and from layouts), totals. In memory, warmed up; the rounds of all stages take turns, medians.
 *
 *   node bench/stages.ts [--lines 300000] [--rounds 7] [--only json]
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { Totals } from "../src/analysis/totals.ts";
import { UTC } from "../src/core/timestamp.ts";
import { Framer } from "../src/frame/framer.ts";
import { StreamPipeline } from "../src/pipeline/stream-pipeline.ts";
import type { Parser, Profile } from "../src/profile/profile.ts";
import { PROFILES } from "../src/profile/registry.ts";
import { DuplicateFilter } from "../src/request/duplicate-filter.ts";
import { WORKLOADS, type Workload, writeWorkload } from "./workloads.ts";

const { values } = parseArgs({
  options: {
    lines: { type: "string", default: "300000" },
    rounds: { type: "string", default: "7" },
    only: { type: "string" },
  },
});
const lines = Number(values.lines);
const rounds = Number(values.rounds);
const CHUNK_BYTES = 1 << 20;

/** The same profiles, none of which knows a line again. */
const GENERAL: readonly Profile[] = PROFILES.map((profile) => ({
  ...profile,
  open: (context): Parser => {
    const parser = profile.open(context);
    Object.defineProperty(parser, "repeat", { value: undefined });
    return parser;
  },
}));

type Push = (chunk: Buffer, offset: number) => void;

function pipeline(profiles: readonly Profile[], totals: Totals | undefined): Push {
  const stream = new StreamPipeline({
    stream: { name: "bench", labels: {}, profile: "auto" },
    profiles,
    duplicates: new DuplicateFilter(),
    zone: UTC,
    consumer: {
      record: (record, profile) => totals?.add(record, profile.tells),
      reject: (reason) => totals?.reject(reason),
    },
  });
  return (chunk, offset) => stream.push(chunk, offset, 0);
}

let seen = 0;
const STAGES: Readonly<Record<string, () => Push>> = {
  "newline scan": () => (chunk) => {
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) seen++;
  },
  "+ framing": () => {
    const framer = new Framer({
      maxLineBytes: 1 << 20,
      zone: UTC,
      onLine: () => {
        seen++;
      },
    });
    return (chunk, offset) => framer.push(chunk, offset, 0);
  },
  "+ records": () => pipeline(PROFILES, undefined),
  "+ totals": () => pipeline(PROFILES, new Totals()),
  "all, general way": () => pipeline(GENERAL, new Totals()),
};

const folder = mkdtempSync(path.join(tmpdir(), "tokentail-stages-"));
try {
  for (const workload of Object.keys(WORKLOADS) as Workload[]) {
    if (values.only !== undefined && values.only !== workload) continue;
    const file = path.join(folder, "log");
    writeWorkload(workload, file, lines);
    const bytes = readFileSync(file);
    const stages = Object.entries(STAGES).map(([name, start]) => ({ name, push: start(), ns: [] as number[] }));
    let offset = 0;
    for (let round = -1; round < rounds; round++) {
      for (const { push, ns } of stages) {
        const start = process.cpuUsage();
        for (let at = 0; at < bytes.length; at += CHUNK_BYTES) push(bytes.subarray(at, at + CHUNK_BYTES), offset + at);
        const { user, system } = process.cpuUsage(start);
        if (round >= 0) ns.push(((user + system) * 1000) / lines);
      }
      offset += bytes.length;
    }
    console.log(`${workload}: ${Math.round(bytes.length / lines)} bytes a line`);
    for (const { name, ns } of stages) {
      ns.sort((a, b) => a - b);
      const [least, median] = [ns[0] ?? Number.NaN, ns[ns.length >> 1] ?? Number.NaN];
      console.log(`  ${name.padEnd(18)} ${median.toFixed(0).padStart(6)} ns (least ${least.toFixed(0)})`);
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
if (seen === 0) throw new Error("no line was read");
