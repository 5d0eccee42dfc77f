import { UTC } from "../../src/core/timestamp.ts";
import type { LogRecord } from "../../src/model/record.ts";
import { StreamPipeline } from "../../src/pipeline/stream-pipeline.ts";
import { PROFILES } from "../../src/profile/registry.ts";
import { DuplicateFilter } from "../../src/request/duplicate-filter.ts";

/**
 * The records of a log whose reader crashes after each of the lines numbered in `restarts`: a new one goes on with a clone of
 * the old one's memory.
 */
export function readWithRestarts(log: string, restarts: ReadonlySet<number>): LogRecord[] {
  const records: LogRecord[] = [];
  const readMs = Date.UTC(2026, 5, 1);
  const duplicates = new DuplicateFilter();
  const start = (): StreamPipeline =>
    new StreamPipeline({
      stream: { name: "test.log", labels: {}, profile: "auto" },
      profiles: PROFILES,
      consumer: { record: (record) => records.push(record), reject: () => {} },
      duplicates,
      zone: UTC,
    });
  let pipeline = start();
  let offset = 0;
  for (const [index, text] of log.split(/(?<=\n)/).entries()) {
    const bytes = Buffer.from(text);
    pipeline.push(bytes, offset, readMs);
    offset += bytes.length;
    if (!restarts.has(index)) continue;
    const state = structuredClone(pipeline.router.state);
    pipeline = start();
    pipeline.router.restore(state);
  }
  pipeline.end(readMs);
  return records;
}
