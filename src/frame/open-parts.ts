import { lastFrame } from "./line-trim.ts";

/** Memory of a line whose end has not come; structured-cloneable. */
export interface OpenPart {
  /** The bytes joined so far are the first `length` of these. */
  bytes: Uint8Array;
  length: number;
  /** What the first part said. */
  timeMs: number;
  origin: string | undefined;
  /** Nesting of wrappers that carried it. */
  nest: number;
  /** Bytes beyond the limit, not kept. */
  cutBytes: number;
  /** A part was cut before it came here. */
  cut: boolean;
  /** Wall time of the last part; NaN after a restart, which starts the wait anew. */
  readMs: number;
}

/** A stream rarely has more than two (stdout and stderr); a journal has some for each container. */
const MAX_OPEN = 64;
/** A killed process leaves a part without its end: containerd#4813. */
const MAX_WAIT_MS = 10_000;
const CR = 13;

/** Lines that a runtime cut in parts, joined by bytes: a character may be cut in two. */
export class OpenParts {
  #open = new Map<string, OpenPart>();
  readonly #maxBytes: number;

  constructor(options: { maxBytes: number }) {
    this.#maxBytes = options.maxBytes;
  }

  get size(): number {
    return this.#open.size;
  }

  /** @returns The part that had to make room, the oldest, if there are too many. */
  add(key: string, piece: Uint8Array, about: Omit<OpenPart, "bytes" | "length" | "cutBytes">): OpenPart | undefined {
    let part = this.#open.get(key);
    let oldest: OpenPart | undefined;
    if (part === undefined) {
      if (this.#open.size >= MAX_OPEN) oldest = this.#takeOldest();
      part = { ...about, bytes: new Uint8Array(0), length: 0, cutBytes: 0 };
      this.#open.set(key, part);
    }
    part.readMs = about.readMs;
    if (about.cut) part.cut = true;
    append(part, piece, this.#maxBytes);
    return oldest;
  }

  /** The part of `key` with its last piece. */
  finish(key: string, piece: Uint8Array, cut: boolean): OpenPart | undefined {
    const part = this.#open.get(key);
    if (part === undefined) return undefined;
    this.#open.delete(key);
    if (cut) part.cut = true;
    append(part, piece, this.#maxBytes);
    return part;
  }

  /** Parts whose end has not come within ten seconds of the last one; all of them at the end. */
  *expired(nowMs: number): Iterable<OpenPart> {
    for (const [key, part] of this.#open) {
      // after a restart, or when the clock was set back, the wait begins now
      if (!(part.readMs <= nowMs)) part.readMs = nowMs;
      if (nowMs - part.readMs < MAX_WAIT_MS) continue;
      this.#open.delete(key);
      yield part;
    }
  }

  *all(): Iterable<OpenPart> {
    const parts = [...this.#open.values()];
    this.#open.clear();
    yield* parts;
  }

  get state(): Map<string, OpenPart> {
    return this.#open;
  }

  set state(state: Map<string, OpenPart>) {
    this.#open = new Map([...state].map(([key, part]) => [key, { ...part, readMs: Number.NaN }]));
  }

  #takeOldest(): OpenPart | undefined {
    const oldest = this.#open.entries().next().value;
    if (oldest !== undefined) this.#open.delete(oldest[0]);
    return oldest?.[1];
  }
}

function append(part: OpenPart, piece: Uint8Array, maxBytes: number): void {
  let from = 0;
  if (part.length > 0 && part.bytes[0] === CR) {
    // a progress bar: what the new piece draws over is gone, so that a bar may run for ever
    from = lastFrame(Buffer.from(piece.buffer, piece.byteOffset, piece.length), 0, piece.length);
    if (from > 0) {
      part.length = 1;
      part.cutBytes = 0;
    }
  }
  const kept = Math.max(0, Math.min(piece.length - from, maxBytes - part.length));
  part.cutBytes += piece.length - from - kept;
  if (kept === 0) return;
  if (part.length + kept > part.bytes.length) {
    const grown = new Uint8Array(Math.min(Math.max(part.length + kept, part.bytes.length * 2), maxBytes));
    grown.set(part.bytes.subarray(0, part.length));
    part.bytes = grown;
  }
  part.bytes.set(piece.subarray(from, from + kept), part.length);
  part.length += kept;
}
