// One class, over 300 lines: which file is whose successor or copy is decided here and nowhere else.
import { type BigIntStats, closeSync, fstatSync, readlinkSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { readArchive } from "./archive-rest.ts";
import { type CopyVerdict, judgeNewFile } from "./copy-verdict.ts";
import { FaultLog } from "./fault-log.ts";
import { FileGeneration, type GenerationContext } from "./file-generation.ts";
import {
  copiedUpTo,
  holds,
  isCompressed,
  KnownPositions,
  oneBeginsOther,
  originalNames,
  type Sibling,
  sameBirth,
  siblings,
  statOf,
  withFile,
} from "./file-identity.ts";
import { FolderScan } from "./folder-scan.ts";
import { FolderWatch, type WatchFunction } from "./folder-watch.ts";
import { FollowedPath } from "./followed-path.ts";
import { OpenFiles } from "./open-files.ts";
import { folderOf, joined, nameOf, type RawPath, shownPath } from "./raw-path.ts";
import {
  count,
  type FilePosition,
  newSourceStats,
  type OpenSink,
  type PositionChange,
  positionKey,
  type Source,
} from "./source.ts";
import { TailerTime } from "./tailer-time.ts";
import { type FinishedContent, Trail } from "./trail.ts";
import { hasWriter } from "./writer.ts";

/** Bytes read of one file before the others have their turn. */
const TURN_BYTES = 512 * 1024;
const BUFFER_BYTES = 256 * 1024;
/** Time after which a pass lets timers and scrapes have their turn. */
const SLICE_MS = 20;
/** While more is waiting, passes follow each other for this long before the caller has its turn. */
const BURST_MS = 100;
/** A renamed or deleted file is read on until it has not grown for this long: late writers keep the old inode open. */
const ROTATED_WAIT_MS = 60_000;
/** An unterminated last line of a renamed or deleted file is delivered after this long without growth. */
const LAST_LINE_WAIT_MS = 5_000;
/** Pauses between two expansions of the patterns; longer when one takes long. */
const SCAN_EVERY_MS = 1_000;
const MAX_SCAN_EVERY_MS = 30_000;
/** A file that has not grown for this long is looked at less often. */
const IDLE_AFTER_MS = 10_000;
/** Pause between looks at an idle file whose folder is watched, and whose is not. */
const IDLE_LOOK_WATCHED_MS = 60_000;
const IDLE_LOOK_POLLED_MS = 5_000;
/** Up to this many names all are looked at each second: it costs nothing. */
const FEW_PATHS = 256;
/** Pause between two searches for names that are due, when only few are looked at in every pass. */
const SWEEP_EVERY_MS = 500;
/** A search for new files takes no more than this share of the time, polled, and when changes are heard of. */
const SCAN_PAUSE_POLLED = 100;
const SCAN_PAUSE_WATCHED = 1000;
/** Slack for clocks of file systems that tick slowly. */
const TICK_MS = 20;
const MAX_PARKED = 50_000;

export interface FileTailerOptions {
  /** The `source` label of its metrics. */
  readonly name?: string;
  /** Paths or glob patterns. */
  readonly patterns: readonly string[];
  readonly exclude?: readonly string[];
  /** Where files that exist at the first start are read from; files found later are always read from their beginning. */
  readonly startAt: "beginning" | "end";
  readonly labels: Readonly<Record<string, string>>;
  /** Labels that the path of a file gives. */
  readonly labelsOf?: (path: string) => Readonly<Record<string, string>>;
  readonly profile: string;
  readonly openSink: OpenSink;
  /** True when an earlier run left memory of the stream: it is opened at once, since what it holds may have to be released. */
  readonly hasMemory?: (name: string) => boolean;
  /** Positions of an earlier run, shared by all sources; undefined when there was none, so that `startAt` decides. */
  readonly known?: KnownPositions | undefined;
  /** Patterns an earlier run followed: files of others are new to us, and `startAt` decides. Default: all. */
  readonly knownPatterns?: ReadonlySet<string> | undefined;
  /** Inodes that some source reads: shared, so that none is read twice. */
  readonly claims?: Set<string>;
  readonly openFiles?: OpenFiles;
  /** False: only polling. A function: in the place of `fs.watch`. */
  readonly watch?: boolean | WatchFunction;
  /** Milliseconds that passes follow each other while more is waiting; 0 for one pass a poll. */
  readonly burstMs?: number;
  /** Whether a process has the inode open for writing; undefined when that cannot be told. */
  readonly hasWriter?: (key: string) => boolean | undefined;
  /** Wall time for comparisons with the file system's. Default: the machine's. */
  readonly wallMs?: () => number;
  /** Told once a kind of fault and path, in words for the log. */
  readonly onFault?: (message: string, fields: Record<string, unknown>) => void;
}

/**
 * Follows files by name through rotation: by rename (the old inode is read on), by copytruncate (the marker before the
 * offset tells; an unread rest is read from the copy), by deletion and re-creation. An inode is read once, whatever names
 * lead to it. Decisions and reads are synchronous: between two awaits everything is of one moment.
 */
export class FileTailer implements Source {
  readonly name: string;
  readonly stats = newSourceStats();
  caughtUp = false;
  readonly #options: FileTailerOptions;
  readonly #scan: FolderScan;
  readonly #watch: FolderWatch | undefined;
  readonly #openFiles: OpenFiles;
  readonly #paths = new Map<RawPath, FollowedPath>();
  /** Those that are looked at in every pass; the others when they are due, or were heard of. */
  readonly #hot = new Set<FollowedPath>();
  /** Readers by `device:inode`. */
  readonly #inodes = new Map<string, FileGeneration>();
  readonly #claims: Set<string>;
  readonly #known: KnownPositions;
  readonly #continued: boolean;
  /** Keys whose position changed since the last commit. */
  readonly #moved = new Set<string>();
  readonly #buffer = Buffer.allocUnsafe(BUFFER_BYTES);
  readonly #time = new TailerTime();
  readonly #faults: FaultLog;
  readonly #wallMs: () => number;
  readonly #hasWriter: (key: string) => boolean | undefined;
  #readMs = 0;
  #sweepDueMs = Number.NEGATIVE_INFINITY;
  #scanDueMs = Number.NEGATIVE_INFINITY;
  #firstScan = true;
  #closed = false;

  constructor(options: FileTailerOptions) {
    this.#options = options;
    this.name = options.name ?? options.patterns.join(",");
    this.#faults = new FaultLog(this.stats, options.onFault);
    this.#claims = options.claims ?? new Set();
    this.#continued = options.known !== undefined;
    this.#known = options.known ?? new KnownPositions();
    this.#openFiles = options.openFiles ?? new OpenFiles();
    this.#wallMs = options.wallMs ?? Date.now;
    this.#hasWriter = options.hasWriter ?? hasWriter;
    this.#scan = new FolderScan({
      patterns: options.patterns,
      exclude: options.exclude ?? [],
      onError: (path, error) => this.#faults.failed(path, error),
    });
    if (options.watch !== false)
      this.#watch = new FolderWatch({
        ...(typeof options.watch === "function" ? { watch: options.watch } : {}),
        onChange: (path, folder, renamed) => this.#heard(path, folder, renamed),
        onFallback: (error) => {
          count(this.stats.errors, "watch-limit");
          const { code } = error as NodeJS.ErrnoException;
          options.onFault?.("Cannot watch folders; files are polled instead", { code });
        },
      });
  }

  get fileCount(): number {
    return this.#inodes.size;
  }

  get unreadable(): number {
    return this.#faults.unreadable.size;
  }

  get lagBytes(): number {
    let lag = 0;
    for (const file of this.#inodes.values()) lag += file.lagBytes;
    return lag;
  }

  get heldDeletedBytes(): number {
    let held = 0;
    for (const file of this.#inodes.values()) if (file.links === 0 && file.file.isOpen) held += file.size;
    return held;
  }

  takeChanges(): PositionChange[] {
    const changes = [...this.#moved].map(
      (key): PositionChange => [key, this.#inodes.get(key)?.position() ?? this.#known.get(key)],
    );
    this.#moved.clear();
    return changes;
  }

  forgetCommit(): void {
    for (const key of this.#inodes.keys()) this.#moved.add(key);
    for (const position of this.#known.values()) this.#moved.add(positionKey(position));
  }

  async poll(nowMs: number): Promise<boolean> {
    this.#readMs = nowMs;
    const time = this.#time.advance(nowMs);
    if (time >= this.#scanDueMs) {
      const startMs = performance.now();
      await this.#findFiles(time);
      const tookMs = performance.now() - startMs;
      const watched = this.#watch !== undefined && [...this.#scan.folders].every((name) => this.#watch?.hears(name));
      const share = watched ? SCAN_PAUSE_WATCHED : SCAN_PAUSE_POLLED;
      const pauseMs = this.#paths.size <= FEW_PATHS ? SCAN_EVERY_MS : Math.max(SCAN_EVERY_MS, tookMs * share);
      this.#scanDueMs = time + Math.min(pauseMs, MAX_SCAN_EVERY_MS);
    }
    const endMs = performance.now() + (this.#options.burstMs ?? BURST_MS);
    let more = await this.#pass(time);
    while (more && !this.#closed && performance.now() < endMs) {
      await setImmediate();
      more = await this.#pass(time);
    }
    if (!more) this.caughtUp = true;
    return more;
  }

  /** Looks at every file that is due, and reads of each as much as is its turn. */
  async #pass(time: number): Promise<boolean> {
    let more = false;
    let sliceMs = performance.now();
    const all = time >= this.#sweepDueMs;
    if (all) this.#sweepDueMs = time + SWEEP_EVERY_MS;
    for (const followed of all ? this.#paths.values() : this.#hot) {
      if (!followed.dirty && time < followed.dueMs) continue;
      more = this.#look(followed, time) || more;
      if (performance.now() - sliceMs < SLICE_MS) continue;
      await setImmediate();
      if (this.#closed) return false;
      sliceMs = performance.now();
    }
    return more;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#watch?.close();
    for (const file of this.#inodes.values()) file.file.close();
    this.#inodes.clear();
    this.#paths.clear();
  }

  /** One name: where it leads now, and what has come in its files, oldest first. @returns True when more is waiting. */
  #look(followed: FollowedPath, time: number): boolean {
    this.#identify(followed, time);
    followed.dirty = false;
    let more = false;
    for (const file of followed.generations()) {
      more = this.#read(file, followed, time);
      // lines leave in their order, also across a rotation
      if (more || (file.insideLine && file !== followed.live)) break;
    }
    for (const file of followed.rotated.slice()) this.#settle(file, followed, time);
    if (followed.live !== undefined) this.#endLastLine(followed.live, time);
    followed.openedSink?.flush(this.#readMs);
    if (followed.live === undefined && followed.rotated.length === 0) {
      this.#forgetPath(followed);
      return more;
    }
    const pauseMs = this.#pauseMs(followed, time);
    followed.dueMs = more ? time : time + pauseMs;
    if (more || pauseMs === 0) this.#hot.add(followed);
    else this.#hot.delete(followed);
    return more;
  }

  #pauseMs({ live, rotated, path }: FollowedPath, time: number): number {
    if (rotated.length > 0 || live === undefined || !live.judged || time - live.grewMs < IDLE_AFTER_MS) return 0;
    if (this.#paths.size <= FEW_PATHS) return SCAN_EVERY_MS / 2;
    return this.#watch?.hears(folderOf(path)) === true ? IDLE_LOOK_WATCHED_MS : IDLE_LOOK_POLLED_MS;
  }

  /** A rotated file ends: its last line after a while, its reading after a longer one. */
  #settle(file: FileGeneration, followed: FollowedPath, time: number): void {
    if (file.lagBytes > 0 && !file.insideLine) return;
    const quietMs = time - file.grewMs;
    if (quietMs >= LAST_LINE_WAIT_MS) this.#faults.attempt(file.path, () => file.deliverRest(this.#readMs));
    if (quietMs < ROTATED_WAIT_MS) return;
    followed.rotated.splice(followed.rotated.indexOf(file), 1);
    this.#inodes.delete(file.key);
    this.#claims.delete(file.key);
    this.#park(file);
    file.file.close();
  }

  /** The last line of a file whose writer is gone. */
  #endLastLine(file: FileGeneration, time: number): void {
    if (!file.judged || file.partialBytes === 0 || time - file.grewMs < LAST_LINE_WAIT_MS) return;
    if (time < file.writerDueMs) return;
    file.writerDueMs = time + Math.min(Math.max(time - file.grewMs, LAST_LINE_WAIT_MS), ROTATED_WAIT_MS);
    if (this.#hasWriter(file.key) === false) this.#faults.attempt(file.path, () => file.deliverRest(this.#readMs));
  }

  /** Its position is kept as long as the file exists: under a name that a pattern matches it is no new file. */
  #park(file: FileGeneration): void {
    this.#moved.add(file.key);
    if (file.links === 0) return;
    this.#known.put({ ...file.position(), parked: true });
    if (this.#known.size <= MAX_PARKED) return;
    const oldest = this.#known.values().find(({ parked }) => parked === true);
    if (oldest !== undefined) this.#release(oldest);
  }

  /** Its inode belongs to another file now: the position is kept under a key of its own until its rest was looked for. */
  #displace(position: FilePosition): void {
    this.#release(position);
    if (position.parked === true) return;
    const displaced = { ...position, device: `${position.device}~` };
    this.#known.put(displaced);
    this.#moved.add(positionKey(displaced));
  }

  #release(position: FilePosition): void {
    this.#known.delete(position);
    this.#moved.add(positionKey(position));
  }

  #heard(path: RawPath, folder: RawPath, renamed: boolean): void {
    if (this.#closed) return;
    const followed = this.#paths.get(path);
    if (renamed) this.#scan.changed(folder);
    if (followed !== undefined) {
      followed.dirty = true;
      this.#hot.add(followed);
      if (renamed) this.#identify(followed, this.#time.nowMs);
    } else if (renamed && !this.#firstScan) {
      const pattern = this.#scan.match(path);
      // opened at once: it may be renamed again or deleted before the next pass
      if (pattern !== undefined) this.#discover(path, this.#time.nowMs);
      else this.#scanDueMs = Math.min(this.#scanDueMs, this.#time.nowMs + SCAN_EVERY_MS / 5);
    }
  }

  async #findFiles(time: number): Promise<void> {
    const found = this.#scan.files();
    this.#watch?.update(this.#scan.folders);
    const first = this.#firstScan;
    if (first) {
      const patterns = this.#options.knownPatterns;
      for (const [path, index] of found) {
        const pattern = this.#options.patterns[index] ?? "";
        const isNew = !this.#continued || (patterns !== undefined && !patterns.has(pattern));
        this.#discover(path, time, isNew);
      }
      await this.#resumeMoved(time);
      this.#firstScan = false;
      return;
    }
    for (const path of found.keys()) if (!this.#paths.has(path)) this.#discover(path, time);
    this.#faults.keepOnly(found);
    for (const followed of this.#paths.values())
      if (followed.live !== undefined && !found.has(followed.path)) followed.dirty = true;
  }

  /** A name that matches and is not followed. @param existed It was there at the first start: `startAt` decides. */
  #discover(path: RawPath, time: number, existed = false): void {
    if (isCompressed(path)) return;
    const seen = statOf(path);
    if (seen === undefined || !seen.isFile()) return;
    const key = `${seen.dev}:${seen.ino}`;
    if (this.#claims.has(key)) return;
    const known = this.#known.of(path, seen);
    if (known?.parked === true && Number(seen.size) === known.size) return;
    const other = this.#known.get(key);
    if (known === undefined && other !== undefined) this.#displace(other);
    const followed = this.#follow(path);
    const file = this.#open(path, path, followed, time, known, known !== undefined || existed || this.#firstScanOf());
    if (file === undefined) return this.#forgetPath(followed);
    if (known !== undefined) this.#known.delete(known);
    followed.live = file;
    if (known === undefined && existed && this.#options.startAt === "end")
      this.#faults.attempt(path, () => {
        count(this.stats.skippedBytes, "start_at", file.skipToEnd());
        // UTF-16 with its byte order mark
        if (file.head[0] === 0xff || file.head[0] === 0xfe) followed.sink.beginsWith?.(file.head);
      });
  }

  /** At the very first start there are no copies of anything read. */
  #firstScanOf(): boolean {
    return this.#firstScan && !this.#continued;
  }

  /** Looks whether a followed name still leads to the same file. */
  #identify(followed: FollowedPath, time: number): void {
    const { path, live } = followed;
    const seen = statOf(path);
    if (live !== undefined && seen !== undefined && live.isAt(seen)) {
      live.lookedMs = this.#wallMs();
      live.nothingNew = live.judged && live.isAsLeft(seen);
      return;
    }
    if (live !== undefined) this.#retire(followed, live, time);
    if (seen === undefined || !seen.isFile()) return;
    const last = live ?? followed.rotated.at(-1);
    if (last !== undefined) this.#openBetween(followed, last.position(), time);
    const key = `${seen.dev}:${seen.ino}`;
    if (this.#claims.has(key)) return;
    const known = this.#known.of(path, seen);
    if (known?.parked === true && Number(seen.size) === known.size) return;
    const file = this.#open(path, path, followed, time, known, known !== undefined);
    if (file === undefined) return;
    if (known !== undefined) this.#known.delete(known);
    followed.live = file;
  }

  /** The name has passed to another file, or is gone: the old one is read on. */
  #retire(followed: FollowedPath, live: FileGeneration, time: number): void {
    this.stats.rotations++;
    live.grewMs = time;
    followed.rotated.push(live);
    followed.live = undefined;
    this.#moved.add(live.key);
  }

  /** Files that came under the name and went again since the last look. */
  #openBetween(followed: FollowedPath, old: FilePosition, time: number): void {
    const sinceMs = old.lookedMs - TICK_MS;
    const between = this.#siblings(old).filter((file) => file.bornMs >= sinceMs && !this.#isCopy(file, followed));
    for (const { path } of between.toSorted(byAge)) {
      const file = this.#open(path, followed.path, followed, time, undefined, true);
      if (file !== undefined) followed.rotated.push(file);
    }
  }

  /** Rotated forms of a name that nobody has read. */
  #siblings(position: FilePosition): Sibling[] {
    const places = position.realPath === undefined ? [position.path] : [position.path, position.realPath];
    return places
      .flatMap((path) => siblings(path))
      .filter(({ key }) => !this.#claims.has(key) && !this.#known.has(key));
  }

  /** True for a copy of content that was read, or is being read, under the name. */
  #isCopy(sibling: Sibling, followed: FollowedPath): boolean {
    return (
      withFile(sibling.path, (fd) => {
        if (followed.finished.some((content) => copiedUpTo(fd, content) !== undefined)) return true;
        const { live } = followed;
        if (live === undefined || live.offset === 0) return false;
        return copiedUpTo(fd, live.content()) !== undefined;
      }) ?? true
    );
  }

  /** The content of a file was replaced. @returns The bytes of its rest that a copy holds. */
  #replaced(followed: FollowedPath, file: FileGeneration, content: FinishedContent): number {
    if (file === followed.live) {
      this.stats.truncations++;
      return this.#recover(followed, file, content);
    }
    // a rotated name was written anew: by a copy of the present file
    followed.finish(content);
    file.judged = false;
    return 0;
  }

  /** The content of the present file was replaced: what was not read of it may be in a copy, and whole contents in later ones. */
  #recover(followed: FollowedPath, file: FileGeneration, content: FinishedContent): number {
    const { position } = content;
    followed.finish(content);
    const time = this.#time.nowMs;
    const places = position.realPath === undefined ? [position.path] : [position.path, position.realPath];
    const copies = places
      .flatMap((path) => siblings(path))
      .filter(({ key }) => key !== file.key && !this.#known.has(key));
    let recovered = 0;
    let sinceMs = position.lookedMs - TICK_MS;
    const copy = position.head.length === 0 ? undefined : copies.find((one) => this.#holdsRest(one, position));
    if (copy !== undefined) {
      recovered = copy.size - position.offset;
      sinceMs = copy.bornMs;
      this.#adopt(copy, followed, { ...position, size: copy.size }, time);
    }
    const later = copies.filter(
      (one) =>
        one !== copy &&
        one.bornMs >= sinceMs &&
        !this.#isTaken(one.key) &&
        one.size > 0 &&
        !this.#isCopy(one, followed),
    );
    for (const one of later.toSorted(byAge)) {
      // the copy of what the file holds now is read under its own name
      if (this.#sameAsPresent(one, file)) continue;
      this.#adopt(one, followed, undefined, time);
    }
    return recovered;
  }

  #holdsRest({ path, size, key }: Sibling, position: FilePosition): boolean {
    return !this.#isTaken(key) && size >= position.offset && withFile(path, (fd) => holds(fd, position)) === true;
  }

  /** True when the file is being read, and was found to be no copy. */
  #isTaken(key: string): boolean {
    const file = this.#inodes.get(key);
    return file === undefined ? this.#claims.has(key) : file.judged;
  }

  #sameAsPresent(sibling: Sibling, file: FileGeneration): boolean {
    return (
      withFile(sibling.path, (fd) => {
        const present = file.file.open();
        const size = Number(fstatSync(present, { bigint: true }).size);
        return oneBeginsOther(fd, sibling.size, present, size);
      }) ?? true
    );
  }

  /** Reads a copy as an earlier file of the name. @param resume Where its original stood. */
  #adopt({ path, key }: Sibling, followed: FollowedPath, resume: FilePosition | undefined, time: number): void {
    this.#giveUp(key);
    const file = this.#open(path, followed.path, followed, time, resume, true);
    if (file !== undefined) followed.rotated.push(file);
  }

  /** Another name's reader that has not read yet hands the file over. */
  #giveUp(key: string): void {
    const waiting = this.#inodes.get(key);
    if (waiting === undefined) return;
    waiting.file.close();
    this.#inodes.delete(key);
    this.#claims.delete(key);
    for (const followed of this.#paths.values()) {
      const at = followed.rotated.indexOf(waiting);
      if (at >= 0) followed.rotated.splice(at, 1);
      else if (followed.live !== waiting) continue;
      else followed.live = undefined;
      if (followed.live === undefined && followed.rotated.length === 0) this.#forgetPath(followed);
      return;
    }
  }

  /** Files that were rotated away while no daemon ran: found again beside their old name, or compressed, and read to their end. */
  async #resumeMoved(time: number): Promise<void> {
    const orphans = this.#known
      .values()
      .filter(({ path, parked }) => parked !== true && this.#scan.match(path) !== undefined)
      .toSorted((a, b) => Number(a.head.length === 0) - Number(b.head.length === 0) || a.bornMs - b.bornMs);
    const used = new Set<RawPath>();
    for (const position of orphans) {
      this.#known.delete(position);
      const followed = this.#follow(position.path);
      this.stats.rotations++;
      const places = [position.path, ...(position.realPath === undefined ? [] : [position.realPath])];
      const all = places.flatMap((path) => [...siblings(path), ...this.#itself(path)]);
      const moved =
        all.find(({ inode, bornMs }) => inode === position.inode && sameBirth(bornMs, position.bornMs)) ??
        all.find((one) => position.head.length > 0 && this.#holdsRest(one, position));
      if (moved !== undefined && !this.#claims.has(moved.key)) {
        const file = this.#open(moved.path, position.path, followed, time, position, true);
        if (file !== undefined) followed.rotated.push(file);
      } else if (moved === undefined && !(await this.#readArchive(position, places, followed, used)))
        count(this.stats.lostBytes, "deleted", position.size - position.offset);
      this.#moved.add(positionKey(position));
      followed.finish({ position, trail: new Trail() });
      this.#openBetween(followed, position, time);
      if (followed.live === undefined && followed.rotated.length === 0) this.#forgetPath(followed);
    }
  }

  #itself(path: RawPath): Sibling[] {
    const seen = statOf(path);
    if (seen?.isFile() !== true) return [];
    const key = `${seen.dev}:${seen.ino}`;
    const bornMs = Number(seen.birthtimeNs) / 1e6;
    return [
      { path, key, inode: String(seen.ino), bornMs, writtenMs: Number(seen.mtimeNs) / 1e6, size: Number(seen.size) },
    ];
  }

  /** Reads the rest from a compressed form of the file. @returns False when there is none. */
  async #readArchive(
    position: FilePosition,
    places: readonly RawPath[],
    followed: FollowedPath,
    used: Set<RawPath>,
  ): Promise<boolean> {
    const push = (bytes: Buffer, from: FilePosition, at: FilePosition): void => {
      followed.sink.push(bytes, from.offset, this.#readMs);
      this.stats.readBytes += bytes.length;
      // a crash on the way goes on in the archive from here
      this.#known.put(at);
      this.#moved.add(positionKey(at));
    };
    const sinceMs = position.lookedMs - TICK_MS;
    const end = await readArchive({ position, places, sinceMs, known: this.#known, used, push });
    if (end === undefined) return false;
    followed.sink.endLine();
    this.#known.delete(end);
    return true;
  }

  /** A reader for the file at `name` as part of the stream of `path`; undefined when it cannot be opened or is read already. */
  #open(
    name: RawPath,
    path: RawPath,
    followed: FollowedPath,
    time: number,
    resume: FilePosition | undefined,
    judged: boolean,
  ): FileGeneration | undefined {
    return this.#faults.attempt(name, () => {
      const fd = this.#openFiles.openPath(name);
      let stat: BigIntStats;
      try {
        stat = fstatSync(fd, { bigint: true });
        if (!stat.isFile() || this.#claims.has(`${stat.dev}:${stat.ino}`)) {
          closeSync(fd);
          return undefined;
        }
      } catch (error) {
        closeSync(fd);
        throw error;
      }
      const realPath = realPathOf(fd) ?? name;
      const opened = this.#openFiles.manage(
        fd,
        () => this.#reopen(file),
        () => file.lagBytes === 0 && file.links > 0 && !file.insideLine,
      );
      const file: FileGeneration = new FileGeneration({
        path,
        realPath,
        lookedMs: resume?.lookedMs ?? this.#wallMs(),
        file: opened,
        stat,
        nowMs: time,
        context: this.#context(followed),
        judged,
        resume,
      });
      if (resume === undefined) file.lookedMs = this.#wallMs();
      this.#inodes.set(file.key, file);
      this.#claims.add(file.key);
      this.#moved.add(file.key);
      if (resume !== undefined && positionKey(resume) !== file.key) this.#moved.add(positionKey(resume));
      this.#faults.mended(name);
      return file;
    });
  }

  /** Opens the same inode again, whatever its name is now. @throws ENOENT when it is gone. */
  #reopen(file: FileGeneration): number {
    for (const name of this.#namesOf(file)) {
      const seen = statOf(name);
      if (seen === undefined || `${seen.dev}:${seen.ino}` !== file.key) continue;
      const fd = this.#openFiles.openPath(name);
      const opened = fstatSync(fd, { bigint: true });
      if (`${opened.dev}:${opened.ino}` === file.key) return fd;
      closeSync(fd);
    }
    throw Object.assign(new Error(`Cannot open "${shownPath(file.path)}": it is gone`), { code: "ENOENT" });
  }

  /** Names that may lead to it, the likely ones first: a folder is looked through only when they do not. */
  *#namesOf(file: FileGeneration): Iterable<RawPath> {
    yield file.path;
    if (file.realPath !== file.path) yield file.realPath;
    for (const place of new Set([file.path, file.realPath]))
      for (const { path, key } of siblings(place)) if (key === file.key) yield path;
  }

  #context(followed: FollowedPath): GenerationContext {
    return {
      stats: this.stats,
      buffer: this.#buffer,
      push: (file, bytes, offset, readMs) => {
        followed.pushed = file;
        followed.sink.push(bytes, offset, readMs);
      },
      endLine: () => followed.sink.endLine(),
      heldOffset: (file) => (followed.pushed === file ? followed.openedSink?.heldOffset : undefined),
      recover: (file, content) => this.#replaced(followed, file, content),
      moved: (file) => this.#moved.add(file.key),
    };
  }

  #follow(path: RawPath): FollowedPath {
    let followed = this.#paths.get(path);
    if (followed === undefined) {
      const { labels, labelsOf, profile, openSink } = this.#options;
      const name = shownPath(path);
      followed = new FollowedPath(path, () =>
        openSink({ name, labels: labelsOf === undefined ? labels : { ...labelsOf(name), ...labels }, profile }),
      );
      this.#paths.set(path, followed);
      this.#hot.add(followed);
      if (this.#options.hasMemory?.(name) === true) followed.openSink();
    }
    return followed;
  }

  #forgetPath(followed: FollowedPath): void {
    this.#paths.delete(followed.path);
    this.#hot.delete(followed);
    followed.openedSink?.end(this.#readMs);
  }

  #read(file: FileGeneration, followed: FollowedPath, time: number): boolean {
    if (file.grewMs > time) file.grewMs = time;
    if (file.nothingNew) {
      file.nothingNew = false;
      return false;
    }
    return (
      this.#faults.attempt(file.path, () => {
        if (!file.judged) {
          const verdict = this.#judge(file, followed, time);
          if (verdict === "wait") return false;
          file.judged = true;
          if (verdict !== "read") file.moveTo(verdict.skipTo);
        }
        return file.read(TURN_BYTES, time, this.#readMs);
      }) ?? this.#gone(file, followed)
    );
  }

  /** A closed file that cannot be found any more. */
  #gone(file: FileGeneration, followed: FollowedPath): boolean {
    if (file.file.isOpen || statOf(file.path) !== undefined || file === followed.live) return false;
    count(this.stats.lostBytes, "deleted", file.size - file.offset);
    file.links = 0;
    file.grewMs = Number.NEGATIVE_INFINITY;
    file.size = file.offset;
    return false;
  }

  /** Whether a file that appeared is a copy of one that is followed. */
  #judge(file: FileGeneration, followed: FollowedPath, time: number): CopyVerdict {
    if (file !== followed.live) return judgeNewFile(file, followed, time);
    const folder = folderOf(followed.path);
    const original = originalNames(nameOf(followed.path))
      .map((name) => this.#paths.get(joined(folder, name)))
      .find((other) => other !== undefined && other !== followed);
    return judgeNewFile(file, original, time);
  }
}

const byAge = (a: Sibling, b: Sibling): number => a.bornMs - b.bornMs || a.writtenMs - b.writtenMs;

function realPathOf(fd: number): RawPath | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`, { encoding: "latin1" });
  } catch {
    return undefined;
  }
}
