import type { Alert, AlertValues } from "../alert/alert-state.ts";
import { SEVERITIES } from "../alert/alert-state.ts";
import { AlertEngine, type AlertRules } from "../alert/engine.ts";
import { Baselines, slotOf } from "../baseline/baselines.ts";
import { BudgetLedger, type Usage } from "../budget/ledger.ts";
import type { Config } from "../config/schema.ts";
import { Latency } from "../model/latency.ts";
import type { LogRecord, RejectReason, RequestRecord } from "../model/record.ts";
import { SIGNALS } from "../model/sla.ts";
import type { StreamInfo } from "../model/stream.ts";
import type { RecordConsumer } from "../pipeline/stream-pipeline.ts";
import type { Profile } from "../profile/profile.ts";
import { alertRulesOf } from "./alert-rules.ts";
import { type Unplaced, unplaced, usageOf } from "./request-labels.ts";

const MINUTE_MS = 60_000;
const SIGNAL_KINDS = SIGNALS.map((signal) => Latency[signal]);

/** One time that an alert fired. */
export interface Episode {
  readonly alertname: string;
  readonly severity: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly pendingMs: number;
  readonly firedMs: number;
  resolvedMs: number | undefined;
  readonly values: AlertValues;
}

export interface NoVerdictSpan {
  readonly signal: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly reason: string;
  readonly fromMs: number;
  toMs: number;
}

/** The drift ratio of one signal, the greatest of each hour. */
export interface DriftCourse {
  readonly signal: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly hours: Map<number, number>;
}

export interface ReplayResult {
  /** NaN when no record had a time. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly evaluations: number;
  readonly episodes: readonly Episode[];
  readonly noVerdicts: readonly NoVerdictSpan[];
  readonly courses: readonly DriftCourse[];
  readonly requests: number;
  readonly rejected: ReadonlyMap<string, number>;
}

/**
 * The alert engine over old logs, by log time. All lines are taken first, in any order: latencies go to the minute of their time,
 * usage is summed by minute and period. Then time passes, minute by minute.
 */
export class Replay implements RecordConsumer {
  requests = 0;
  readonly rejected = new Map<string, number>();
  readonly #rules: AlertRules;
  readonly #baselines: Baselines;
  readonly #ledger: BudgetLedger;
  readonly #hasBudgets: boolean;
  readonly #charges = new Map<number, Map<string, { timeMs: number; usage: Usage }>>();
  readonly #slots = new Set<number>();
  readonly #books = new Map<string, number>();
  #firstMs = Number.POSITIVE_INFINITY;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(config: Config) {
    this.#rules = alertRulesOf(config);
    this.#baselines = new Baselines({
      windowMs: this.#rules.drift.windowMs,
      retentionMs: Number.POSITIVE_INFINITY,
      maxServices: 100_000,
    });
    this.#ledger = new BudgetLedger(config.budgets, {
      warnAt: this.#rules.warnAt,
      keptPeriods: Number.POSITIVE_INFINITY,
    });
    this.#hasBudgets = config.budgets.length > 0;
  }

  reject(reason: RejectReason): void {
    this.#reject(reason);
  }

  record(record: LogRecord, _profile: Profile, stream: StreamInfo): void {
    const { timeMs } = record;
    const why = unplaced(timeMs, Number.POSITIVE_INFINITY);
    if (why !== undefined) {
      if (record.kind === "request") this.#reject(why);
      return;
    }
    if (timeMs < this.#firstMs) this.#firstMs = timeMs;
    if (timeMs > this.#lastMs) this.#lastMs = timeMs;
    if (record.kind === "request") this.#request(record, stream);
  }

  #reject(reason: RejectReason | Unplaced): void {
    this.rejected.set(reason, (this.rejected.get(reason) ?? 0) + 1);
  }

  #request(record: RequestRecord, stream: StreamInfo): void {
    const { timeMs, latencies } = record;
    const usage = usageOf(record, stream);
    const { by } = this.#rules.drift;
    this.requests++;
    this.#slots.add(slotOf(timeMs));
    if (record.outcome === "ok") {
      const service = by.includes("service_name") ? usage.service : "";
      const id = this.#baselines.idOf(service, by.includes("model") ? usage.model : "");
      for (const [signal, kind] of SIGNAL_KINDS.entries()) {
        const ms = latencies.get(kind);
        if (ms !== undefined && id !== undefined) this.#baselines.add(id, signal, timeMs, ms);
      }
    }
    if (this.#hasBudgets && (usage.input !== undefined || usage.output !== undefined)) this.#charge(timeMs, usage);
  }

  #charge(timeMs: number, usage: Usage): void {
    const who = `${usage.service}\u0000${usage.model}\u0000${usage.tenant}\u0000${usage.route}`;
    let book = this.#books.get(who);
    if (book === undefined) {
      book = this.#ledger.bookOf(usage);
      this.#books.set(who, book);
    }
    if (book < 0) return;
    const { startMs } = this.#ledger.periodOf(book, timeMs);
    const slot = slotOf(timeMs);
    let charges = this.#charges.get(slot);
    if (charges === undefined) {
      charges = new Map();
      this.#charges.set(slot, charges);
    }
    const key = `${who}\u0000${startMs}`;
    const sum = charges.get(key)?.usage;
    charges.set(key, {
      timeMs,
      usage: {
        ...usage,
        input: plus(sum?.input, usage.input),
        cached: plus(sum?.cached, usage.cached === undefined ? undefined : Math.min(usage.cached, usage.input ?? 0)),
        output: plus(sum?.output, usage.output),
      },
    });
  }

  /** Lets the time of the log pass. Call once, when everything has been read. */
  run(): ReplayResult {
    const watch = new Watch();
    const engine = new AlertEngine({
      rules: this.#rules,
      baselines: this.#baselines,
      budgets: this.#ledger,
      onTransition: (alert, transition, timeMs) => {
        if (transition === "fired") watch.fired(alert, timeMs);
        else if (transition === "resolved") watch.resolved(alert, timeMs);
      },
      onVerdict: ({ labels }, signal, { reason, ratio }, timeMs) => {
        watch.verdict(labels, signal, reason, timeMs);
        if (ratio !== undefined) watch.drift(labels, signal, ratio, timeMs);
      },
    });
    const events = [...this.#slots].sort((a, b) => a - b);
    const end = slotOf(this.#lastMs);
    let evaluations = 0;
    let next = 0;
    for (let slot = slotOf(this.#firstMs); slot <= end; slot++) {
      for (const { timeMs, usage } of this.#charges.get(slot)?.values() ?? []) this.#ledger.charge(timeMs, usage);
      this.#charges.delete(slot);
      engine.evaluate(slot * MINUTE_MS);
      evaluations++;
      while (next < events.length && (events[next] as number) <= slot) next++;
      if (engine.services.length > 0 || !engine.quiet) continue;
      // nothing can change before the next line: budgets only fall back at a reset
      const jump = Math.min(events[next] ?? end, end) - 1;
      if (jump > slot) {
        evaluations += jump - slot;
        slot = jump;
      }
    }
    return {
      fromMs: this.#firstMs,
      toMs: this.#lastMs,
      evaluations,
      episodes: watch.episodes,
      noVerdicts: watch.noVerdicts,
      courses: [...watch.courses.values()],
      requests: this.requests,
      rejected: this.rejected,
    };
  }
}

const plus = (sum: number | undefined, more: number | undefined): number | undefined =>
  sum === undefined ? more : more === undefined ? sum : sum + more;

/** Writes down what the engine does. */
class Watch {
  readonly episodes: Episode[] = [];
  readonly noVerdicts: NoVerdictSpan[] = [];
  readonly courses = new Map<string, DriftCourse>();
  readonly #firing = new Map<Alert, Episode>();
  readonly #open = new Map<string, NoVerdictSpan>();

  fired(alert: Alert, timeMs: number): void {
    const { alertname, labels, pendingMs = timeMs, values } = alert;
    const episode: Episode = {
      alertname,
      severity: SEVERITIES[alertname],
      labels,
      pendingMs,
      firedMs: timeMs,
      resolvedMs: undefined,
      values,
    };
    this.episodes.push(episode);
    this.#firing.set(alert, episode);
  }

  resolved(alert: Alert, timeMs: number): void {
    const episode = this.#firing.get(alert);
    if (episode !== undefined) episode.resolvedMs = timeMs;
    this.#firing.delete(alert);
  }

  verdict(labels: Readonly<Record<string, string>>, signal: string, reason: string | undefined, timeMs: number): void {
    const key = keyOf(labels, signal);
    const open = this.#open.get(key);
    if (open === undefined && reason === undefined) return;
    if (open !== undefined && open.reason === reason) {
      open.toMs = timeMs;
      return;
    }
    this.#open.delete(key);
    if (reason === undefined) return;
    const span = { signal, labels, reason, fromMs: timeMs, toMs: timeMs };
    this.#open.set(key, span);
    this.noVerdicts.push(span);
  }

  drift(labels: Readonly<Record<string, string>>, signal: string, ratio: number, timeMs: number): void {
    const key = keyOf(labels, signal);
    let course = this.courses.get(key);
    if (course === undefined) {
      course = { signal, labels, hours: new Map() };
      this.courses.set(key, course);
    }
    const hour = Math.floor(timeMs / 3_600_000);
    course.hours.set(hour, Math.max(course.hours.get(hour) ?? Number.NEGATIVE_INFINITY, ratio));
  }
}

const keyOf = (labels: Readonly<Record<string, string>>, signal: string): string =>
  `${signal}\u0000${Object.values(labels).join("\u0000")}`;
