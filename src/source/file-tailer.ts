import { constants } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { FileGeneration } from "./file-generation.ts";
import { holds, openCopy, siblings } from "./file-identity.ts";
import { expandGlobs } from "./globs.ts";
import type { FilePosition, OpenSink, Source, SourceErrorReason, SourceStats, StreamSink } from "./source.ts";

/** Bytes read of one file before the others have their turn. */
const TURN_BYTES = 4 * 1024 * 1024;
/** A renamed or deleted file is read on until it has not grown for this long: late writers keep the old inode open. */
const ROTATED_WAIT_MS = 60_000;
/** An unterminated last line of a renamed or deleted file is delivered after this long without growth. */
const LAST_LINE_WAIT_MS = 5_000;
/** Pause between two expansions of the patterns. */
const SCAN_EVERY_MS = 1_000;

export interface FileTailerOptions {
  /** Paths or glob patterns. */
  readonly patterns: readonly string[];
  readonly exclude?: readonly string[];
  /** Where files that exist at the start are read from; files found later are always read from their beginning. */
  readonly startAt: "beginning" | "end";
  readonly labels: Readonly<Record<string, string>>;
  readonly profile: string;
  readonly openSink: OpenSink;
  /** Positions of an earlier run; undefined when there was none, so that `startAt` decides. */
  readonly resume?: readonly FilePosition[];
  /** Told once a kind of fault and path, in words for the log. */
  readonly onFault?: (message: string, fields: Record<string, unknown>) => void;
}

/** A path that is followed: its present file, and earlier files under that name that may still grow. */
interface FollowedPath {
  readonly path: string;
  readonly sink: StreamSink;
  live: FileGeneration | undefined;
  readonly rotated: FileGeneration[];
}

/**
 * Follows files by name through rotation: by rename (the old inode is read on), by copytruncate (the marker before the
 * offset tells), by deletion and re-creation. An inode is read once, whatever names lead to it.
 */
export class FileTailer implements Source {
  readonly stats: SourceStats = {
    readBytes: 0,
    rotations: 0,
    truncations: 0,
    skippedBytes: 0,
    lostBytes: new Map(),
    errors: new Map(),
  };
  caughtUp = false;
  readonly #options: FileTailerOptions;
  readonly #paths = new Map<string, FollowedPath>();
  /** Readers by `device:inode`. */
  readonly #inodes = new Map<string, FileGeneration>();
  readonly #buffer = Buffer.allocUnsafe(1024 * 1024);
  readonly #reported = new Set<string>();
  #scannedMs = Number.NEGATIVE_INFINITY;
  /** Copies whose content was read as the rest of a truncated file: under the pattern they are no new files. */
  readonly #copies = new Set<string>();
  /** Positions of an earlier run that no file has taken up yet. */
  readonly #resume: Map<string, FilePosition>;
  #firstScan = true;

  constructor(options: FileTailerOptions) {
    this.#options = options;
    this.#resume = new Map(
      (options.resume ?? []).map((position) => [`${position.device}:${position.inode}`, position]),
    );
  }

  get fileCount(): number {
    return this.#inodes.size;
  }

  get lagBytes(): number {
    let lag = 0;
    for (const file of this.#inodes.values()) lag += file.lagBytes;
    return lag;
  }

  positions(): readonly FilePosition[] {
    return [...this.#inodes.values()].map((file) => file.position());
  }

  async poll(nowMs: number): Promise<boolean> {
    if (nowMs - this.#scannedMs >= SCAN_EVERY_MS || nowMs < this.#scannedMs) {
      this.#scannedMs = nowMs;
      await this.#scan(nowMs);
    }
    let more = false;
    for (const followed of this.#paths.values()) {
      for (const file of followed.rotated.toReversed()) {
        more = (await this.#read(file, followed, nowMs)) || more;
        if (file.lagBytes > 0) continue;
        const quietMs = nowMs - file.grewMs;
        if (quietMs >= LAST_LINE_WAIT_MS) await file.deliverRest(followed.sink, this.#buffer, this.stats, nowMs);
        if (quietMs >= ROTATED_WAIT_MS) await this.#drop(file, followed);
      }
      if (followed.live !== undefined) more = (await this.#read(followed.live, followed, nowMs)) || more;
      followed.sink.flush(nowMs);
    }
    if (!more) this.caughtUp = true;
    return more;
  }

  async close(): Promise<void> {
    for (const file of this.#inodes.values()) await file.close();
    this.#inodes.clear();
    this.#paths.clear();
  }

  async #scan(nowMs: number): Promise<void> {
    const { patterns, exclude = [] } = this.#options;
    const found = await expandGlobs(patterns, exclude, (path, error) => this.#fault(path, error));
    for (const path of found) await this.#checkPath(path, nowMs);
    if (this.#firstScan) await this.#resumeRotated(nowMs);
    for (const followed of this.#paths.values()) {
      if (followed.live !== undefined && !found.has(followed.path)) this.#retire(followed, nowMs);
    }
    this.#firstScan = false;
  }

  async #checkPath(path: string, nowMs: number): Promise<void> {
    let handle: FileHandle | undefined;
    try {
      const seen = await stat(path, { bigint: true });
      if (!seen.isFile()) return;
      const key = `${seen.dev}:${seen.ino}`;
      const followed = this.#paths.get(path);
      if (followed?.live?.key === key) return;
      if (this.#copies.has(key)) return;
      if (this.#inodes.has(key)) {
        if (followed !== undefined) this.#retire(followed, nowMs);
        return;
      }
      handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
      const file = await this.#generation(path, handle, nowMs);
      if (this.#inodes.has(file.key)) return await file.close();
      handle = undefined;
      if (followed !== undefined) await this.#replaced(followed, nowMs);
      else if (this.#firstScan && this.#options.startAt === "end" && this.#options.resume === undefined)
        await file.skipToEnd(this.stats);
      this.#inodes.set(file.key, file);
      this.#follow(path).live = file;
      this.#reported.delete(path);
    } catch (error) {
      await handle?.close();
      const followed = this.#paths.get(path);
      if (followed !== undefined && (error as NodeJS.ErrnoException).code === "ENOENT") this.#retire(followed, nowMs);
      this.#fault(path, error);
    }
  }

  /** A reader of an opened file, at the position of an earlier run if it is the same file. */
  async #generation(path: string, handle: FileHandle, nowMs: number): Promise<FileGeneration> {
    const opened = await handle.stat({ bigint: true });
    const device = String(opened.dev);
    const inode = String(opened.ino);
    const findCopy = async (position: FilePosition): Promise<FileHandle | undefined> => {
      const copy = await openCopy(position);
      if (copy === undefined || this.#inodes.has(copy.key)) {
        await copy?.handle.close();
        return undefined;
      }
      if (this.#copies.size < 10_000) this.#copies.add(copy.key);
      return copy.handle;
    };
    const common = { path, handle, device, inode, nowMs, bornMs: Number(opened.birthtimeMs), findCopy };
    const known = this.#takeResume(device, inode, path);
    if (known === undefined) return new FileGeneration(common);
    // a file that was truncated while we were down finds out by its marker at the first read
    return new FileGeneration({ ...common, resume: { ...known, path, device, inode } });
  }

  /** The saved position of this inode; after a reboot device numbers differ, so the path stands in for the device. */
  #takeResume(device: string, inode: string, path: string): FilePosition | undefined {
    const exact = this.#resume.get(`${device}:${inode}`);
    const found =
      exact ?? [...this.#resume.values()].find((position) => position.inode === inode && position.path === path);
    if (found !== undefined) this.#resume.delete(`${found.device}:${found.inode}`);
    return found;
  }

  /** Files that were rotated away while no daemon ran: found again by inode beside their old name, and read to their end. */
  async #resumeRotated(nowMs: number): Promise<void> {
    for (const position of [...this.#resume.values()]) {
      const moved = (await siblings(position.path)).find(
        ({ inode, device }) => inode === position.inode && device === position.device,
      );
      if (moved === undefined) continue;
      await this.#openRotated(moved.path, position.path, nowMs, position);
      this.#resume.delete(`${position.device}:${position.inode}`);
    }
  }

  async #openRotated(name: string, path: string, nowMs: number, resume?: FilePosition): Promise<void> {
    try {
      const handle = await open(name, constants.O_RDONLY | constants.O_NONBLOCK);
      if (resume !== undefined && !(await holds(handle, resume))) return await handle.close();
      const file = await this.#generation(path, handle, nowMs);
      if (this.#inodes.has(file.key)) return await file.close();
      this.#inodes.set(file.key, file);
      this.#follow(path).rotated.push(file);
    } catch (error) {
      this.#fault(name, error);
    }
  }

  /** The name belongs to a new file: the old one is read on, and so is any that came and went in between. */
  async #replaced(followed: FollowedPath, nowMs: number): Promise<void> {
    const old = followed.live;
    this.#retire(followed, nowMs);
    if (old === undefined) return;
    const between = (await siblings(followed.path)).filter(
      ({ device, inode, bornMs }) =>
        bornMs > old.bornMs && !this.#inodes.has(`${device}:${inode}`) && !this.#copies.has(`${device}:${inode}`),
    );
    for (const { path } of between.toSorted((a, b) => a.bornMs - b.bornMs))
      await this.#openRotated(path, followed.path, nowMs);
  }

  #follow(path: string): FollowedPath {
    let followed = this.#paths.get(path);
    if (followed === undefined) {
      const { labels, profile, openSink } = this.#options;
      followed = { path, sink: openSink({ name: path, labels, profile }), live: undefined, rotated: [] };
      this.#paths.set(path, followed);
    }
    return followed;
  }

  /** The name has passed to another file, or is gone: the old one is read on. */
  #retire(followed: FollowedPath, nowMs: number): void {
    if (followed.live === undefined) return;
    this.stats.rotations++;
    followed.live.grewMs = nowMs;
    followed.rotated.push(followed.live);
    followed.live = undefined;
  }

  async #drop(file: FileGeneration, followed: FollowedPath): Promise<void> {
    followed.rotated.splice(followed.rotated.indexOf(file), 1);
    this.#inodes.delete(file.key);
    await file.close();
  }

  async #read(file: FileGeneration, followed: FollowedPath, nowMs: number): Promise<boolean> {
    try {
      return await file.read(followed.sink, this.#buffer, TURN_BYTES, this.stats, nowMs);
    } catch (error) {
      this.#fault(file.path, error);
      return false;
    }
  }

  #fault(path: string, error: unknown): void {
    const code = (error as NodeJS.ErrnoException).code ?? "EIO";
    const reason = REASONS[code] ?? "io";
    if (reason === "not-found") return;
    this.stats.errors.set(reason, (this.stats.errors.get(reason) ?? 0) + 1);
    if (this.#reported.has(path)) return;
    if (this.#reported.size < 10_000) this.#reported.add(path);
    this.#options.onFault?.("Cannot read a log file; it is tried again", { path, reason, code });
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
