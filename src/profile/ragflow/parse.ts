import { parseIso } from "../../core/timestamp.ts";
import type { Line } from "../../model/line.ts";
import { type FailureRecord, RequestRecord } from "../../model/record.ts";
import { pathOf } from "../access-line.ts";
import type { Parser, ParserContext } from "../profile.ts";
import { causeOfException, lastException } from "../rag/exception.ts";
import {
  continueHeld,
  flushHeld,
  type HeldFailure,
  holdFailure,
  newHeldFailure,
  releaseHeld,
} from "../rag/held-failure.ts";
import { figureOf } from "../rag/value.ts";

// `%(asctime)-15s %(levelname)-8s %(process)d %(message)s` (common/log_utils.py at b1b8cd6235)
const HEADER = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} (DEBUG {3}|INFO {4}|WARNING |ERROR {3}|CRITICAL) (\d+) /;
const USED = /^LLMBundle\.(\w{1,40}) used_tokens: (\S{1,20})$/;
/** A model of the deployment itself: the query stands in the middle of the line, and may hold lines of its own. */
const BUILTIN_HEAD = /^LLMBundle\.(encode_queries) query: /;
const BUILTIN_TAIL = /, used_tokens: (\d+)\. Builtin model don't need to update token usage$/;
const RETRYING = /^Error: \S{1,60}\. Retrying in [\d.]+ seconds/;
const GIVING_UP = /^(?:async|sync) \S{1,40} giving up: \*\*ERROR\*\*: ([A-Z_]{1,60}) - /;
/** What the OpenAI client puts in front of an answer's words. */
const ERROR_CODE = /^Error code: (\d{3}) - /;
/** Causes of such answers; 400 and 404 are told by their words, and so is money that ran out. */
const BY_STATUS: Readonly<Record<string, string>> = {
  401: "auth_invalid_key",
  403: "permission_denied",
  408: "upstream_timeout",
  429: "rate_limited",
  500: "upstream_error",
  502: "upstream_unreachable",
  503: "upstream_overloaded",
  504: "upstream_timeout",
};
/** Words that decide where no status stands in front of them. */
const BY_WORDS: ReadonlyArray<readonly [words: RegExp, cause: string]> = [
  [/maximum context length|context_length_exceeded/i, "context_length_exceeded"],
  [/^connection refused|connection error\.?$/i, "upstream_unreachable"],
  [/\b(?:safety|content)[ _]filter/i, "content_policy_block"],
  [/^request timed out\.?$/i, "upstream_timeout"],
];
const SPENT = /quota|billing|balance|credit/i;
/** Tracebacks of single attempts: what becomes of them stands in the next line. */
const ATTEMPT = /^(?:OpenAI|LiteLLM\w*|Async\w*|litellm)\b/;
const STORE_ATTEMPT = /^(?:ES|OpenSearch|Infinity|OceanBase) request timeout$/;
const STORE_GAVE_UP = /^\w{1,40}Connection\.\w{1,40} timeout for \d+ times!$/;
const TOOL_FAILED = /^Tool call failed: /;
// werkzeug
const ACCESS = /^\S{1,60} - - \[[^\]]{1,40}\] "([A-Z]{3,10}) (\S{1,2000}) HTTP\/[\d.]+" (\d{3}) -?$/;
const ASKS = /\/(?:completions?|retrieval|ask|chats?_openai|agents?_openai|sequence2txt|tts)(?:\/|$)|completion$/;

/** The lines of one printed history, JSON with an indent of four; it holds what users wrote. */
const MAX_HISTORY_LINES = 20_000;
const MAX_QUERY_LINES = 1000;
/** Attempts of one search of the store follow each other within this event time, milliseconds. */
const STORE_MS = 1_800_000;

export const isRagflow = (text: string): boolean => HEADER.test(text);

interface State {
  failure: HeldFailure;
  /** Process of the open failure. */
  process: string;
  /** Lines left of an open history; 0 when none is open. */
  history: number;
  /** Lines left of an open query of a built-in model. */
  query: number;
  /** When a search of the store timed out, that has not given up yet. */
  storeMs: number | undefined;
  /** The open failure is a further attempt of one that was counted. */
  repeated: boolean;
}

export class RagflowParser implements Parser {
  state: State = { failure: newHeldFailure(), process: "", history: 0, query: 0, storeMs: undefined, repeated: false };
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const header = HEADER.exec(line.text);
    if (header === null) return;
    const { timeMs } = parseIso(line.text, 0, this.#context.zone);
    const level = header[1]?.trimEnd() ?? "";
    const process = header[2] ?? "";
    const message = line.text.slice(header[0].length);
    this.state.history = 0;
    if (level === "WARNING" && RETRYING.test(message)) this.#retry(timeMs, process);
    else if (level === "ERROR" || level === "CRITICAL") this.#error(message, timeMs, process, line.readMs);
    else {
      if (process === this.state.process || !this.#isAttempt()) releaseHeld(this.state.failure, this.#emit);
      this.#info(message, timeMs);
    }
  }

  continues(line: Line): boolean {
    const { text } = line;
    const { state } = this;
    if (state.query > 0) {
      state.query--;
      if (BUILTIN_TAIL.test(text)) {
        state.query = 0;
        this.#embedded(BUILTIN_TAIL.exec(text)?.[1], line.timeMs);
      }
      return true;
    }
    if (state.history > 0) {
      const inside = text.startsWith(" ");
      if (!inside && text !== "]") return false;
      state.history = inside ? state.history - 1 : 0;
      return true;
    }
    return continueHeld(state.failure, text, line.readMs, this.#emit);
  }

  flush(nowMs: number, final: boolean): void {
    flushHeld(this.state.failure, nowMs, final, this.#emit);
  }

  readonly #emit = (failure: FailureRecord): void => {
    if (this.state.repeated) return;
    const { text } = failure;
    const exception = lastException(text);
    const decided = failure.cause ?? causeOfException(exception, text);
    const cause = decided === "upstream_timeout" && TOOL_FAILED.test(text) ? "tool_call_timeout" : decided;
    this.#context.emit({ ...failure, errorClass: exception?.name, cause });
  };

  #info(message: string, timeMs: number): void {
    const used = USED.exec(message);
    if (used !== null) {
      this.#used(used[1] ?? "", used[2], timeMs);
      return;
    }
    if (BUILTIN_HEAD.test(message)) {
      const tail = BUILTIN_TAIL.exec(message);
      if (tail === null) this.state.query = MAX_QUERY_LINES;
      else this.#embedded(tail[1], timeMs);
      return;
    }
    if (message.startsWith("[HISTORY") && message.endsWith("[")) this.state.history = MAX_HISTORY_LINES;
    const access = ACCESS.exec(message);
    if (access === null) return;
    const route = pathOf(access[2] ?? "");
    const inference = access[1] === "POST" && ASKS.test(route);
    this.#context.emit({ kind: "http", timeMs, status: Number(access[3]), route, inference });
  }

  #used(method: string, written: string | undefined, timeMs: number): void {
    const chat = method.includes("chat");
    if (chat) {
      const record = new RequestRecord();
      record.timeMs = timeMs;
      record.route = method;
      this.#context.emit(record);
    }
    if (method.startsWith("encode")) {
      this.#embedded(written, timeMs);
      return;
    }
    const tokens = figureOf(written, this.#context);
    if (tokens === undefined) return;
    if (method === "similarity") this.#context.emit({ kind: "count", timeMs, name: "rerank_tokens", by: tokens });
    else this.#context.emit({ kind: "tokens", timeMs, type: "total", tokens });
  }

  #embedded(written: string | undefined, timeMs: number): void {
    const tokens = figureOf(written, this.#context);
    if (tokens !== undefined) this.#context.emit({ kind: "tokens", timeMs, type: "embedding", tokens });
  }

  #isAttempt(): boolean {
    const open = this.state.failure.block.open;
    return open !== undefined && ATTEMPT.test(open.head.text);
  }

  /** The traceback before was an attempt, and another follows. */
  #retry(timeMs: number, process: string): void {
    this.#context.emit({ kind: "count", timeMs, name: "retries", by: 1 });
    if (this.#isAttempt() && process === this.state.process) this.state.failure.block.open = undefined;
    else releaseHeld(this.state.failure, this.#emit);
  }

  #error(message: string, timeMs: number, process: string, readMs: number): void {
    const { failure, storeMs } = this.state;
    const givingUp = GIVING_UP.exec(message);
    // the traceback of the last attempt and the line that gives up are one failure
    if (givingUp !== null && this.#isAttempt() && process === this.state.process) failure.block.open = undefined;
    releaseHeld(failure, this.#emit);
    const storeOpen = storeMs !== undefined && timeMs - storeMs <= STORE_MS;
    if (STORE_GAVE_UP.test(message)) {
      this.state.storeMs = undefined;
      if (storeOpen) return;
    }
    this.state.process = process;
    const attempt = STORE_ATTEMPT.test(message);
    this.state.repeated = attempt && storeOpen;
    if (attempt && !storeOpen) this.state.storeMs = timeMs;
    // the code is a guess from words in the message (a "400" in it makes INVALID_REQUEST): the message decides
    const text = givingUp === null ? message : message.slice(givingUp[0].length) || (givingUp[1] ?? message);
    const status = givingUp === null ? undefined : ERROR_CODE.exec(text)?.[1];
    const cause = givingUp === null ? undefined : causeOfAnswer(status, text);
    const httpStatus = status === undefined ? undefined : Number(status);
    holdFailure(failure, { kind: "failure", timeMs, text, cause, httpStatus }, readMs, this.#emit);
  }
}

function causeOfAnswer(status: string | undefined, text: string): string | undefined {
  const known = status === undefined || SPENT.test(text) ? undefined : BY_STATUS[status];
  return known ?? BY_WORDS.find(([words]) => words.test(text))?.[1];
}
