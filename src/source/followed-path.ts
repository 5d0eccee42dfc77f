import type { FileGeneration } from "./file-generation.ts";
import type { RawPath } from "./raw-path.ts";
import type { StreamSink } from "./source.ts";
import type { FinishedContent } from "./trail.ts";

/** Contents remembered that were truncated away. */
const MAX_FINISHED = 8;

/** A name that is followed: its present file, and earlier files under that name that may still grow. */
export class FollowedPath {
  readonly path: RawPath;
  live: FileGeneration | undefined = undefined;
  /** Oldest first. */
  readonly rotated: FileGeneration[] = [];
  readonly finished: FinishedContent[] = [];
  /** The file whose bytes the sink had last. */
  pushed: FileGeneration | undefined = undefined;
  /** Tailer time from which it is to be looked at again. */
  dueMs = Number.NEGATIVE_INFINITY;
  /** Something was heard of it since the last look. */
  dirty = true;
  #sink: StreamSink | undefined;
  readonly #openSink: () => StreamSink;

  constructor(path: RawPath, openSink: () => StreamSink) {
    this.path = path;
    this.#openSink = openSink;
  }

  /** Opened at the first byte: most files of a big folder never have one. */
  get sink(): StreamSink {
    return this.#sink ?? this.openSink();
  }

  openSink(): StreamSink {
    this.#sink = this.#openSink();
    return this.#sink;
  }

  get openedSink(): StreamSink | undefined {
    return this.#sink;
  }

  finish(content: FinishedContent): void {
    if (content.position.offset === 0) return;
    this.finished.push(content);
    if (this.finished.length > MAX_FINISHED) this.finished.shift();
  }

  /** All its files of this moment, oldest first. */
  generations(): FileGeneration[] {
    return this.live === undefined ? this.rotated.slice() : [...this.rotated, this.live];
  }
}
