import { type BigIntStats, fstatSync, readSync } from "node:fs";
import { endOfHole, firstNonZero } from "./hole.ts";
import type { OpenFile } from "./open-files.ts";
import type { RawPath } from "./raw-path.ts";
import { count, type FilePosition, HEAD_BYTES, MARKER_BYTES, positionKey, type SourceStats } from "./source.ts";
import { type FinishedContent, Trail } from "./trail.ts";

const EMPTY = Buffer.alloc(0);
/** A run of NULs of at least this length is passed over without reading all of it. */
const HOLE_BYTES = 64 * 1024;

/** What a generation needs of the tailer it belongs to. */
export interface GenerationContext {
  readonly stats: SourceStats;
  /** Shared by all files: its content is meaningless between two calls. */
  readonly buffer: Buffer;
  /** Offset from which the sink needs this file again after a crash; undefined when it holds nothing of it. */
  readonly heldOffset: (file: FileGeneration) => number | undefined;
  /** These bytes come next in the stream. */
  readonly push: (file: FileGeneration, bytes: Buffer, offset: number, readMs: number) => void;
  readonly endLine: () => void;
  /** The content changed under the same inode: arranges that the unread rest is read from a copy. @returns The bytes it holds of it. */
  readonly recover: (file: FileGeneration, finished: FinishedContent) => number;
  /** The position changed. */
  readonly moved: (file: FileGeneration) => void;
}

/**
 * One inode that is being read; every step is synchronous. Its committed offset stays at a line start: a line without its
 * newline is left in the file until it is whole.
 */
export class FileGeneration {
  readonly path: RawPath;
  /** Where the file really is, when `path` is a link. */
  readonly realPath: RawPath;
  /** Wall time at which the name was last seen to lead here. */
  lookedMs: number;
  readonly device: string;
  readonly inode: string;
  readonly bornMs: number;
  readonly file: OpenFile;
  /** Tailer time of the last growth, or of the rename; milliseconds. */
  grewMs: number;
  /** Whether its first bytes were looked at: they may be those of a copy. */
  judged: boolean;
  /** While it is not judged: its size, and that of the file it may be a copy of when it was first seen. */
  suspected: { size: number; readonly sourceBytes: number } | undefined = undefined;
  /** Size at the last look. */
  size = 0;
  /** The last look at the name showed that there is nothing to read. */
  nothingNew = false;
  /** Tailer time from which to look again whether anyone still writes it. */
  writerDueMs = 0;
  /** Names that lead to it, at the last look. */
  links = 1;
  readonly #context: GenerationContext;
  readonly #ids: { readonly device: bigint; readonly inode: bigint };
  readonly #trail = new Trail();
  #offset = 0;
  #mtimeNs = -1n;
  #marker: Buffer = EMPTY;
  #head: Buffer = EMPTY;
  /** A line longer than the read buffer is passing: where it began. A restart reads it again from there. */
  #longLine: { readonly offset: number; readonly marker: Buffer } | undefined = undefined;
  /** Bytes after the offset that are no whole line yet. */
  #partialBytes = 0;

  constructor(options: {
    path: RawPath;
    realPath: RawPath;
    lookedMs: number;
    file: OpenFile;
    stat: BigIntStats;
    nowMs: number;
    context: GenerationContext;
    judged: boolean;
    /** Where an earlier run stood in this file. */
    resume?: FilePosition | undefined;
  }) {
    const { stat, resume } = options;
    this.path = options.path;
    this.realPath = options.realPath;
    this.lookedMs = options.lookedMs;
    this.device = String(stat.dev);
    this.inode = String(stat.ino);
    this.bornMs = Number(stat.birthtimeNs) / 1e6;
    this.file = options.file;
    this.grewMs = options.nowMs;
    this.judged = options.judged;
    this.#context = options.context;
    this.#ids = { device: stat.dev, inode: stat.ino };
    // an empty file has nothing that could be replaced
    if (stat.size === 0n) this.#mtimeNs = stat.mtimeNs;
    if (resume !== undefined) {
      this.#offset = resume.offset;
      this.#head = resume.head;
      this.#marker = resume.marker;
      this.size = Math.max(resume.size, resume.offset);
    }
  }

  get key(): string {
    return positionKey(this);
  }

  isAt({ dev, ino }: BigIntStats): boolean {
    return ino === this.#ids.inode && dev === this.#ids.device;
  }

  /** True when the file looks as it did when it had been read to its end. */
  isAsLeft({ size, mtimeNs }: BigIntStats): boolean {
    return mtimeNs === this.#mtimeNs && Number(size) === this.size && (this.#offset === this.size || this.#atPartial);
  }

  get offset(): number {
    return this.#offset;
  }

  get head(): Buffer {
    return this.#head;
  }

  /** Whole lines and pieces of them that are known and not read. */
  get lagBytes(): number {
    return this.#atPartial ? 0 : Math.max(0, this.size - this.#offset);
  }

  /** Bytes of a last line without its end. */
  get partialBytes(): number {
    return this.#atPartial ? this.#partialBytes : 0;
  }

  /** A line longer than the buffer is passing: no other file may write to the sink. */
  get insideLine(): boolean {
    return this.#longLine !== undefined;
  }

  get #atPartial(): boolean {
    return this.#partialBytes > 0 && this.#offset + this.#partialBytes === this.size;
  }

  /** What was read so far, to recognise a copy by. */
  content(): FinishedContent {
    return { position: this.#exactPosition(), trail: this.#trail };
  }

  position(): FilePosition {
    const exact = this.#exactPosition();
    if (this.#longLine !== undefined) return { ...exact, ...this.#longLine };
    const held = this.#context.heldOffset(this);
    if (held === undefined || held >= exact.offset || !this.file.isOpen) return exact;
    const marker = Math.min(MARKER_BYTES, held);
    return { ...exact, offset: held, marker: readAt(this.file.open(), held - marker, marker) };
  }

  #exactPosition(): FilePosition {
    const { path, realPath, lookedMs, device, inode, bornMs, size } = this;
    const place = { offset: this.#offset, head: this.#head, marker: this.#marker };
    return { path, ...(realPath === path ? {} : { realPath }), lookedMs, device, inode, bornMs, size, ...place };
  }

  /** Starts at the last line end before the present end of the file, reading nothing. @returns The bytes skipped. */
  skipToEnd(): number {
    const fd = this.file.open();
    const size = Number(fstatSync(fd, { bigint: true }).size);
    const { buffer } = this.#context;
    let end = size;
    for (let at = size; at > 0; ) {
      const from = Math.max(0, at - buffer.length);
      const read = readSync(fd, buffer, 0, at - from, from);
      const newline = buffer.subarray(0, read).lastIndexOf(10);
      if (newline >= 0) {
        end = from + newline + 1;
        break;
      }
      // one line longer than that: it is under way, and begins nowhere near
      if (size - from > 16 * buffer.length) break;
      at = from;
      if (from === 0) end = 0;
    }
    this.moveTo(end);
    this.size = size;
    return end;
  }

  /** Goes on at `offset` of what the file holds now, without delivering what is before. */
  moveTo(offset: number): void {
    const fd = this.file.open();
    this.#offset = offset;
    this.#head = readAt(fd, 0, Math.min(HEAD_BYTES, offset));
    const marker = Math.min(MARKER_BYTES, offset);
    this.#marker = readAt(fd, offset - marker, marker);
    this.#partialBytes = 0;
    this.#context.moved(this);
  }

  /**
   * Reads what has come, up to `turnBytes`, and pushes whole lines.
   *
   * @returns True when more is waiting.
   * @throws The file system's error; nothing was pushed twice.
   */
  read(turnBytes: number, nowMs: number, readMs: number): boolean {
    const fd = this.file.open();
    const stat = fstatSync(fd, { bigint: true });
    const size = Number(stat.size);
    this.links = Number(stat.nlink);
    const changed = size !== this.size || stat.mtimeNs !== this.#mtimeNs;
    if (!changed && (this.#offset === size || this.#atPartial)) return false;
    if (size < this.#offset) return this.#restart(fd, size);
    if (changed && !this.#markerHolds(fd)) return this.#restart(fd, size);
    if (size > this.size) this.grewMs = nowMs;
    if (size !== this.size) this.#context.moved(this);
    this.size = size;
    this.#mtimeNs = stat.mtimeNs;
    return this.#readOn(fd, stat, turnBytes, readMs);
  }

  #readOn(fd: number, stat: BigIntStats, turnBytes: number, readMs: number): boolean {
    const { buffer, stats } = this.#context;
    const { size } = this;
    let left = turnBytes;
    while (left > 0 && this.#offset < size) {
      // the marker is read with the data, so that a truncation between the look and the read cannot pass
      const lead = this.#marker.length;
      const wanted = Math.min(buffer.length, lead + size - this.#offset);
      const read = readSync(fd, buffer, 0, wanted, this.#offset - lead);
      if (read < lead || !buffer.subarray(0, lead).equals(this.#marker)) return this.#restart(fd, size);
      if (read === lead) break;
      const now = Number(fstatSync(fd, { bigint: true }).size);
      if (now < this.#offset + read - lead) return this.#restart(fd, Math.max(size, this.size));
      const data = buffer.subarray(lead, read);
      if (
        data[0] === 0 &&
        this.#longLine === undefined &&
        data.length >= HOLE_BYTES &&
        firstNonZero(data, data.length) < 0
      ) {
        const end = endOfHole(fd, this.#offset, size, Number(stat.blocks) * 512, Buffer.allocUnsafe(HOLE_BYTES));
        if (end === undefined) return this.#wait(size);
        count(stats.skippedBytes, "hole", end - this.#offset);
        this.moveTo(end);
        continue;
      }
      const taken = this.#take(data, read === buffer.length, readMs);
      if (taken === 0) return this.#wait(size);
      stats.readBytes += taken;
      left -= taken;
    }
    this.#partialBytes = 0;
    return this.#offset < size;
  }

  #wait(size: number): false {
    this.#partialBytes = size - this.#offset;
    return false;
  }

  /** Delivers an unterminated rest as a line: nobody will end it. */
  deliverRest(readMs: number): void {
    if (this.#longLine !== undefined) {
      this.#context.endLine();
      this.#longLine = undefined;
      this.#context.moved(this);
    }
    if (!this.#atPartial) return;
    const rest = readAt(this.file.open(), this.#offset, this.#partialBytes);
    this.#partialBytes = 0;
    if (rest.length === 0 || firstNonZero(rest, rest.length) < 0) return;
    this.#push(rest, readMs);
    this.#context.stats.readBytes += rest.length;
    this.#context.endLine();
  }

  /** Pushes the whole lines of `bytes`, or all of it when one line fills the buffer. @returns The bytes taken. */
  #take(bytes: Buffer, full: boolean, readMs: number): number {
    const newline = bytes.lastIndexOf(10);
    // the rest of a long line is taken as it comes, so that it is never held
    if (newline < 0 && !full && this.#longLine === undefined) return 0;
    const taken = newline < 0 ? bytes.length : Math.min(bytes.length, newline + this.#newlineBytes(bytes));
    if (newline < 0) this.#longLine ??= { offset: this.#offset, marker: this.#marker };
    else this.#longLine = undefined;
    this.#push(bytes.subarray(0, taken), readMs);
    return taken;
  }

  /** A newline of UTF-16 with the low byte first goes on for one byte. What is cut wrongly the sink holds. */
  #newlineBytes(bytes: Buffer): number {
    const head = this.#offset === 0 ? bytes : this.#head;
    return head[0] === 0xff && head[1] === 0xfe ? 2 : 1;
  }

  #push(bytes: Buffer, readMs: number): void {
    if (this.#offset === this.#head.length && this.#head.length < HEAD_BYTES) {
      this.#head = Buffer.concat([this.#head, bytes.subarray(0, HEAD_BYTES - this.#head.length)]);
    }
    this.#trail.add(this.#offset, this.#marker);
    this.#marker =
      bytes.length >= MARKER_BYTES
        ? Buffer.from(bytes.subarray(bytes.length - MARKER_BYTES))
        : Buffer.concat([this.#marker, bytes]).subarray(-MARKER_BYTES);
    const offset = this.#offset;
    this.#offset += bytes.length;
    this.#context.push(this, bytes, offset, readMs);
    this.#context.moved(this);
  }

  /** False when the bytes before the offset are no longer those that were read: truncated and written anew, however long it is now. */
  #markerHolds(fd: number): boolean {
    const { length } = this.#marker;
    return length === 0 || readAt(fd, this.#offset - length, length).equals(this.#marker);
  }

  /** Other content under the same inode: the unread rest is looked for in a copy, then reading starts over. */
  #restart(fd: number, size: number): boolean {
    const { stats } = this.#context;
    if (this.#cutWithinHead(fd, size)) return size > this.#offset;
    const lost = this.size - this.#offset;
    const finished = { position: this.#exactPosition(), trail: this.#trail.taken() };
    const recovered = this.#context.recover(this, finished);
    count(stats.lostBytes, "truncated", lost - recovered);
    if (this.#longLine !== undefined) this.#context.endLine();
    this.#longLine = undefined;
    this.#offset = 0;
    this.size = 0;
    this.#mtimeNs = -1n;
    this.#partialBytes = 0;
    this.#marker = EMPTY;
    this.#head = EMPTY;
    this.#context.moved(this);
    return true;
  }

  /**
   * The file was cut back to a part of its first bytes, in the middle of a line: what follows is read from there. A cut at a
   * line end looks like the same banner written again, and is read as that.
   */
  #cutWithinHead(fd: number, size: number): boolean {
    if (size === 0 || size >= Math.min(this.#offset, this.#head.length)) return false;
    const now = readAt(fd, 0, size);
    if (now.length < size || now.at(-1) === 10 || !now.equals(this.#head.subarray(0, size))) return false;
    this.#context.stats.truncations++;
    count(this.#context.stats.lostBytes, "truncated", this.size - this.#offset);
    this.#trail.clear();
    this.#longLine = undefined;
    this.moveTo(size);
    this.size = size;
    return true;
  }
}

function readAt(fd: number, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  const read = length === 0 ? 0 : readSync(fd, bytes, 0, length, at);
  return bytes.subarray(0, read);
}
