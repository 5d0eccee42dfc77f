import type { Readable } from "node:stream";
import type { Config, SourceConfig } from "../config/schema.ts";
import { podLabels } from "../frame/pod-path.ts";
import { KnownPositions } from "../source/file-identity.ts";
import { FileTailer } from "../source/file-tailer.ts";
import { JournaldSource } from "../source/journald-source.ts";
import { OpenFiles } from "../source/open-files.ts";
import type { FilePosition, OpenSink, Source, SourceStats } from "../source/source.ts";
import { StdinSource } from "../source/stdin-source.ts";
import type { LoadedState } from "../store/state-store.ts";

export interface SourceParts {
  readonly config: Config;
  readonly saved: LoadedState;
  /** The state is of an earlier run. */
  readonly continued: boolean;
  readonly openSink: OpenSink;
  readonly stdin: () => Readable;
  readonly onFault: (message: string, fields: Record<string, unknown>) => void;
}

/** Patterns that a source follows; empty when it follows none. */
export function patternsOf(source: SourceConfig): string[] {
  if (source.kubernetes !== undefined) return [`${source.kubernetes.pods}/*/*/*.log`];
  return source.files ?? [];
}

/** The sources of a configuration, going on where an earlier run stood. Inodes and descriptors are shared by all. */
export function buildSources(parts: SourceParts): Source[] {
  const { config, saved, continued, openSink, stdin, onFault } = parts;
  const positions = [...saved.files].filter(([key]) => /^\d+~*:\d+$/.test(key)).map(([, position]) => position);
  const known = continued ? new KnownPositions(positions as FilePosition[]) : undefined;
  const knownPatterns = new Set(saved.shared.get("patterns") as string[] | undefined);
  const claims = new Set<string>();
  const openFiles = new OpenFiles();
  const memories = new Set(saved.streams.keys());
  const names = new Map<string, number>();
  return config.sources.map((source) => {
    const { labels, profile } = source;
    const name = unique(nameOf(source), names);
    const common = { name, labels, profile, openSink, onFault };
    const built =
      source.stdin === true
        ? new StdinSource({ ...common, input: stdin() })
        : source.journald !== undefined
          ? new JournaldSource({
              ...common,
              units: source.journald.units,
              startAt: source.start_at,
              cursor: saved.files.get(`journald ${name}`) as string | undefined,
            })
          : new FileTailer({
              ...common,
              patterns: patternsOf(source),
              exclude: source.exclude,
              startAt: source.start_at,
              ...(source.kubernetes === undefined ? {} : { labelsOf: (path: string) => ({ ...podLabels(path) }) }),
              hasMemory: (stream) => memories.has(stream),
              known,
              knownPatterns,
              claims,
              openFiles,
            });
    const stats = saved.shared.get(`source ${name}`) as SourceStats | undefined;
    if (stats !== undefined) Object.assign(built.stats, stats);
    return built;
  });
}

function nameOf({ files, journald, stdin }: SourceConfig): string {
  if (stdin === true) return "stdin";
  if (journald !== undefined) return ["journald", ...journald.units].join(" ");
  return files === undefined ? "kubernetes" : files.join(",");
}

function unique(name: string, names: Map<string, number>): string {
  const times = (names.get(name) ?? 0) + 1;
  names.set(name, times);
  return times === 1 ? name : `${name} (${times})`;
}
