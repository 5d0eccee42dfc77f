import type { Clock } from "../core/clock.ts";
import { AlertmanagerClient, type OutgoingAlert, wireAlert } from "./alertmanager-client.ts";
import type { AlertmanagerConfig } from "./schema.ts";

const BATCH = 256;
const QUEUE_CAPACITY = 10_000;
/** A clock that differs more is told: alerts of a slow one end before they arrive. */
const SKEW_MS = 60_000;

/** How delivery to one instance stands. */
export interface DeliveryState {
  readonly url: string;
  sent: number;
  errors: number;
  dropped: number;
  queued: number;
  /** Reason of the last failure; undefined after a success. */
  lastError: string | undefined;
  lastSuccessMs: number | undefined;
  /** The instance's clock less ours, milliseconds; NaN while unknown. */
  skewMs: number;
}

export interface FleetOptions {
  readonly config: AlertmanagerConfig;
  readonly clock: Clock;
  readonly log: {
    info(fields: Record<string, unknown>, message: string): void;
    warn(fields: Record<string, unknown>, message: string): void;
  };
}

/**
 * Sends alerts to every Alertmanager: they do not pass alerts on to each other. Each has its own queue, so that one that hangs
 * holds up nobody. A batch that fails is not sent again; the next resend carries the same alerts.
 */
export class AlertmanagerFleet implements AsyncDisposable {
  readonly #members: readonly Member[];
  readonly #external: Readonly<Record<string, string>>;

  constructor(options: FleetOptions) {
    this.#external = options.config.external_labels;
    this.#members = [...new Set(options.config.urls)].map((url) => new Member(url, options));
  }

  get states(): readonly DeliveryState[] {
    return this.#members.map(({ state }) => state);
  }

  /** Queues alerts for every instance and returns at once. */
  send(alerts: readonly OutgoingAlert[]): void {
    const wire = alerts.flatMap((alert) => wireAlert(alert, this.#external) ?? []);
    for (const member of this.#members) member.push(wire);
  }

  /** Resolves when the queues are empty. */
  async drained(): Promise<void> {
    await Promise.all(this.#members.map((member) => member.drained()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.drained();
  }
}

class Member {
  readonly state: DeliveryState;
  readonly #client: AlertmanagerClient;
  readonly #options: FleetOptions;
  #queue: unknown[] = [];
  #working: Promise<void> | undefined;

  constructor(url: string, options: FleetOptions) {
    this.#client = new AlertmanagerClient(url, options.config);
    this.#options = options;
    this.state = {
      url: withoutPassword(url),
      sent: 0,
      errors: 0,
      dropped: 0,
      queued: 0,
      lastError: undefined,
      lastSuccessMs: undefined,
      skewMs: Number.NaN,
    };
  }

  push(alerts: readonly unknown[]): void {
    this.#queue.push(...alerts);
    const over = this.#queue.length - QUEUE_CAPACITY;
    if (over > 0) {
      this.#queue.splice(0, over);
      this.state.dropped += over;
    }
    this.state.queued = this.#queue.length;
    this.#working ??= this.#work().finally(() => {
      this.#working = undefined;
    });
  }

  async drained(): Promise<void> {
    await this.#working;
  }

  async #work(): Promise<void> {
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, BATCH);
      this.state.queued = this.#queue.length;
      await this.#send(batch);
    }
  }

  async #send(batch: readonly unknown[]): Promise<void> {
    const { state } = this;
    try {
      const { status, dateMs, text } = await this.#client.send(batch);
      this.#compareClocks(dateMs);
      if (status >= 200 && status < 300) {
        if (state.lastError !== undefined)
          this.#options.log.info({ alertmanager: state.url }, "Alertmanager takes alerts again");
        state.sent += batch.length;
        state.lastError = undefined;
        state.lastSuccessMs = this.#options.clock.nowMs();
        return;
      }
      // of a batch that is refused nothing may be stored: the good ones are sent without the bad one
      if ((status === 400 || status === 422) && batch.length > 1) {
        const half = batch.length >> 1;
        await this.#send(batch.slice(0, half));
        await this.#send(batch.slice(half));
        return;
      }
      this.#failed(batch.length, `HTTP ${status}: ${text.slice(0, 200)}`);
    } catch (error) {
      this.#failed(
        batch.length,
        (error as NodeJS.ErrnoException).message || String((error as NodeJS.ErrnoException).code),
      );
    }
  }

  #failed(alerts: number, reason: string): void {
    const { state } = this;
    state.errors += alerts;
    if (state.lastError === undefined)
      this.#options.log.warn(
        { alertmanager: state.url, reason },
        "Alertmanager did not take alerts; they are sent again",
      );
    state.lastError = reason;
  }

  #compareClocks(dateMs: number): void {
    if (Number.isNaN(dateMs)) return;
    const skewMs = dateMs - this.#options.clock.nowMs();
    const off = (ms: number): boolean => Math.abs(ms) > SKEW_MS;
    if (off(skewMs) && !off(this.state.skewMs)) {
      this.#options.log.warn(
        { alertmanager: this.state.url, skew_seconds: Math.round(skewMs / 1000) },
        "The clock differs from the Alertmanager's; alerts may end before they arrive",
      );
    }
    this.state.skewMs = skewMs;
  }
}

function withoutPassword(text: string): string {
  const url = new URL(text);
  url.username = "";
  url.password = "";
  return url.href.replace(/\/$/, "");
}
