import path from "node:path";
import type { Readable } from "node:stream";
import { type Document, parse } from "yaml";
import { patternsOf } from "../app/build-sources.ts";
import { Replay, type ReplayResult } from "../app/replay.ts";
import { loadConfig } from "../config/load.ts";
import { profilesOf } from "../config/profiles.ts";
import type { Config } from "../config/schema.ts";
import { UserError } from "../core/user-error.ts";
import type { StreamInfo } from "../model/stream.ts";
import { DuplicateFilter } from "../request/duplicate-filter.ts";
import { globRegex } from "../source/glob-pattern.ts";
import { rawPath } from "../source/raw-path.ts";
import type { Io } from "./io.ts";
import { readFiles } from "./read-files.ts";
import { replayReport } from "./replay-report.ts";

export interface ReplayOptions {
  readonly json: boolean;
  readonly config: string;
  /** `path.to.key=value`, over the file's own. */
  readonly set: readonly string[];
}

/** `tokentail replay`: the alert engine over old logs. @returns The exit code. */
export async function replay(
  paths: readonly string[],
  options: ReplayOptions,
  io: Io,
  stdin: () => Readable,
): Promise<0 | 1> {
  const config = await loadConfig(options.config, (document) => override(document, options.set, paths));
  const engine = new Replay(config);
  const { faults } = await readFiles(paths, {
    profiles: profilesOf(config, options.config),
    duplicates: new DuplicateFilter(),
    consumer: engine,
    io,
    stdin,
    streamOf: streamsOf(config),
  });
  const result = engine.run();
  if (!Number.isFinite(result.fromMs)) {
    io.err("tokentail: no request with a time in these files; `tokentail detect` says what they hold\n");
    return 1;
  }
  if (options.json) io.out(`${JSON.stringify(document(result))}\n`);
  else io.out(replayReport(result, config, io));
  return faults > 0 ? 1 : 0;
}

/** Puts `--set` into the configuration's document before it is checked. */
function override(document: Document, settings: readonly string[], paths: readonly string[]): void {
  if (!document.has("sources")) document.set("sources", [{ files: [...paths] }]);
  for (const setting of settings) {
    const equals = setting.indexOf("=");
    const keys = setting.slice(0, equals).split(".");
    if (equals < 1 || keys.includes(""))
      throw new UserError(`--set needs path=value, e.g. alerts.drift.max_drift=0.3, not "${setting}"`, { exitCode: 2 });
    try {
      const at = keys.map((key) => (/^\d+$/.test(key) ? Number(key) : key));
      document.setIn(at, document.createNode(parse(setting.slice(equals + 1))));
    } catch (cause) {
      throw new UserError(`--set ${setting}: ${(cause as Error).message.split("\n")[0]}`, { exitCode: 2, cause });
    }
  }
}

/** Labels and profile of a file: those of the first source whose pattern matches, or of the only source. */
function streamsOf(config: Config): (file: string) => StreamInfo {
  const sources = config.sources.map((source) => ({ source, patterns: patternsOf(source).map(globRegex) }));
  return (file) => {
    const absolute = rawPath(path.resolve(file));
    const found =
      sources.find(({ patterns }) => patterns.some((pattern) => pattern.test(absolute)))?.source ??
      (sources.length === 1 ? sources[0]?.source : undefined);
    return { name: file, labels: found?.labels ?? {}, profile: found?.profile ?? "auto" };
  };
}

/** Schema tokentail.replay/1. */
function document(result: ReplayResult): unknown {
  const iso = (timeMs: number | undefined): string | null =>
    timeMs === undefined ? null : new Date(timeMs).toISOString();
  const { episodes, noVerdicts, rejected } = result;
  return {
    schema: "tokentail.replay/1",
    from: iso(result.fromMs),
    to: iso(result.toMs),
    evaluations: result.evaluations,
    requests: result.requests,
    episodes: episodes.map((episode) => ({
      alertname: episode.alertname,
      severity: episode.severity,
      labels: episode.labels,
      pending_at: iso(episode.pendingMs),
      fired_at: iso(episode.firedMs),
      resolved_at: iso(episode.resolvedMs),
      values_at_fire: episode.values,
    })),
    no_verdict: noVerdicts.map(({ signal, labels, reason, fromMs, toMs }) => ({
      signal,
      ...labels,
      reason,
      from: iso(fromMs),
      to: iso(toMs),
    })),
    rejected_values: Object.fromEntries(rejected),
  };
}
