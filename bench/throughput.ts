/**
 * Lines per second of `tokentail analyze` on generated logs, and of `mtail --one_shot` with an equivalent program on the
 * same file where mtail is installed. Whole processes, start and end included, in turns; medians, and the median of the
 * ratios of the pairs, so that a noisy moment of the machine meets both.
 *
 *   npm run bench -- [--lines 300000] [--runs 5] [--only json] [--json] [--main dist/main.js] [--against OTHER/src/main.ts]
 *
 * `--main` is what runs as tokentail (the sources by default), `--against` another tokentail instead of mtail: the commit
 * before, checked out elsewhere.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { WORKLOADS, type Workload, writeWorkload } from "./workloads.ts";

const { values } = parseArgs({
  options: {
    lines: { type: "string", default: "300000" },
    runs: { type: "string", default: "5" },
    only: { type: "string" },
    json: { type: "boolean", default: false },
    main: { type: "string", default: path.join(import.meta.dirname, "../src/main.ts") },
    against: { type: "string" },
  },
});
const lines = Number(values.lines);
const runs = Number(values.runs);
if (!(Number.isInteger(lines) && lines > 0 && Number.isInteger(runs) && runs > 0)) usage("--lines and --runs count");
if (values.only !== undefined && !(values.only in WORKLOADS))
  usage(`--only is one of ${Object.keys(WORKLOADS).join(", ")}`);

function usage(fault: string): never {
  console.error(`bench: ${fault}`);
  process.exit(2);
}

/** Seconds of wall time that one command took. */
function timeS(command: string, args: readonly string[]): number {
  const start = performance.now();
  const run = spawnSync(command, args, { encoding: "utf8", maxBuffer: 1 << 28, timeout: 300_000 });
  if (run.status !== 0) throw new Error(`${command} ${args.join(" ")}: exit ${run.status}: ${run.stderr}`);
  return (performance.now() - start) / 1000;
}

const analyzeS = (main: string, file: string): number => timeS(process.execPath, [main, "analyze", "--json", file]);

function rivalOf(workload: Workload): { readonly name: string; readonly runS: (file: string) => number } | undefined {
  const { against } = values;
  if (against !== undefined) return { name: against, runS: (file) => analyzeS(against, file) };
  if (spawnSync("which", ["mtail"]).status !== 0) return undefined;
  const program = path.join(import.meta.dirname, `mtail/${workload}.mtail`);
  const quiet = ["--logtostderr=false", "--one_shot_format=json"];
  return {
    name: "mtail",
    runS: (file) => timeS("mtail", ["--one_shot", "--progs", program, "--logs", file, ...quiet]),
  };
}

function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

const folder = mkdtempSync(path.join(tmpdir(), "tokentail-bench-"));
const results: Record<string, unknown>[] = [];
try {
  for (const workload of Object.keys(WORKLOADS) as Workload[]) {
    if (values.only !== undefined && values.only !== workload) continue;
    const file = path.join(folder, `${workload}.log`);
    const bytes = writeWorkload(workload, file, lines);
    const first = path.join(folder, `${workload}-first.log`);
    writeWorkload(workload, first, 1);
    const rival = rivalOf(workload);
    const ours: number[] = [];
    const theirs: number[] = [];
    const starts: number[] = [];
    // once before it counts: compiled code is kept from run to run
    analyzeS(values.main, first);
    for (let run = 0; run < runs; run++) {
      starts.push(analyzeS(values.main, first));
      ours.push(analyzeS(values.main, file));
      if (rival !== undefined) theirs.push(rival.runS(file));
    }
    const ratios = theirs.map((seconds, run) => seconds / (ours[run] ?? Number.NaN));
    const wholeS = median(ours);
    const startS = median(starts);
    const rate = lines / wholeS;
    const result = {
      workload,
      lines,
      bytes,
      runs,
      lines_per_s: Math.round(rate),
      mib_per_s: round(bytes / 2 ** 20 / wholeS, 1),
      seconds: ours.map((seconds) => round(seconds, 3)),
      start_seconds: round(startS, 3),
      lines_per_s_after_start: wholeS > startS ? Math.round(lines / (wholeS - startS)) : null,
      rival: rival?.name ?? null,
      rival_lines_per_s: rival === undefined ? null : Math.round(lines / median(theirs)),
      mtail_lines_per_s: rival?.name === "mtail" ? Math.round(lines / median(theirs)) : null,
      ratio: rival === undefined ? null : round(median(ratios), 2),
      ratio_least: rival === undefined ? null : round(Math.min(...ratios), 2),
    };
    results.push(result);
    if (!values.json) console.log(told(result));
  }
  if (values.json) console.log(JSON.stringify(results));
  else
    console.log(
      `${lines.toLocaleString("en")} lines, ${runs} runs each in turns, ${availableParallelism()} processors`,
    );
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}

function told(result: {
  readonly workload: string;
  readonly lines_per_s: number;
  readonly mib_per_s: number;
  readonly start_seconds: number;
  readonly lines_per_s_after_start: number | null;
  readonly rival: string | null;
  readonly rival_lines_per_s: number | null;
  readonly ratio: number | null;
  readonly ratio_least: number | null;
}): string {
  const count = (value: number | null): string => (value ?? Number.NaN).toLocaleString("en");
  const compared =
    result.rival === null
      ? "mtail is not installed"
      : `${result.rival} ${count(result.rival_lines_per_s)} lines/s, ratio ${result.ratio} (least ${result.ratio_least})`;
  return `${result.workload.padEnd(10)} ${count(result.lines_per_s).padStart(10)} lines/s  ${String(Math.round(result.mib_per_s)).padStart(4)} MiB/s  (start ${result.start_seconds} s, then ${count(result.lines_per_s_after_start)} lines/s)  ${compared}`;
}
