import type { FilePosition } from "./source.ts";

/** A place of a file that was read, and the bytes just before it. */
interface Step {
  readonly offset: number;
  readonly marker: Buffer;
}

const MAX_STEPS = 16;
const MIN_APART_BYTES = 2048;

/** Where a file has been read lately: recognises a copy that was made a moment ago and ends before the present offset. */
export class Trail {
  #steps: Step[] = [];

  add(offset: number, marker: Buffer): void {
    const last = this.#steps.at(-1);
    if (last !== undefined && offset - last.offset < MIN_APART_BYTES) return;
    this.#steps.push({ offset, marker });
    if (this.#steps.length > MAX_STEPS) this.#steps.shift();
  }

  /** The last place at or before `size`. */
  before(size: number): Step | undefined {
    return this.#steps.findLast(({ offset }) => offset <= size);
  }

  clear(): void {
    this.#steps = [];
  }

  /** The steps so far, for a generation that is over. */
  taken(): Trail {
    const copy = new Trail();
    copy.#steps = this.#steps;
    this.#steps = [];
    return copy;
  }
}

/** A file's content that is gone from under its name: truncated. A copy of it is no new file. */
export interface FinishedContent {
  readonly position: FilePosition;
  readonly trail: Trail;
}
