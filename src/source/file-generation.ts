import type { FileHandle } from "node:fs/promises";
import { type FilePosition, HEAD_BYTES, MARKER_BYTES, type SourceStats, type StreamSink } from "./source.ts";

/** One inode that is being read. Its offset stays at a line start: a line without its newline is left in the file until it is whole. */
export class FileGeneration {
  readonly path: string;
  readonly device: string;
  readonly inode: string;
  readonly bornMs: number;
  /** Wall time of the last growth, or of the rename; milliseconds. */
  grewMs: number;
  readonly #handle: FileHandle;
  readonly #findCopy: ((position: FilePosition) => Promise<FileHandle | undefined>) | undefined;
  #offset = 0;
  /** Size at the last look. */
  #size = 0;
  #mtimeMs = Number.NaN;
  #marker: Buffer = Buffer.alloc(0);
  #head: Buffer = Buffer.alloc(0);
  /** A line longer than the read buffer is passing: the offset stands inside it. */
  #insideLine = false;
  #closed = false;

  constructor(options: {
    path: string;
    handle: FileHandle;
    device: string;
    inode: string;
    nowMs: number;
    /** When the file came to be, milliseconds since the epoch. */
    bornMs: number;
    /** Where an earlier run stood in this file; its head and marker were found to match. */
    resume?: FilePosition;
    /** Finds the copy that a copytruncate left, to read what was not read before the truncation. */
    findCopy?: (position: FilePosition) => Promise<FileHandle | undefined>;
  }) {
    this.path = options.path;
    this.device = options.device;
    this.inode = options.inode;
    this.bornMs = options.bornMs;
    this.grewMs = options.nowMs;
    this.#handle = options.handle;
    this.#findCopy = options.findCopy;
    if (options.resume !== undefined) {
      this.#offset = options.resume.offset;
      this.#head = options.resume.head;
      this.#marker = options.resume.marker;
    }
  }

  get key(): string {
    return `${this.device}:${this.inode}`;
  }

  get lagBytes(): number {
    return Math.max(0, this.#size - this.#offset - (this.#partial ? this.#partialBytes : 0));
  }

  /** Bytes after the offset that are no whole line yet. */
  #partialBytes = 0;
  get #partial(): boolean {
    return this.#partialBytes > 0 && this.#offset + this.#partialBytes === this.#size;
  }

  position(): FilePosition {
    const { path, device, inode } = this;
    return { path, device, inode, head: this.#head, offset: this.#offset, marker: this.#marker };
  }

  /** Starts at the last line end before the present end of the file. */
  async skipToEnd(stats: SourceStats): Promise<void> {
    const { size } = await this.#handle.stat();
    let end = size;
    const window = Buffer.allocUnsafe(64 * 1024);
    let at = size;
    while (at > 0) {
      const from = Math.max(0, at - window.length);
      const { bytesRead } = await this.#handle.read(window, 0, at - from, from);
      const newline = window.subarray(0, bytesRead).lastIndexOf(10);
      if (newline >= 0) {
        end = from + newline + 1;
        break;
      }
      at = from;
      if (from === 0) end = 0;
    }
    this.#offset = end;
    this.#size = end;
    stats.skippedBytes += end;
    await this.#remember(end);
  }

  /**
   * Reads what has come, up to `turnBytes`, and pushes whole lines.
   *
   * @returns True when more is waiting.
   */
  async read(sink: StreamSink, buffer: Buffer, turnBytes: number, stats: SourceStats, nowMs: number): Promise<boolean> {
    const { size, mtimeMs } = await this.#handle.stat();
    if (size === this.#size && mtimeMs === this.#mtimeMs && (this.#offset === size || this.#partial)) return false;
    if (size < this.#offset || (await this.#rewritten(size, mtimeMs))) await this.#restart(sink, buffer, stats, nowMs);
    if (size > this.#size) this.grewMs = nowMs;
    this.#size = size;
    this.#mtimeMs = mtimeMs;
    let left = turnBytes;
    while (left > 0 && this.#offset < size) {
      const { bytesRead } = await this.#handle.read(
        buffer,
        0,
        Math.min(buffer.length, size - this.#offset),
        this.#offset,
      );
      if (bytesRead === 0) break;
      const taken = this.#take(sink, buffer.subarray(0, bytesRead), bytesRead === buffer.length, nowMs);
      stats.readBytes += taken;
      left -= taken;
      if (taken === 0) {
        this.#partialBytes = size - this.#offset;
        return false;
      }
    }
    this.#partialBytes = 0;
    return this.#offset < size;
  }

  /** Delivers an unterminated rest as a line: nobody will end it. */
  async deliverRest(sink: StreamSink, buffer: Buffer, stats: SourceStats, nowMs: number): Promise<void> {
    if (this.#insideLine) {
      this.#insideLine = false;
      sink.endLine();
    }
    if (this.#partialBytes === 0) return;
    const { bytesRead } = await this.#handle.read(buffer, 0, this.#partialBytes, this.#offset);
    this.#partialBytes = 0;
    if (bytesRead === 0) return;
    this.#push(sink, buffer.subarray(0, bytesRead), nowMs);
    stats.readBytes += bytesRead;
    sink.endLine();
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#handle.close();
  }

  /** Pushes the whole lines of `bytes`, or all of it when one line fills the buffer. @returns The bytes taken. */
  #take(sink: StreamSink, bytes: Buffer, full: boolean, nowMs: number): number {
    const newline = bytes.lastIndexOf(10);
    if (newline < 0 && !full) return 0;
    this.#insideLine = newline < 0;
    const taken = newline < 0 ? bytes.length : newline + 1;
    this.#push(sink, bytes.subarray(0, taken), nowMs);
    return taken;
  }

  #push(sink: StreamSink, bytes: Buffer, nowMs: number): void {
    if (this.#offset === this.#head.length && this.#head.length < HEAD_BYTES) {
      this.#head = Buffer.concat([this.#head, bytes.subarray(0, HEAD_BYTES - this.#head.length)]);
    }
    const known = this.#offset === 0 ? Buffer.alloc(0) : this.#marker;
    this.#marker =
      bytes.length >= MARKER_BYTES
        ? Buffer.from(bytes.subarray(bytes.length - MARKER_BYTES))
        : Buffer.concat([known, bytes]).subarray(-MARKER_BYTES);
    const offset = this.#offset;
    this.#offset += bytes.length;
    sink.push(bytes, offset, nowMs);
  }

  /** True when the bytes before the offset are no longer those that were read: truncated and written anew, however long it is now. */
  async #rewritten(size: number, mtimeMs: number): Promise<boolean> {
    if (this.#marker.length === 0 || (size === this.#size && mtimeMs === this.#mtimeMs)) return false;
    const now = Buffer.allocUnsafe(this.#marker.length);
    const { bytesRead } = await this.#handle.read(now, 0, now.length, this.#offset - now.length);
    return !now.subarray(0, bytesRead).equals(this.#marker);
  }

  /** Other content under the same inode: the unread rest is looked for in a copy, then reading starts over. */
  async #restart(sink: StreamSink, buffer: Buffer, stats: SourceStats, nowMs: number): Promise<void> {
    stats.truncations++;
    const lost = this.#size - this.#offset;
    const copy = await this.#findCopy?.(this.position());
    if (copy !== undefined) await this.#readRest(copy, sink, buffer, stats, nowMs);
    else if (lost > 0) stats.lostBytes.set("truncated", (stats.lostBytes.get("truncated") ?? 0) + lost);
    if (this.#insideLine) sink.endLine();
    this.#insideLine = false;
    this.#offset = 0;
    this.#size = 0;
    this.#partialBytes = 0;
    this.#marker = Buffer.alloc(0);
    this.#head = Buffer.alloc(0);
  }

  /** Reads the copy from where this file stood to its end; its last line, finished or not, is its last. */
  async #readRest(
    copy: FileHandle,
    sink: StreamSink,
    buffer: Buffer,
    stats: SourceStats,
    nowMs: number,
  ): Promise<void> {
    try {
      for (;;) {
        const { bytesRead } = await copy.read(buffer, 0, buffer.length, this.#offset);
        if (bytesRead === 0) return;
        stats.readBytes += bytesRead;
        this.#push(sink, buffer.subarray(0, bytesRead), nowMs);
        if (bytesRead < buffer.length && buffer[bytesRead - 1] !== 10) sink.endLine();
      }
    } finally {
      await copy.close();
    }
  }

  async #remember(offset: number): Promise<void> {
    const head = Buffer.alloc(Math.min(HEAD_BYTES, offset));
    await this.#handle.read(head, 0, head.length, 0);
    this.#head = head;
    const marker = Buffer.alloc(Math.min(MARKER_BYTES, offset));
    await this.#handle.read(marker, 0, marker.length, offset - marker.length);
    this.#marker = marker;
  }
}
