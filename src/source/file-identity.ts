import { constants } from "node:fs";
import { type FileHandle, open, readdir, stat } from "node:fs/promises";
import path from "node:path";
import type { FilePosition } from "./source.ts";

/** Files of one folder that are looked at for a rotated or copied one. */
const MAX_SIBLINGS = 2000;

/** True when the file holds, where an earlier read left them, the same first bytes and the same bytes before the offset. */
export async function holds(handle: FileHandle, position: FilePosition): Promise<boolean> {
  const { size } = await handle.stat();
  if (size < position.offset) return false;
  return (
    (await sameBytes(handle, 0, position.head)) &&
    (await sameBytes(handle, position.offset - position.marker.length, position.marker))
  );
}

async function sameBytes(handle: FileHandle, at: number, wanted: Buffer): Promise<boolean> {
  if (wanted.length === 0) return true;
  const found = Buffer.allocUnsafe(wanted.length);
  const { bytesRead } = await handle.read(found, 0, found.length, at);
  return bytesRead === wanted.length && found.equals(wanted);
}

export interface Sibling {
  readonly path: string;
  readonly device: string;
  readonly inode: string;
  readonly bornMs: number;
  readonly size: number;
}

/** Plain files beside `file` whose names begin as its own does (`a.log.1`, `a.log-20260301`, `a-20260301.log`), it excepted. */
export async function siblings(file: string): Promise<Sibling[]> {
  const folder = path.dirname(file);
  const base = path.basename(file);
  const stem = base.replace(/\.[^.]*$/, "") || base;
  const names = (await readdir(folder).catch(() => [] as string[])).filter(
    (name) => name !== base && name.startsWith(stem) && !/\.(?:gz|zst|xz|bz2|tmp)$/.test(name),
  );
  const found: Sibling[] = [];
  for (const name of names.slice(0, MAX_SIBLINGS)) {
    const seen = await stat(path.join(folder, name), { bigint: true }).catch(() => undefined);
    if (seen?.isFile() !== true) continue;
    found.push({
      path: path.join(folder, name),
      device: String(seen.dev),
      inode: String(seen.ino),
      bornMs: Number(seen.birthtimeMs),
      size: Number(seen.size),
    });
  }
  return found;
}

/** Opens the sibling that holds what `position` says and goes on behind it: the copy that a copytruncate left. */
export async function openCopy(
  position: FilePosition,
): Promise<{ readonly handle: FileHandle; readonly key: string } | undefined> {
  if (position.head.length === 0) return undefined;
  for (const { path: name, device, inode, size } of await siblings(position.path)) {
    if (size < position.offset || inode === position.inode) continue;
    const handle = await open(name, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => undefined);
    if (handle === undefined) continue;
    if (await holds(handle, position)) return { handle, key: `${device}:${inode}` };
    await handle.close();
  }
  return undefined;
}
