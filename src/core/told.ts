import leven from "leven";

/** `; did you mean "x"?` for the nearest of the known names, or nothing when none is near. */
export function didYouMean(given: string, known: readonly string[]): string {
  let best = "";
  let bestDistance = Math.max(2, Math.floor(given.length / 2)) + 1;
  for (const name of known) {
    const distance = leven(given, name);
    if (distance < bestDistance) [best, bestDistance] = [name, distance];
  }
  return best === "" ? "" : `; did you mean "${best}"?`;
}

/** The reason of a system error in words a user knows. */
export function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const words: Record<string, string> = {
    ENOENT: "no such file",
    EACCES: "permission denied",
    EISDIR: "is a directory",
    ENOTDIR: "not a directory",
    EMFILE: "too many open files",
    ENOSPC: "no space left on device",
    EROFS: "read-only file system",
    EADDRINUSE: "address already in use",
  };
  return words[code ?? ""] ?? message;
}
