import { type RawPath, shownPath } from "./raw-path.ts";
import { count, type SourceErrorReason, type SourceStats } from "./source.ts";

const MAX_PATHS = 10_000;

/** Counts each fault of the outside world, and tells of it once a path until that path could be read. */
export class FaultLog {
  /** Paths that cannot be read now. */
  readonly unreadable = new Set<RawPath>();
  readonly #told = new Set<RawPath>();
  readonly #stats: SourceStats;
  readonly #onFault: ((message: string, fields: Record<string, unknown>) => void) | undefined;

  constructor(stats: SourceStats, onFault?: (message: string, fields: Record<string, unknown>) => void) {
    this.#stats = stats;
    this.#onFault = onFault;
  }

  /** Runs a step that may fail for reasons of the outside world. @returns Undefined when it did. */
  attempt<T>(path: RawPath, step: () => T): T | undefined {
    try {
      return step();
    } catch (error) {
      this.failed(path, error);
      return undefined;
    }
  }

  failed(path: RawPath, error: unknown): void {
    const { code = "EIO" } = error as NodeJS.ErrnoException;
    const reason = REASONS[code] ?? "io";
    if (reason === "not-found") return;
    count(this.#stats.errors, reason);
    if (this.unreadable.size < MAX_PATHS) this.unreadable.add(path);
    if (this.#told.has(path)) return;
    if (this.#told.size < MAX_PATHS) this.#told.add(path);
    this.#onFault?.("Cannot read a log file; it is tried again", { path: shownPath(path), reason, code });
  }

  /** The path could be read. */
  mended(path: RawPath): void {
    this.unreadable.delete(path);
    this.#told.delete(path);
  }

  /** Paths that match no more are no fault. */
  keepOnly(paths: { has(path: RawPath): boolean }): void {
    for (const path of this.unreadable) if (!paths.has(path)) this.unreadable.delete(path);
  }
}

const REASONS: Readonly<Record<string, SourceErrorReason>> = {
  EACCES: "permission",
  EPERM: "permission",
  ENOENT: "not-found",
  ENOTDIR: "not-found",
  EMFILE: "too-many-files",
  ENFILE: "too-many-files",
  EISDIR: "is-directory",
};
