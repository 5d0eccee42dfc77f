import { analyzeReport, type FileReport } from "../../src/analysis/report.ts";
import { Totals } from "../../src/analysis/totals.ts";
import { UTC } from "../../src/core/timestamp.ts";
import type { LogRecord, RejectReason } from "../../src/model/record.ts";
import { type RecordConsumer, StreamPipeline } from "../../src/pipeline/stream-pipeline.ts";
import type { Profile } from "../../src/profile/profile.ts";
import { PROFILES } from "../../src/profile/registry.ts";
import { DuplicateFilter } from "../../src/request/duplicate-filter.ts";

/** What a log says, read in memory. */
export interface ReadLog {
  readonly records: LogRecord[];
  readonly rejected: RejectReason[];
  readonly unrecognised: string[];
  /** Lines taken, by profile. */
  readonly profiles: Record<string, number>;
  /** The document of `analyze --json`. */
  readonly report: Report;
}

/** Loose view of `tokentail.analyze/1` for assertions. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Report = Record<string, any>;

export interface ReadOptions {
  readonly profiles?: readonly Profile[];
  /** Time of reading, for times without year or date. */
  readonly readMs?: number;
  /** Cut points: the log is pushed in chunks that end there. */
  readonly cuts?: readonly number[];
  readonly maxLineBytes?: number;
}

/** Reads a whole log as `analyze` would. */
export function readLog(log: string | Buffer, options: ReadOptions = {}): ReadLog {
  const bytes = typeof log === "string" ? Buffer.from(log) : log;
  const readMs = options.readMs ?? Date.UTC(2026, 5, 1);
  const totals = new Totals();
  const records: LogRecord[] = [];
  const rejected: RejectReason[] = [];
  const unrecognised: string[] = [];
  const consumer: RecordConsumer = {
    record: (record, profile) => {
      records.push(record);
      totals.add(record, profile.tells);
    },
    reject: (reason) => {
      rejected.push(reason);
      totals.reject(reason);
    },
    unrecognised: (line) => unrecognised.push(line.text),
  };
  const pipeline = new StreamPipeline({
    stream: { name: "test.log", labels: {}, profile: "auto" },
    profiles: options.profiles ?? PROFILES,
    consumer,
    duplicates: new DuplicateFilter(),
    zone: UTC,
    ...(options.maxLineBytes === undefined ? {} : { maxLineBytes: options.maxLineBytes }),
  });
  let from = 0;
  for (const cut of [
    ...(options.cuts ?? []).filter((cut) => cut > 0 && cut < bytes.length).sort((a, b) => a - b),
    bytes.length,
  ]) {
    // a copy that is wiped afterwards: nothing may keep a view of the caller's buffer
    const chunk = Buffer.from(bytes.subarray(from, cut));
    pipeline.push(chunk, from, readMs);
    chunk.fill(0);
    from = cut;
  }
  pipeline.end(readMs);
  const counts = [...pipeline.router.counts()];
  const profiles = Object.fromEntries(counts.map(({ profile, lines }) => [profile.name, lines]));
  const file: FileReport = {
    path: "test.log",
    frame: pipeline.framer.frame,
    lines: pipeline.framer.splitter.lines,
    bytes: bytes.length,
    records: counts.reduce((sum, count) => sum + count.records, 0),
    unrecognised: pipeline.router.unrecognised,
    profiles,
  };
  return { records, rejected, unrecognised, profiles, report: analyzeReport([file], totals) };
}
