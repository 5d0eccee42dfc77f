import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { UserError } from "../core/user-error.ts";

/** What is to be done to one published thing, or was done. */
export interface Change {
  readonly action: "create" | "update" | "remove" | "unchanged";
  /** Path or title. */
  readonly what: string;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

export interface FolderOptions {
  /** True for a file that an earlier `publish` wrote; others are never touched. */
  readonly isOurs: (file: string, text: string) => boolean;
  /** Says what would be done and does nothing. */
  readonly dryRun: boolean;
}

/**
 * Brings a folder to the wanted files: writes what differs, each by rename so that no reader sees half a file, and
 * removes files of ours that are wanted no more.
 *
 * @param wanted Content by path relative to `folder`.
 * @throws {UserError} Exit code 1 when a file stands in the way that is not ours, before anything is written.
 */
export async function publishFolder(
  folder: string,
  wanted: ReadonlyMap<string, string>,
  options: FolderOptions,
): Promise<Change[]> {
  const changes: Change[] = [];
  for (const [file, after] of wanted) {
    const before = await textOf(path.join(folder, file));
    if (before !== undefined && before !== after && !options.isOurs(file, before)) {
      throw new UserError(
        `Cannot write "${path.join(folder, file)}": a file that tokentail did not write is there; move it or choose another folder`,
      );
    }
    const action = before === undefined ? "create" : before === after ? "unchanged" : "update";
    changes.push({ action, what: path.join(folder, file), before, after });
  }
  for (const subfolder of new Set([...wanted.keys()].map((file) => path.dirname(file)))) {
    for (const name of await namesIn(path.join(folder, subfolder))) {
      const file = path.join(subfolder, name);
      if (wanted.has(file)) continue;
      const before = await textOf(path.join(folder, file));
      if (before === undefined || !options.isOurs(file, before)) continue;
      changes.push({ action: "remove", what: path.join(folder, file), before, after: undefined });
    }
  }
  if (!options.dryRun) for (const change of changes) await apply(change);
  return changes;
}

async function apply({ action, what, after }: Change): Promise<void> {
  try {
    if (action === "remove") await rm(what);
    if (after === undefined || action === "unchanged") return;
    await mkdir(path.dirname(what), { recursive: true });
    // hidden while it is written: Grafana and Prometheus read whatever matches their pattern
    const temporary = path.join(path.dirname(what), `.${path.basename(what)}.tmp`);
    await writeFile(temporary, after);
    await rename(temporary, what);
  } catch (cause) {
    throw new UserError(`Cannot write "${what}": ${(cause as Error).message}`, { cause });
  }
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    if (isMissing(cause)) return undefined;
    throw new UserError(`Cannot read "${file}": ${(cause as Error).message}`, { cause });
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile() && /\.(?:ya?ml|json)$/.test(entry.name))
      .map(({ name }) => name)
      .sort();
  } catch (cause) {
    if (isMissing(cause)) return [];
    throw new UserError(`Cannot read "${folder}": ${(cause as Error).message}`, { cause });
  }
}

const isMissing = (error: unknown): boolean =>
  ["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "");
