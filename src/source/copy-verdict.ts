import { fstatSync } from "node:fs";
import type { FileGeneration } from "./file-generation.ts";
import { copiedUpTo, oneBeginsOther } from "./file-identity.ts";
import type { FollowedPath } from "./followed-path.ts";

/** What to do with a file that appeared: read it from its start, wait until it shows what it is, or go on behind what is known. */
export type CopyVerdict = "read" | "wait" | { readonly skipTo: number };

/** A copy is written in one go: one that has not grown for this long is whole. */
const COPY_WAIT_MS = 5_000;

/**
 * Tells a new file from the copy that a copytruncate makes of one that is followed, when the pattern matches both. While
 * both are the same it may be either: nothing is read, until the original is truncated (the rest is then read from the
 * copy), or the two differ, or the copy has stood still.
 */
export function judgeNewFile(file: FileGeneration, original: FollowedPath | undefined, time: number): CopyVerdict {
  if (original === undefined) return "read";
  const fd = file.file.open();
  const size = Number(fstatSync(fd, { bigint: true }).size);
  if (size === 0) return "wait";
  for (const content of original.finished.toReversed()) {
    const skipTo = copiedUpTo(fd, content);
    if (skipTo !== undefined) return { skipTo };
  }
  const { live } = original;
  if (live === undefined) return "read";
  const liveFd = live.file.open();
  const liveSize = Number(fstatSync(liveFd, { bigint: true }).size);
  // its truncation is about to be noticed
  if (liveSize < live.offset) return "wait";
  const isSame = oneBeginsOther(fd, size, liveFd, liveSize) || copiedUpTo(fd, live.content()) !== undefined;
  if (!isSame) return "read";
  file.suspected ??= { size: -1, sourceBytes: liveSize };
  if (file.suspected.size !== size) {
    file.suspected.size = size;
    file.grewMs = time;
  }
  if (time - file.grewMs < COPY_WAIT_MS) return "wait";
  return size >= file.suspected.sourceBytes ? { skipTo: size } : "read";
}
