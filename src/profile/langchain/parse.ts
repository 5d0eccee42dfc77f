import { putBounded, take } from "../../core/bounded-map.ts";
import { parseDurationMs } from "../../core/duration.ts";
import { Latency } from "../../model/latency.ts";
import type { Line } from "../../model/line.ts";
import { type FailureRecord, RequestRecord } from "../../model/record.ts";
import type { Parser, ParserContext } from "../profile.ts";
import { causeOfException, lastException } from "../rag/exception.ts";
import { hasWaited } from "../rag/held-failure.ts";
import { figureOf } from "../rag/value.ts";
import { nameOf, parseHeader, type RunHeader } from "./header.ts";
import { newReading, type OutputReading, readOutputLine, usageOf } from "./usage.ts";

/** Root runs that are open at once, by their name (runs have no other identity here). */
const MAX_ROOTS = 200;
/** Errors of one root's parts that are remembered, so that the root's own does not repeat them. */
const MAX_ERRORS = 20;
/** Lines of one body, and lines of others between them. */
const MAX_LINES = 200_000;
const MAX_INTERLEAVED = 200;
/** Characters kept of an error's text. */
const MAX_ERROR_CHARS = 32 * 1024;

/** What is known of a root run before it ends. */
interface Root {
  tokensIn: number | undefined;
  tokensOut: number | undefined;
  tokensInCached: number | undefined;
  tokensOutReasoning: number | undefined;
  model: string | undefined;
  errors: string[];
}

/** The body of an event: the lines between its header and the next one. */
interface Body {
  header: RunHeader;
  timeMs: number;
  readMs: number;
  /** `first`: nothing was read yet; `json`: inside a pretty-printed value; `raw`: text as it is. */
  mode: "first" | "json" | "raw";
  lines: number;
  interleaved: number;
  reading: OutputReading;
  error: string;
}

interface State {
  body: Body | undefined;
  roots: Map<string, Root>;
  /** Headers are coloured: one without colours is somebody's text. */
  coloured: boolean;
}

export class LangchainParser implements Parser {
  state: State = { body: undefined, roots: new Map(), coloured: false };
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const header = parseHeader(line.text);
    if (header === undefined) return;
    this.#close();
    if (isColoured(line)) this.state.coloured = true;
    const { timeMs, readMs } = line;
    const reading = newReading();
    this.state.body = { header, timeMs, readMs, mode: "first", lines: 0, interleaved: 0, reading, error: "" };
  }

  continues(line: Line): boolean {
    const { body } = this.state;
    if (body === undefined) return false;
    const { text } = line;
    const inText = body.mode === "raw" && this.state.coloured && !isColoured(line);
    if (!inText && parseHeader(text) !== undefined) return false;
    body.readMs = line.readMs;
    if (++body.lines > MAX_LINES) {
      this.#close();
      return false;
    }
    if (body.mode === "first") this.#first(body, text);
    else if (body.mode === "raw") addError(body, text);
    else return this.#inside(body, text);
    return true;
  }

  flush(nowMs: number, final: boolean): void {
    const { body } = this.state;
    if (body !== undefined && (final || hasWaited(body.readMs, nowMs))) this.#close();
  }

  #first(body: Body, text: string): void {
    const { header } = body;
    if (text === "{" || text === "[") {
      body.mode = "json";
      return;
    }
    // a tool's input, output and error are printed as they are, over any number of lines
    const raw = header.type === "tool" && !/^\[(?:inputs|outputs)\]$/.test(text);
    if (header.event === "error") addError(body, raw ? text : unquoteJson(text));
    if (raw) body.mode = "raw";
    else this.#close();
  }

  /** A line inside a pretty-printed value; lines of other writers may stand between. */
  #inside(body: Body, text: string): boolean {
    if (text === "}" || text === "]") {
      this.#close();
      return true;
    }
    if (!text.startsWith("  ")) {
      if (++body.interleaved > MAX_INTERLEAVED) this.#close();
      return false;
    }
    if (body.header.type === "llm" && body.header.event === "end") readOutputLine(body.reading, text);
    return true;
  }

  /** The body is whole: the event is told. */
  #close(): void {
    const { body } = this.state;
    if (body === undefined) return;
    this.state.body = undefined;
    const { header } = body;
    if (header.event === "start") return;
    const durationMs = this.#durationMs(header.elapsed);
    const rootName = header.crumbs[0] ?? "";
    if (header.type === "llm" && header.event === "end") this.#usage(body, rootName);
    const failure = header.event === "error" ? failureOf(body) : undefined;
    this.#step(body, durationMs);
    if (header.crumbs.length > 1 || header.type === "tool") {
      if (failure !== undefined && this.#isNew(rootName, failure)) this.#context.emit(failure);
      return;
    }
    this.#request(body, rootName, durationMs, failure);
  }

  #request(body: Body, rootName: string, durationMs: number | undefined, failure: FailureRecord | undefined): void {
    const isNew = failure !== undefined && this.#isNew(rootName, failure);
    const root = take(this.state.roots, rootName);
    const record = new RequestRecord();
    record.timeMs = body.timeMs;
    record.route = nameOf(rootName);
    record.latencies.set(Latency.e2e, durationMs);
    if (failure !== undefined) {
      record.outcome = "error";
      if (isNew) record.failure = failure;
    }
    record.model = root?.model;
    record.tokensIn = root?.tokensIn;
    record.tokensOut = root?.tokensOut;
    record.tokensInCached = root?.tokensInCached;
    record.tokensOutReasoning = root?.tokensOutReasoning;
    this.#context.emit(record);
  }

  #step(body: Body, durationMs: number | undefined): void {
    const { header, timeMs, reading } = body;
    if (durationMs === undefined) return;
    const outcome = header.event === "error" ? "error" : "ok";
    const name = nameOf(header.crumbs.at(-1) ?? "");
    const { emit } = this.#context;
    if (header.type === "llm") {
      emit({ kind: "step", timeMs, step: Latency.llm, durationMs, outcome, model: reading.model });
    } else if (header.type === "tool") {
      emit({ kind: "step", timeMs, step: Latency.tool, durationMs, outcome, tool: name });
    } else if (header.crumbs.length > 1 && RETRIEVES.test(name)) {
      emit({ kind: "step", timeMs, step: Latency.retrieve_chain, durationMs, outcome });
    }
  }

  #usage(body: Body, rootName: string): void {
    const root = this.#root(rootName);
    root.model ??= body.reading.model;
    const usage = usageOf(body.reading);
    if (usage === undefined) return;
    root.tokensIn = sum(root.tokensIn, figureOf(usage.in, this.#context));
    root.tokensOut = sum(root.tokensOut, figureOf(usage.out, this.#context));
    root.tokensInCached = sum(root.tokensInCached, figureOf(usage.cached, this.#context));
    root.tokensOutReasoning = sum(root.tokensOutReasoning, figureOf(usage.reasoning, this.#context));
  }

  #root(name: string): Root {
    const known = this.state.roots.get(name);
    if (known !== undefined) return known;
    const root: Root = {
      tokensIn: undefined,
      tokensOut: undefined,
      tokensInCached: undefined,
      tokensOutReasoning: undefined,
      model: undefined,
      errors: [],
    };
    putBounded(this.state.roots, name, root, MAX_ROOTS);
    return root;
  }

  /** An error is printed again by each run that it passes through, up to the root. */
  #isNew(rootName: string, failure: FailureRecord): boolean {
    const { errors } = this.#root(rootName);
    const lines = failure.text.trimEnd().split("\n");
    const deciding = lines.findLast((text) => /^\S/.test(text)) ?? failure.text;
    if (errors.includes(deciding)) return false;
    if (errors.length < MAX_ERRORS) errors.push(deciding);
    return true;
  }

  #durationMs(elapsed: string | undefined): number | undefined {
    if (elapsed === undefined) return undefined;
    const ms = parseDurationMs(elapsed);
    if (!Number.isNaN(ms)) return ms;
    this.#context.reject(Number.isNaN(Number(elapsed)) ? "not-a-number" : "unknown-unit");
    return undefined;
  }
}

/** Parts of a chain that retrieve: `retrieve`, `retrieve_documents`, `retriever`; not the whole (`retrieval_chain`). */
const RETRIEVES = /^[Rr]etriev(?:(?:e|er)(?:_|s?$|[A-Z])|al$)/;

// ESC at the start of the line, before colours were removed
const isColoured = (line: Line): boolean => line.end > line.start && line.bytes[line.start] === 27;

const sum = (a: number | undefined, b: number | undefined): number | undefined => (b === undefined ? a : (a ?? 0) + b);

function addError(body: Body, text: string): void {
  if (body.header.event !== "error" || body.error.length + text.length > MAX_ERROR_CHARS) return;
  body.error += body.error === "" ? text : `\n${text}`;
}

/** Errors of chains and models are printed as one JSON string. */
function unquoteJson(text: string): string {
  if (!text.startsWith('"')) return text;
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}

/** The class at the start of Python's `repr` of an exception. */
const REPR = /^((?:\w+\.)*)([A-Z]\w{1,80})\(/;

function failureOf({ header, timeMs, error }: Body): FailureRecord {
  const name = nameOf(header.crumbs.at(-1) ?? "");
  const text = error === "" ? `${header.type} ${name} errored` : error.trimEnd();
  const repr = REPR.exec(text);
  const exception =
    lastException(text) ?? (repr === null ? undefined : { package: repr[1] ?? "", name: repr[2] ?? "" });
  const decided = causeOfException(exception, text);
  const cause = header.type === "tool" && decided === "upstream_timeout" ? "tool_call_timeout" : decided;
  return { kind: "failure", timeMs, text, cause, errorClass: exception?.name, route: nameOf(header.crumbs[0] ?? "") };
}
