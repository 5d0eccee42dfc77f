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
}

/** Why a source could not do something; a metric label. */
export type SourceErrorReason = "permission" | "not-found" | "too-many-files" | "is-directory" | "io";

/** What a source tells about itself; every figure only grows, except the gauges. */
export interface SourceStats {
  readBytes: number;
  rotations: number;
  truncations: number;
  skippedBytes: number;
  /** Bytes seen by a stat, gone before they were read, by reason. */
  readonly lostBytes: Map<"truncated", number>;
  readonly errors: Map<SourceErrorReason, number>;
}

export interface Source {
  readonly stats: SourceStats;
  /** Files (or units, containers) followed now. */
  readonly fileCount: number;
  /** Bytes written and not yet read. */
  readonly lagBytes: number;
  /** True once everything that was there at the start has been read to its end. */
  readonly caughtUp: boolean;
  /**
   * One pass: finds new streams, reads what has come. Never throws for a fault of the outside world: it is counted and
   * tried again.
   *
   * @returns True when more is waiting, so that the next pass should follow at once.
   */
  poll(nowMs: number): Promise<boolean>;
  /** Positions for a commit, consistent with everything pushed so far. */
  positions(): readonly FilePosition[];
  /** Releases all files. Nothing more is delivered: an unterminated line stays for the next run. */
  close(): Promise<void>;
}

/** Which file generation has been read up to where: enough to find it again under any name. */
export interface FilePosition {
  readonly path: string;
  /** Decimal, since device and inode numbers pass 2^53 on some file systems. */
  readonly device: string;
  readonly inode: string;
  /** The first bytes of the file, up to {@link HEAD_BYTES}: tells a reused inode from the same file. */
  readonly head: Buffer;
  /** Start of the first line not yet pushed. */
  readonly offset: number;
  /** The bytes just before `offset`, up to {@link MARKER_BYTES}: tells a truncated and rewritten file from a grown one. */
  readonly marker: Buffer;
}

export const HEAD_BYTES = 256;
export const MARKER_BYTES = 64;

export type OpenSink = (stream: StreamInfo) => StreamSink;
