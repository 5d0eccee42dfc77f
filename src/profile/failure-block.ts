import type { FailureRecord } from "../model/record.ts";

/** A block is closed at this many lines or characters: what decides a cause stands in its first and last lines. */
const MAX_LINES = 400;
const MAX_CHARS = 64 * 1024;
/** Lines of others that may stand between two lines of one traceback. */
const MAX_INTERLEAVED = 50;

/** The plain memory of one open block; part of its parser's `state`. */
export interface FailureBlockState {
  open:
    | {
        head: FailureRecord;
        lines: string[];
        chars: number;
        interleaved: number;
        ended: boolean;
        /** Wall time of the first line, where the parser tells it. */
        readMs?: number;
      }
    | undefined;
}

export const newFailureBlock = (): FailureBlockState => ({ open: undefined });

const CONTINUATION =
  /^(?:\s|Traceback \(most recent call last\):|During handling of the above exception|The above exception was the direct cause|goroutine \d+ |\[rank\d+\]:\s)/;
const EXCEPTION_LINE =
  /^(?:[A-Za-z_][\w]*\.)*[A-Z][\w]*(?:Error|Exception|Warning|Interrupt|Exit|Timeout|Group)\b(?::|$)/;

/** True for a line that by its look goes on a Python (or indented) traceback: indented, a chain phrase, or the exception itself. */
export function looksLikeContinuation(text: string): boolean {
  return text === "" || CONTINUATION.test(text) || EXCEPTION_LINE.test(text);
}

/**
 * Opens a block with its first line; a block still open is emitted before.
 *
 * @param readMs Wall time of the line, for {@link closeQuietFailure}.
 */
export function openFailure(
  block: FailureBlockState,
  head: FailureRecord,
  emit: (record: FailureRecord) => void,
  readMs = Number.NaN,
): void {
  closeFailure(block, emit);
  block.open = { head, lines: [head.text], chars: head.text.length, interleaved: 0, ended: false, readMs };
}

/**
 * Offers a following line (logger's prefix removed) to the open block.
 *
 * @returns True when it belongs to the block. False leaves the block open, so that lines of another writer may stand
 * between; after too many of them it is emitted.
 */
export function continueFailure(
  block: FailureBlockState,
  text: string,
  emit: (record: FailureRecord) => void,
): boolean {
  const open = block.open;
  if (open === undefined) return false;
  if (!looksLikeContinuation(text)) {
    if (++open.interleaved > MAX_INTERLEAVED) closeFailure(block, emit);
    return false;
  }
  addToFailure(block, text, emit);
  return true;
}

/** Adds a line that is known to belong to the open block. */
export function addToFailure(block: FailureBlockState, text: string, emit: (record: FailureRecord) => void): void {
  const open = block.open;
  if (open === undefined) return;
  if (open.chars + text.length > MAX_CHARS) return;
  open.lines.push(text);
  open.chars += text.length + 1;
  if (open.lines.length >= MAX_LINES) closeFailure(block, emit);
}

/** The lines of one block are written together: after this long no more will come. */
const QUIET_MS = 5000;

/**
 * Emits the open block 5 s after its first line: for a parser's `flush`, which may come between any two of the block's
 * lines and must not cut off the last one, where the exception stands.
 */
export function closeQuietFailure(
  block: FailureBlockState,
  nowMs: number,
  final: boolean,
  emit: (record: FailureRecord) => void,
): void {
  if (final || !(nowMs - (block.open?.readMs ?? Number.NaN) < QUIET_MS)) closeFailure(block, emit);
}

/** Emits the open block, if there is one, as one record whose text is all of its lines. */
export function closeFailure(block: FailureBlockState, emit: (record: FailureRecord) => void): void {
  const open = block.open;
  if (open === undefined) return;
  block.open = undefined;
  while (open.lines.at(-1)?.trim() === "") open.lines.pop();
  emit({ ...open.head, text: open.lines.join("\n") });
}
