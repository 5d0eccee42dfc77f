import { analyzeReport } from "../../src/analysis/report.ts";
import { Totals } from "../../src/analysis/totals.ts";
import { UTC } from "../../src/core/timestamp.ts";
import { StreamPipeline } from "../../src/pipeline/stream-pipeline.ts";
import { PROFILES } from "../../src/profile/registry.ts";
import { DuplicateFilter } from "../../src/request/duplicate-filter.ts";
import type { Report } from "./read-log.ts";

/**
 * Reads a log with a crash and a restart after every `every` lines: the parsers go on with a clone of their state.
 * Figures must be those of an undisturbed reading.
 */
export function readWithRestarts(log: string | Buffer, every = 1): Report {
  const readMs = Date.UTC(2026, 5, 1);
  const totals = new Totals();
  const duplicates = new DuplicateFilter();
  const open = (): StreamPipeline =>
    new StreamPipeline({
      stream: { name: "test.log", labels: {}, profile: "auto" },
      profiles: PROFILES,
      consumer: {
        record: (record, profile) => totals.add(record, profile.tells),
        reject: (reason) => totals.reject(reason),
      },
      duplicates,
      zone: UTC,
    });
  let pipeline = open();
  let offset = 0;
  const bytes = typeof log === "string" ? Buffer.from(log) : log;
  for (let line = 1, from = 0; from < bytes.length; line++) {
    const newline = bytes.indexOf(10, from);
    const end = newline < 0 ? bytes.length : newline + 1;
    pipeline.push(bytes.subarray(from, end), offset, readMs);
    offset += end - from;
    from = end;
    if (line % every !== 0 || newline < 0) continue;
    const state = structuredClone(pipeline.router.state);
    pipeline = open();
    pipeline.router.restore(state);
  }
  pipeline.end(readMs);
  return analyzeReport([], totals);
}
