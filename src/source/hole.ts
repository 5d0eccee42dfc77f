import { readSync } from "node:fs";

const BLOCK = 4096;
const FIRST_STEP = 64 * 1024;
/** A difference between bytes on disk and bytes after the hole that need not mean an island of data in it. */
const SLACK_BYTES = 1024 * 1024;
const MAX_SCAN_BYTES = 256 * 1024 * 1024;

/**
 * Finds where data begins behind a run of NULs, as `SEEK_DATA` would, which Node does not offer: steps that double, then
 * bisection. A writer that goes on at its old offset in a truncated file leaves one such run, at the start; if the file
 * holds more blocks than the data behind it needs, the run is read through instead.
 *
 * @param from Position known to be NUL.
 * @param allocatedBytes What the file takes on disk.
 * @returns Offset of the first byte that is not NUL; undefined when there is none up to `size`.
 */
export function endOfHole(
  fd: number,
  from: number,
  size: number,
  allocatedBytes: number,
  buffer: Buffer,
): number | undefined {
  const window = buffer.subarray(0, BLOCK);
  const dataIn = (at: number): number => firstData(fd, at, Math.min(BLOCK, size - at), window);
  let low = from;
  let high = -1;
  for (let step = FIRST_STEP; high < 0; step *= 2) {
    const at = Math.min(low + step, Math.max(from, size - BLOCK));
    if (dataIn(at) >= 0) high = at;
    else if (at >= size - BLOCK) return scan(fd, from, size, allocatedBytes, buffer);
    else low = at;
  }
  while (high - low > BLOCK) {
    const middle = low + Math.floor((high - low) / 2 / BLOCK) * BLOCK;
    if (middle <= low) break;
    if (dataIn(middle) >= 0) high = middle;
    else low = middle;
  }
  for (let at = low; at < high + BLOCK; at += BLOCK) {
    const data = dataIn(at);
    if (data < 0) continue;
    const end = at + data;
    return size - end + SLACK_BYTES >= allocatedBytes ? end : scan(fd, from, size, allocatedBytes, buffer);
  }
  return undefined;
}

/** Reads through, as far as is bearable; a file that has no more on disk than was read has nothing to find. */
function scan(fd: number, from: number, size: number, allocatedBytes: number, buffer: Buffer): number | undefined {
  if (allocatedBytes <= from && from > 0) return undefined;
  const end = Math.min(size, from + MAX_SCAN_BYTES);
  for (let at = from; at < end; at += buffer.length) {
    const data = firstData(fd, at, Math.min(buffer.length, size - at), buffer);
    if (data >= 0) return at + data;
  }
  return undefined;
}

function firstData(fd: number, at: number, length: number, buffer: Buffer): number {
  const read = readSync(fd, buffer, 0, length, at);
  return firstNonZero(buffer, read);
}

/** @returns Index of the first byte of `bytes[0..end)` that is not NUL, or -1. */
export function firstNonZero(bytes: Buffer, end: number): number {
  let at = 0;
  // most looks end at the first byte or at the last: compare by blocks in between
  while (at + ZEROS.length <= end && bytes.compare(ZEROS, 0, ZEROS.length, at, at + ZEROS.length) === 0)
    at += ZEROS.length;
  for (; at < end; at++) if (bytes[at] !== 0) return at;
  return -1;
}

const ZEROS = Buffer.alloc(BLOCK);
