import type { HeadTime } from "./rfc3339.ts";

/** The part of a CRI line between its time and its content. */
export interface CriTags {
  stream: "stdout" | "stderr";
  /** `P`: the next line of the same stream goes on. */
  partial: boolean;
  contentAt: number;
}

const result: CriTags = { stream: "stdout", partial: false, contentAt: 0 };

/**
 * Reads ` STREAM TAGS CONTENT` after an RFC 3339 time. Tags are split at `:`; the first says `P` or `F`, others are
 * reserved. Bytes, not text: a long line is cut at a byte, maybe inside a character.
 *
 * @returns A shared object; undefined if the line is not of that form.
 * @see kubernetes/cri-api `pkg/apis/runtime/v1/constants.go` at 791729b; containerd `internal/cri/io/logger.go` at 301026e58
 */
export function readCri(bytes: Buffer, time: HeadTime, end: number): CriTags | undefined {
  const at = time.end;
  // " std" "out"|"err" " " "P"|"F"
  if (end - at < 9 || bytes[at] !== 32 || bytes[at + 1] !== 115 || bytes[at + 2] !== 116 || bytes[at + 3] !== 100)
    return undefined;
  if (bytes[at + 4] === 111 && bytes[at + 5] === 117 && bytes[at + 6] === 116) result.stream = "stdout";
  else if (bytes[at + 4] === 101 && bytes[at + 5] === 114 && bytes[at + 6] === 114) result.stream = "stderr";
  else return undefined;
  const tag = bytes[at + 8];
  if (bytes[at + 7] !== 32 || (tag !== 80 && tag !== 70)) return undefined;
  let next = at + 9;
  if (bytes[next] === 58) while (next < end && bytes[next] !== 32) next++;
  if (next < end && bytes[next] !== 32) return undefined;
  result.partial = tag === 80;
  result.contentAt = Math.min(next + 1, end);
  return result;
}
