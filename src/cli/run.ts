import { App } from "../app.ts";
import { loadConfig, parseConfig } from "../config/load.ts";
import { type Config, USUAL_PLACES } from "../config/schema.ts";
import { systemClock } from "../core/system-clock.ts";
import { localZone } from "../core/timestamp.ts";
import { daemonLog } from "./daemon-log.ts";
import type { Io } from "./io.ts";

export interface RunOptions {
  readonly config?: string | undefined;
  readonly listen?: string | undefined;
  /** Read files that exist already from their beginning. */
  readonly fromBeginning: boolean;
}

/** `tokentail run`: follows logs until `signal` aborts. @returns The exit code. */
export async function run(paths: readonly string[], options: RunOptions, io: Io, signal: AbortSignal): Promise<0> {
  const config = await runConfig(paths, options);
  const log = daemonLog(io);
  await using app = await App.create({ config, clock: systemClock, log, zone: localZone });
  log.info(
    {
      url: app.http.url,
      metrics: `${app.http.url}/metrics`,
      patterns: config.sources.flatMap((source) => source.files),
    },
    "Following logs",
  );
  app.start();
  void app.caughtUp().then(() => {
    const files = app.sources.reduce((sum, source) => sum + source.fileCount, 0);
    if (files > 0) log.info({ files }, "Read all that was there");
    else
      log.warn(
        { patterns: config.sources.flatMap((source) => source.files) },
        "No file matches yet; new ones are found as they appear",
      );
  });
  await aborted(signal);
  log.info({}, "Stopping");
  return 0;
}

async function runConfig(paths: readonly string[], options: RunOptions): Promise<Config> {
  const start = options.fromBeginning ? "beginning" : "end";
  const files = paths.length > 0 ? paths : USUAL_PLACES;
  const base =
    options.config === undefined
      ? parseConfig(JSON.stringify({ sources: [{ files, start_at: start }] }), "command line")
      : await loadConfig(options.config);
  const extra =
    options.config !== undefined && paths.length > 0
      ? parseConfig(JSON.stringify({ sources: [{ files: paths, start_at: start }] }), "command line").sources
      : [];
  const http = options.listen === undefined ? base.http : { listen: options.listen };
  return { ...base, http, sources: [...base.sources, ...extra] };
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
