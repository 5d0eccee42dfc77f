import { putBounded, take } from "../../core/bounded-map.ts";
import { parseIso } from "../../core/timestamp.ts";
import { Latency } from "../../model/latency.ts";
import type { Line } from "../../model/line.ts";
import { RequestRecord } from "../../model/record.ts";
import {
  closeFailure,
  continueFailure,
  type FailureBlockState,
  newFailureBlock,
  openFailure,
} from "../failure-block.ts";
import type { Parser, ParserContext } from "../profile.ts";
import { parseSessionEnd, parseSessionStart, type SessionEnd } from "./session.ts";
import { type LmdeployStats, parseLoggedStats, parsePrintedStats } from "./stats.ts";

const MAX_SESSIONS = 10_000;
const IDLE_MS = 5000;

interface State {
  /** Begin of the turn that runs in each session, milliseconds since the epoch. */
  started: Map<string, number>;
  /** Sessions whose last turn was counted; a new turn takes them out. */
  ended: Map<string, true>;
  /** True once a second data-parallel rank is known: then each is an engine of its own. */
  manyRanks: boolean;
  block: FailureBlockState;
  readMs: number;
}

export const HEAD =
  /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} - lmdeploy - (DEBUG|INFO|WARNING|ERROR|CRITICAL)(?: - \[pid=(\d+)[^\]]{0,40}\])? - (?:[\w./-]+\.py:\d+ - )?/;

export class LmdeployParser implements Parser {
  state: State = {
    started: new Map(),
    ended: new Map(),
    manyRanks: false,
    block: newFailureBlock(),
    readMs: Number.NaN,
  };
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const { text } = line;
    const { zone } = this.#context;
    const printed = parsePrintedStats(text, zone);
    if (printed !== undefined) {
      this.#stats(printed);
      return;
    }
    const head = HEAD.exec(text);
    if (head === null) return;
    closeFailure(this.state.block, this.#context.emit);
    this.state.readMs = line.readMs;
    const [whole, level = "", pid = ""] = head;
    this.#message(text.slice(whole.length), level, pid, parseIso(text, 0, zone).timeMs);
  }

  continues(line: Line): boolean {
    if (!continueFailure(this.state.block, line.text, this.#context.emit)) return false;
    this.state.readMs = line.readMs;
    return true;
  }

  flush(nowMs: number, final: boolean): void {
    if (final || !(nowMs - this.state.readMs < IDLE_MS)) closeFailure(this.state.block, this.#context.emit);
  }

  #message(message: string, level: string, pid: string, timeMs: number): void {
    const start = message.startsWith("session") ? parseSessionStart(message) : undefined;
    if (start !== undefined) {
      const key = sessionKey(pid, start);
      putBounded(this.state.started, key, timeMs, MAX_SESSIONS);
      this.state.ended.delete(key);
      this.#context.emit({ kind: "received", timeMs });
      return;
    }
    const end = parseSessionEnd(message);
    if (end !== undefined) this.#end(end, message, pid, timeMs);
    else if (message.startsWith("enable metrics, with dp: "))
      this.state.manyRanks = /^enable metrics, with dp: (?!1\b)\d/.test(message);
    else if (message.startsWith("DP: ")) {
      const stats = parseLoggedStats(message, timeMs);
      if (stats !== undefined) this.#stats(stats);
    } else if (level === "ERROR" || level === "CRITICAL")
      openFailure(this.state.block, { kind: "failure", timeMs, text: message }, this.#context.emit);
  }

  #end(end: SessionEnd, message: string, pid: string, timeMs: number): void {
    const { session, outcome, cause } = end;
    const key = sessionKey(pid, session);
    const startedMs = take(this.state.started, key);
    if (this.state.ended.has(key)) return;
    putBounded(this.state.ended, key, true, MAX_SESSIONS);
    const record = new RequestRecord();
    record.timeMs = timeMs;
    record.id = session;
    record.outcome = outcome;
    if (outcome === "ok") {
      record.finishReason = end.finishReason;
      record.tokensIn = end.tokensIn;
      record.tokensOut = end.tokensOut;
      // the server prints no duration: both lines carry its clock to the millisecond
      record.latencies.set(Latency.e2e, startedMs === undefined ? undefined : timeMs - startedMs);
      this.#context.emit(record);
      return;
    }
    const failure = { kind: "failure", timeMs, text: message, requestId: session, cause } as const;
    const traceback = message.includes(" exception caught: ");
    if (!traceback) record.failure = failure;
    this.#context.emit(record);
    // its traceback follows
    if (traceback) openFailure(this.state.block, failure, this.#context.emit);
  }

  #stats({ timeMs, rank, values, drafted }: LmdeployStats): void {
    const { emit } = this.#context;
    if (rank > 0) this.state.manyRanks = true;
    emit({ kind: "gauges", timeMs, engine: this.state.manyRanks ? `DP${rank}` : undefined, values });
    if (drafted === undefined) return;
    emit({ kind: "count", timeMs, name: "draft_accepted", by: drafted.accepted });
    emit({ kind: "count", timeMs, name: "draft_generated", by: drafted.generated });
  }
}

/** Processes of one deployment number their sessions apart. */
const sessionKey = (pid: string, session: string): string => (pid === "" ? session : `${pid}/${session}`);
