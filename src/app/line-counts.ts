import type { StreamPipeline } from "../pipeline/stream-pipeline.ts";
import type { StatePort } from "../store/committer.ts";

/** What is counted of lines, over all streams there ever were. Plain data: a commit holds it. */
export interface LineTotals {
  unrecognised: number;
  invalidBytes: number;
  overlongLines: number;
  /** Bytes of over-long lines that were not delivered. */
  cutBytes: number;
  readonly profiles: Map<string, { lines: number; records: number }>;
}

const newTotals = (): LineTotals => ({
  unrecognised: 0,
  invalidBytes: 0,
  overlongLines: 0,
  cutBytes: 0,
  profiles: new Map(),
});

function totalsOf({ framer, router }: StreamPipeline): LineTotals {
  const { unrecognised } = router;
  const { invalidBytes, overlong, skippedBytes } = framer;
  const profiles = new Map(
    [...router.counts()].map(({ profile, lines, records }) => [profile.name, { lines, records }]),
  );
  return { unrecognised, invalidBytes, overlongLines: overlong, cutBytes: skippedBytes, profiles };
}

/** Adds up what the streams count, so that the sums go on when a stream ends or the daemon starts again. */
export class LineCounts implements StatePort {
  readonly key = "line-counts";
  totals: LineTotals = newTotals();
  /** Figures of each stream that are in the totals. */
  readonly #added = new Map<StreamPipeline, { version: number; totals: LineTotals }>();

  /** A stream that was opened (and given back its memory, whose figures are in the restored totals). */
  opened(pipeline: StreamPipeline): void {
    this.#added.set(pipeline, { version: pipeline.version, totals: totalsOf(pipeline) });
  }

  ended(pipeline: StreamPipeline): void {
    this.#add(pipeline);
    this.#added.delete(pipeline);
  }

  get version(): number {
    let version = 0;
    for (const pipeline of this.#added.keys()) version += pipeline.version;
    return version;
  }

  get state(): LineTotals {
    return this.current;
  }

  set state(state: LineTotals) {
    this.totals = state;
  }

  /** The totals of this moment. */
  get current(): LineTotals {
    for (const pipeline of this.#added.keys()) this.#add(pipeline);
    return this.totals;
  }

  #add(pipeline: StreamPipeline): void {
    const before = this.#added.get(pipeline);
    if (before === undefined || before.version === pipeline.version) return;
    const now = totalsOf(pipeline);
    const { totals } = this;
    totals.unrecognised += now.unrecognised - before.totals.unrecognised;
    totals.invalidBytes += now.invalidBytes - before.totals.invalidBytes;
    totals.overlongLines += now.overlongLines - before.totals.overlongLines;
    totals.cutBytes += now.cutBytes - before.totals.cutBytes;
    for (const [name, { lines, records }] of now.profiles) {
      const sum = totals.profiles.get(name) ?? { lines: 0, records: 0 };
      const known = before.totals.profiles.get(name);
      sum.lines += lines - (known?.lines ?? 0);
      sum.records += records - (known?.records ?? 0);
      totals.profiles.set(name, sum);
    }
    this.#added.set(pipeline, { version: pipeline.version, totals: now });
  }
}
