/**
 * Lines per second of `tokentail analyze` on generated logs, and of `mtail --one_shot` with an equivalent program on the
 * same file where mtail is installed, as a ratio in one run.
 *
 *   npm run bench -- [--lines 300000] [--runs 5] [--only json] [--json]
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { WORKLOADS, type Workload, writeWorkload } from "./workloads.ts";

const { values } = parseArgs({
  options: {
    lines: { type: "string", default: "300000" },
    runs: { type: "string", default: "5" },
    only: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
const lines = Number(values.lines);
const runs = Number(values.runs);
const MAIN = path.join(import.meta.dirname, "../src/main.ts");
const hasMtail = spawnSync("which", ["mtail"]).status === 0;

/** Seconds of processor time and of wall time that one command took. */
function time(command: string, args: readonly string[]): { wall: number } {
  const start = performance.now();
  const run = spawnSync(command, args, { encoding: "utf8", maxBuffer: 1 << 28, timeout: 300_000 });
  if (run.status !== 0) throw new Error(`${command} ${args.join(" ")}: exit ${run.status}: ${run.stderr}`);
  return { wall: (performance.now() - start) / 1000 };
}

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[numbers.length >> 1] ?? Number.NaN;

const folder = mkdtempSync(path.join(tmpdir(), "tokentail-bench-"));
const results: Record<string, unknown>[] = [];
try {
  for (const workload of Object.keys(WORKLOADS) as Workload[]) {
    if (values.only !== undefined && values.only !== workload) continue;
    const file = path.join(folder, `${workload}.log`);
    const bytes = writeWorkload(workload, file, lines);
    const program = path.join(import.meta.dirname, `mtail/${workload}.mtail`);
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let run = 0; run < runs; run++) {
      // in turns, so that a noisy moment of the machine meets both
      ours.push(time(process.execPath, [MAIN, "analyze", "--json", file]).wall);
      if (hasMtail)
        theirs.push(
          time("mtail", [
            "--one_shot",
            "--progs",
            program,
            "--logs",
            file,
            "--logtostderr=false",
            "--one_shot_format=json",
          ]).wall,
        );
    }
    const rate = lines / median(ours);
    const rival = hasMtail ? lines / median(theirs) : undefined;
    results.push({
      workload,
      lines,
      bytes,
      lines_per_s: Math.round(rate),
      mib_per_s: Number((bytes / 2 ** 20 / median(ours)).toFixed(1)),
      mtail_lines_per_s: rival === undefined ? null : Math.round(rival),
      ratio: rival === undefined ? null : Number((rate / rival).toFixed(2)),
    });
    if (!values.json) {
      const compared =
        rival === undefined
          ? "mtail is not installed"
          : `mtail ${Math.round(rival).toLocaleString("en")} lines/s, ratio ${(rate / rival).toFixed(1)}`;
      console.log(
        `${workload.padEnd(10)} ${Math.round(rate).toLocaleString("en").padStart(10)} lines/s  ${(bytes / 2 ** 20 / median(ours)).toFixed(0).padStart(4)} MiB/s   ${compared}`,
      );
    }
  }
  if (values.json) console.log(JSON.stringify(results));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
