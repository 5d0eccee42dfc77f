import { PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import { Totals } from "./analysis/totals.ts";
import { profilesOf } from "./config/profiles.ts";
import type { Config } from "./config/schema.ts";
import type { Clock } from "./core/clock.ts";
import type { ZoneOffset } from "./core/timestamp.ts";
import { VERSION } from "./core/version.ts";
import { landingPage } from "./http/landing-page.ts";
import { HttpServer, type HttpViews } from "./http/server.ts";
import { METRICS, type ValueDef } from "./metric/catalogue.ts";
import { type Labels, MetricSet } from "./metric/metric-set.ts";
import { renderOpenMetrics } from "./metric/open-metrics.ts";
import { MetricSetProducer } from "./metric/otel-producer.ts";
import { Recorder } from "./metric/recorder.ts";
import type { StreamInfo } from "./model/stream.ts";
import { type RecordConsumer, StreamPipeline } from "./pipeline/stream-pipeline.ts";
import { DuplicateFilter } from "./request/duplicate-filter.ts";
import { FileTailer } from "./source/file-tailer.ts";
import type { FilePosition, Source, SourceStats } from "./source/source.ts";
import { Committer } from "./store/committer.ts";
import { StateStore } from "./store/state-store.ts";

/** What the application writes to its own log. */
export interface AppLog {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
}

export interface AppOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: AppLog;
  readonly zone: ZoneOffset;
  /** Commit the program was built from, if known. */
  readonly revision?: string;
}

/** Pause between two passes over the sources when nothing is waiting. */
const POLL_MS = 150;

/** The daemon: sources → pipelines → series → HTTP. Knows no `process`. */
export class App implements AsyncDisposable {
  readonly http: HttpServer;
  /** Sums over everything read since the start, for the live summary and the status page. */
  readonly totals: Totals;
  readonly sources: readonly Source[];
  readonly #options: AppOptions;
  readonly #committer: Committer;
  readonly #stack: AsyncDisposableStack;
  readonly #passes: Promise<void>[] = [];
  readonly #stop = new AbortController();

  private constructor(
    options: AppOptions,
    parts: {
      http: HttpServer;
      totals: Totals;
      sources: readonly Source[];
      committer: Committer;
      stack: AsyncDisposableStack;
    },
  ) {
    this.#options = options;
    this.http = parts.http;
    this.totals = parts.totals;
    this.sources = parts.sources;
    this.#committer = parts.committer;
    this.#stack = parts.stack;
  }

  /** Builds everything and binds the HTTP address; reads nothing yet. */
  static async create(options: AppOptions): Promise<App> {
    const { config, clock, log } = options;
    const startedMs = clock.nowMs();
    await using stack = new AsyncDisposableStack();

    const store = stack.use(StateStore.open(config.state.path));
    if (typeof store.found === "object")
      log.error({ ...store.found }, "The state could not be read and was set aside; starting anew");
    const saved = store.load();
    const set = new MetricSet({ maxSeries: config.metrics.max_series });
    set.restore(saved.series.values(), Object.values(METRICS));
    const recorder = new Recorder({ set, labels: config.metrics.labels });
    const totals = new Totals();
    const known = profilesOf(config, "configuration");
    const duplicates = new DuplicateFilter();
    const savedDuplicates = saved.shared.get("duplicates");
    if (savedDuplicates !== undefined) duplicates.state = savedDuplicates as DuplicateFilter["state"];
    const pipelines: StreamPipeline[] = [];
    const consumer: RecordConsumer = {
      record: (record, profile, stream) => {
        recorder.record(record, stream, clock.nowMs());
        totals.add(record, profile.tells);
      },
      reject: (reason, stream) => {
        recorder.reject(reason, stream);
        totals.reject(reason);
      },
    };
    const openSink = (stream: StreamInfo): StreamPipeline => {
      const profiles = stream.profile === "auto" ? known : known.filter((profile) => profile.name === stream.profile);
      const pipeline = new StreamPipeline({ stream, profiles, consumer, duplicates, zone: options.zone });
      const state = saved.streams.get(stream.name);
      if (state !== undefined) pipeline.restore(state);
      pipelines.push(pipeline);
      return pipeline;
    };
    const sources = config.sources.map((source) => {
      const tailer = new FileTailer({
        patterns: source.files,
        exclude: source.exclude,
        startAt: source.start_at,
        labels: source.labels,
        profile: source.profile,
        openSink,
        ...(store.found === "continued" ? { resume: [...saved.files.values()] as FilePosition[] } : {}),
        onFault: (message, fields) => log.warn(fields, message),
      });
      stack.defer(() => tailer.close());
      return tailer;
    });
    const savedStats = saved.shared.get("sources") as SourceStats[] | undefined;
    for (const [index, { stats }] of sources.entries())
      if (savedStats?.[index] !== undefined) Object.assign(stats, savedStats[index]);
    const committer = new Committer({ store, set, sources, pipelines, duplicates, clock, log });
    stack.defer(() => committer.commit());

    /** Series that are read off their owners, not written. */
    const refresh = (nowMs: number): void => {
      recorder.dropStale(nowMs);
      fillSelfMetrics(set, pipelines, sources);
      put(set, METRICS.stateDegraded, committer.degraded ? 1 : 0);
      put(set, METRICS.commitErrors, committer.errors);
      put(set, METRICS.lastCommit, committer.lastMs / 1000);
      put(set, METRICS.commitSeconds, committer.lastDurationMs / 1000);
      put(set, METRICS.buildInfo, 1, VERSION, options.revision ?? "unknown");
      put(set, METRICS.reloadOk, 1);
    };
    const producer = new MetricSetProducer({
      set,
      nowMs: () => clock.nowMs(),
      beforeCollect: refresh,
      resource: { "service.name": "tokentail", "service.version": VERSION },
    });
    const serializer = new PrometheusSerializer(undefined, false, undefined, true, true);
    const views: HttpViews = {
      // what is shown has been committed, so that no scrape ever goes back behind another after a crash
      metrics: async () => {
        committer.commit();
        return serializer.serialize((await producer.collect()).resourceMetrics);
      },
      openMetrics: () => {
        committer.commit();
        refresh(clock.nowMs());
        return renderOpenMetrics(set, (metric, error) =>
          log.error({ err: error, metric }, "Cannot render a metric; the others are served"),
        );
      },
      notReady: () =>
        sources.every((source) => source.caughtUp) ? undefined : "still reading what was there at the start",
      status: () => status(startedMs, totals, sources, pipelines),
      page: () => landingPage({ version: VERSION, startedMs, rows: landingRows(totals, sources) }),
    };
    const http = await HttpServer.listen(config.http.listen, views, (error, path) =>
      log.error({ err: error, path }, "Cannot answer a request"),
    );
    stack.use(http);
    return new App(options, { http, totals, sources, committer, stack: stack.move() });
  }

  /** Starts reading. */
  start(): void {
    for (const source of this.sources) this.#passes.push(this.#follow(source));
  }

  /** Resolves when every source has been read to its present end. */
  async caughtUp(): Promise<void> {
    while (!this.#stop.signal.aborted && !this.sources.every((source) => source.caughtUp)) {
      await this.#options.clock.sleep(20, this.#stop.signal).catch(() => {});
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#passes);
    await this.#stack.disposeAsync();
  }

  async #follow(source: Source): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        const more = await source.poll(clock.nowMs());
        this.#committer.commitIfDue();
        // a full pass reads up to its limit; timers and scrapes get their turn in between
        await clock.sleep(more ? 0 : POLL_MS, signal);
      } catch (error) {
        if (signal.aborted) return;
        log.error({ err: error }, "Cannot follow a source; it is tried again");
        await clock.sleep(1000, signal).catch(() => {});
      }
    }
  }
}

function put(set: MetricSet, def: ValueDef, value: number, ...values: string[]): void {
  const none: Labels = {};
  set.cell(def, none, ...values).value = value;
}

/** Series that are read off their owners at each collection. */
function fillSelfMetrics(set: MetricSet, pipelines: readonly StreamPipeline[], sources: readonly Source[]): void {
  const lines = new Map<string, { lines: number; records: number }>();
  let unrecognised = 0;
  let invalid = 0;
  let overlong = 0;
  for (const { router, framer } of pipelines) {
    unrecognised += router.unrecognised;
    invalid += framer.invalidBytes;
    overlong += framer.splitter.overlong;
    for (const { profile, lines: taken, records } of router.counts()) {
      const sum = lines.get(profile.name) ?? { lines: 0, records: 0 };
      sum.lines += taken;
      sum.records += records;
      lines.set(profile.name, sum);
    }
  }
  for (const [profile, sum] of lines) {
    put(set, METRICS.lines, sum.lines, profile, "recognised");
    put(set, METRICS.records, sum.records, profile);
  }
  put(set, METRICS.lines, unrecognised, "none", "unrecognised");
  put(set, METRICS.invalidBytes, invalid);
  put(set, METRICS.overlongLines, overlong);
  const add = (pick: (source: Source) => number): number => sources.reduce((sum, source) => sum + pick(source), 0);
  put(
    set,
    METRICS.readBytes,
    add(({ stats }) => stats.readBytes),
  );
  put(
    set,
    METRICS.skippedBytes,
    add(({ stats }) => stats.skippedBytes),
  );
  put(
    set,
    METRICS.rotations,
    add(({ stats }) => stats.rotations),
  );
  put(
    set,
    METRICS.truncations,
    add(({ stats }) => stats.truncations),
  );
  put(
    set,
    METRICS.lostBytes,
    add(({ stats }) => stats.lostBytes.get("truncated") ?? 0),
    "truncated",
  );
  put(
    set,
    METRICS.files,
    add(({ fileCount }) => fileCount),
  );
  put(
    set,
    METRICS.lagBytes,
    add(({ lagBytes }) => lagBytes),
  );
  const errors = new Map<string, number>();
  for (const { stats } of sources)
    for (const [reason, count] of stats.errors) errors.set(reason, (errors.get(reason) ?? 0) + count);
  for (const [reason, count] of errors) put(set, METRICS.sourceErrors, count, reason);
  for (const { def, overflowed } of set.families())
    if (overflowed > 0) put(set, METRICS.overflow, overflowed, def.name);
}

function landingRows(totals: Totals, sources: readonly Source[]): Array<readonly [string, string]> {
  const count = (value: number | undefined): string =>
    value === undefined ? "not told by these logs" : value.toLocaleString("en");
  const failures = [...totals.causes.values()].reduce((sum, cause) => sum + cause.count, 0);
  return [
    ["Files followed", count(sources.reduce((sum, source) => sum + source.fileCount, 0))],
    ["Bytes read", count(sources.reduce((sum, source) => sum + source.stats.readBytes, 0))],
    ["Requests finished", count(totals.requests.finished)],
    ["Requests failed", count(totals.requests.failed)],
    ["Requests aborted by the client", count(totals.requests.aborted)],
    ["Input tokens", count(totals.tokens.get("in")?.sum.value)],
    ["Output tokens", count(totals.tokens.get("out")?.sum.value)],
    ["Failure records", count(failures)],
  ];
}

function status(
  startedMs: number,
  totals: Totals,
  sources: readonly Source[],
  pipelines: readonly StreamPipeline[],
): unknown {
  return {
    version: VERSION,
    started: new Date(startedMs).toISOString(),
    requests: {
      received: totals.requests.received ?? null,
      finished: totals.requests.finished ?? null,
      failed: totals.requests.failed ?? null,
      aborted: totals.requests.aborted ?? null,
    },
    sources: sources.map((source) => ({
      files: source.fileCount,
      read_bytes: source.stats.readBytes,
      lag_bytes: source.lagBytes,
      caught_up: source.caughtUp,
      rotations: source.stats.rotations,
      truncations: source.stats.truncations,
    })),
    streams: pipelines.map(({ stream, framer, router }) => ({
      name: stream.name,
      frame: framer.frame,
      lines: framer.splitter.lines,
      unrecognised: router.unrecognised,
      profiles: Object.fromEntries([...router.counts()].map(({ profile, lines }) => [profile.name, lines])),
    })),
  };
}
