import { parseIso } from "../../core/timestamp.ts";
import { Latency } from "../../model/latency.ts";
import type { Line } from "../../model/line.ts";
import { RequestRecord } from "../../model/record.ts";
import { isInference, parseAccessLine } from "../access-line.ts";
import { addToFailure, closeFailure, type FailureBlockState, newFailureBlock, openFailure } from "../failure-block.ts";
import type { Parser, ParserContext } from "../profile.ts";

interface State {
  /** A metrics line that the console wrapped: its parts so far. */
  wrapped: { text: string; readonly timeMs: number; lines: number } | undefined;
  block: FailureBlockState;
  /** Prefix of the open failure: a record of several lines repeats it. */
  blockHead: string;
}

/** Lines that a wrapped one may have. */
const MAX_WRAPPED = 8;

/** `2026-05-01 12:00:00.123 INFO:     message`, level padded to ten columns. */
export const HEAD = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} (TRACE|DEBUG|INFO|SUCCESS|WARNING|ERROR|CRITICAL): {1,8}/;
/** Messages that only tabbyAPI writes. */
export const OWN_MESSAGE =
  /^(?:Metrics(?: \(ID: [^)]{1,64}\))?: |Received (?:chat )?completion (?:streaming )?request |Finished (?:chat )?completion (?:streaming )?request )/;
const METRICS =
  /^Metrics(?: \(ID: ([^)]{1,64})\))?: (\S+) tokens generated in (\S+) seconds \(Queue: (\S+) s, Process: (.{1,120}?) T\/s, Generate: .{1,40}? T\/s(?:, Context: (\d+) tokens)?[^)]{0,200}\)/;
const PROCESS = /^(\d+) cached tokens and (\d+) new tokens at /;

/**
 * Reads `Metrics (ID: x): N tokens generated in S seconds (Queue: s, Process: c cached tokens and n new tokens at x T/s,
 * Generate: x T/s, Context: n tokens)`; the console wraps long lines.
 *
 * @see tabbyAPI `common/gen_logging.py`, `common/logger.py` at e632af4 and 06ff47e2
 */
export class TabbyapiParser implements Parser {
  state: State = { wrapped: undefined, block: newFailureBlock(), blockHead: "" };
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const { text } = line;
    const head = HEAD.exec(text);
    if (head === null) return;
    const [prefix, level] = head;
    const { emit } = this.#context;
    const message = text.slice(prefix.length);
    if (prefix === this.state.blockHead && this.state.block.open !== undefined) {
      addToFailure(this.state.block, message, emit);
      return;
    }
    closeFailure(this.state.block, emit);
    this.state.wrapped = undefined;
    const { timeMs } = parseIso(text, 0, this.#context.zone);
    if (message.startsWith("Metrics")) {
      if (!this.#metrics(message, timeMs)) this.state.wrapped = { text: message, timeMs, lines: 1 };
      return;
    }
    const access = message.includes(' - "') ? parseAccessLine(message) : undefined;
    if (access !== undefined) {
      const { route, status, method } = access;
      emit({ kind: "http", timeMs, status, route, inference: isInference(method, route) });
    } else if (level === "ERROR" || level === "CRITICAL") {
      this.state.blockHead = prefix;
      openFailure(this.state.block, { kind: "failure", timeMs, text: message }, emit);
    }
  }

  continues(line: Line): boolean {
    const { text } = line;
    if (HEAD.test(text)) {
      // in the company of its own lines any line of this form is its own
      this.parse(line);
      return true;
    }
    const { wrapped } = this.state;
    if (wrapped === undefined || text === "") return false;
    wrapped.text += ` ${text}`;
    wrapped.lines++;
    if (this.#metrics(wrapped.text, wrapped.timeMs) || wrapped.lines >= MAX_WRAPPED) this.state.wrapped = undefined;
    return true;
  }

  flush(_nowMs: number, final: boolean): void {
    if (final) closeFailure(this.state.block, this.#context.emit);
  }

  /** @returns False when the text is no whole metrics message. */
  #metrics(message: string, timeMs: number): boolean {
    const found = METRICS.exec(message);
    if (found === null) return false;
    const [, id, generated, seconds, queue, process = "", context] = found;
    const record = new RequestRecord();
    record.timeMs = timeMs;
    record.id = id;
    record.tokensOut = Number(generated);
    const parts = PROCESS.exec(process);
    if (parts !== null) {
      record.tokensInCached = Number(parts[1]);
      record.tokensInProcessed = Number(parts[2]);
      record.tokensIn = record.tokensInCached + record.tokensInProcessed;
    } else if (context !== undefined) record.tokensIn = Number(context);
    record.latencies.set(Latency.e2e, milliseconds(Number(seconds)));
    record.latencies.set(Latency.queue, milliseconds(Number(queue)));
    this.#context.emit(record);
    return true;
  }
}

const milliseconds = (seconds: number): number => Number((seconds * 1000).toFixed(6));
