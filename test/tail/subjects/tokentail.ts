import { rmSync } from "node:fs";
import path from "node:path";
import { LineCounts } from "../../../src/app/line-counts.ts";
import { StreamPool } from "../../../src/app/stream-pool.ts";
import { UTC } from "../../../src/core/timestamp.ts";
import { MetricSet } from "../../../src/metric/metric-set.ts";
import type { LogRecord } from "../../../src/model/record.ts";
import { StreamPipeline } from "../../../src/pipeline/stream-pipeline.ts";
import { PROFILES } from "../../../src/profile/registry.ts";
import { DuplicateFilter } from "../../../src/request/duplicate-filter.ts";
import { KnownPositions } from "../../../src/source/file-identity.ts";
import { FileTailer, type FileTailerOptions } from "../../../src/source/file-tailer.ts";
import type { FilePosition, SourceStats } from "../../../src/source/source.ts";
import { newSourceStats } from "../../../src/source/source.ts";
import { Committer } from "../../../src/store/committer.ts";
import { DuplicateRows } from "../../../src/store/duplicate-rows.ts";
import { StateStore } from "../../../src/store/state-store.ts";
import type { StartOptions, Subject } from "../subject.ts";

/** Step of time between two passes. */
const STEP_MS = 150;

/** What a consumer keeps: committed with the offsets, as the daemon's values are. */
interface Taken {
  readonly lines: Map<string, number>;
  readonly order: string[];
  readonly failures: string[];
  readonly records: Map<string, number>;
}

/**
 * The real tailer, pipelines, state and committer under a clock that is set by hand; in the place of the metrics a list of the
 * lines, which is committed and given back like them.
 */
export class TokentailRig implements Subject {
  readonly name = "tokentail";
  nowMs = Date.UTC(2026, 2, 1);
  taken: Taken = newTaken();
  stats: SourceStats = newSourceStats();
  tailer: FileTailer | undefined;
  committer: Committer | undefined;
  pipelines = new Set<StreamPipeline>();
  /** Streams opened, by the labels they had. */
  readonly streams = new Map<string, Readonly<Record<string, string>>>();
  /** Messages of faults. */
  readonly faults: string[] = [];
  readonly log: string[] = [];
  /** The store refuses to write. */
  diskFull = false;
  /** Passes do not commit. */
  commits = true;
  maxOpenStreams = 600;
  overrides: Partial<FileTailerOptions> = {};
  folder = "";
  #store: StateStore | undefined;
  #version = 0;

  async start(options: StartOptions): Promise<void> {
    this.folder = options.folder;
    const store = StateStore.open(this.stateFolder);
    this.#store = store;
    if (typeof store.found === "object") this.log.push(`set aside: ${store.found.why}`);
    const saved = store.load();
    this.taken = (saved.shared.get("taken") as Taken | undefined) ?? newTaken();
    const duplicates = new DuplicateFilter();
    const pool = new StreamPool({
      make: (stream) => this.#pipeline(stream, duplicates),
      memoryOf: (name) => store.get("streams", name),
      counts: new LineCounts(),
      committer: () => this.committer as Committer,
      maxOpen: this.maxOpenStreams,
    });
    this.pipelines = pool.pipelines;
    const tailer = new FileTailer({
      name: "test",
      patterns: options.patterns.map((pattern) => path.join(options.folder, pattern)),
      exclude: options.exclude.map((pattern) => path.join(options.folder, pattern)),
      startAt: options.startAt,
      labels: {},
      profile: "auto",
      watch: false,
      burstMs: 0,
      hasWriter: () => true,
      hasMemory: (name) => saved.streams.has(name),
      known: store.continued ? new KnownPositions([...saved.files.values()] as FilePosition[]) : undefined,
      onFault: (message) => this.faults.push(message),
      openSink: (stream) => {
        this.streams.set(stream.name, stream.labels);
        return pool.open(stream);
      },
      ...this.overrides,
    });
    this.tailer = tailer;
    this.stats = Object.assign(tailer.stats, saved.shared.get("source test"));
    const { taken } = this;
    const version = (): number => this.#version;
    this.committer = new Committer({
      store: {
        commit: (delta: Parameters<StateStore["commit"]>[0]) => {
          if (this.diskFull) throw new Error("database or disk is full");
          store.commit(delta);
        },
        keepGeneration: () => store.keepGeneration(),
      } as StateStore,
      set: new MetricSet({ maxSeries: 100 }),
      sources: [tailer],
      pipelines: this.pipelines,
      duplicates: new DuplicateRows(duplicates),
      ports: [
        {
          key: "taken",
          get version() {
            return version();
          },
          state: taken,
        },
      ],
      clock: { nowMs: () => this.nowMs, sleep: async () => {} },
      log: {
        error: (_fields, message) => this.log.push(message),
        warn: (_fields, message) => this.log.push(message),
        info: (_fields, message) => this.log.push(message),
      },
    });
  }

  get stateFolder(): string {
    return path.join(this.folder, "..", "state");
  }

  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= STEP_MS) {
      this.nowMs += Math.min(STEP_MS, left);
      while (await this.tailer?.poll(this.nowMs)) if (this.commits) this.committer?.commitIfDue();
      if (this.commits) this.committer?.commitIfDue();
    }
  }

  /** One pass over all files, each for one turn. */
  async glimpse(): Promise<void> {
    this.nowMs += STEP_MS;
    await this.tailer?.poll(this.nowMs);
    if (this.commits) this.committer?.commit();
  }

  async stop(): Promise<void> {
    if (this.tailer !== undefined) this.committer?.commit();
    await this.kill();
  }

  async kill(): Promise<void> {
    await this.tailer?.close();
    this.tailer = undefined;
    this.#store?.[Symbol.dispose]();
    this.#store = undefined;
  }

  lines(): ReadonlyMap<string, number> {
    return this.taken.lines;
  }

  forgetState(): void {
    rmSync(this.stateFolder, { recursive: true, force: true });
  }

  #pipeline(
    stream: ConstructorParameters<typeof StreamPipeline>[0]["stream"],
    duplicates: DuplicateFilter,
  ): StreamPipeline {
    const { taken } = this;
    return new StreamPipeline({
      stream,
      profiles: PROFILES,
      duplicates,
      zone: UTC,
      consumer: {
        record: (record) => this.#record(record),
        reject: () => {},
        unrecognised: ({ text }) => {
          this.#version++;
          taken.lines.set(text, (taken.lines.get(text) ?? 0) + 1);
          if (taken.order.length < 100_000) taken.order.push(text);
        },
      },
    });
  }

  #record(record: LogRecord): void {
    this.#version++;
    const { records, failures } = this.taken;
    records.set(record.kind, (records.get(record.kind) ?? 0) + 1);
    if (record.kind === "failure") failures.push(record.text);
  }
}

const newTaken = (): Taken => ({ lines: new Map(), order: [], failures: [], records: new Map() });
