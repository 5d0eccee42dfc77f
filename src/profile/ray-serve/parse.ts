import { Latency } from "../../model/latency.ts";
import type { Line } from "../../model/line.ts";
import { type FailureRecord, RequestRecord } from "../../model/record.ts";
import { isInference, pathOf } from "../access-line.ts";
import {
  addToFailure,
  closeFailure,
  continueFailure,
  type FailureBlockState,
  newFailureBlock,
  openFailure,
} from "../failure-block.ts";
import type { Parser, ParserContext } from "../profile.ts";
import { type Access, actorPrefix, parseAccess, parseServeRecord, type ServeRecord } from "./record.ts";

const IDLE_MS = 5000;
/** What a client that left gets in the log. */
const CLIENT_CLOSED = 499;

interface State {
  block: FailureBlockState;
  readMs: number;
}

export class RayServeParser implements Parser {
  state: State = { block: newFailureBlock(), readMs: Number.NaN };
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const record = parseServeRecord(line, this.#context.zone);
    if (record === undefined) {
      // an actor's line that is no record: the rest of a traceback, or what the user's code printed
      this.#bare(line.text.slice(actorPrefix(line.text)), line);
      return;
    }
    const { emit } = this.#context;
    closeFailure(this.state.block, emit);
    this.state.readMs = line.readMs;
    const { message, level, timeMs } = record;
    const access = parseAccess(message);
    if (access !== undefined) this.#access(access, record);
    else if (level === "ERROR" || level === "CRITICAL") this.#error(record);
    else if (message.startsWith("Replica(") && REJECTED.test(message))
      emit({ kind: "count", timeMs, name: "replica_rejections", by: 1 });
  }

  continues(line: Line): boolean {
    if (this.state.block.open === undefined || line.text.charCodeAt(0) === 123) return false;
    // driver's copies are claimed
    return actorPrefix(line.text) === 0 && this.#bare(line.text, line);
  }

  flush(nowMs: number, final: boolean): void {
    if (final || !(nowMs - this.state.readMs < IDLE_MS)) closeFailure(this.state.block, this.#context.emit);
  }

  #bare(text: string, line: Line): boolean {
    const { block } = this.state;
    if (block.open === undefined) return false;
    // the head of a task's own traceback
    if (text.startsWith("ray::")) addToFailure(block, text, this.#context.emit);
    else if (!continueFailure(block, text, this.#context.emit)) return false;
    this.state.readMs = line.readMs;
    return true;
  }

  /** The router's or proxy's line is the request; `CALL` is the inner hop of the same one. */
  #access(access: Access, record: ServeRecord): void {
    const { method, target, status, ms } = access;
    const { timeMs, requestId } = record;
    const code = Number(status);
    if (Number.isNaN(code)) {
      const probe = target === "check_health" || target === "reconfigure";
      this.#context.emit({
        kind: "count",
        timeMs,
        name: probe ? "health_probes" : (CALLS[status] ?? "handle_calls"),
        by: 1,
      });
      return;
    }
    // before 2.40 the path is the route prefix, or missing
    const route = pathOf(target === "" ? (record.route ?? "") : target);
    if (!isInference(method, route === "" ? "/" : route)) {
      this.#context.emit({ kind: "http", timeMs, status: code, route, inference: false });
      return;
    }
    const request = new RequestRecord();
    request.timeMs = timeMs;
    request.id = requestId;
    request.route = route === "" ? undefined : route;
    request.httpStatus = code;
    // proxy, replica and driver each write a line, in files of their own
    if (requestId !== undefined) request.dedupeKey = `${requestId} ${method} ${status}`;
    if (code === CLIENT_CLOSED) {
      request.outcome = "aborted";
      const text = record.message;
      request.failure = {
        kind: "failure",
        timeMs,
        text,
        cause: "client_cancelled",
        httpStatus: code,
        route,
        requestId,
      };
    } else if (code >= 400) request.outcome = "error";
    else request.latencies.set(Latency.e2e, ms);
    this.#context.emit(request);
  }

  #error({ message, timeMs, requestId, exception }: ServeRecord): void {
    const failure: FailureRecord = { kind: "failure", timeMs, text: message, requestId };
    openFailure(this.state.block, failure, this.#context.emit);
    for (const text of exception?.split("\n") ?? []) addToFailure(this.state.block, text, this.#context.emit);
  }
}

const REJECTED = / rejected request because it is at max capacity of \d+ ongoing requests/;
const CALLS: Readonly<Record<string, string>> = {
  OK: "handle_calls_ok",
  ERROR: "handle_calls_error",
  CANCELLED: "handle_calls_cancelled",
};
