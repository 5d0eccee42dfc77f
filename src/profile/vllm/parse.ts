import type { Line } from "../../model/line.ts";
import { isInference, parseAccessLine } from "../access-line.ts";
import type { Parser, ParserContext } from "../profile.ts";
import { readEngine } from "./engine.ts";
import { jsonTimeMs, parseVllmJson } from "./json-line.ts";
import { continueBare, flushRecords, joinPhysicalLine } from "./open-records.ts";
import { endsInCarriageReturn, parseProcessLine, parseVllmLine, type VllmLine, vllmTimeMs } from "./prefix.ts";
import { readRequest } from "./requests.ts";
import { type Engine, newVllmState, type Reading } from "./state.ts";
import { openTrouble, readError, readWarning } from "./troubles.ts";
import { likelier, writerOf } from "./writer.ts";

/** Columns of level, colon and padding in front of uvicorn's message. */
const ACCESS_COLUMNS = 10;
/** Of an exception that nobody caught or that was printed, not logged. */
const TRACEBACK = "Traceback (most recent call last):";

/** Reads vLLM V1, V0 and the Rust front end: one grammar of prefixes, messages told apart by their words. */
export class VllmParser implements Parser {
  state = newVllmState();
  readonly #context: ParserContext;
  readonly #engine: Engine;

  constructor(context: ParserContext, engine: Engine) {
    this.#context = context;
    this.#engine = engine;
  }

  parse(line: Line): void {
    const parsed = parseVllmLine(line.text);
    if (parsed !== undefined) this.#logged(parsed, line, vllmTimeMs(parsed, line, this.#context.zone));
    else if (line.json !== undefined) this.#json(line);
    else this.#printed(line);
  }

  continues(line: Line): boolean {
    const { text } = line;
    const parsed = parseVllmLine(text);
    if (parsed === undefined) {
      // lines with a process part are claimed; bare ones may be the rest of a traceback
      if (text.charCodeAt(0) === 123 || parseProcessLine(text) !== undefined) return false;
      if (continueBare(this.state.records, undefined, text, this.#context.emit)) return true;
      if (!this.state.sure || !text.startsWith(TRACEBACK)) return false;
      this.#begin("", text, line);
      return true;
    }
    if (!this.state.sure || this.#engine === "rust") return false;
    if (likelier(parsed) === this.#engine || writerOf(parsed) !== "either") return false;
    this.#logged(parsed, line, vllmTimeMs(parsed, line, this.#context.zone));
    return true;
  }

  flush(nowMs: number, final: boolean): void {
    flushRecords(this.state.records, nowMs, final, this.#context.emit);
  }

  /** A physical line of vLLM's own logging: the whole of a record, or a part. */
  #logged(parsed: VllmLine, line: Line, timeMs: number): void {
    const physical = { ...parsed, carriageReturn: endsInCarriageReturn(line), readMs: line.readMs };
    if (joinPhysicalLine(this.state.records, physical, this.#context.emit)) return;
    if (!this.state.sure) this.state.sure = writerOf(parsed) === this.#engine;
    this.#message(parsed, timeMs);
  }

  #json(line: Line): void {
    const { json } = line;
    const found = json === undefined ? undefined : parseVllmJson(json);
    if (json === undefined || found === undefined) return;
    this.#logged(found.line, line, jsonTimeMs(json, line, this.#context.zone));
    for (const text of found.exception?.split("\n") ?? [])
      continueBare(this.state.records, found.line.process, text, this.#context.emit);
  }

  /** A line with a process part alone: uvicorn's access log, or a traceback that was printed. */
  #printed(line: Line): void {
    const parsed = parseProcessLine(line.text);
    if (parsed === undefined) return;
    const { process, message } = parsed;
    const { emit } = this.#context;
    const { records } = this.state;
    const access = /^[A-Z]+: +/.test(message) ? parseAccessLine(message.slice(ACCESS_COLUMNS)) : undefined;
    if (access !== undefined) {
      // an access line is never part of a record: its carriage return says that all lines have one
      if (endsInCarriageReturn(line)) records.carriageReturns = "useless";
      const { route, status, method } = access;
      emit({ kind: "http", timeMs: line.timeMs, status, route, inference: isInference(method, route) });
      return;
    }
    const error = message.startsWith("ERROR:") || message.startsWith("CRITICAL:");
    if (!error && continueBare(records, process, message, emit)) return;
    if (error || message.startsWith(TRACEBACK))
      this.#begin(process, error ? message.slice(ACCESS_COLUMNS) : message, line);
  }

  /** A failure that was printed outside of logging. */
  #begin(process: string, text: string, line: Line): void {
    const physical = { process, key: "", message: text, carriageReturn: false, readMs: line.readMs };
    joinPhysicalLine(this.state.records, physical, this.#context.emit);
    openTrouble(process, text, this.#reading(line.timeMs));
  }

  #message(parsed: VllmLine, timeMs: number): void {
    const reading = this.#reading(timeMs);
    switch (parsed.level) {
      case "ERROR":
      case "CRITICAL":
      case "FATAL":
        readError(parsed, reading);
        return;
      case "WARNING":
      case "WARN":
        readWarning(parsed, reading);
        return;
      default:
        if (!readRequest(parsed.message, reading)) readEngine(parsed.message, reading);
    }
  }

  #reading(timeMs: number): Reading {
    const { emit, reject } = this.#context;
    return { state: this.state, engine: this.#engine, timeMs, emit, reject };
  }
}
