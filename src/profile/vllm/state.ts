import { type FailureRecord, type LogRecord, type RejectReason, RequestRecord } from "../../model/record.ts";
import { newOpenRecords, type OpenRecordsState } from "./open-records.ts";
import type { RequestEnds } from "./request-ends.ts";

export type Engine = "v1" | "v0" | "rust";

/** What the lines of one stream must know of those before. */
export interface VllmState {
  records: OpenRecordsState;
  ends: RequestEnds;
  model: string | undefined;
  /** Thousand times the major version plus the minor one, if the log told it. */
  version: number | undefined;
  /** `--max-log-len`, if the log told it. */
  maxLogLength: number | undefined;
  /** Prompt tokens of the request whose `details` line came last: its arrival follows at once. */
  details: { readonly id: string; readonly tokens: number } | undefined;
  /** `total_num_cumulative_preemption` as last printed, by process. */
  preemptions: Map<string, number>;
  /** True once a line came that only this engine writes: lines that both engines write are then its own. */
  sure: boolean;
  /** True once the engine reported its own death: the requests it takes with it are victims, not further failures. */
  engineDied: boolean;
}

export const newVllmState = (): VllmState => ({
  records: newOpenRecords(),
  ends: new Map(),
  model: undefined,
  version: undefined,
  maxLogLength: undefined,
  details: undefined,
  preemptions: new Map(),
  sure: false,
  engineDied: false,
});

/** One message being read. */
export interface Reading {
  readonly state: VllmState;
  readonly engine: Engine;
  readonly timeMs: number;
  emit(record: LogRecord): void;
  reject(reason: RejectReason): void;
}

export function newFailure(reading: Reading, text: string, more: Partial<FailureRecord> = {}): FailureRecord {
  return { kind: "failure", timeMs: reading.timeMs, text, model: reading.state.model, ...more };
}

export function newRequest(reading: Reading, id: string | undefined): RequestRecord {
  const record = new RequestRecord();
  record.timeMs = reading.timeMs;
  record.id = id;
  record.model = reading.state.model;
  return record;
}
