import { Readable } from "node:stream";
import type { ResourceMetrics } from "@opentelemetry/sdk-metrics";
import { Totals } from "./analysis/totals.ts";
import { Alerting } from "./app/alerting.ts";
import { buildSources, patternsOf } from "./app/build-sources.ts";
import { Lag } from "./app/lag.ts";
import { LineCounts } from "./app/line-counts.ts";
import { Reloader } from "./app/reload.ts";
import { fillCommitMetrics, fillLineMetrics, fillPushMetrics, fillSourceMetrics, put } from "./app/self-metrics.ts";
import { StreamPool } from "./app/stream-pool.ts";
import { profilesOf } from "./config/profiles.ts";
import type { Config } from "./config/schema.ts";
import type { Clock } from "./core/clock.ts";
import type { ZoneOffset } from "./core/timestamp.ts";
import { VERSION } from "./core/version.ts";
import { landingPage } from "./http/landing-page.ts";
import { HttpServer, type HttpViews } from "./http/server.ts";
import { METRICS, metricsOf } from "./metric/catalogue.ts";
import { MetricSet } from "./metric/metric-set.ts";
import { renderOpenMetrics, renderText } from "./metric/open-metrics.ts";
import { MetricSetProducer } from "./metric/otel-producer.ts";
import { Recorder } from "./metric/recorder.ts";
import { type RecordConsumer, StreamPipeline } from "./pipeline/stream-pipeline.ts";
import { OtlpPusher, resourceOf } from "./publish/otlp.ts";
import { DuplicateFilter } from "./request/duplicate-filter.ts";
import type { Source } from "./source/source.ts";
import { Committer } from "./store/committer.ts";
import { DuplicateRows } from "./store/duplicate-rows.ts";
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
  /** Standard input, for a source that reads it. */
  readonly stdin?: () => Readable;
  /** Reads the configuration again, for a reload. */
  readonly load?: () => Promise<Config>;
  /** Commit the program was built from, if known. */
  readonly revision?: string;
}

/** Pause between two passes over the sources when nothing is waiting. */
const POLL_MS = 150;

/** Figures of one request of an OTLP push: some milliseconds of encoding, a body far below what collectors take. */
const PUSH_FIGURES = 4000;

/** The daemon: sources → pipelines → series → HTTP. Knows no `process`. */
export class App implements AsyncDisposable {
  readonly http: HttpServer;
  /** Sums over everything read since the start, for the live summary and the status page. */
  readonly totals: Totals;
  readonly sources: readonly Source[];
  readonly #options: AppOptions;
  readonly #committer: Committer;
  readonly #lag: Lag;
  readonly #alerting: Alerting;
  readonly #reloader: Reloader;
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
      lag: Lag;
      alerting: Alerting;
      reloader: Reloader;
      stack: AsyncDisposableStack;
    },
  ) {
    this.#options = options;
    this.http = parts.http;
    this.totals = parts.totals;
    this.sources = parts.sources;
    this.#committer = parts.committer;
    this.#lag = parts.lag;
    this.#alerting = parts.alerting;
    this.#reloader = parts.reloader;
    this.#stack = parts.stack;
  }

  /** Builds everything and binds the HTTP address; reads nothing yet. */
  static async create(options: AppOptions): Promise<App> {
    const { config, clock, log } = options;
    const startedMs = clock.nowMs();
    await using stack = new AsyncDisposableStack();

    const store = stack.use(StateStore.open(config.state.path));
    if (typeof store.found === "object")
      log.error(
        { ...store.found },
        store.found.previousUsed
          ? "The state could not be read and was set aside; going on from its previous generation"
          : "The state could not be read and was set aside; starting anew",
      );
    const saved = store.load();
    const { naming, labels, max_series: maxSeries, idle_expiry: idleMs } = config.metrics;
    const set = new MetricSet({ maxSeries });
    set.restore(saved.series.values(), metricsOf(naming));
    const recorder = new Recorder({ set, labels, naming, idleMs });
    const totals = new Totals();
    const known = profilesOf(config, "configuration");
    const duplicates = new DuplicateFilter();
    const duplicateRows = new DuplicateRows(duplicates);
    duplicateRows.restore(saved.shared);
    const lineCounts = new LineCounts();
    const savedCounts = saved.shared.get(lineCounts.key);
    if (savedCounts !== undefined) lineCounts.state = savedCounts as LineCounts["state"];
    const alerting = new Alerting({
      config,
      clock,
      log,
      saved: saved.shared,
      caughtUp: () => sources.every((source) => source.caughtUp),
    });
    const reloader = new Reloader({ load: options.load, apply: (next) => alerting.reload(next), log });
    const consumer: RecordConsumer = {
      record: (record, profile, stream) => {
        recorder.record(record, stream, clock.nowMs(), profile);
        totals.add(record, profile.tells);
        alerting.record(record, stream, clock.nowMs());
      },
      reject: (reason, stream) => {
        recorder.reject(reason, stream);
        totals.reject(reason);
      },
    };
    const streams: StreamPool = new StreamPool({
      make: (stream) => {
        const profiles = stream.profile === "auto" ? known : known.filter((profile) => profile.name === stream.profile);
        return new StreamPipeline({ stream, profiles, consumer, duplicates, zone: options.zone });
      },
      memoryOf: (name) => store.get("streams", name),
      counts: lineCounts,
      committer: () => committer,
    });
    const { pipelines } = streams;
    const sources = buildSources({
      config,
      saved,
      continued: store.continued,
      openSink: (stream) => streams.open(stream),
      stdin: options.stdin ?? (() => Readable.from([])),
      onFault: (message, fields) => log.warn(fields, message),
    });
    for (const source of sources) stack.defer(() => source.close());
    const patterns = { key: "patterns", version: 1, state: config.sources.flatMap(patternsOf) };
    /** Since when the series count. */
    const begun = {
      key: "series-begun",
      version: 1,
      state: (saved.shared.get("series-begun") as number | undefined) ?? startedMs,
    };
    const ports = [lineCounts, patterns, begun];
    const committer = new Committer({
      store,
      set,
      sources,
      pipelines,
      duplicates: duplicateRows,
      ports: [...ports, ...alerting.ports],
      rows: [alerting.baselines],
      clock,
      log,
    });
    stack.defer(() => committer.commit());

    const lag = new Lag();
    let pusher: OtlpPusher | undefined;
    /** Series that are read off their owners, not written. */
    const refresh = (nowMs: number): void => {
      recorder.dropStale(nowMs);
      const { current } = lineCounts;
      fillLineMetrics(set, current);
      fillSourceMetrics(set, sources, (source) => lag.seconds(source, nowMs), current.cutBytes);
      fillCommitMetrics(set, committer);
      alerting.fillMetrics(set, nowMs);
      if (pusher !== undefined) fillPushMetrics(set, pusher);
      put(set, METRICS.buildInfo, 1, VERSION, options.revision ?? "unknown");
      put(set, METRICS.reloadOk, reloader.ok ? 1 : 0);
    };
    const producer = new MetricSetProducer({
      set,
      nowMs: () => clock.nowMs(),
      beforeCollect: refresh,
      resource: resourceOf(config.otlp, VERSION),
      startMs: begun.state,
    });
    const onFault = (metric: string, error: unknown): void =>
      log.error({ err: error, metric }, "Cannot render a metric; the others are served");
    const views: HttpViews = {
      // what is shown has been committed, so that no scrape ever goes back behind another after a crash
      metrics: () => {
        committer.commit();
        refresh(clock.nowMs());
        return renderText(set, onFault);
      },
      openMetrics: () => {
        committer.commit();
        refresh(clock.nowMs());
        return renderOpenMetrics(set, onFault);
      },
      notReady: () =>
        committer.degraded === undefined
          ? lag.notReady(sources, clock.nowMs())
          : `degraded: the state cannot be written (${committer.degraded})`,
      status: () => status(startedMs, totals, sources, pipelines),
      alerts: () => alerting.alerts(),
      budgets: () => alerting.budgets(),
      alertPage: (fingerprint) => alerting.page(fingerprint),
      reload: () => reloader.reload(),
      page: () => landingPage({ version: VERSION, startedMs, rows: landingRows(totals, sources) }),
    };
    const http = await HttpServer.listen(config.http.listen, views, (error, path) =>
      log.error({ err: error, path }, "Cannot answer a request"),
    );
    stack.use(http);
    stack.use(alerting);
    if (config.otlp !== undefined) {
      const collect = (): Iterable<ResourceMetrics> => {
        committer.commit();
        return producer.batches(PUSH_FIGURES);
      };
      pusher = stack.use(new OtlpPusher({ config: config.otlp, clock, collect, log }));
      pusher.start();
    }
    return new App(options, { http, totals, sources, committer, lag, alerting, reloader, stack: stack.move() });
  }

  /** Starts reading. */
  start(): void {
    for (const source of this.sources) this.#passes.push(this.#follow(source));
    this.#alerting.start(this.http.url);
  }

  /** Reads the configuration again: budgets, thresholds and Alertmanagers change at once. @returns Why not, if so. */
  async reload(): Promise<string | undefined> {
    return await this.#reloader.reload();
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
        this.#lag.passed(source, more, clock.nowMs());
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
  pipelines: ReadonlySet<StreamPipeline>,
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
    streams: [...pipelines].map(({ stream, framer, router }) => ({
      name: stream.name,
      frame: framer.frame,
      lines: framer.splitter.lines,
      unrecognised: router.unrecognised,
      profiles: Object.fromEntries([...router.counts()].map(({ profile, lines }) => [profile.name, lines])),
    })),
  };
}
