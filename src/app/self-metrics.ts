import { METRICS, type ValueDef } from "../metric/catalogue.ts";
import type { Labels, MetricSet } from "../metric/metric-set.ts";
import type { OtlpPusher } from "../publish/otlp.ts";
import type { Source } from "../source/source.ts";
import type { Committer } from "../store/committer.ts";
import type { LineTotals } from "./line-counts.ts";

const NONE: Labels = {};

export function put(set: MetricSet, def: ValueDef, value: number, ...values: string[]): void {
  set.cell(def, NONE, ...values).value = value;
}

/** Series that are read off their owners at each collection. */
export function fillLineMetrics(set: MetricSet, totals: LineTotals): void {
  for (const [profile, { lines, records }] of totals.profiles) {
    put(set, METRICS.lines, lines, profile, "recognised");
    put(set, METRICS.records, records, profile);
  }
  put(set, METRICS.lines, totals.unrecognised, "none", "unrecognised");
  put(set, METRICS.invalidBytes, totals.invalidBytes);
  put(set, METRICS.overlongLines, totals.overlongLines);
  for (const { def, overflowed } of set.families())
    if (overflowed > 0) put(set, METRICS.overflow, overflowed, def.name);
}

/** @param lagSeconds Age of the oldest byte not read, by source. */
export function fillSourceMetrics(
  set: MetricSet,
  sources: readonly Source[],
  lagSeconds: (source: Source) => number,
  cutBytes: number,
): void {
  const errors = new Map<string, number>();
  const lost = new Map<string, number>([["truncated", 0]]);
  const skipped = new Map<string, number>([["start_at", 0]]);
  const add = (sums: Map<string, number>, more: ReadonlyMap<string, number>): void => {
    for (const [reason, by] of more) sums.set(reason, (sums.get(reason) ?? 0) + by);
  };
  let readBytes = 0;
  let rotations = 0;
  let truncations = 0;
  for (const source of sources) {
    const { name, stats } = source;
    readBytes += stats.readBytes;
    rotations += stats.rotations;
    truncations += stats.truncations;
    add(errors, stats.errors);
    add(lost, stats.lostBytes);
    add(skipped, stats.skippedBytes);
    put(set, METRICS.files, source.fileCount, name);
    put(set, METRICS.lagBytes, source.lagBytes, name);
    put(set, METRICS.lagSeconds, lagSeconds(source), name);
    put(set, METRICS.heldDeletedBytes, source.heldDeletedBytes, name);
    put(set, METRICS.unreadableFiles, source.unreadable, name);
  }
  if (cutBytes > 0) lost.set("overlong", cutBytes);
  put(set, METRICS.readBytes, readBytes);
  put(set, METRICS.rotations, rotations);
  put(set, METRICS.truncations, truncations);
  for (const [reason, bytes] of lost) put(set, METRICS.lostBytes, bytes, reason);
  for (const [reason, bytes] of skipped) put(set, METRICS.skippedBytes, bytes, reason);
  for (const [reason, faults] of errors) put(set, METRICS.sourceErrors, faults, reason);
}

export function fillCommitMetrics(set: MetricSet, committer: Committer): void {
  put(set, METRICS.stateDegraded, committer.degraded === undefined ? 0 : 1);
  put(set, METRICS.commitErrors, committer.errors);
  put(set, METRICS.lastCommit, committer.lastMs / 1000);
  put(set, METRICS.commitSeconds, committer.lastDurationMs / 1000);
}

export function fillPushMetrics(set: MetricSet, pusher: OtlpPusher): void {
  put(set, METRICS.otlpPushes, pusher.sent, "ok");
  put(set, METRICS.otlpPushes, pusher.errors, "error");
  if (pusher.lastMs !== undefined) put(set, METRICS.otlpLastPush, pusher.lastMs / 1000);
}
