import { type KnownPositions, type Sibling, siblings } from "./file-identity.ts";
import { readGzipRest } from "./gzip-rest.ts";
import type { RawPath } from "./raw-path.ts";
import type { FilePosition } from "./source.ts";

/** Archives of one file that are looked into. */
const MAX_ARCHIVES = 16;
/** A piece of a line longer than this is passed on without its end. */
const MAX_CARRY_BYTES = 256 * 1024;

export interface ArchiveSearch {
  readonly position: FilePosition;
  /** Names the file had. */
  readonly places: readonly RawPath[];
  /** Born before: it cannot be what is looked for, where only age tells. */
  readonly sinceMs: number;
  readonly known: KnownPositions;
  /** Archives that are taken; the one found is added. */
  readonly used: Set<RawPath>;
  /** Takes bytes that follow the position, whole lines but for the last; `at` is the position behind them. */
  readonly push: (bytes: Buffer, from: FilePosition, at: FilePosition) => void;
}

/**
 * Reads what follows a position in a compressed form (`.gz`) of the file, beside one of its names.
 *
 * @returns The position behind the last byte; undefined when there is no such archive.
 */
export async function readArchive(search: ArchiveSearch): Promise<FilePosition | undefined> {
  const { position, used } = search;
  let at = position;
  const push = (bytes: Buffer): void => {
    const from = at;
    const marker = Buffer.from(Buffer.concat([at.marker, bytes]).subarray(-64));
    at = { ...at, offset: at.offset + bytes.length, marker };
    search.push(bytes, from, at);
  };
  for (const { path } of await candidates(search)) {
    let carry = Buffer.alloc(0);
    const rest = await readGzipRest(path, position, (bytes) => {
      const all = carry.length === 0 ? bytes : Buffer.concat([carry, bytes]);
      const end = all.lastIndexOf(10) + 1;
      if (end > 0) push(all.subarray(0, end));
      carry = Buffer.from(all.subarray(end));
      if (carry.length < MAX_CARRY_BYTES) return;
      push(carry);
      carry = Buffer.alloc(0);
    });
    if (rest === undefined) continue;
    used.add(path);
    if (carry.length > 0) push(carry);
    return at;
  }
  return undefined;
}

/** Youngest first. Of a file that was empty only its age tells, and that no other file is known to be in the archive. */
async function candidates({ position, places, sinceMs, known, used }: ArchiveSearch): Promise<Sibling[]> {
  const wasEmpty = position.head.length === 0;
  const found = places
    .flatMap((path) => siblings(path, true))
    .filter(({ path, bornMs }) => path.endsWith(".gz") && !used.has(path) && (!wasEmpty || bornMs >= sinceMs))
    .toSorted((a, b) => b.bornMs - a.bornMs)
    .slice(0, MAX_ARCHIVES);
  if (!wasEmpty) return found;
  const unknown: Sibling[] = [];
  for (const archive of found) if (!(await isOfKnown(archive.path, position.path, known))) unknown.push(archive);
  return unknown;
}

/** True when the archive holds a file that was read to its end long ago. */
async function isOfKnown(archive: RawPath, path: RawPath, known: KnownPositions): Promise<boolean> {
  for (const position of known.values())
    if (
      position.path === path &&
      position.head.length > 0 &&
      (await readGzipRest(archive, position, () => {})) !== undefined
    )
      return true;
  return false;
}
