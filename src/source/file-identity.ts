import { type BigIntStats, closeSync, constants, fstatSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { folderOf, joined, nameOf, osPath, type RawPath } from "./raw-path.ts";
import { type FilePosition, positionKey } from "./source.ts";
import type { Trail } from "./trail.ts";

/** Files of one folder that are looked at for a rotated or copied one. */
const MAX_SIBLINGS = 2000;
const COMPRESSED = /\.(?:gz|zst|xz|bz2|lz4)$/;

export const isCompressed = (path: RawPath): boolean => COMPRESSED.test(path);

/** A file beside another whose name is made from its own. */
export interface Sibling {
  readonly path: RawPath;
  readonly key: string;
  readonly inode: string;
  /** When it came to be; where the file system does not tell, when it was last written. */
  readonly bornMs: number;
  readonly writtenMs: number;
  readonly size: number;
}

/** True when `name` may be a rotated form of `base`: `a.log.1`, `a.log-20260301`, `a-20260301.log`, `a.2026-03-01.log`. */
export function isRotatedName(name: string, base: string): boolean {
  if (name.length <= base.length) return false;
  if (name.startsWith(base)) return /^[-._~]/.test(name.slice(base.length));
  const dot = base.lastIndexOf(".");
  if (dot <= 0) return false;
  const stem = base.slice(0, dot);
  const extension = base.slice(dot);
  if (!name.startsWith(stem)) return false;
  const rest = name.slice(stem.length);
  return rest.startsWith("-") || rest.startsWith(".") || rest.startsWith("_")
    ? rest.includes(extension) && /^[-._](?:\d{1,3}|\d{6,}[-\dT:_.]*|\d{4}-\d\d[-\dT:_.]*)(?:\.|$)/.test(rest)
    : false;
}

/** Names that `name` may be a rotated form of, the longest first. */
export function originalNames(name: string): string[] {
  const names: string[] = [];
  for (let at = name.length - 1; at > 0; at--) if ("-._~".includes(name.charAt(at))) names.push(name.slice(0, at));
  const dated = name.replace(/[-._](?:\d{6,}|\d{4}-\d\d)[-\dT:_]*(?=\.)/, "");
  if (dated !== name) names.push(dated);
  return names;
}

/** Plain files beside `file` whose names are rotated forms of its own; compressed ones if asked for. */
export function siblings(file: RawPath, compressed = false): Sibling[] {
  const folder = folderOf(file);
  const base = nameOf(file);
  let names: string[];
  try {
    names = readdirSync(osPath(folder), { encoding: "latin1" });
  } catch {
    return [];
  }
  const found: Sibling[] = [];
  for (const name of names) {
    if (!isRotatedName(name, base) || isCompressed(name) !== compressed) continue;
    const path = joined(folder, name);
    const seen = statOf(path);
    if (seen?.isFile() === true) found.push(siblingOf(path, seen));
    if (found.length >= MAX_SIBLINGS) break;
  }
  return found;
}

function siblingOf(path: RawPath, seen: BigIntStats): Sibling {
  const writtenMs = Number(seen.mtimeNs) / 1e6;
  return {
    path,
    key: `${seen.dev}:${seen.ino}`,
    inode: String(seen.ino),
    bornMs: seen.birthtimeNs > 0n ? Number(seen.birthtimeNs) / 1e6 : writtenMs,
    writtenMs,
    size: Number(seen.size),
  };
}

/** @returns Undefined when there is nothing, or it cannot be looked at. */
export function statOf(path: RawPath): BigIntStats | undefined {
  try {
    return statSync(osPath(path), { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** Times of birth that are of the same file; 0 where the file system does not tell. */
export const sameBirth = (a: number, b: number): boolean => a === 0 || b === 0 || Math.abs(a - b) < 1;

/** Runs `look` on a file opened for it; undefined when it cannot be opened. */
export function withFile<T>(path: RawPath, look: (fd: number) => T): T | undefined {
  let fd: number;
  try {
    fd = openSync(osPath(path), constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    return look(fd);
  } finally {
    closeSync(fd);
  }
}

export function bytesAt(fd: number, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, length === 0 ? 0 : readSync(fd, bytes, 0, length, at));
}

/** True when the file holds, where an earlier read left them, the same first bytes and the same bytes before the offset. */
export function holds(fd: number, { head, marker, offset }: Pick<FilePosition, "head" | "marker" | "offset">): boolean {
  if (Number(fstatSync(fd, { bigint: true }).size) < offset) return false;
  return bytesAt(fd, 0, head.length).equals(head) && bytesAt(fd, offset - marker.length, marker.length).equals(marker);
}

/** How much of `finished` content the file is a copy of: the offset up to which it was read; undefined when it is none. */
export function copiedUpTo(
  fd: number,
  { position, trail }: { position: FilePosition; trail: Trail },
): number | undefined {
  if (position.offset === 0) return undefined;
  if (holds(fd, position)) return position.offset;
  const size = Number(fstatSync(fd, { bigint: true }).size);
  const step = trail.before(size);
  if (step === undefined || step.offset === 0) return undefined;
  const head = position.head.subarray(0, Math.min(position.head.length, step.offset));
  return holds(fd, { head, ...step }) ? size : undefined;
}

/** True when one file is the other's beginning, by their first bytes and those before the shorter one's end. */
export function oneBeginsOther(a: number, aSize: number, b: number, bSize: number): boolean {
  const length = Math.min(aSize, bSize);
  if (length === 0) return false;
  const head = Math.min(256, length);
  const tail = Math.min(4096, length);
  return (
    bytesAt(a, 0, head).equals(bytesAt(b, 0, head)) &&
    bytesAt(a, length - tail, tail).equals(bytesAt(b, length - tail, tail))
  );
}

/** Positions of an earlier run that no file has taken up yet. One for all sources. */
export class KnownPositions {
  readonly #byKey = new Map<string, FilePosition>();
  readonly #byPath: ReadonlyMap<string, readonly FilePosition[]>;

  constructor(positions: Iterable<FilePosition> = []) {
    for (const position of positions) this.put(position);
    this.#byPath = Map.groupBy(this.#byKey.values(), ({ path }) => path);
  }

  get size(): number {
    return this.#byKey.size;
  }

  put(position: FilePosition): void {
    this.#byKey.set(positionKey(position), position);
  }

  get(key: string): FilePosition | undefined {
    return this.#byKey.get(key);
  }

  has(key: string): boolean {
    return this.#byKey.has(key);
  }

  delete(position: FilePosition): void {
    this.#byKey.delete(positionKey(position));
  }

  values(): FilePosition[] {
    return [...this.#byKey.values()];
  }

  /** The position of this very file, by inode and birth; after a reboot device numbers differ, so the path stands in for the device. */
  of(path: RawPath, { dev, ino, birthtimeNs }: BigIntStats): FilePosition | undefined {
    const bornMs = Number(birthtimeNs) / 1e6;
    const exact = this.#byKey.get(`${dev}:${ino}`);
    if (exact !== undefined) return sameBirth(exact.bornMs, bornMs) ? exact : undefined;
    const inode = String(ino);
    return this.#byPath
      .get(path)
      ?.find(
        (position) =>
          position.inode === inode &&
          sameBirth(position.bornMs, bornMs) &&
          this.get(positionKey(position)) === position,
      );
  }
}
