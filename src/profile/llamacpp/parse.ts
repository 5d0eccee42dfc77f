import type { Line } from "../../model/line.ts";
import { addToFailure, closeFailure, closeQuietFailure, openFailure } from "../failure-block.ts";
import type { Parser, ParserContext } from "../profile.ts";
import { addToBody, type BodyEcho, openBody } from "./body-echo.ts";
import { isLegacyJson, isLegacyText, readLegacy } from "./legacy-record.ts";
import { Messages } from "./messages.ts";
import { continuesCrash, crashStart, isLibraryLine } from "./native-crash.ts";
import { GROUP_WIDTH, hasGroup, isServerMessage, type Unprefixed, unprefix } from "./prefix.ts";
import { type ServerState, serverOf } from "./servers.ts";
import { taskKey } from "./task.ts";
import { type TaskState, Tasks } from "./tasks.ts";

export interface LlamaCppState {
  servers: Map<string, ServerState>;
  tasks: TaskState;
}

const MAX_GRAMMAR_LINES = 50;
/** Records within which the error of a task may follow the bare lines of its grammar. */
const GRAMMAR_PATIENCE = 8;
const MAX_TEMPLATE_LINES = 500;
const TEMPLATE = /^[\w ()]{1,24}: chat template, .*[^']$/;
const SLOT = /id {1,12}(-?\d{1,10}) \| task (-?\d{1,12}) \|(?: |$)/y;
const LETTER = /^[DTIWEC] /;
/** Messages that show a model's output as it is, newlines and all. */
const RAW_OUTPUT = /^[\w()]{1,80}: (?:unparsed .{0,80} output: |Parsing input with format |Parsed message: )/;

/** Joins llama-server's lines, of any version from 2024 to 2026, into requests, access records and failures. */
export class LlamaCppParser implements Parser {
  readonly #context: ParserContext;
  readonly #tasks: Tasks;
  readonly #messages: Messages;
  #servers = new Map<string, ServerState>();

  constructor(context: ParserContext) {
    this.#context = context;
    this.#tasks = new Tasks(context);
    this.#messages = new Messages(context, this.#tasks);
  }

  get state(): LlamaCppState {
    return { servers: this.#servers, tasks: this.#tasks.state };
  }

  set state(state: LlamaCppState) {
    this.#servers = state.servers;
    this.#tasks.state = state.tasks;
  }

  parse(line: Line): void {
    const { text } = line;
    if (text.charCodeAt(0) === 123 || isLegacyText(text)) {
      const record = readLegacy(line);
      const timeMs = Number.isNaN(record.timeMs) ? line.timeMs : record.timeMs;
      // its levels are words: INFO, WARN, ERR, VERB
      const from = { port: "", level: record.level.charAt(0), func: record.level, timeMs, server: this.#server("") };
      this.#settle(from.server);
      this.#tasks.tick("", undefined);
      this.#messages.legacy(record, from);
      return;
    }
    const prefix = unprefix(text);
    const { port, level, at } = prefix;
    const server = this.#server(port);
    if (!hasGroup(text, at)) {
      this.#ungrouped(text.slice(at), prefix, line, server);
      return;
    }
    this.#settle(server);
    const func = text.slice(at + 5, at + GROUP_WIDTH - 2).trim();
    const from = { port, level, func, timeMs: line.timeMs, server };
    const start = at + GROUP_WIDTH;
    if (text.startsWith("slot ", at)) {
      SLOT.lastIndex = start;
      const slot = SLOT.exec(text);
      if (slot === null) return;
      const key = taskKey(port, slot[2] ?? "");
      this.#tasks.tick(port, key);
      this.#messages.slot(text.slice(start + slot[0].length), key, slot[1] ?? "", from);
      return;
    }
    this.#tasks.tick(port, undefined);
    if (text.startsWith("chat template, ", start) && !text.endsWith("'")) server.templateLines = MAX_TEMPLATE_LINES;
    else if (text.startsWith("request:  ", start)) {
      server.echoes = true;
      server.body = openBody(prefix.stamped, text.slice(start + 10));
    } else {
      // what the model said, newlines and all
      if (text.startsWith("Parsing chat message: ", start)) server.echoes = true;
      this.#messages.message(text.slice(start), from, this.#servers);
    }
  }

  continues(line: Line): boolean {
    const { text } = line;
    const prefix = unprefix(text);
    const { port, stamped, at } = prefix;
    const server = port === "" ? this.#server("") : this.#servers.get(port);
    if (server === undefined) return false;
    if (server.body !== undefined) return passBody(server.body, server, text, prefix);
    if (stamped || isServerMessage(text, at) || isLegacyText(text) || (isObject(text) && isLegacyJson(line))) {
      server.templateLines = 0;
      return false;
    }
    if (server.templateLines > 0) {
      server.templateLines = text.slice(at) === "'" ? 0 : server.templateLines - 1;
      return true;
    }
    // blanks in front mean something in a crash
    const bare = port === "" ? text.replace(/^\r/, "") : text.slice(at);
    return this.#bare(bare, port, line, server) || port !== "" || bare.startsWith("cmd_child_to_router:");
  }

  flush(nowMs: number, final: boolean): void {
    for (const server of this.#servers.values()) {
      closeQuietFailure(server.block, nowMs, final, this.#context.emit);
      if (final) this.#closeGrammar(server);
    }
    this.#tasks.flush(nowMs, final);
  }

  /** A line of someone around the server: its bare lines are complete. */
  settle(): void {
    const server = this.#servers.get("");
    if (server !== undefined) this.#settle(server);
  }

  #server(port: string): ServerState {
    return serverOf(this.#servers, port);
  }

  /** A line with a prefix, or with an opening of its own, but without `slot` or `srv`. */
  #ungrouped(message: string, prefix: Unprefixed, line: Line, server: ServerState): void {
    const { port, level, stamped } = prefix;
    if (TEMPLATE.test(message)) server.templateLines = MAX_TEMPLATE_LINES;
    if (stamped && this.#bare(message, port, line, server)) return;
    this.#settle(server);
    const from = { port, level, func: "", timeMs: line.timeMs, server };
    this.#tasks.tick(port, undefined);
    if (message.startsWith("print_timings: ")) this.#messages.figure(message.slice(15), taskKey(port, "-"), "", from);
    else if (!isLibraryLine(message)) this.#messages.message(message, from, this.#servers);
  }

  /** @returns True for a line without the server's name that is known to belong to it. */
  #bare(text: string, port: string, line: Line, server: ServerState): boolean {
    const { block, grammar, header, model } = server;
    const { timeMs } = line;
    const { emit } = this.#context;
    if (block.open !== undefined) {
      if (continuesCrash(text)) {
        addToFailure(block, text, emit);
        return true;
      }
      closeFailure(block, emit);
    }
    if (header !== undefined) {
      // figures on bare lines under their header (late 2024 to May 2026)
      const from = { port, level: "", func: "", timeMs, server };
      if (this.#messages.figure(text.trimStart(), header.key, header.slot, from)) return true;
    }
    const message = LETTER.test(text) ? text.slice(2) : text;
    if (RAW_OUTPUT.test(message)) server.echoes = true;
    const crash = crashStart(message);
    if (crash !== undefined) {
      openFailure(block, { kind: "failure", timeMs, text: message, cause: crash.cause, model }, emit, line.readMs);
      return true;
    }
    if (message.startsWith("failed to parse grammar")) {
      // the error of the task follows, and is the record
      server.grammar = undefined;
      return true;
    }
    if (message.startsWith("parse: error parsing grammar")) {
      this.#closeGrammar(server);
      server.grammar = { timeMs, lines: [message], records: 0 };
      return true;
    }
    if (isLibraryLine(message)) return true;
    if (grammar === undefined || grammar.records > 0 || grammar.lines.length >= MAX_GRAMMAR_LINES) return false;
    grammar.lines.push(text);
    return true;
  }

  /** A record of the server: bare lines in front of it are complete. */
  #settle(server: ServerState): void {
    closeFailure(server.block, this.#context.emit);
    if (server.grammar !== undefined && ++server.grammar.records > GRAMMAR_PATIENCE) this.#closeGrammar(server);
  }

  #closeGrammar(server: ServerState): void {
    const { grammar, model } = server;
    if (grammar === undefined) return;
    server.grammar = undefined;
    const text = grammar.lines.join("\n").trimEnd();
    this.#context.emit({ kind: "failure", timeMs: grammar.timeMs, text, cause: "invalid_request", model });
  }
}

const isObject = (text: string): boolean => text.charCodeAt(0) === 123;

/** @returns True for a line of a body; the `response: ` record that follows a body is read like any other line. */
function passBody(body: BodyEcho, server: ServerState, text: string, { at, stamped, port }: Unprefixed): boolean {
  const isEnd = stamped === body.stamped && hasGroup(text, at) && text.startsWith("response: ", at + GROUP_WIDTH);
  if (!isEnd && !addToBody(body, port === "" ? text : text.slice(at))) return true;
  server.body = undefined;
  return !isEnd;
}
