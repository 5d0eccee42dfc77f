import { putBounded } from "../../core/bounded-map.ts";
import type { FailureRecord } from "../../model/record.ts";
import {
  addToFailure,
  closeFailure,
  continueFailure,
  type FailureBlockState,
  looksLikeContinuation,
  newFailureBlock,
  openFailure,
} from "../failure-block.ts";

/** Processes of one stream that are followed apart (workers of a tensor-parallel engine). */
const MAX_PROCESSES = 128;
/** A record whose end is not seen is over after this long without a line, milliseconds of wall time. */
const IDLE_MS = 5000;
/** Characters by which two records of one place in the code are told apart when no carriage return helps. */
const SAME_START = 12;

interface ProcessState {
  /** `VllmLine.key` of the last line. */
  key: string;
  /** That line ended in a carriage return. */
  carriageReturn: boolean;
  /** The record that the last line belongs to says nothing: its other lines are passed over. */
  ignored: boolean;
  readMs: number;
  block: FailureBlockState;
}

export interface OpenRecordsState {
  processes: Map<string, ProcessState>;
  /** Process of the last failure line: bare lines go on with it. */
  latest: string;
  /**
   * What a carriage return at a line's end is worth: `unknown` until one is seen (a collector may have removed them),
   * `marks` that the record goes on, or `useless` because every line has one.
   */
  carriageReturns: "unknown" | "marks" | "useless";
}

export const newOpenRecords = (): OpenRecordsState => ({
  processes: new Map(),
  latest: "",
  carriageReturns: "unknown",
});

type EmitFailure = (record: FailureRecord) => void;

/**
 * Joins the physical lines of one record. The logging repeats the whole prefix on every line of a record, and the processes
 * of one engine write in between, so each process has its own open record. A line with the key `""` goes on with nothing.
 *
 * @returns True when the line went on with its process's last record and needs no more reading. A record that another line
 * of the process follows is emitted.
 */
export function joinPhysicalLine(
  state: OpenRecordsState,
  line: {
    readonly process: string;
    readonly key: string;
    readonly message: string;
    readonly carriageReturn: boolean;
    readonly readMs: number;
  },
  emit: EmitFailure,
): boolean {
  let known = state.processes.get(line.process);
  if (known === undefined) {
    known = {
      key: "",
      carriageReturn: false,
      ignored: false,
      readMs: line.readMs,
      block: newFailureBlock(),
    };
    const dropped = putBounded(state.processes, line.process, known, MAX_PROCESSES);
    if (dropped !== undefined) closeFailure(dropped.block, emit);
  }
  const sameKey = line.key !== "" && known.key === line.key;
  const goesOn = sameKey && sameRecord(state, known, line.message);
  if (known.carriageReturn && !sameKey && line.key !== "") state.carriageReturns = "useless";
  else if (line.carriageReturn && state.carriageReturns === "unknown") state.carriageReturns = "marks";
  known.carriageReturn = line.carriageReturn;
  known.readMs = line.readMs;
  if (goesOn) {
    const open = known.block.open !== undefined;
    addToFailure(known.block, line.message, emit);
    // it outgrew its bound: the rest of the record is no other failure
    if (open && known.block.open === undefined) known.ignored = true;
    return true;
  }
  known.key = line.key;
  known.ignored = false;
  closeFailure(known.block, emit);
  return false;
}

function sameRecord(state: OpenRecordsState, known: ProcessState, message: string): boolean {
  const marked = state.carriageReturns === "marks";
  if (marked && known.carriageReturn) return true;
  if (known.ignored) return !marked;
  const { open } = known.block;
  if (open === undefined) return false;
  // a runtime that splits long lines loses their carriage return: inside a traceback the text decides
  if (marked) return looksLikeContinuation(message) && (isInside(open.lines.at(-1) ?? "") || !/^\w/.test(message));
  if (looksLikeContinuation(message)) return true;
  // another record of the same place begins with the same words
  return message.slice(0, SAME_START) !== (open.lines[0] ?? "").slice(0, SAME_START);
}

/** True for a line of a traceback after which the exception has yet to come. */
const isInside = (text: string): boolean => /^\s|^Traceback /.test(text);

/** Opens a failure with the line just given to {@link joinPhysicalLine}. */
export function openRecord(state: OpenRecordsState, process: string, head: FailureRecord, emit: EmitFailure): void {
  state.latest = process;
  const known = state.processes.get(process);
  if (known !== undefined) openFailure(known.block, head, emit);
}

/** The record just begun says nothing, nor do its other lines. */
export function ignoreRecord(state: OpenRecordsState, process: string): void {
  const known = state.processes.get(process);
  if (known !== undefined) known.ignored = true;
}

/**
 * Offers a line without the logging's prefix to an open record: a traceback that was printed, not logged.
 *
 * @param process The line's process part, or undefined: then it may go on with the failure that came last.
 */
export function continueBare(
  state: OpenRecordsState,
  process: string | undefined,
  text: string,
  emit: EmitFailure,
): boolean {
  const known = state.processes.get(process ?? state.latest);
  if (known === undefined) return false;
  if (known.key !== "" && state.carriageReturns === "marks" && !known.carriageReturn) {
    // a logged record says itself where it ends
    closeFailure(known.block, emit);
    return false;
  }
  return continueFailure(known.block, text, emit);
}

/** Emits records that have been silent too long; all when `final`. */
export function flushRecords(state: OpenRecordsState, nowMs: number, final: boolean, emit: EmitFailure): void {
  for (const { block, readMs } of state.processes.values()) {
    if (final || !(nowMs - readMs < IDLE_MS)) closeFailure(block, emit);
  }
}
