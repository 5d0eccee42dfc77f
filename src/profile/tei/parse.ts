import { Latency, type LatencyKind } from "../../model/latency.ts";
import type { Line } from "../../model/line.ts";
import { RequestRecord } from "../../model/record.ts";
import {
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

/** `text_embeddings_router`, `_core`, `_backend`, `_backend_candle`, … */
export const TEI_CRATES = "text_embeddings_";

/** Of a batch, `total_time` is the whole call's; the parts are averages or maxima of its inputs and may add up to more. */
const DURATIONS: ReadonlyArray<readonly [string, LatencyKind]> = [
  ["total_time", Latency.e2e],
  ["tokenization_time", Latency.tokenization],
  ["queue_time", Latency.queue],
  ["inference_time", Latency.inference],
];

export class TeiParser implements Parser {
  state: FailureBlockState = newFailureBlock();
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const event = tracingEvent(line, TEI_CRATES, this.#context.zone);
    if (event === undefined) return;
    const { emit } = this.#context;
    closeFailure(this.state, emit);
    const { message, level, timeMs } = event;
    if (message === "Success") this.#success(event);
    else if (level === "ERROR")
      openFailure(
        this.state,
        { kind: "failure", timeMs, text: message, cause: causeOf(message), route: event.spans[0]?.name },
        emit,
        line.readMs,
      );
  }

  continues(line: Line): boolean {
    if (this.state.open === undefined || line.text.charCodeAt(0) === 123) return false;
    return continueFailure(this.state, line.text, this.#context.emit);
  }

  flush(nowMs: number, final: boolean): void {
    closeQuietFailure(this.state, nowMs, final, this.#context.emit);
  }

  #success(event: TracingEvent): void {
    const record = new RequestRecord();
    record.timeMs = event.timeMs;
    const timed = spanWith(event, "total_time");
    record.route = timed?.name ?? event.spans.find(({ name }) => !name.startsWith("HTTP "))?.name;
    if (timed !== undefined) setDurations(record, timed.fields, DURATIONS);
    this.#context.emit(record);
  }
}

/** The causes that the variants of `TextEmbeddingsError` decide; a backend's error says more than its variant. */
function causeOf(message: string): string | undefined {
  if (message.startsWith("Model is overloaded")) return "queue_overflow";
  if (/^batch size \d+ > maximum/.test(message)) return "invalid_request";
  if (!message.startsWith("Input validation error: ")) return undefined;
  return /must have less than \d+ tokens/.test(message) ? "embedding_input_too_long" : "invalid_request";
}
