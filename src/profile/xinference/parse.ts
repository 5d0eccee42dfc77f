import { Latency } from "../../model/latency.ts";
import type { Line } from "../../model/line.ts";
import { type FailureRecord, RequestRecord } from "../../model/record.ts";
import { isInference, parseAccessLine } from "../access-line.ts";
import {
  addToFailure,
  closeFailure,
  continueFailure,
  type FailureBlockState,
  newFailureBlock,
  openFailure,
} from "../failure-block.ts";
import type { Parser, ParserContext } from "../profile.ts";
import { parseFinished, parseRecord, type XinferenceRecord } from "./record.ts";

/** A model's error reaches the API, which logs it again, within this time, milliseconds. */
const ECHO_MS = 10_000;
const IDLE_MS = 5000;

/** What the open failure is. `api`: the error of a request, unless its text says that it was something else. */
type BlockKind = "api" | "other";

interface State {
  block: FailureBlockState;
  kind: BlockKind;
  readMs: number;
  /** The last error that ended a call of a model: the API's record of the same text is the same request. */
  modelError: { readonly text: string; readonly timeMs: number } | undefined;
}

const LEAVE = /^\[request (\S+)\] Leave (\w+), error: (.*?)(?:, elapsed time: \d+ s)?$/s;
/** Functions of a model that answer a request. */
const INFERENCE =
  /^(?:chat|generate|rerank|create_embedding|create_\w+|text_to_\w+|image_to_\w+|transcriptions|speech|infer|inpainting|ocr)$/;
const API_INFERENCE = /, in (?:create_\w+|rerank|_?chat_completion|message)\b/;
const ADMINISTRATION = /\b(?:launch|terminat|regist)/i;

export class XinferenceParser implements Parser {
  state: State = { block: newFailureBlock(), kind: "other", readMs: Number.NaN, modelError: undefined };
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const record = parseRecord(line, this.#context.zone);
    if (record === undefined) return;
    this.#close();
    this.state.readMs = line.readMs;
    const { message, module, level, timeMs } = record;
    if (message.startsWith("Generate finished, ")) this.#finished(message, timeMs);
    else if (module.startsWith("uvicorn")) this.#access(message, timeMs);
    else if (level === "ERROR" || level === "CRITICAL") this.#error(record);
    if (record.exception !== undefined) {
      for (const text of record.exception.split("\n")) addToFailure(this.state.block, text, this.#emitFailure);
    }
  }

  continues(line: Line): boolean {
    if (this.state.block.open === undefined || line.text.charCodeAt(0) === 123) return false;
    if (!continueFailure(this.state.block, line.text, this.#emitFailure)) return false;
    this.state.readMs = line.readMs;
    return true;
  }

  flush(nowMs: number, final: boolean): void {
    if (final || !(nowMs - this.state.readMs < IDLE_MS)) this.#close();
  }

  #finished(message: string, timeMs: number): void {
    const finished = parseFinished(message);
    if (finished === undefined) return;
    const record = new RequestRecord();
    record.timeMs = timeMs;
    record.id = finished.id;
    record.finishReason = finished.reason;
    record.tokensIn = finished.tokensIn;
    record.tokensOut = finished.tokensOut;
    record.latencies.set(Latency.e2e, finished.elapsedMs);
    this.#context.emit(record);
  }

  /** JSON puts uvicorn's lines into records too. */
  #access(message: string, timeMs: number): void {
    const access = parseAccessLine(message);
    if (access === undefined) return;
    const { route, status, method } = access;
    this.#context.emit({ kind: "http", timeMs, status, route, inference: isInference(method, route) });
  }

  #error({ message, module, timeMs }: XinferenceRecord): void {
    const leave = LEAVE.exec(message);
    this.state.kind = "other";
    if (leave !== null) {
      const [, id = "", called = "", text = ""] = leave;
      if (INFERENCE.test(called)) {
        this.state.modelError = { text: withoutAddress(text), timeMs };
        this.#context.emit(failedRequest(id, timeMs));
      }
      this.#open(message, timeMs, id);
      return;
    }
    const { modelError } = this.state;
    const echo = modelError?.text === withoutAddress(message) && !(timeMs - modelError.timeMs > ECHO_MS);
    if (echo) this.state.modelError = undefined;
    else if (module.startsWith("xinference.api")) this.state.kind = "api";
    this.#open(message, timeMs, undefined);
  }

  #open(text: string, timeMs: number, requestId: string | undefined): void {
    openFailure(this.state.block, { kind: "failure", timeMs, text, requestId }, this.#emitFailure);
  }

  #close(): void {
    closeFailure(this.state.block, this.#emitFailure);
  }

  readonly #emitFailure = (failure: FailureRecord): void => {
    if (this.state.kind !== "api" || !endsRequest(failure.text)) {
      this.#context.emit(failure);
      return;
    }
    const record = failedRequest(undefined, failure.timeMs);
    record.failure = failure;
    this.#context.emit(record);
  };
}

/** Whether the API's error was one of answering a request, not of launching a model and the like. */
const endsRequest = (text: string): boolean =>
  text.includes("\nTraceback ") ? API_INFERENCE.test(text) : !ADMINISTRATION.test(text);

function failedRequest(id: string | undefined, timeMs: number): RequestRecord {
  const record = new RequestRecord();
  record.timeMs = timeMs;
  record.id = id;
  record.outcome = "error";
  return record;
}

/** Actors put their address in front of an error that crosses a process. */
const withoutAddress = (text: string): string => text.replace(/^\[address=[^\]]{0,100}\] /, "").trim();
