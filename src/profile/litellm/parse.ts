import { putBounded } from "../../core/bounded-map.ts";
import type { Line } from "../../model/line.ts";
import { isInference, parseAccessLine } from "../access-line.ts";
import type { Parser, ParserContext } from "../profile.ts";
import {
  type AnswerState,
  emitFailed,
  isAnswered,
  newAnswers,
  paidByPayload,
  releaseAnswers,
  takeAnswer,
} from "./answers.ts";
import {
  emitSteps,
  expired,
  type HeldByTrace,
  holdFailure,
  isSuspect,
  releaseHeld,
  requestOf,
  takeAttempts,
} from "./attempts.ts";
import { causeOfError, errorClassOf } from "./error-class.ts";
import { isBare, isJsonLog, readJsonLog } from "./json-line.ts";
import { coreOfError, readMessage } from "./message.ts";
import { isPayload, type Payload, readPayload } from "./payload.ts";
import { addToBlock, newPrettyBlock, type PrettyBlock, startsPayload } from "./pretty-block.ts";
import { addToRecord, mayContinue, messageOf, type OpenRecord, openRecord, startsRecord } from "./text-record.ts";

interface LitellmState {
  /** The proxy's own output was seen: uvicorn's lines in this stream are its access log. */
  proxy: boolean;
  /** Its JSON output was seen: bare objects in this stream are old versions' lines. */
  json: boolean;
  /** The router's own lines tell tries and fallbacks: payloads must not tell them again. */
  routerTells: boolean;
  /** Time of the last record, ms since the epoch; NaN before the first. */
  lastMs: number;
  record: OpenRecord | undefined;
  block: PrettyBlock | undefined;
  /** End of the payload by `id` and outcome: a copy comes within moments. */
  seen: Map<string, number>;
  held: HeldByTrace;
  answers: AnswerState;
  /** Errors of attempts whose retries were counted and whose client error may follow. */
  tried: string[];
  /** Keys of the last JSON lines. */
  copies: string[];
}

/** Wall time after which a text record is over though none followed. */
const RECORD_WAIT_MS = 5000;
const MAX_SEEN = 5000;
/** Two payloads of one id and outcome this near are copies. */
const COPY_WITHIN_MS = 5000;
const MAX_TRIED = 64;
const MAX_COPIES = 8;
/** Paths of the proxy's administration, which are no inference though they are POSTs. */
const ADMINISTRATION =
  /^\/(?:key|user|team|model|budget|spend|global|config|customer|end_user|organization|login|sso|cache|guardrails|credentials|utils|tag|invitation|audit|mcp|v1\/mcp|callbacks|health|test|prompts|vector_store\/new|v1\/files|files|v1\/batches|batches)(?:\/|$)/;
const BARE_ERROR =
  /^litellm\.(?:exceptions\.)?[A-Z]\w{2,60}(?:Error|Exception|Timeout): |^litellm\.(?:exceptions\.)?Timeout: /;
const BANNERS = [
  "LiteLLM: Proxy initialized",
  "LiteLLM: Current Version",
  "LiteLLM Proxy: ",
  " Thank you for using LiteLLM!",
  "#   Thank you for using LiteLLM",
  "Thank you for using LiteLLM",
];

/** True for what the proxy prints at its start without a logger. */
export function isBanner(text: string): boolean {
  const first = text.charCodeAt(0);
  return (
    (first === 76 || first === 32 || first === 35 || first === 84) && BANNERS.some((banner) => text.startsWith(banner))
  );
}

/** True for an exception of the library that is printed bare. */
export function isBareError(text: string): boolean {
  return text.startsWith("litellm.") && BARE_ERROR.test(text);
}

/**
 * One reader for all that a LiteLLM proxy writes, because one stream may hold text records, JSON lines, payloads on one
 * line or pretty-printed, and uvicorn's access lines. The three profiles differ in what makes them begin.
 */
export class LitellmParser implements Parser {
  state: LitellmState = {
    proxy: false,
    json: false,
    routerTells: false,
    lastMs: Number.NaN,
    record: undefined,
    block: undefined,
    seen: new Map(),
    held: new Map(),
    answers: newAnswers(),
    tried: [],
    copies: [],
  };
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    this.#take(line);
  }

  continues(line: Line): boolean {
    return this.#take(line);
  }

  flush(nowMs: number, final: boolean): void {
    const { state } = this;
    if (state.record !== undefined && (final || nowMs - state.record.readMs >= RECORD_WAIT_MS)) this.#closeRecord();
    for (const attempts of releaseHeld(state.held, nowMs, final)) this.#failed(attempts);
    releaseAnswers(state.answers, nowMs, final, this.#context.emit);
    if (final) state.block = undefined;
  }

  /** @returns True when the line was the proxy's. */
  #take(line: Line): boolean {
    const { state } = this;
    const { text } = line;
    if (state.block !== undefined && this.#inBlock(state.block, line)) return true;
    if (startsRecord(text)) {
      const opened = openRecord(line, state.lastMs, this.#context.zone);
      if (opened !== undefined) {
        this.#closeRecord();
        state.record = opened;
        state.lastMs = opened.timeMs;
        state.proxy = true;
        return true;
      }
    }
    if (text.charCodeAt(0) === 123) return this.#object(line);
    if (state.proxy && isUvicorn(text)) return this.#uvicorn(line);
    if (startsPayload(text) && state.block === undefined && state.record === undefined) {
      state.block = newPrettyBlock();
      return this.#inBlock(state.block, line);
    }
    if (isBanner(text)) {
      state.proxy = true;
      return true;
    }
    if (state.record !== undefined && mayContinue(text)) {
      addToRecord(state.record, line);
      return true;
    }
    if (state.record === undefined && isBareError(text)) {
      const { timeMs, readMs } = line;
      state.record = { wanted: true, isError: true, timeMs, readMs, lines: [text], chars: text.length };
      return true;
    }
    return false;
  }

  #object(line: Line): boolean {
    const { state } = this;
    if (line.text === "{") {
      state.block = newPrettyBlock();
      return true;
    }
    const object = line.json;
    if (object === undefined) return false;
    if (isJsonLog(object) || (state.json && isBare(object))) {
      this.#closeRecord();
      state.proxy = true;
      state.json = true;
      const log = readJsonLog(object, line, this.#context.zone);
      if (!Number.isNaN(log.timeMs)) state.lastMs = log.timeMs;
      if (log.copyKey !== undefined && this.#isCopy(log.copyKey)) return true;
      if (log.payload !== undefined) this.#payload(readPayload(log.payload, this.#context), line.readMs);
      else if (!this.#access(log.message, log.timeMs, line.readMs)) this.#message(log.message, log.isError, log.timeMs);
      return true;
    }
    if (!isPayload(object)) return false;
    this.#closeRecord();
    this.#payload(readPayload(object, this.#context), line.readMs);
    return true;
  }

  /** @returns True when the line was a part of the block. */
  #inBlock(block: PrettyBlock, line: Line): boolean {
    const { state } = this;
    const step = addToBlock(block, line.text);
    if (step === "taken") return true;
    if (step === "foreign") return false;
    state.block = undefined;
    if (step === "given-up") return false;
    if (step.object !== undefined && isPayload(step.object)) {
      this.#closeRecord();
      state.proxy = true;
      this.#payload(readPayload(step.object, this.#context), line.readMs);
    }
    return true;
  }

  #isCopy(key: string): boolean {
    const { copies } = this.state;
    if (copies.includes(key)) return true;
    copies.push(key);
    if (copies.length > MAX_COPIES) copies.shift();
    return false;
  }

  #uvicorn(line: Line): boolean {
    const { state } = this;
    this.#closeRecord();
    const timeMs = Number.isNaN(line.timeMs) ? state.lastMs : line.timeMs;
    // lifecycle lines and tracebacks are uvicorn's own
    return this.#access(line.text.slice(10), timeMs, line.readMs);
  }

  #access(text: string, timeMs: number, readMs: number): boolean {
    const access = parseAccessLine(text);
    if (access === undefined) return false;
    const { method, route, status } = access;
    const { emit } = this.#context;
    if (isInference(method, route) && !ADMINISTRATION.test(route))
      takeAnswer(this.state.answers, this.state.held, { status, route, timeMs, readMs }, emit);
    else {
      if (route.startsWith("/health")) emit({ kind: "count", timeMs, name: "health_probes", by: 1 });
      emit({ kind: "http", timeMs, status, route, inference: false });
    }
    return true;
  }

  #closeRecord(): void {
    const { record } = this.state;
    if (record === undefined) return;
    this.state.record = undefined;
    if (record.wanted) this.#message(messageOf(record), record.isError, record.timeMs);
  }

  #message(message: string, isError: boolean, timeMs: number): void {
    const { state } = this;
    const { emit } = this.#context;
    const count = (name: string, by = 1): void => emit({ kind: "count", timeMs, name, by });
    const meaning = readMessage(message);
    switch (meaning.kind) {
      case "attempt-ok":
        state.routerTells = true;
        count("upstream_calls_ok");
        return;
      case "attempt-failed":
        state.routerTells = true;
        count("upstream_calls_failed");
        if (meaning.retried > 0) {
          count("retries", meaning.retried);
          state.tried.push(coreOfError(meaning.error));
          if (state.tried.length > MAX_TRIED) state.tried.shift();
        }
        return;
      case "fallback":
        state.routerTells = true;
        if (meaning.step === "tried") count("fallbacks");
        else count(`fallbacks_${meaning.step}`);
        if (meaning.step === "succeeded") state.tried.pop();
        return;
      case "client-error": {
        const tried = state.tried.indexOf(coreOfError(meaning.error));
        if (tried >= 0) state.tried.splice(tried, 1);
        else if (meaning.retried > 0) {
          state.routerTells = true;
          count("retries", meaning.retried);
        }
        state.answers.errorsTold = Math.min(state.answers.errorsTold + 1, MAX_TRIED);
        this.#failure(message, meaning.error, timeMs);
        return;
      }
      case "client-left":
        emit({ kind: "failure", timeMs, text: message, cause: "client_cancelled" });
        return;
      case "other":
        if (isError && message !== "") this.#failure(message, message, timeMs);
    }
  }

  #failure(text: string, error: string, timeMs: number): void {
    const errorClass = errorClassOf(error);
    const status = /^(\d{3}): /.exec(error)?.[1];
    this.#context.emit({
      kind: "failure",
      timeMs,
      text,
      cause: causeOfError(error, errorClass),
      errorClass,
      httpStatus: status === undefined ? undefined : Number(status),
      model: /Received Model Group=([^\s,]{1,200})/.exec(error.slice(0, 4000))?.[1] ?? undefined,
    });
  }

  #payload(payload: Payload, readMs: number): void {
    const { state } = this;
    const { emit } = this.#context;
    const timeMs = payload.endMs ?? Number.NaN;
    const count = (name: string, by = 1): void => {
      if (by > 0) emit({ kind: "count", timeMs, name, by });
    };
    if (this.#isCopyOfPayload(payload)) {
      count("duplicates_dropped");
      return;
    }
    if (payload.kind === "administration") return;
    if (payload.kind === "probe") {
      count("health_probes");
      return;
    }
    emitSteps(payload, emit);
    if (payload.kind !== "llm") {
      if (!payload.ok) this.#stepFailure(payload);
      return;
    }
    if (!payload.ok) {
      if (isAnswered(state.answers, payload)) return;
      for (const attempts of holdFailure(state.held, payload, readMs)) this.#failed(attempts);
      return;
    }
    for (const attempts of expired(state.held, payload)) this.#failed(attempts);
    const before = takeAttempts(state.held, payload);
    if (payload.cacheHit) count("cache_hits");
    if (payload.stream === true && isSuspect(payload)) count("ttft_suspect");
    if (payload.tokensIn === undefined && payload.tokensOut === undefined) count("ok_without_usage");
    const record = requestOf(payload, before?.startMs ?? payload.startMs);
    if (!state.routerTells) {
      const tries = before === undefined ? 0 : before.attempts - before.fallbacks;
      const fellBack = before !== undefined && before.last.modelGroup !== payload.modelGroup;
      record.retries = Math.max(tries - (fellBack ? 1 : 0), payload.attemptedRetries ?? 0);
      count("upstream_calls_failed", before?.attempts ?? 0);
      count("fallbacks", (before?.fallbacks ?? 0) + (fellBack ? 1 : 0));
      count("fallbacks_succeeded", fellBack ? 1 : 0);
    }
    paidByPayload(state.answers, emit);
    emit(record);
  }

  #failed(attempts: Parameters<typeof emitFailed>[1]): void {
    emitFailed(this.state.answers, attempts, this.#context.emit);
  }

  #stepFailure(payload: Payload): void {
    const timeMs = payload.endMs ?? Number.NaN;
    const { errorClass, errorText: text, tenant, model } = payload;
    const cause = payload.kind === "tool" && payload.cause === "upstream_timeout" ? "tool_call_timeout" : payload.cause;
    this.#context.emit({ kind: "failure", timeMs, text, cause, errorClass, tenant, model });
  }

  /** The same id with the same outcome, milliseconds apart: the first one wins. */
  #isCopyOfPayload(payload: Payload): boolean {
    if (payload.id === undefined) return false;
    const key = `${payload.id} ${payload.ok ? "ok" : "failed"}`;
    const endMs = payload.endMs ?? 0;
    const before = this.state.seen.get(key);
    if (before !== undefined && Math.abs(endMs - before) <= COPY_WITHIN_MS) return true;
    putBounded(this.state.seen, key, endMs, MAX_SEEN);
    return false;
  }
}

/** uvicorn pads level and colon to ten columns. */
function isUvicorn(text: string): boolean {
  const first = text.charCodeAt(0);
  if (first !== 73 && first !== 87 && first !== 69 && first !== 67) return false;
  return /^(?:INFO: {5}|WARNING: {2}|ERROR: {4}|CRITICAL: )\S/.test(text.slice(0, 11));
}
