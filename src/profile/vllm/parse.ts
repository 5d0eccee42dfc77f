import { putBounded } from "../../core/bounded-map.ts";
import { Latency } from "../../model/latency.ts";
import type { Line } from "../../model/line.ts";
import { type FailureRecord, RequestRecord } from "../../model/record.ts";
import { isInference, parseAccessLine } from "../access-line.ts";
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
import { parseProcessLine, parseVllmLine, type VllmLine, vllmTimeMs } from "./prefix.ts";
import { parseStats, parseV0HitRate } from "./stats.ts";

/** Aborted and failed ids remembered, so that the second line of one event does not count again. */
const MAX_IDS = 10_000;
const ACCESS_COLUMNS = 10;

interface State {
  block: FailureBlockState;
  /** {@link VllmLine.key} of the record that the open block belongs to. */
  blockKey: string;
  /** Requests whose end was counted, internal suffix removed. */
  ended: Map<string, true>;
  model: string | undefined;
  /** `total_num_cumulative_preemption` as last printed, by process. */
  preemptions: Map<string, number>;
}

/** Reads vLLM V1, V0 and the Rust front end: one grammar of prefixes, messages told apart by their words. */
export class VllmParser implements Parser {
  state: State = { block: newFailureBlock(), blockKey: "", ended: new Map(), model: undefined, preemptions: new Map() };
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const parsed = parseVllmLine(line.text);
    if (parsed === undefined) this.#foreign(line);
    else if (parsed.key === this.state.blockKey && this.state.block.open !== undefined)
      addToFailure(this.state.block, parsed.message, this.#context.emit);
    else this.#message(parsed, vllmTimeMs(parsed, line, this.#context.zone), line.readMs);
  }

  /** Bare lines of a traceback that was printed outside of logging. */
  continues(line: Line): boolean {
    if (this.state.block.open === undefined || parseVllmLine(line.text) !== undefined) return false;
    const bare = parseProcessLine(line.text)?.message ?? line.text;
    return continueFailure(this.state.block, bare, this.#context.emit);
  }

  flush(nowMs: number, final: boolean): void {
    closeQuietFailure(this.state.block, nowMs, final, this.#context.emit);
  }

  /** A line with the process part only: uvicorn's access log, or a traceback without prefix. */
  #foreign(line: Line): void {
    const bare = parseProcessLine(line.text)?.message ?? line.text;
    const access = /^[A-Z]+: +/.test(bare) ? parseAccessLine(bare.slice(ACCESS_COLUMNS)) : undefined;
    if (access !== undefined) {
      const { route, status } = access;
      this.#context.emit({
        kind: "http",
        timeMs: line.timeMs,
        status,
        route,
        inference: isInference(access.method, route),
      });
    } else if (bare.startsWith("Traceback (most recent call last):")) this.#open(bare, line.timeMs, "", line.readMs);
    else if (bare.startsWith("ERROR:") || bare.startsWith("CRITICAL:"))
      this.#open(bare.slice(ACCESS_COLUMNS), line.timeMs, "", line.readMs);
  }

  #message(parsed: VllmLine, timeMs: number, readMs: number): void {
    const { emit } = this.#context;
    closeFailure(this.state.block, emit);
    const { message, level } = parsed;
    if (level === "ERROR" || level === "CRITICAL" || level === "FATAL") {
      this.#error(parsed, timeMs, readMs);
      return;
    }
    if (level === "WARNING") {
      this.#warning(parsed, timeMs);
      return;
    }
    switch (message.charCodeAt(0)) {
      case 65: // A
        if (message.startsWith("Avg ")) this.#stats(message, timeMs);
        else if (message.startsWith("Aborted request"))
          this.#abort(idsAfter(message, message.startsWith("Aborted request(s) ") ? 19 : 16), timeMs);
        return;
      case 69: // E
      case 48: // digits: "2 Engines Aggregated"
      case 49:
      case 50:
      case 51:
      case 52:
      case 53:
      case 54:
      case 55:
      case 56:
      case 57:
        this.#stats(message, timeMs);
        return;
      case 82: // R
        if (message.startsWith("Received request "))
          emit({ kind: "received", timeMs, tokensIn: promptTokens(message) });
        else if (message.startsWith("Request ")) this.#requestWord(message, timeMs);
        return;
      case 70: // F
        if (message.startsWith("Finished request ")) this.#finished(idsAfter(message, 17)[0] ?? "", timeMs);
        return;
      case 71: // G
        if (message.startsWith("Generated response ")) this.#generated(message, timeMs);
        return;
      case 80: {
        // P
        const gauge = parseV0HitRate(message, timeMs);
        if (gauge !== undefined) emit(gauge);
        return;
      }
      case 73: // I
        if (message.startsWith("Iteration(")) this.#iteration(message, timeMs);
        else if (message.startsWith("Initializing ")) this.state.model = quotedModel(message) ?? this.state.model;
        return;
      default:
        this.#rust(message, timeMs);
    }
  }

  #stats(message: string, timeMs: number): void {
    const stats = parseStats(message, timeMs);
    if (stats === undefined) return;
    const { emit } = this.#context;
    emit(stats.gauges);
    for (const estimate of stats.estimates) emit(estimate);
    if (stats.preemptions !== undefined && stats.preemptions > 0)
      emit({ kind: "count", timeMs, name: "preemptions", by: stats.preemptions });
  }

  #abort(ids: readonly string[], timeMs: number): void {
    for (const id of ids) {
      if (!this.#first(id)) continue;
      const record = this.#record(id, timeMs);
      record.outcome = "aborted";
      record.failure = this.#failure(`Aborted request ${id}`, timeMs, { cause: "client_cancelled", requestId: id });
      this.#context.emit(record);
    }
  }

  /** `Request X aborted.`, `Request X failed (engine dead).`, `Request X failed (bad request): …`, `Request X failed due to …` */
  #requestWord(message: string, timeMs: number): void {
    const found = /^Request (\S+?) (aborted\.|failed)(.*)$/s.exec(message);
    if (found === null) return;
    const id = found[1] ?? "";
    if (found[2] === "aborted.") {
      this.#abort([id], timeMs);
      return;
    }
    if (!this.#first(id)) return;
    const record = this.#record(id, timeMs);
    record.outcome = "error";
    // a dead engine was reported once by the engine; its requests are its victims, not further causes
    if (found[3]?.startsWith(" (engine dead)") !== true)
      record.failure = this.#failure(message, timeMs, { requestId: id });
    this.#context.emit(record);
  }

  #finished(id: string, timeMs: number): void {
    if (this.#first(id)) this.#context.emit(this.#record(id, timeMs));
  }

  /** `--enable-log-outputs`: the end of an answer; streamed parts are not. */
  #generated(message: string, timeMs: number): void {
    const id = /^Generated response (\S+?)(?:: | \()/.exec(message)?.[1];
    if (id === undefined || message.startsWith(`Generated response ${id} (streaming delta)`)) return;
    const tail = message.slice(Math.max(0, message.lastIndexOf(", output_token_ids: ")));
    const reason = /finish_reason: (\w+)\s*$/.exec(tail)?.[1];
    if (!this.#first(id)) return;
    const record = this.#record(id, timeMs);
    record.tokensOut = listLength(message, ", output_token_ids: ");
    if (reason !== undefined && reason !== "streaming_complete" && reason !== "None") record.finishReason = reason;
    this.#context.emit(record);
  }

  #iteration(message: string, timeMs: number): void {
    const ms = /iteration elapsed time: ([\d.]+) ms(?! \(dummy\))/.exec(message)?.[1];
    if (ms !== undefined) this.#context.emit({ kind: "step", timeMs, step: Latency.iteration, durationMs: Number(ms) });
  }

  /** Front end in Rust: the only vLLM that prints a request's end with its tokens. */
  #rust(message: string, timeMs: number): void {
    const found = /^\w+\{request_id=(\S+)[^}]*\}: (?:chat completion|completion|generate|\w+) finished (.*)$/.exec(
      message,
    );
    if (found !== null) {
      const id = found[1] ?? "";
      const tail = found[2] ?? "";
      if (!this.#first(id)) return;
      const record = this.#record(id, timeMs);
      const figures = /(?:^| )model=(\S+) prompt_tokens=(\d+) output_tokens=(\d+)(?: finish_reason="?([\w-]+)"?)?/.exec(
        tail,
      );
      record.stream = tail.startsWith("stream=true");
      if (figures !== null) {
        record.model = figures[1];
        record.tokensIn = Number(figures[2]);
        record.tokensOut = Number(figures[3]);
        record.finishReason = figures[4];
      }
      this.#context.emit(record);
      return;
    }
    if (message.startsWith("auto-aborting request")) this.#abort([quotedId(message)], timeMs);
  }

  #error(parsed: VllmLine, timeMs: number, readMs: number): void {
    const { message } = parsed;
    // the state that is dumped beside a fatal error belongs to it
    if (message.startsWith("Dumping ")) return;
    if (message.startsWith("request failed")) {
      this.#failRequest(message, quotedId(message), timeMs, "internal");
      return;
    }
    this.#open(message, timeMs, parsed.key, readMs, parsed.process);
  }

  #warning(parsed: VllmLine, timeMs: number): void {
    const { message } = parsed;
    const { emit } = this.#context;
    const preempted = /total_num_cumulative_preemption=(\d+)\s*$/.exec(message);
    if (preempted !== null && message.startsWith("Sequence group ")) {
      const total = Number(preempted[1]);
      const known = this.state.preemptions.get(parsed.process) ?? 0;
      putBounded(this.state.preemptions, parsed.process, total, 64);
      // a smaller figure is a restarted engine: it counts from zero
      emit({ kind: "count", timeMs, name: "preemptions", by: total >= known ? total - known : total });
    } else if (/^Input prompt \(\d+ tokens\) is too long and exceeds /.test(message)) {
      emit(this.#failure(message, timeMs, { cause: "context_length_exceeded" }));
    } else if (message.startsWith("request stream closed unexpectedly"))
      this.#failRequest(message, quotedId(message), timeMs, "stream_interrupted");
    else if (message.startsWith("received ENGINE_CORE_DEAD"))
      emit(this.#failure(message, timeMs, { cause: "engine_dead" }));
  }

  #failRequest(message: string, id: string, timeMs: number, cause: string): void {
    if (!this.#first(id)) return;
    const record = this.#record(id, timeMs);
    record.outcome = "error";
    record.failure = this.#failure(message, timeMs, { cause, requestId: id });
    this.#context.emit(record);
  }

  #open(message: string, timeMs: number, key: string, readMs: number, process = ""): void {
    const gpu = /^Worker_(?:DP\d+_)?(?:PP\d+_)?TP(\d+)/.exec(process)?.[1];
    this.state.blockKey = key;
    openFailure(this.state.block, this.#failure(message, timeMs, { gpu }), this.#context.emit, readMs);
  }

  #failure(text: string, timeMs: number, more: Partial<FailureRecord>): FailureRecord {
    return { kind: "failure", timeMs, text, model: this.state.model, ...more };
  }

  #record(id: string, timeMs: number): RequestRecord {
    const record = new RequestRecord();
    record.timeMs = timeMs;
    record.id = id;
    record.model = this.state.model;
    return record;
  }

  /** True for the first event that ends this request. Internal ids carry `-` and eight hexadecimal digits more. */
  #first(id: string): boolean {
    const external = /^(.+)-[0-9a-f]{8}$/.exec(id)?.[1] ?? id;
    const { ended } = this.state;
    if (ended.has(id) || ended.has(external)) return false;
    putBounded(ended, external, true, MAX_IDS);
    return true;
  }
}

/** Ids after `from`: one, or several separated by commas, with the sentence's full stop cut off. */
function idsAfter(message: string, from: number): string[] {
  return message
    .slice(from)
    .replace(/\.\s*$/, "")
    .split(",")
    .map((id) => id.trim())
    .filter((id) => id !== "");
}

const quotedId = (message: string): string => /request_id="([^"]+)"/.exec(message)?.[1] ?? "";

const quotedModel = (message: string): string | undefined => /(?:served_model_name|model)='([^']+)'/.exec(message)?.[1];

/** Prompt tokens of an arrival that lists their ids; a prompt may hold the same words, so only the last list counts. */
const promptTokens = (message: string): number | undefined => listLength(message, ", prompt_token_ids: ");

/** Number of elements of the Python list after the last `key`; undefined for `None` or a list cut by the logger. */
function listLength(message: string, key: string): number | undefined {
  const at = message.lastIndexOf(key);
  if (at < 0 || message[at + key.length] !== "[") return undefined;
  const close = message.indexOf("]", at);
  if (close < 0) return undefined;
  const list = message.slice(at + key.length + 1, close);
  if (!/^[\d, ]*$/.test(list)) return undefined;
  return list.trim() === "" ? 0 : list.split(",").length;
}
