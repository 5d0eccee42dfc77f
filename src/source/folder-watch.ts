import { type FSWatcher, statfsSync, watch } from "node:fs";
import { joined, osPath, type RawPath } from "./raw-path.ts";

/** Watches kept; folders beyond are polled. */
const MAX_WATCHES = 2048;
/** Kinds of file systems that tell nothing of changes made elsewhere: NFS, SMB, CIFS, FUSE, 9P, Ceph. */
const REMOTE = new Set([0x6969, 0x517b, 0xff534d42, 0xfe534d42, 0x65735546, 0x01021997, 0x00c36400]);

export type WatchFunction = (
  folder: string | Buffer,
  options: { readonly persistent: false; readonly encoding: "latin1" },
  onEvent: (event: string, name: string | null) => void,
) => FSWatcher;

export interface FolderWatchOptions {
  /** Default: `fs.watch`. */
  readonly watch?: WatchFunction;
  /** An entry of the folder changed; `renamed` when it came or went. */
  readonly onChange: (path: RawPath, folder: RawPath, renamed: boolean) => void;
  /** Watching is not possible any more: everything is polled from now on. */
  readonly onFallback: (error: unknown) => void;
}

/** Hears of changes in folders through `fs.watch`; a folder it does not hear of is left to polling. */
export class FolderWatch {
  readonly #options: FolderWatchOptions;
  readonly #watches = new Map<RawPath, FSWatcher>();
  #broken = false;

  constructor(options: FolderWatchOptions) {
    this.#options = options;
  }

  hears(folder: RawPath): boolean {
    return this.#watches.has(folder);
  }

  /** Watches these folders and no others. */
  update(folders: ReadonlySet<RawPath>): void {
    for (const [folder, watcher] of this.#watches) if (!folders.has(folder)) this.#forget(folder, watcher);
    for (const folder of folders) {
      if (this.#broken || this.#watches.size >= MAX_WATCHES) return;
      if (!this.#watches.has(folder)) this.#add(folder);
    }
  }

  close(): void {
    for (const [folder, watcher] of this.#watches) this.#forget(folder, watcher);
    this.#broken = true;
  }

  #add(folder: RawPath): void {
    try {
      if (REMOTE.has(statfsSync(osPath(folder)).type)) return;
      const open: WatchFunction = this.#options.watch ?? watch;
      const watcher = open(osPath(folder), { persistent: false, encoding: "latin1" }, (event, name) => {
        if (name === null) return;
        this.#options.onChange(joined(folder, name), folder, event === "rename");
      });
      watcher.on("error", () => this.#forget(folder, watcher));
      this.#watches.set(folder, watcher);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "ENOENT" || code === "ENOTDIR" || code === "EACCES") return;
      // no more watches or instances allowed: those that there are might miss events as well
      this.#broken = true;
      for (const [other, watcher] of this.#watches) this.#forget(other, watcher);
      this.#options.onFallback(error);
    }
  }

  #forget(folder: RawPath, watcher: FSWatcher): void {
    watcher.close();
    if (this.#watches.get(folder) === watcher) this.#watches.delete(folder);
  }
}
