import type { Clock } from "../core/clock.ts";
import type { MetricSet } from "../metric/metric-set.ts";
import type { StreamPipeline } from "../pipeline/stream-pipeline.ts";
import type { DuplicateRows } from "./duplicate-rows.ts";
import type { StateStore, StateTable } from "./state-store.ts";

/** Time between two commits while lines arrive. */
const COMMIT_EVERY_MS = 150;
/** A commit that takes long is followed by a pause of this many times its duration: commits stay under 3 % of the time. */
const COMMIT_PAUSE_SHARE = 35;
/** Time between two tries while the state cannot be written. */
const RETRY_MS = 1000;
/** Time between two copies of the state as its previous generation; longer when one takes long. */
const GENERATION_EVERY_MS = 60_000;
const GENERATION_SHARE = 500;

/** What of a source a commit holds. */
interface Positioned {
  readonly name: string;
  readonly stats: unknown;
  takeChanges(): ReadonlyArray<readonly [key: string, position: unknown]>;
  forgetCommit(): void;
}

/** Something beside the series that a restart continues: a ledger, sketches, alert states. */
export interface StatePort {
  readonly key: string;
  /** Grows with every change of the state. */
  readonly version: number;
  /** Plain data for a structured clone. */
  readonly state: unknown;
}

/** State of many rows, of which few change between two commits. */
export interface StateRows {
  /** Rows that changed since the last call; undefined for one that is to go. */
  changes(): Iterable<readonly [key: string, row: unknown]>;
  /** The commit failed: all rows are to be written again. */
  forgetCommit(): void;
}

export interface CommitterOptions {
  readonly store: StateStore;
  readonly set: MetricSet;
  readonly sources: readonly Positioned[];
  /** Live streams; one that has ended leaves the set. */
  readonly pipelines: Iterable<StreamPipeline>;
  readonly duplicates: DuplicateRows;
  readonly ports?: readonly StatePort[];
  readonly rows?: readonly StateRows[];
  readonly clock: Clock;
  readonly log: {
    error(fields: Record<string, unknown>, message: string): void;
    info(fields: Record<string, unknown>, message: string): void;
    warn(fields: Record<string, unknown>, message: string): void;
  };
}

/**
 * Writes what has changed since the last time, as one transaction: positions, open partial lines, parser memory and values are of
 * the same moment, because everything between two awaits of a source is synchronous.
 */
export class Committer {
  /** The last commit failed: values go on in memory. */
  degraded: string | undefined = undefined;
  commits = 0;
  errors = 0;
  /** Wall time of the last commit, milliseconds since the epoch. */
  lastMs = 0;
  lastDurationMs = 0;
  readonly #options: CommitterOptions;
  #versions = new Map<StreamPipeline, number>();
  #portVersions = new Map<string, number>();
  /** Streams that ended and whose rows are to go. */
  #ended = new Set<string>();
  #triedMs = Number.NEGATIVE_INFINITY;
  #generationDueMs = Number.NEGATIVE_INFINITY;
  #generationCommits = 0;

  constructor(options: CommitterOptions) {
    this.#options = options;
    this.lastMs = options.clock.nowMs();
  }

  /** A stream is over: its row goes with the next commit. */
  ended(pipeline: StreamPipeline): void {
    this.#versions.delete(pipeline);
    this.#ended.add(pipeline.stream.name);
  }

  /** True for a stream that is over and whose row is still there. */
  isEnded(name: string): boolean {
    return this.#ended.has(name);
  }

  /** A stream left the memory: its row stays. */
  suspended(pipeline: StreamPipeline): void {
    this.#versions.delete(pipeline);
  }

  commitIfDue(): void {
    const nowMs = this.#options.clock.nowMs();
    const waitedMs = nowMs - this.#triedMs;
    const pauseMs = Math.max(COMMIT_EVERY_MS, this.lastDurationMs * COMMIT_PAUSE_SHARE);
    if (waitedMs >= 0 && waitedMs < (this.degraded === undefined ? pauseMs : RETRY_MS)) return;
    this.commit();
    this.#keepGenerationIfDue(nowMs);
  }

  commit(): void {
    const { store, set, sources, pipelines, duplicates, ports = [], rows = [], clock } = this.#options;
    const startMs = performance.now();
    this.#triedMs = clock.nowMs();
    const entries: Array<readonly [StateTable, string, unknown]> = [];
    for (const source of sources)
      for (const [key, position] of source.takeChanges()) entries.push(["files", key, position]);
    for (const name of this.#ended) entries.push(["streams", name, undefined]);
    for (const pipeline of pipelines) {
      if (this.#versions.get(pipeline) === pipeline.version) continue;
      this.#versions.set(pipeline, pipeline.version);
      entries.push(["streams", pipeline.stream.name, pipeline.state]);
    }
    for (const port of ports) {
      const { key, version } = port;
      if (this.#portVersions.get(key) === version) continue;
      this.#portVersions.set(key, version);
      // made on demand: it may be large
      entries.push(["shared", key, port.state]);
    }
    if (entries.length === 0 && this.degraded === undefined) return;
    for (const [key, series] of set.changes()) entries.push(["series", key, series]);
    for (const { name, stats } of sources) entries.push(["shared", `source ${name}`, stats]);
    for (const [key, row] of duplicates.changes()) entries.push(["shared", key, row]);
    for (const part of rows) for (const [key, row] of part.changes()) entries.push(["shared", key, row]);
    try {
      store.commit({ entries });
      this.#succeeded(startMs);
    } catch (error) {
      this.#failed(error);
    }
  }

  #succeeded(startMs: number): void {
    const { clock, log } = this.#options;
    this.#ended.clear();
    this.commits++;
    this.lastMs = clock.nowMs();
    this.lastDurationMs = performance.now() - startMs;
    if (this.degraded !== undefined) log.info({}, "The state is written again");
    this.degraded = undefined;
  }

  /** Everything is still in memory and goes with the next commit. */
  #failed(error: unknown): void {
    const { set, sources, duplicates, rows = [], log } = this.#options;
    const reason = (error as Error).message;
    this.errors++;
    set.forgetCommit();
    for (const source of sources) source.forgetCommit();
    this.#versions = new Map();
    this.#portVersions = new Map();
    duplicates.forgetCommit();
    for (const part of rows) part.forgetCommit();
    if (this.degraded === undefined) log.error({ reason }, "Cannot write the state; values go on in memory");
    this.degraded = reason;
  }

  #keepGenerationIfDue(nowMs: number): void {
    if (this.degraded !== undefined || nowMs < this.#generationDueMs || this.commits === this.#generationCommits)
      return;
    const startMs = performance.now();
    this.#generationCommits = this.commits;
    try {
      this.#options.store.keepGeneration();
    } catch (error) {
      this.#options.log.warn({ reason: (error as Error).message }, "Cannot keep a second generation of the state");
    }
    const tookMs = performance.now() - startMs;
    this.#generationDueMs = nowMs + Math.max(GENERATION_EVERY_MS, tookMs * GENERATION_SHARE);
  }
}
