import type { Source } from "../source/source.ts";

/** Above this the daemon says that it is not ready: what it shows is old. */
const LAG_LIMIT_SECONDS = 120;

/** How long each source has been behind its files. */
export class Lag {
  /** Wall time at which a source had last read everything. */
  readonly #evenMs = new Map<Source, number>();

  /** Call after each pass. */
  passed(source: Source, more: boolean, nowMs: number): void {
    if (!more || !this.#evenMs.has(source)) this.#evenMs.set(source, nowMs);
  }

  seconds(source: Source, nowMs: number): number {
    if (source.lagBytes === 0) return 0;
    return Math.max(0, nowMs - (this.#evenMs.get(source) ?? nowMs)) / 1000;
  }

  /** Why the sources are not ready, or undefined. */
  notReady(sources: readonly Source[], nowMs: number): string | undefined {
    const reading = sources.find((source) => !source.caughtUp);
    if (reading !== undefined) return `still reading what was there at the start (${reading.name})`;
    const unreadable = sources.find((source) => source.unreadable > 0);
    if (unreadable !== undefined) return `${unreadable.unreadable} files cannot be read (${unreadable.name})`;
    const late = sources.find((source) => this.seconds(source, nowMs) > LAG_LIMIT_SECONDS);
    if (late !== undefined)
      return `${late.lagBytes} bytes behind for ${Math.round(this.seconds(late, nowMs))} s (${late.name})`;
    return undefined;
  }
}
