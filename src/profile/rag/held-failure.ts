import type { FailureRecord } from "../../model/record.ts";
import {
  addToFailure,
  closeFailure,
  continueFailure,
  type FailureBlockState,
  newFailureBlock,
  openFailure,
} from "../failure-block.ts";

/** Wall time after which a half that waits for its other half is delivered alone, milliseconds. */
export const HOLD_MS = 5000;

/** True when what was read at `readMs` has waited long enough (or the time of reading is not known). */
export function hasWaited(readMs: number, nowMs: number): boolean {
  return !(nowMs - readMs < HOLD_MS);
}

/** An open failure block with the wall time of its last line; plain memory of a parser. */
export interface HeldFailure {
  readonly block: FailureBlockState;
  readMs: number;
  /** A stack frame was the last line: the exception itself may follow, under any name. */
  frame: boolean;
}

export const newHeldFailure = (): HeldFailure => ({ block: newFailureBlock(), readMs: Number.NaN, frame: false });

type Emit = (record: FailureRecord) => void;

/** An exception whose class does not end in `Error`: `werkzeug.exceptions.NotFound: 404 …`. */
const EXCEPTION_OF_ANY_NAME = /^[A-Za-z_][\w.]{1,200}(?:: |$)/;

export function holdFailure(held: HeldFailure, head: FailureRecord, readMs: number, emit: Emit): void {
  openFailure(held.block, head, emit);
  held.readMs = readMs;
  held.frame = false;
}

/** Offers a line that begins no record of its own; true when the open block took it. */
export function continueHeld(held: HeldFailure, text: string, readMs: number, emit: Emit): boolean {
  if (held.block.open === undefined) return false;
  if (held.frame && EXCEPTION_OF_ANY_NAME.test(text)) addToFailure(held.block, text, emit);
  else if (!continueFailure(held.block, text, emit)) return false;
  held.frame = text.startsWith("  ");
  held.readMs = readMs;
  return true;
}

/** Ends the open block: a record that is not part of it has begun. */
export function releaseHeld(held: HeldFailure, emit: Emit): void {
  closeFailure(held.block, emit);
}

export function flushHeld(held: HeldFailure, nowMs: number, final: boolean, emit: Emit): void {
  if (held.block.open !== undefined && (final || hasWaited(held.readMs, nowMs))) closeFailure(held.block, emit);
}
