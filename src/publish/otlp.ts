import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import { setImmediate } from "node:timers/promises";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-proto";
import type { ResourceMetrics } from "@opentelemetry/sdk-metrics";
import type { Clock } from "../core/clock.ts";
import type { OtlpConfig } from "./otlp-schema.ts";

export interface OtlpPusherOptions {
  readonly config: OtlpConfig;
  readonly clock: Clock;
  /** The metrics of this moment, in batches; values are cumulative, so a push that failed is made good by the next. */
  readonly collect: () => Iterable<ResourceMetrics>;
  readonly log: {
    info(fields: Record<string, unknown>, message: string): void;
    warn(fields: Record<string, unknown>, message: string): void;
  };
}

/** Resource attributes of this daemon; those of the configuration go before. */
export function resourceOf(config: OtlpConfig | undefined, version: string): Record<string, string> {
  const host = hostname();
  return {
    "service.name": "tokentail",
    "service.version": version,
    "service.instance.id": host,
    "host.name": host,
    ...config?.resource,
  };
}

/**
 * Pushes metrics to an OpenTelemetry collector: HTTP with protobuf, one push at a time, each tried again for as long as the
 * timeout lets it (429, 502, 503, 504 and broken connections, `Retry-After` heeded: the exporter's doing).
 */
/** `ExportResultCode.SUCCESS` of @opentelemetry/core, which is no dependency of ours. */
const SUCCESS = 0;

export class OtlpPusher implements AsyncDisposable {
  /** Pushes that the collector took whole. */
  sent = 0;
  /** Pushes that failed after all tries. */
  errors = 0;
  /** Wall time of the last push that was taken, milliseconds since the epoch; undefined before. */
  lastMs: number | undefined = undefined;
  readonly #options: OtlpPusherOptions;
  readonly #exporter: OTLPMetricExporter;
  readonly #stop = new AbortController();
  #loop: Promise<void> = Promise.resolve();
  #failing = false;

  constructor(options: OtlpPusherOptions) {
    this.#options = options;
    const { headers, timeout, endpoint, bearer_token_file: tokenFile } = options.config;
    this.#exporter = new OTLPMetricExporter({
      url: metricsUrl(endpoint),
      timeoutMillis: timeout,
      headers: async () => ({ ...headers, ...(await this.#authorization(tokenFile)) }),
    });
  }

  start(): void {
    this.#loop = this.#run();
  }

  /** @returns False when the collector did not take all of it. */
  async push(): Promise<boolean> {
    const { clock, log, config } = this.#options;
    const fault = await this.#send();
    if (fault === undefined) {
      this.sent++;
      this.lastMs = clock.nowMs();
      if (this.#failing) log.info({ endpoint: config.endpoint }, "The collector takes metrics again");
    } else {
      this.errors++;
      if (!this.#failing)
        log.warn({ endpoint: config.endpoint, reason: fault }, "Cannot push metrics; the next push carries them too");
    }
    this.#failing = fault !== undefined;
    return fault === undefined;
  }

  /** Pushes what there is a last time, for no longer than the timeout. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#loop;
    await this.push();
    await this.#exporter.shutdown();
  }

  async #run(): Promise<void> {
    const { clock, config } = this.#options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      await clock.sleep(config.interval, signal).catch(() => {});
      if (!signal.aborted) await this.push();
    }
  }

  /** @returns Why it failed, or undefined. */
  async #send(): Promise<string | undefined> {
    try {
      for (const batch of this.#options.collect()) {
        await new Promise<void>((resolve, reject) => {
          this.#exporter.export(batch, ({ code, error }) => {
            // an error comes with every result but success
            const result: number = code;
            if (error === undefined && result === SUCCESS) resolve();
            else reject(error ?? new Error("not accepted"));
          });
        });
        await setImmediate();
      }
      return undefined;
    } catch (error) {
      return (error as Error).message || String(error);
    }
  }

  async #authorization(file: string | undefined): Promise<Record<string, string>> {
    if (file === undefined) return {};
    try {
      return { Authorization: `Bearer ${(await readFile(file, "utf8")).trim()}` };
    } catch (error) {
      this.#options.log.warn(
        { file, reason: (error as Error).message },
        "Cannot read the bearer token of the collector",
      );
      return {};
    }
  }
}

function metricsUrl(endpoint: string): string {
  const url = new URL(endpoint);
  if (!url.pathname.endsWith("/v1/metrics")) url.pathname = `${url.pathname.replace(/\/$/, "")}/v1/metrics`;
  return url.href;
}
