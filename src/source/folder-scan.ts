import { type Dirent, readdirSync, statSync } from "node:fs";
import { type GlobSegment, globRegex, globSegments, isPattern, literalSegments } from "./glob-pattern.ts";
import { folderOf, joined, osPath, type RawPath } from "./raw-path.ts";

/** Folders deeper than this are a loop. */
const MAX_DEPTH = 40;
/** Folders with more entries are listed again only when their modification time has changed. */
const CACHED_ENTRIES = 256;
const MAX_FOLDERS = 50_000;

interface Listing {
  readonly mtimeNs: bigint;
  readonly entries: readonly Dirent[];
  /** The last listing may have missed an entry made in the same tick of the file system's clock. */
  again: boolean;
}

export interface FolderScanOptions {
  /** Paths or glob patterns; a plain path stands for itself even when its name holds glob characters, a folder for the files in it. */
  readonly patterns: readonly string[];
  readonly exclude: readonly string[];
  readonly onError: (path: RawPath, error: unknown) => void;
}

/** Finds the files that patterns match, again and again, and remembers big folders that have not changed. */
export class FolderScan {
  /** Folders whose entries decide what is found, as of the last pass: to be watched. */
  folders = new Set<RawPath>();
  readonly #options: FolderScanOptions;
  readonly #excluded: readonly RegExp[];
  readonly #regexes: readonly RegExp[];
  readonly #literals: readonly RawPath[];
  readonly #listings = new Map<RawPath, Listing>();

  constructor(options: FolderScanOptions) {
    this.#options = options;
    this.#excluded = options.exclude.map(globRegex);
    this.#regexes = options.patterns.map(globRegex);
    this.#literals = options.patterns.map((pattern) => pathOf(literalSegments(pattern)));
  }

  /** @returns Index of the first pattern that matches the path; undefined when none does, or an exclusion does. */
  match(path: RawPath): number | undefined {
    if (this.#excluded.some((regex) => regex.test(path))) return undefined;
    const folder = folderOf(path);
    const index = this.#regexes.findIndex(
      (regex, at) => regex.test(path) || this.#literals[at] === path || this.#literals[at] === folder,
    );
    return index < 0 ? undefined : index;
  }

  /** A change was seen in the folder: its listing is not to be trusted. */
  changed(folder: RawPath): void {
    this.#listings.delete(folder);
  }

  /** One pass. @returns Each matching path with the index of the first pattern that matches it; not all of them are files. */
  files(): Map<RawPath, number> {
    const found = new Map<RawPath, number>();
    this.folders = new Set();
    for (const [index, pattern] of this.#options.patterns.entries()) {
      const add = (path: RawPath): void => {
        if (!found.has(path) && !this.#excluded.some((regex) => regex.test(path))) found.set(path, index);
      };
      const literal = literalSegments(pattern);
      if (isPattern(pattern) && !exists(literal)) {
        for (const segments of globSegments(pattern)) this.#walk(segments, 0, "/", 0, add);
        continue;
      }
      const path = pathOf(literal);
      if (isFolder(path)) this.#walk([...literal, { kind: "match", regex: /^(?!\.)/ }], 0, "/", 0, add);
      else this.#walk(literal, 0, "/", 0, add);
    }
    for (const folder of this.#listings.keys()) if (!this.folders.has(folder)) this.#listings.delete(folder);
    return found;
  }

  #walk(
    segments: readonly GlobSegment[],
    at: number,
    folder: RawPath,
    depth: number,
    add: (path: RawPath) => void,
  ): void {
    const segment = segments[at];
    if (segment === undefined || depth > MAX_DEPTH) return;
    const last = at === segments.length - 1;
    if (segment.kind === "name") {
      const path = joined(folder, segment.name);
      if (last) {
        this.#watch(folder);
        add(path);
      } else this.#walk(segments, at + 1, path, depth + 1, add);
      return;
    }
    this.#watch(folder);
    if (segment.kind === "any-depth") {
      this.#walk(segments, at + 1, folder, depth, add);
      // links are not followed here: they may lead in circles
      for (const entry of this.#list(folder))
        if (entry.isDirectory()) this.#walk(segments, at, joined(folder, entry.name), depth + 1, add);
      return;
    }
    for (const entry of this.#list(folder)) {
      if (!segment.regex.test(entry.name)) continue;
      const path = joined(folder, entry.name);
      if (last) {
        if (!entry.isDirectory()) add(path);
      } else if (entry.isDirectory() || (!entry.isFile() && isFolder(path)))
        this.#walk(segments, at + 1, path, depth + 1, add);
    }
  }

  #watch(folder: RawPath): void {
    if (this.folders.size < MAX_FOLDERS) this.folders.add(folder);
  }

  #list(folder: RawPath): readonly Dirent[] {
    try {
      const known = this.#listings.get(folder);
      const mtimeNs = statSync(osPath(folder), { bigint: true }).mtimeNs;
      if (known !== undefined && known.mtimeNs === mtimeNs && !known.again) return known.entries;
      const entries = readdirSync(osPath(folder), { withFileTypes: true, encoding: "latin1" });
      if (entries.length > CACHED_ENTRIES)
        this.#listings.set(folder, { mtimeNs, entries, again: known?.mtimeNs !== mtimeNs });
      return entries;
    } catch (error) {
      this.#options.onError(folder, error);
      return [];
    }
  }
}

function pathOf(segments: readonly GlobSegment[]): RawPath {
  return `/${segments.map((segment) => (segment.kind === "name" ? segment.name : "")).join("/")}`;
}

function exists(segments: readonly GlobSegment[]): boolean {
  try {
    return statSync(osPath(pathOf(segments)), { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

function isFolder(path: RawPath): boolean {
  try {
    return statSync(osPath(path), { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}
