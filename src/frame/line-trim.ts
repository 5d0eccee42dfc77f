const NUL = 0;
const CR = 13;

/** What stands before the content of a physical line. */
export interface LineHead {
  /** First byte of the content. */
  start: number;
  /** NUL bytes passed over. */
  nuls: number;
  /** Carriage returns passed over: the line draws over itself (a progress bar). */
  returns: number;
}

const head: LineHead = { start: 0, nuls: 0, returns: 0 };

/**
 * Passes over the NULs a truncated file leaves in front of a line, then the carriage returns of progress bars.
 *
 * @param returned A carriage return was passed over before `start`: NULs are content now.
 * @returns A shared object, overwritten by the next call.
 */
export function passHead(bytes: Buffer, start: number, end: number, returned: boolean): LineHead {
  let at = start;
  if (!returned) while (at < end && bytes[at] === NUL) at++;
  head.nuls = at - start;
  while (at < end && bytes[at] === CR) at++;
  head.returns = at - start - head.nuls;
  head.start = at;
  return head;
}

/** Start of the last frame a progress bar drew: after the last `\r` that something follows; `start` if there is none. */
export function lastFrame(bytes: Buffer, start: number, end: number): number {
  let at = end - 1;
  while (at >= start && bytes[at] === CR) at--;
  while (at >= start && bytes[at] !== CR) at--;
  return at + 1;
}

/** End of a line's content: trailing carriage returns removed. */
export function trimEnd(bytes: Buffer, start: number, end: number): number {
  let stop = end;
  while (stop > start && bytes[stop - 1] === CR) stop--;
  return stop;
}

/** Start of the content of a line that a wrapper carried: as the line splitter would have found it. */
export function contentStart(bytes: Buffer, start: number, end: number): number {
  const first = bytes[start];
  if (first !== CR && first !== NUL) return start;
  const { start: at, returns } = passHead(bytes, start, end, false);
  return returns > 0 ? lastFrame(bytes, at, end) : at;
}
