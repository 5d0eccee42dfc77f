import type { Clock } from "../core/clock.ts";
import type { MetricSet } from "../metric/metric-set.ts";
import type { StreamPipeline } from "../pipeline/stream-pipeline.ts";
import type { DuplicateFilter } from "../request/duplicate-filter.ts";
import type { StateStore, StateTable } from "./state-store.ts";

/** Time between two commits while lines arrive. */
const COMMIT_EVERY_MS = 150;
/** Time between two tries while the state cannot be written. */
const RETRY_MS = 1000;

/** What of a source a commit holds. */
interface Positioned {
  readonly stats: unknown;
  positions(): ReadonlyArray<{ readonly device: string; readonly inode: string; readonly offset: number }>;
}

export interface CommitterOptions {
  readonly store: StateStore;
  readonly set: MetricSet;
  readonly sources: readonly Positioned[];
  readonly pipelines: readonly StreamPipeline[];
  readonly duplicates: DuplicateFilter;
  readonly clock: Clock;
  readonly log: {
    error(fields: Record<string, unknown>, message: string): void;
    info(fields: Record<string, unknown>, message: string): void;
  };
}

/**
 * Writes what has changed since the last time, as one transaction: positions, open partial lines, parser memory and values are of
 * the same moment, because everything between two awaits of a source is synchronous.
 */
export class Committer {
  /** The last commit failed: values go on in memory. */
  degraded = false;
  errors = 0;
  /** Wall time of the last commit, milliseconds since the epoch. */
  lastMs = 0;
  lastDurationMs = 0;
  readonly #options: CommitterOptions;
  #files = new Map<string, number>();
  #versions = new Map<StreamPipeline, number>();
  #duplicates = 0;
  #triedMs = Number.NEGATIVE_INFINITY;

  constructor(options: CommitterOptions) {
    this.#options = options;
    this.lastMs = options.clock.nowMs();
  }

  commitIfDue(): void {
    const nowMs = this.#options.clock.nowMs();
    const waitedMs = nowMs - this.#triedMs;
    if (waitedMs >= 0 && waitedMs < (this.degraded ? RETRY_MS : COMMIT_EVERY_MS)) return;
    this.commit();
  }

  commit(): void {
    const { store, set, sources, pipelines, duplicates, clock, log } = this.#options;
    const startMs = clock.nowMs();
    this.#triedMs = startMs;
    const entries: Array<readonly [StateTable, string, unknown]> = [];
    const files = new Map<string, number>();
    for (const source of sources) {
      for (const position of source.positions()) {
        const key = `${position.device}:${position.inode}`;
        files.set(key, position.offset);
        if (this.#files.get(key) !== position.offset) entries.push(["files", key, position]);
      }
    }
    for (const key of this.#files.keys()) if (!files.has(key)) entries.push(["files", key, undefined]);
    const versions = new Map<StreamPipeline, number>();
    for (const pipeline of pipelines) {
      versions.set(pipeline, pipeline.version);
      if (this.#versions.get(pipeline) !== pipeline.version)
        entries.push(["streams", pipeline.stream.name, pipeline.state]);
    }
    if (entries.length === 0 && !this.degraded) return;
    for (const [key, series] of set.changes()) entries.push(["series", key, series]);
    entries.push(["shared", "sources", sources.map(({ stats }) => stats)]);
    if (duplicates.added !== this.#duplicates) entries.push(["shared", "duplicates", duplicates.state]);
    try {
      store.commit({ entries });
      this.#files = files;
      this.#versions = versions;
      this.#duplicates = duplicates.added;
      this.lastMs = clock.nowMs();
      this.lastDurationMs = this.lastMs - startMs;
      if (this.degraded) log.info({}, "The state is written again");
      this.degraded = false;
    } catch (error) {
      this.errors++;
      // everything is still in memory and goes with the next commit
      set.forgetCommit();
      this.#files = new Map([...this.#files.keys()].map((key) => [key, -1]));
      this.#versions = new Map();
      this.#duplicates = -1;
      if (!this.degraded)
        log.error({ reason: (error as Error).message }, "Cannot write the state; values go on in memory");
      this.degraded = true;
    }
  }
}
