import { glob } from "node:fs/promises";
import path from "node:path";

const MAGIC = /[*?[\]{}!]/;

/**
 * Files that the patterns match: a plain path stands for itself (even when its name holds glob characters but exists),
 * a directory for the files in it.
 *
 * @returns Absolute paths.
 */
export async function expandGlobs(
  patterns: readonly string[],
  exclude: readonly string[],
  onError: (path: string, error: unknown) => void,
): Promise<Set<string>> {
  const found = new Set<string>();
  const excluded = exclude.length === 0 ? {} : { exclude: [...exclude] };
  for (const pattern of patterns) {
    if (!MAGIC.test(pattern)) {
      found.add(path.resolve(pattern));
      continue;
    }
    try {
      for await (const match of glob(pattern, excluded)) found.add(path.resolve(match));
    } catch (error) {
      onError(pattern, error);
    }
  }
  return found;
}
