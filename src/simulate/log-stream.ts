import { type FailureKind, type Scenario, type TrafficOptions, type Trip, traffic } from "./traffic.ts";
import { entriesOf, type LogEntry, startEntries, vllmStats } from "./writers.ts";

/** The totals that a reader of the written logs must find. Times and tokens only where the server's log tells them. */
export interface Truth {
  readonly scenario: Scenario;
  readonly seed: number;
  requests: { finished: number; failed: number; aborted: number; received: number };
  tokens: { in: number; in_cached: number; out: number };
  /** Observations and sums of the latency kinds, milliseconds. */
  latency_ms: Record<"e2e" | "ttft" | "queue" | "retrieval", { count: number; sum: number }>;
  failures: Partial<Record<FailureKind, number>>;
  lines: number;
}

/** Writes the entries of {@link traffic} in order of time, and keeps the truth about what was written so far. */
export class LogStream {
  readonly truth: Truth;
  readonly #options: TrafficOptions;

  constructor(options: TrafficOptions) {
    this.#options = options;
    const none = (): { count: number; sum: number } => ({ count: 0, sum: 0 });
    this.truth = {
      scenario: options.scenario,
      seed: options.seed,
      requests: { finished: 0, failed: 0, aborted: 0, received: 0 },
      tokens: { in: 0, in_cached: 0, out: 0 },
      latency_ms: { e2e: none(), ttft: none(), queue: none(), retrieval: none() },
      failures: {},
      lines: 0,
    };
  }

  /** Entries ascending by time. Requests whose end lies after the last arrival are written to their end. */
  *entries(): Generator<LogEntry> {
    const waiting: Array<LogEntry & { readonly order: number; readonly trip?: Trip }> = [];
    let order = 0;
    let statsMs = this.#options.startMs + 10_000;
    let inputTokens = 0;
    let outputTokens = 0;
    const due = function* (this: LogStream, untilMs: number): Generator<LogEntry> {
      waiting.sort((a, b) => a.timeMs - b.timeMs || a.order - b.order);
      let taken = 0;
      while (taken < waiting.length && (waiting[taken] as LogEntry).timeMs <= untilMs) {
        const entry = waiting[taken++] as (typeof waiting)[number];
        if (entry.trip !== undefined) this.#count(entry.trip, entry.text);
        yield this.#write(entry);
      }
      waiting.splice(0, taken);
    }.bind(this);
    for (const entry of startEntries(this.#options.startMs)) yield this.#write(entry);
    for (const trip of traffic(this.#options)) {
      while (statsMs <= trip.startMs) {
        yield* due(statsMs);
        const running = waiting.filter((entry) => entry.server === "vllm").length;
        if (inputTokens > 0) yield this.#write(vllmStats(statsMs, running, inputTokens, outputTokens));
        inputTokens = 0;
        outputTokens = 0;
        statsMs += 10_000;
      }
      yield* due(trip.startMs);
      if (trip.server === "vllm" && trip.failure === undefined) {
        inputTokens += trip.inputTokens;
        outputTokens += trip.outputTokens;
      }
      const entries = entriesOf(trip);
      for (const [index, entry] of entries.entries()) {
        waiting.push({ ...entry, order: order++, ...(index === entries.length - 1 ? { trip } : {}) });
      }
      if (
        trip.server !== "rag-api" &&
        trip.failure !== "model_not_found" &&
        trip.failure !== "context_length_exceeded"
      ) {
        this.truth.requests.received++;
      }
    }
    yield* due(Number.POSITIVE_INFINITY);
  }

  #write(entry: LogEntry): LogEntry {
    for (let at = entry.text.indexOf("\n"); at >= 0; at = entry.text.indexOf("\n", at + 1)) this.truth.lines++;
    return entry;
  }

  /** Called with a request's last entry: what its log tells is now written. */
  #count(trip: Trip, text: string): void {
    const { truth } = this;
    if (trip.failure !== undefined) truth.failures[trip.failure] = (truth.failures[trip.failure] ?? 0) + 1;
    if (trip.failure === "client_cancelled") {
      truth.requests.aborted++;
      return;
    }
    if (trip.server === "vllm") return;
    if (trip.server === "rag-api") {
      const ended = JSON.parse(text) as { duration_ms: number; retrieval_ms?: number };
      add(truth.latency_ms.e2e, ended.duration_ms);
      if (ended.retrieval_ms !== undefined) add(truth.latency_ms.retrieval, ended.retrieval_ms);
    }
    if (trip.failure !== undefined) {
      if (trip.server === "rag-api") truth.requests.failed++;
      return;
    }
    truth.requests.finished++;
    truth.tokens.in += trip.inputTokens;
    truth.tokens.in_cached += trip.cachedTokens;
    truth.tokens.out += trip.outputTokens;
    add(truth.latency_ms.ttft, trip.ttftMs);
    if (trip.server === "sglang") {
      add(truth.latency_ms.e2e, trip.e2eMs);
      add(truth.latency_ms.queue, trip.queueMs);
    }
  }
}

function add(total: { count: number; sum: number }, ms: number): void {
  total.count++;
  total.sum += ms;
}
