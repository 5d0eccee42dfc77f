import { closeSync, constants, openSync, readFileSync } from "node:fs";
import { osPath, type RawPath } from "./raw-path.ts";

/** Descriptors that the rest of the daemon needs: the runtime, the state, scrapes. */
const RESERVED = 40;
const MAX_OPEN = 2048;
const MIN_OPEN = 4;

/** A file by name whose descriptor may be closed in between. */
export interface OpenFile {
  /** @throws The system's error, or one of code `ENOENT` when the name leads to another file by now. */
  open(): number;
  readonly isOpen: boolean;
  close(): void;
}

/** Keeps the number of open log files under a limit: the one used longest ago is closed, and opened again when needed. */
export class OpenFiles {
  /** Times a descriptor was closed to make room. */
  evictions = 0;
  #limit: number;
  /** In order of last use. */
  readonly #open = new Set<ManagedFile>();

  constructor(limit = descriptorLimit()) {
    this.#limit = Math.max(MIN_OPEN, limit);
  }

  get count(): number {
    return this.#open.size;
  }

  /**
   * Takes over an opened descriptor.
   *
   * @param reopen Opens the same inode again, by whatever name it has now.
   * @param mayClose False while the descriptor is the only way to the file.
   */
  manage(fd: number, reopen: () => number, mayClose: () => boolean): OpenFile {
    const file = new ManagedFile({ fd, reopen, mayClose, all: this.#open, opened: (opened) => this.#makeRoom(opened) });
    this.#makeRoom(file);
    return file;
  }

  /** Opens for reading; when there are no descriptors left, makes room and tries once more. @throws The system's error. */
  openPath(path: RawPath): number {
    try {
      return openSync(osPath(path), constants.O_RDONLY | constants.O_NONBLOCK);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code !== "EMFILE" && code !== "ENFILE") throw error;
      this.#limit = Math.max(MIN_OPEN, this.#open.size - 8);
      this.#makeRoom(undefined);
      return openSync(osPath(path), constants.O_RDONLY | constants.O_NONBLOCK);
    }
  }

  #makeRoom(keep: ManagedFile | undefined): void {
    if (this.#open.size <= this.#limit) return;
    for (const file of this.#open) {
      if (file === keep || !file.mayClose()) continue;
      file.close();
      this.evictions++;
      if (this.#open.size <= this.#limit) return;
    }
  }
}

class ManagedFile implements OpenFile {
  readonly mayClose: () => boolean;
  readonly #reopen: () => number;
  readonly #opened: (file: ManagedFile) => void;
  readonly #all: Set<ManagedFile>;
  #fd: number | undefined;

  constructor(options: {
    fd: number;
    reopen: () => number;
    mayClose: () => boolean;
    all: Set<ManagedFile>;
    opened: (file: ManagedFile) => void;
  }) {
    this.#fd = options.fd;
    this.#reopen = options.reopen;
    this.mayClose = options.mayClose;
    this.#all = options.all;
    this.#opened = options.opened;
    this.#all.add(this);
  }

  get isOpen(): boolean {
    return this.#fd !== undefined;
  }

  open(): number {
    if (this.#fd === undefined) {
      this.#fd = this.#reopen();
      this.#all.add(this);
      this.#opened(this);
    } else {
      this.#all.delete(this);
      this.#all.add(this);
    }
    return this.#fd;
  }

  close(): void {
    if (this.#fd === undefined) return;
    closeSync(this.#fd);
    this.#fd = undefined;
    this.#all.delete(this);
  }
}

/** What the process may open (Linux), less a reserve. */
function descriptorLimit(): number {
  try {
    const limits = readFileSync("/proc/self/limits", "utf8");
    const soft = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? 1024);
    return Math.min(MAX_OPEN, Math.floor((soft - RESERVED) / 2));
  } catch {
    return 400;
  }
}
