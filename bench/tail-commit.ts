/** What commits cost: CPU time of one process for the same backlog, with commits as the daemon makes them and with none. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { LineCounts } from "../src/app/line-counts.ts";
import { StreamPool } from "../src/app/stream-pool.ts";
import { systemClock } from "../src/core/system-clock.ts";
import { UTC } from "../src/core/timestamp.ts";
import { MetricSet } from "../src/metric/metric-set.ts";
import { Recorder } from "../src/metric/recorder.ts";
import { type RecordConsumer, StreamPipeline } from "../src/pipeline/stream-pipeline.ts";
import { PROFILES } from "../src/profile/registry.ts";
import { DuplicateFilter } from "../src/request/duplicate-filter.ts";
import { FileTailer } from "../src/source/file-tailer.ts";
import { Committer } from "../src/store/committer.ts";
import { DuplicateRows } from "../src/store/duplicate-rows.ts";
import { StateStore } from "../src/store/state-store.ts";
import { requestLines } from "./tail/daemon.ts";

const LINES = Number(process.env["LINES"] ?? 300_000);
const ROUNDS = 5;
const text = requestLines(0, LINES);

/** @returns CPU seconds, commits made. */
async function readAll(commits: boolean): Promise<readonly [cpuSeconds: number, commits: number]> {
  const folder = mkdtempSync(path.join(tmpdir(), "tokentail-bench-"));
  writeFileSync(path.join(folder, "a.log"), text);
  using store = StateStore.open(path.join(folder, "state"));
  const set = new MetricSet({ maxSeries: 10_000 });
  const recorder = new Recorder({ set, labels: ["model", "route", "tenant"] });
  const duplicates = new DuplicateFilter();
  const record: RecordConsumer["record"] = (one, _profile, of) => recorder.record(one, of, Date.now());
  const consumer = { record, reject: () => {} };
  const pool = new StreamPool({
    make: (stream) => new StreamPipeline({ stream, profiles: PROFILES, consumer, duplicates, zone: UTC }),
    memoryOf: () => undefined,
    counts: new LineCounts(),
    committer: (): Committer => committer,
  });
  const tailer = new FileTailer({
    patterns: [path.join(folder, "a.log")],
    startAt: "beginning",
    labels: {},
    profile: "auto",
    openSink: (stream) => pool.open(stream),
  });
  const silent = (): void => {};
  const log = { error: silent, info: silent, warn: silent };
  const rows = new DuplicateRows(duplicates);
  const { pipelines } = pool;
  const committer: Committer = new Committer({
    store,
    set,
    sources: [tailer],
    pipelines,
    duplicates: rows,
    clock: systemClock,
    log,
  });
  const before = process.cpuUsage();
  while (await tailer.poll(Date.now())) if (commits) committer.commitIfDue();
  if (commits) committer.commit();
  const { user, system } = process.cpuUsage(before);
  await tailer.close();
  rmSync(folder, { recursive: true });
  return [(user + system) / 1e6, committer.commits];
}

await readAll(true);
let withCommits = Number.POSITIVE_INFINITY;
let without = Number.POSITIVE_INFINITY;
let made = 0;
for (let round = 0; round < ROUNDS; round++) {
  without = Math.min(without, (await readAll(false))[0]);
  const [seconds, commits] = await readAll(true);
  withCommits = Math.min(withCommits, seconds);
  made = commits;
}
console.log(
  `${LINES} lines: ${without.toFixed(2)} s of CPU without commits, ${withCommits.toFixed(2)} s with ${made}: ${(((withCommits - without) / without) * 100).toFixed(1)} %`,
);
