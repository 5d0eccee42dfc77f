import { createReadStream, statSync } from "node:fs";
import { analyzeReport, type FileReport } from "../analysis/report.ts";
import { Totals } from "../analysis/totals.ts";
import { UTC } from "../core/timestamp.ts";
import { type RecordConsumer, StreamPipeline } from "../pipeline/stream-pipeline.ts";
import { PROFILES } from "../profile/registry.ts";
import { DuplicateFilter } from "../request/duplicate-filter.ts";

/** `tokentail analyze`: one shot over files. */
export async function analyze(paths: readonly string[]): Promise<Record<string, unknown>> {
  const totals = new Totals();
  const duplicates = new DuplicateFilter();
  const consumer: RecordConsumer = {
    record: (record, profile) => totals.add(record, profile.tells),
    reject: (reason) => totals.reject(reason),
  };
  const files: FileReport[] = [];
  for (const path of paths) {
    const readMs = statSync(path).mtimeMs;
    const stream = { name: path, labels: {}, profile: "auto" };
    const pipeline = new StreamPipeline({ stream, profiles: PROFILES, consumer, duplicates, zone: UTC });
    let offset = 0;
    for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 })) {
      pipeline.push(chunk as Buffer, offset, readMs);
      offset += (chunk as Buffer).length;
    }
    pipeline.end(readMs);
    const counts = [...pipeline.router.counts()];
    files.push({
      path,
      frame: pipeline.framer.frame,
      lines: pipeline.framer.splitter.lines,
      bytes: pipeline.bytes,
      records: counts.reduce((sum, { records }) => sum + records, 0),
      unrecognised: pipeline.router.unrecognised,
      profiles: Object.fromEntries(counts.map(({ profile, lines }) => [profile.name, lines])),
    });
  }
  return analyzeReport(files, totals);
}
