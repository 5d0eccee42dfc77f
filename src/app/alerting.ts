import type { Alert, Transition } from "../alert/alert-state.ts";
import { AlertEngine } from "../alert/engine.ts";
import { noticeOf } from "../alert/notice.ts";
import { Baselines } from "../baseline/baselines.ts";
import { BudgetLedger } from "../budget/ledger.ts";
import type { Config } from "../config/schema.ts";
import type { Clock } from "../core/clock.ts";
import { alertPage } from "../http/alert-page.ts";
import type { MetricSet } from "../metric/metric-set.ts";
import { Latency } from "../model/latency.ts";
import type { LogRecord } from "../model/record.ts";
import { SIGNALS } from "../model/sla.ts";
import type { StreamInfo } from "../model/stream.ts";
import { AlertmanagerFleet } from "../publish/alertmanager-fleet.ts";
import type { StatePort } from "../store/committer.ts";
import { fillAlertMetrics } from "./alert-metrics.ts";
import { alertRulesOf } from "./alert-rules.ts";
import { alertsView, alertView, budgetsView, fingerprintOf } from "./alert-views.ts";
import { unplaced, usageOf } from "./request-labels.ts";

const DAY_MS = 86_400_000;
const TIDY_EVERY_MS = 10 * 60_000;
/** Clocks that are a time zone off are borne; what is further ahead is refused. */
const AHEAD_MS = 26 * 3_600_000;
/** A tick gives others their turn after this long. */
const TURN_MS = 8;
/** A firing alert outlives this many resends that do not arrive. */
const LIFETIMES = 4;
const SIGNAL_KINDS = SIGNALS.map((signal) => Latency[signal]);

export interface AlertingOptions {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: {
    info(fields: Record<string, unknown>, message: string): void;
    warn(fields: Record<string, unknown>, message: string): void;
    error(fields: Record<string, unknown>, message: string): void;
  };
  /** The `shared` rows of the last commit. */
  readonly saved: ReadonlyMap<string, unknown>;
  /** False while old lines are still being read: nothing is judged before. */
  readonly caughtUp: () => boolean;
}

/** The alert engine of the daemon: takes records, judges at every tick, tells Alertmanager. */
export class Alerting implements AsyncDisposable {
  readonly baselines: Baselines;
  /** What a commit holds beside the baselines' rows. */
  readonly ports: readonly StatePort[];
  /** Requests that no window or budget could take, by reason. */
  readonly skipped = new Map<string, number>();
  readonly #options: AlertingOptions;
  readonly #engine: AlertEngine;
  readonly #ledger: BudgetLedger;
  readonly #retentionMs: number;
  readonly #stop = new AbortController();
  #config: Config;
  #fleet: AlertmanagerFleet;
  #running: Promise<void> = Promise.resolve();
  #tidiedMs = Number.NEGATIVE_INFINITY;
  #sentMs = Number.NEGATIVE_INFINITY;
  /** Address under which people reach this daemon. */
  #url = "";

  constructor(options: AlertingOptions) {
    const { config, clock, log, saved } = options;
    this.#options = options;
    this.#config = config;
    const rules = alertRulesOf(config);
    const { windowMs, baselineMs } = rules.drift;
    this.#retentionMs = Math.max(15 * DAY_MS, 2 * baselineMs + 2 * windowMs + DAY_MS);
    this.baselines = new Baselines({ windowMs, by: rules.drift.by, retentionMs: this.#retentionMs });
    if (!this.baselines.restore(saved))
      log.warn({}, "alerts.drift.window or by has changed: latencies measured so far are no baseline any more");
    this.#ledger = new BudgetLedger(config.budgets, { warnAt: rules.warnAt });
    this.#engine = new AlertEngine({
      rules,
      baselines: this.baselines,
      budgets: this.#ledger,
      onTransition: (alert, transition) => this.#tell(alert, transition),
    });
    for (const port of [this.#ledger, this.#engine]) {
      const state = saved.get(port.key);
      if (state !== undefined) port.restore(state);
    }
    this.ports = [this.#ledger, this.#engine, this.baselines];
    this.#fleet = new AlertmanagerFleet({ config: config.alertmanager, clock, log });
  }

  record(record: LogRecord, stream: StreamInfo, nowMs: number): void {
    if (record.kind !== "request") return;
    const { timeMs, latencies } = record;
    const why = unplaced(timeMs, nowMs + AHEAD_MS);
    if (why !== undefined) {
      this.skipped.set(why, (this.skipped.get(why) ?? 0) + 1);
      return;
    }
    const usage = usageOf(record, stream);
    if (record.outcome === "ok" && timeMs > nowMs - this.#retentionMs) {
      const { by } = this.#engine.rules.drift;
      const id = this.baselines.idOf(
        by.includes("service_name") ? usage.service : "",
        by.includes("model") ? usage.model : "",
      );
      for (const [signal, kind] of SIGNAL_KINDS.entries()) {
        const ms = latencies.get(kind);
        if (ms !== undefined && id !== undefined) this.baselines.add(id, signal, timeMs, ms);
      }
    }
    this.#ledger.charge(timeMs, usage);
  }

  /** @param url Address of the HTTP server. */
  start(url: string): void {
    this.#url = url;
    this.#running = this.#run();
  }

  /** One tick: judges, sends, tidies. */
  async tick(nowMs: number): Promise<void> {
    if (this.#options.caughtUp()) {
      await this.#inTurns(this.#engine.steps(nowMs));
      if (!(nowMs - this.#tidiedMs < TIDY_EVERY_MS && nowMs >= this.#tidiedMs)) {
        this.#tidiedMs = nowMs;
        await this.#inTurns(this.baselines.tidy(nowMs));
      }
    }
    this.#send(nowMs);
  }

  /** Other budgets and thresholds; what is spent, fires or was measured stays. @returns What needs a restart. */
  reload(config: Config): readonly string[] {
    const rules = alertRulesOf(config);
    const before = this.#engine.rules.drift;
    const restart: string[] = [];
    if (rules.drift.windowMs !== before.windowMs) restart.push("alerts.drift.window");
    if (String(rules.drift.by) !== String(before.by)) restart.push("alerts.drift.by");
    this.#engine.rules = { ...rules, drift: { ...rules.drift, windowMs: before.windowMs, by: before.by } };
    this.#ledger.reload(config.budgets, rules.warnAt);
    const { clock, log } = this.#options;
    if (JSON.stringify(config.alertmanager) !== JSON.stringify(this.#config.alertmanager))
      this.#fleet = new AlertmanagerFleet({ config: config.alertmanager, clock, log });
    this.#config = config;
    return restart;
  }

  fillMetrics(set: MetricSet, nowMs: number): void {
    const { overflowed } = this.baselines;
    if (overflowed > 0) this.skipped.set("too-many-services", overflowed);
    if (this.#ledger.tooOld > 0) this.skipped.set("budget-period-over", this.#ledger.tooOld);
    const figures = {
      engine: this.#engine,
      alerts: this.#config.alerts,
      budgets: this.#ledger.standings(nowMs),
      deliveries: this.#fleet.states,
      skipped: this.skipped,
    };
    fillAlertMetrics(set, figures, nowMs);
  }

  alerts(): unknown {
    return alertsView(this.#engine, this.#fleet.states, this.skipped);
  }

  budgets(): unknown {
    const nowMs = this.#options.clock.nowMs();
    return budgetsView(this.#ledger.standings(nowMs), nowMs);
  }

  /** The page that explains an alert; undefined when there is none of that fingerprint. */
  page(fingerprint: string): string | undefined {
    for (const alert of this.#engine.alerts) {
      if (fingerprintOf(alert) !== fingerprint) continue;
      const { alertname, state, description, promql, ...rest } = alertView(alert, this.#engine);
      return alertPage(alertname, state, description, rest, promql);
    }
    return undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.#fleet.drained();
  }

  async #run(): Promise<void> {
    const { clock, log } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const { every } = this.#config.alerts;
      try {
        await clock.sleep(every - (((clock.nowMs() % every) + every) % every), signal);
        await this.tick(clock.nowMs());
      } catch (error) {
        if (signal.aborted) return;
        log.error({ err: error }, "Cannot evaluate the alerts; the next tick tries again");
        await clock.sleep(1000, signal).catch(() => {});
      }
    }
  }

  async #inTurns(steps: Generator<void>): Promise<void> {
    let sinceMs = performance.now();
    for (const _ of steps) {
      if (performance.now() - sinceMs < TURN_MS) continue;
      await this.#options.clock.sleep(0, this.#stop.signal);
      sinceMs = performance.now();
    }
  }

  /** Firing alerts every `resend`, and at once what began or ended since. */
  #send(nowMs: number): void {
    const { alertmanager, alerts } = this.#config;
    const { resend } = alertmanager;
    if (alertmanager.urls.length === 0) return;
    const all = nowMs - this.#sentMs >= resend || nowMs < this.#sentMs;
    const base = alertmanager.external_url ?? this.#url;
    const lifetimeMs = LIFETIMES * Math.max(resend, alerts.every);
    const due = [...this.#engine.alerts].flatMap((alert) => {
      const notice = noticeOf(alert, nowMs);
      const changedMs = alert.firedMs ?? alert.resolvedMs ?? 0;
      if (notice === undefined || !(all || changedMs > this.#sentMs)) return [];
      const { labels, annotations, startsAtMs, endedAtMs = nowMs + lifetimeMs } = notice;
      const generatorUrl = `${base.replace(/\/$/, "")}/alerts/${fingerprintOf(alert)}`;
      return [{ labels, annotations, startsAtMs, endsAtMs: endedAtMs, generatorUrl }];
    });
    if (all) this.#sentMs = nowMs;
    if (due.length > 0) this.#fleet.send(due);
  }

  #tell(alert: Alert, transition: Transition): void {
    const { alertname, labels, values, budgets } = alert;
    const words = {
      pending: "Alert is pending",
      cancelled: "Alert is no longer pending",
      fired: "Alert fires",
      resolved: "Alert is resolved",
    } as const;
    this.#options.log[transition === "fired" ? "warn" : "info"](
      { alertname, labels, values, budgets },
      words[transition],
    );
  }
}
