import { unwatchFile, watchFile } from "node:fs";
import type { Readable } from "node:stream";
import { setFlagsFromString } from "node:v8";
import { App } from "../app.ts";
import { loadConfig, parseConfig } from "../config/load.ts";
import { type Config, USUAL_PLACES } from "../config/schema.ts";
import { systemClock } from "../core/system-clock.ts";
import { localZone } from "../core/timestamp.ts";
import { daemonLog } from "./daemon-log.ts";
import type { Io } from "./io.ts";

/** Time between two looks whether the configuration file has changed. */
const CONFIG_POLL_MS = 2000;

export interface RunOptions {
  readonly config?: string | undefined;
  readonly listen?: string | undefined;
  /** Read files that exist already from their beginning. */
  readonly fromBeginning: boolean;
  /** For the path `-`, or a source that reads it. */
  readonly stdin: () => Readable;
}

/** `tokentail run`: follows logs until `signal` aborts. @returns The exit code. */
export async function run(paths: readonly string[], options: RunOptions, io: Io, signal: AbortSignal): Promise<0> {
  // lines die young: a nursery that grows saves no time here and 50 MiB of memory are gone for it
  setFlagsFromString("--semi-space-growth-factor=1");
  const config = await runConfig(paths, options);
  const load = (): Promise<Config> => runConfig(paths, options);
  const log = daemonLog(io);
  await using app = await App.create({ config, clock: systemClock, log, zone: localZone, stdin: options.stdin, load });
  log.info(
    {
      url: app.http.url,
      metrics: `${app.http.url}/metrics`,
      patterns: config.sources.flatMap((source) => source.files ?? []),
    },
    "Following logs",
  );
  app.start();
  void app.caughtUp().then(() => {
    const files = app.sources.reduce((sum, source) => sum + source.fileCount, 0);
    if (files > 0) log.info({ files }, "Read all that was there");
    else
      log.warn(
        { patterns: config.sources.flatMap((source) => source.files ?? []) },
        "No file matches yet; new ones are found as they appear",
      );
  });
  const reload = (): void => void app.reload();
  process.on("SIGHUP", reload);
  // by stat, so that the swapped link of a ConfigMap is seen too
  if (options.config !== undefined) watchFile(options.config, { interval: CONFIG_POLL_MS, persistent: false }, reload);
  await aborted(signal);
  process.off("SIGHUP", reload);
  if (options.config !== undefined) unwatchFile(options.config, reload);
  log.info({}, "Stopping");
  return 0;
}

async function runConfig(paths: readonly string[], options: RunOptions): Promise<Config> {
  const start_at = options.fromBeginning ? "beginning" : "end";
  const files = paths.filter((path) => path !== "-");
  const named = [
    ...(files.length > 0 ? [{ files, start_at }] : []),
    ...(files.length < paths.length ? [{ stdin: true }] : []),
  ];
  const parse = (sources: readonly object[]): Config => parseConfig(JSON.stringify({ sources }), "command line");
  const base =
    options.config === undefined
      ? parse(named.length > 0 ? named : [{ files: USUAL_PLACES, start_at }])
      : await loadConfig(options.config);
  const extra = options.config !== undefined && named.length > 0 ? parse(named).sources : [];
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
