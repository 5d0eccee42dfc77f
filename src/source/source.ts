import type { StreamInfo } from "../model/stream.ts";

/** Takes the bytes of one stream, synchronously: what is pushed has been counted when `push` returns. */
export interface StreamSink {
  /**
   * @param bytes Whole lines, the last newline included; only a line longer than the read buffer comes in pieces.
   * The buffer may be reused after the call.
   * @param offset Position of `bytes[0]` in the file generation it was read from.
   * @param readMs Wall time of the read.
   */
  push(bytes: Buffer, offset: number, readMs: number): void;
  /** The line pushed last will get no newline any more: deliver it as it is. */
  endLine(): void;
  /** Releases what waits too long inside the pipeline. */
  flush(nowMs: number): void;
  /** Tells how the stream begins, when reading starts behind its head (a byte order mark says how it is written). */
  beginsWith?(head: Buffer): void;
  /** Offset in the file pushed last from which it must be read again after a crash; undefined or absent when nothing is held. */
  readonly heldOffset?: number | undefined;
  /** The stream is over for good: everything held is delivered, and its memory may go. */
  end(nowMs: number): void;
}

export type OpenSink = (stream: StreamInfo) => StreamSink;

/** Why a source could not do something; a metric label. */
export type SourceErrorReason =
  | "permission"
  | "not-found"
  | "too-many-files"
  | "is-directory"
  | "watch-limit"
  | "exited"
  | "io";

/** Why bytes were never delivered; a metric label. */
export type LossReason = "truncated" | "deleted" | "overlong";

/** Why bytes were passed over on purpose; a metric label. */
export type SkipReason = "start_at" | "hole";

/** What a source tells about itself; every figure only grows. Plain data: a commit holds it. */
export interface SourceStats {
  readBytes: number;
  rotations: number;
  truncations: number;
  readonly skippedBytes: Map<SkipReason, number>;
  readonly lostBytes: Map<LossReason, number>;
  readonly errors: Map<SourceErrorReason, number>;
}

export const newSourceStats = (): SourceStats => ({
  readBytes: 0,
  rotations: 0,
  truncations: 0,
  skippedBytes: new Map(),
  lostBytes: new Map(),
  errors: new Map(),
});

/** Adds to a counter by reason. */
export function count<K>(counts: Map<K, number>, reason: K, by = 1): void {
  if (by > 0) counts.set(reason, (counts.get(reason) ?? 0) + by);
}

/** One row of a commit: undefined when it is gone. */
export type PositionChange = readonly [key: string, position: unknown];

export interface Source {
  /** Short and bounded: the `source` label of its own metrics. */
  readonly name: string;
  readonly stats: SourceStats;
  /** Files (or units, containers) followed now. */
  readonly fileCount: number;
  /** Bytes written and not yet read. */
  readonly lagBytes: number;
  /** Bytes of deleted files that are kept alive because they are still read. */
  readonly heldDeletedBytes: number;
  /** Files that match and cannot be read now. */
  readonly unreadable: number;
  /** True once everything that was there at the start has been read to its end. */
  readonly caughtUp: boolean;
  /**
   * One pass: finds new streams, reads what has come. Never throws for a fault of the outside world: it is counted and
   * tried again.
   *
   * @returns True when more is waiting, so that the next pass should follow at once.
   */
  poll(nowMs: number): Promise<boolean>;
  /** Positions that changed since the last call, consistent with everything pushed so far. */
  takeChanges(): PositionChange[];
  /** The commit failed: all positions are to be written again. */
  forgetCommit(): void;
  /** Releases all files. Nothing more is delivered: an unterminated line stays for the next run. */
  close(): Promise<void>;
}

/** Which file generation has been read up to where: enough to find it again under any name. Plain data: a commit holds it. */
export interface FilePosition {
  /** One character per byte, see `raw-path.ts`. */
  readonly path: string;
  /** Decimal, since device and inode numbers pass 2^53 on some file systems. */
  readonly device: string;
  readonly inode: string;
  /** When the file came to be, milliseconds since the epoch; 0 where the file system does not tell. Tells a reused inode. */
  readonly bornMs: number;
  /** The first bytes of the file, up to {@link HEAD_BYTES}: tells a reused inode from the same file. */
  readonly head: Buffer;
  /** Start of the first line not yet pushed. */
  readonly offset: number;
  /** The bytes just before `offset`, up to {@link MARKER_BYTES}: tells a truncated and rewritten file from a grown one. */
  readonly marker: Buffer;
  /** Size at the last look: what was there to be lost. */
  readonly size: number;
  /** Where a link led, if `path` is one. */
  readonly realPath?: string;
  /** Wall time of the last look at the name: successors and copies are younger. */
  readonly lookedMs: number;
  /** The file moved away and has fallen silent: it is looked at only if its name matches a pattern and it grows. */
  readonly parked?: boolean;
}

export const positionKey = ({ device, inode }: Pick<FilePosition, "device" | "inode">): string => `${device}:${inode}`;

export const HEAD_BYTES = 256;
export const MARKER_BYTES = 64;
