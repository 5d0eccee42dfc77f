import { parseDurationMs } from "../../core/duration.ts";
import { Latency, type LatencyKind } from "../../model/latency.ts";
import type { Line } from "../../model/line.ts";
import { type FailureRecord, RequestRecord } from "../../model/record.ts";
import {
  addToFailure,
  closeFailure,
  closeQuietFailure,
  continueFailure,
  type FailureBlockState,
  newFailureBlock,
  openFailure,
} from "../failure-block.ts";
import type { Parser, ParserContext } from "../profile.ts";
import { setDurations } from "../tracing/durations.ts";
import { spanWith, type TracingEvent, tracingEvent } from "../tracing/event.ts";

/** `text_generation_router`, `_launcher`, `_client`, `_router_v3`, … */
export const TGI_CRATES = "text_generation_";
const LAUNCHER = "text_generation_launcher";

const DURATIONS: ReadonlyArray<readonly [string, LatencyKind]> = [
  ["total_time", Latency.e2e],
  ["queue_time", Latency.queue],
  ["validation_time", Latency.validation],
  ["inference_time", Latency.inference],
  // inference time through generated tokens, prefill included
  ["time_per_token", Latency.tpot],
];

/** How `InferError` is displayed: written once for each request that failed. */
const REQUEST_FAILED =
  /^(?:Request failed during generation: |Input validation error: |Model is overloaded|Incomplete generation|Template error: |Missing template va[rt]iable: |Tool error: )/;
const CONTEXT_LENGTH =
  /`inputs` (?:tokens \+ `max_new_tokens` must be|must have less than)|`max_new_tokens` must be <=|`truncate` must be/;
const SHARD_CRASHED = /^(?:Shard \d+ crashed|Shard process was signaled to shutdown)/;
/** Lines of a pretty-printed `Args { … }`; a limit for a block that never closes. */
const MAX_ARGS_LINES = 200;

interface State {
  block: FailureBlockState;
  /** Lines of `Args {` still taken. */
  argsLines: number;
}

export class TgiParser implements Parser {
  state: State = { block: newFailureBlock(), argsLines: 0 };
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const event = tracingEvent(line, TGI_CRATES, this.#context.zone);
    if (event === undefined) return;
    const { emit } = this.#context;
    closeFailure(this.state.block, emit);
    const { message, level, timeMs, target } = event;
    this.state.argsLines = message === "Args {" ? MAX_ARGS_LINES : 0;
    if (message === "Success") this.#success(event);
    else if (level === "ERROR") {
      const request = target !== LAUNCHER && REQUEST_FAILED.test(message);
      const failure: FailureRecord = { kind: "failure", timeMs, text: message, cause: causeOf(event, request) };
      if (request) this.#failed(event, failure);
      else openFailure(this.state.block, failure, emit, line.readMs);
    }
  }

  /** What the launcher passes on from a shard: tracebacks as bare lines, boxed by the shard's command line tool. */
  continues(line: Line): boolean {
    const { text } = line;
    if (this.state.argsLines > 0 && /^(?: |[})]$)/.test(text)) {
      this.state.argsLines = text === "}" ? 0 : this.state.argsLines - 1;
      return true;
    }
    const { open } = this.state.block;
    if (open === undefined || text.charCodeAt(0) === 123) return false;
    if (/^[╭│╰┃┏┗❱]/.test(text)) {
      addToFailure(this.state.block, text, this.#context.emit);
      return true;
    }
    return continueFailure(this.state.block, text, this.#context.emit);
  }

  flush(nowMs: number, final: boolean): void {
    closeQuietFailure(this.state.block, nowMs, final, this.#context.emit);
  }

  #success(event: TracingEvent): void {
    const record = new RequestRecord();
    record.timeMs = event.timeMs;
    const timed = spanWith(event, "total_time");
    record.route = timed?.name ?? routeOf(event);
    record.stream = streamOf(record.route);
    let tokens = Number.NaN;
    if (timed !== undefined) {
      setDurations(record, timed.fields, DURATIONS);
      tokens =
        parseDurationMs(timed.fields.get("inference_time") ?? "") /
        parseDurationMs(timed.fields.get("time_per_token") ?? "");
    }
    this.#context.emit(record);
    if (tokens >= 0 && Number.isFinite(tokens)) {
      const estimate = Math.round(tokens);
      this.#context.emit({ kind: "estimate", timeMs: event.timeMs, direction: "out", tokens: estimate });
    }
  }

  #failed(event: TracingEvent, failure: FailureRecord): void {
    const record = new RequestRecord();
    record.timeMs = event.timeMs;
    record.outcome = "error";
    record.route = routeOf(event);
    record.stream = streamOf(record.route);
    record.failure = { ...failure, route: record.route };
    this.#context.emit(record);
  }
}

/** The handler's span: the outermost but for what wraps it. */
function routeOf(event: TracingEvent): string | undefined {
  return event.spans.find(({ name }) => name !== "compat_generate" && !name.startsWith("HTTP ") && name !== "")?.name;
}

function streamOf(route: string | undefined): boolean | undefined {
  return route === "generate_stream" ? true : route === "generate" ? false : undefined;
}

/** The causes that the variants of `InferError` and the launcher's own words decide. */
function causeOf({ message, target }: TracingEvent, request: boolean): string | undefined {
  if (request && message.startsWith("Model is overloaded")) return "queue_overflow";
  if (request && message.startsWith("Input validation error: "))
    return CONTEXT_LENGTH.test(message.slice(0, 300)) ? "context_length_exceeded" : "invalid_request";
  if (request && /^(?:Template error|Missing template)/.test(message)) return "chat_template_error";
  if (target === LAUNCHER && SHARD_CRASHED.test(message)) return "shard_crash";
  return undefined;
}
