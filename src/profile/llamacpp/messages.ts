import type { ParserContext } from "../profile.ts";
import { asksModel, readAccess } from "./access.ts";
import { causeOfError, readException } from "./causes.ts";
import { readDraft, readFigure } from "./figures.ts";
import type { LegacyRecord } from "./legacy-record.ts";
import { modelOfPath, type ServerState, serverOf } from "./servers.ts";
import { taskKey } from "./task.ts";
import type { TaskMoment } from "./task-records.ts";
import type { Tasks } from "./tasks.ts";

/** Where a message comes from. */
export interface Source {
  readonly port: string;
  /** Level letter, empty when none is printed. */
  readonly level: string;
  /** Function name as printed: twelve characters, blanks removed. */
  readonly func: string;
  readonly timeMs: number;
  readonly server: ServerState;
}

const NEW_PROMPT = /^new prompt,.{0,160}? (?:task\.n_tokens|n_prompt_tokens) = (\d{1,12})/;
const TRUNCATED = /^input truncated,.{0,160}? n_prompt_tokens = (\d{1,12})/;
const CACHED = /^(?:kv cache rm|.{0,60}?memory_seq_rm) \[(\d{1,12}), end\)/;
const TASK_ERROR = /^task id = (-?\d{1,12}), error: /;
const CANCEL = /^cancel task, id_task = (\d{1,12})/;
const MODEL_FILE = /^loading model '(.{1,1024})'/;
const CHILD = /^(?:spawning server instance with name=|proxying request to model )(.{1,512}) on port (\d{1,5})\s*$/;
const CHILD_EXIT = /^instance name=.{1,512} exited with status (-?\d{1,12})/;
/** Errors that only go with the ones of the tasks they hit. */
const COMPANION =
  /^(?:Context size has been exceeded|decode\(\) failed|failed to decode|failed to launch slot|failed to parse grammar|failed to process|Invalid input batch|Compute error)/;

/** Reads messages, prefix and group removed, into what happened to tasks. */
export class Messages {
  readonly #context: ParserContext;
  readonly #tasks: Tasks;

  constructor(context: ParserContext, tasks: Tasks) {
    this.#context = context;
    this.#tasks = tasks;
  }

  /** `slot <function>: id 0 | task 0 | message`. */
  slot(message: string, key: string, slot: string, from: Source): void {
    const { server } = from;
    if (message.trim() === "") {
      server.header = { key, slot };
      return;
    }
    if (message.includes("\n")) {
      // a wrapper kept header and figures together
      server.header = { key, slot };
      for (const bare of message.split("\n")) this.figure(bare, key, slot, from);
      return;
    }
    if (this.figure(message, key, slot, from)) return;
    if (message.startsWith("processing task")) this.#tasks.launch(key, slot);
    else if (message.startsWith("stop processing")) this.#tasks.release(key, momentOf(from));
    else if (message.startsWith("empty prompt")) this.#tasks.emptyPrompt(key);
    else if (message.startsWith("new prompt,")) this.#prompt(NEW_PROMPT, message, key);
    else if (message.startsWith("input truncated,")) {
      this.#prompt(TRUNCATED, message, key);
      this.#count("prompts_truncated", 1, from);
    } else if (from.level === "E") this.#serverError(message, from);
    else {
      const tokens = CACHED.exec(message);
      if (tokens !== null) this.#tasks.cached(key, Number(tokens[1]));
    }
  }

  /** @returns True when `text` is a line of a timing block. */
  figure(text: string, key: string, slot: string, from: Source): boolean {
    const figure = readFigure(text);
    if (figure !== undefined) {
      // text that is no number: the figure is unknown
      if (Number.isNaN(figure.ms)) this.#context.reject("not-a-number");
      if (Number.isNaN(figure.tokens)) this.#context.reject("not-a-number");
      this.#tasks.figure(
        key,
        slot,
        { kind: figure.kind, ms: known(figure.ms), tokens: known(figure.tokens) },
        momentOf(from),
        !from.server.echoes,
      );
      return true;
    }
    const draft = readDraft(text);
    if (draft === undefined) return false;
    this.#count("draft_accepted", draft.accepted, from);
    this.#count("draft_generated", draft.generated, from);
    return true;
  }

  /** What `srv`, `que` and other groups say, and messages without a group. */
  message(message: string, from: Source, servers: Map<string, ServerState>): void {
    const access = readAccess(message);
    if (access !== undefined) {
      this.#access(access.method, access.route, access.status, from);
      return;
    }
    const cancel = CANCEL.exec(message);
    if (cancel !== null) {
      // `stop` (since late 2025) also clears up after an answer that could not be made
      const key = taskKey(from.port, cancel[1] ?? "");
      this.#tasks.cancel(key, cut(message), momentOf(from), from.func !== "cancel_tasks");
      return;
    }
    const error = TASK_ERROR.exec(message);
    if (error !== null) this.#taskError(from.port, error[1] ?? "", message.slice(error[0].length), from);
    else if (message.startsWith("loading model '")) {
      const file = MODEL_FILE.exec(message)?.[1];
      if (file !== undefined) from.server.model = modelOfPath(file) ?? from.server.model;
    } else if (message.startsWith("spawning ") || message.startsWith("proxying ")) {
      const child = CHILD.exec(message);
      if (child !== null) serverOf(servers, child[2] ?? "").model = child[1];
    } else this.#incident(message, from);
  }

  /** A record of 2024: the same events by fixed messages and named fields. */
  legacy(record: LegacyRecord, from: Source): void {
    const { message, fields } = record;
    const task = textOf(fields["id_task"] ?? fields["task_id"]);
    const key = taskKey(from.port, task);
    const slot = textOf(fields["id_slot"] ?? fields["slot_id"]);
    const at = momentOf(from);
    const figure = (kind: "prompt" | "decode" | "total", ms: unknown, tokens: unknown): void => {
      this.#tasks.figure(key, slot, { kind, ms: this.#number(ms), tokens: this.#number(tokens) }, at, true);
    };
    if (message.startsWith("prompt eval time"))
      figure(
        "prompt",
        fields["t_prompt_processing"],
        fields["n_prompt_tokens_processed"] ?? fields["num_prompt_tokens_processed"],
      );
    else if (message.startsWith("generation eval time"))
      figure("decode", fields["t_token_generation"], fields["n_decoded"]);
    else if (message.trimStart().startsWith("total time")) figure("total", fields["t_total"], undefined);
    else if (message === "slot is processing task") this.#tasks.launch(key, slot);
    else if (message === "slot released") this.#tasks.release(key, at);
    else if (message === "task error") this.#taskError(from.port, task, textOf(fields["error"]), from);
    else if (message === "request") {
      const { status, method, path } = fields;
      if (typeof status === "number" && typeof method === "string" && typeof path === "string")
        this.#access(method, path, status, from);
    } else if (message.startsWith("kv cache rm [")) {
      const reused = fields["p0"];
      if (typeof reused === "number") this.#tasks.cached(key, reused);
    } else {
      const tokens = fields["n_prompt_tokens"];
      if (task !== "" && typeof tokens === "number") this.#tasks.prompt(key, tokens);
      if (message === "input truncated") this.#count("prompts_truncated", 1, from);
      else this.#incident(message, from);
    }
  }

  #prompt(pattern: RegExp, message: string, key: string): void {
    const tokens = pattern.exec(message);
    if (tokens !== null) this.#tasks.prompt(key, Number(tokens[1]));
  }

  #access(method: string, path: string, status: number, from: Source): void {
    // a child's line is the inner hop of a request that its router logs
    if (from.port !== "") return;
    const query = path.indexOf("?");
    const route = query < 0 ? path : path.slice(0, query);
    this.#context.emit({ kind: "http", timeMs: from.timeMs, status, route, inference: asksModel(method, route) });
  }

  #taskError(port: string, task: string, text: string, from: Source): void {
    const at = momentOf(from);
    const error = cut(text);
    const failure = { ...failureAt(at), text: error, cause: causeOfError(error), requestId: task };
    this.#tasks.fail(taskKey(port, task), task, failure, at);
  }

  /** Failures that are no task's: an exception of the HTTP layer, a refused key, pressure, a model that does not load. */
  #incident(message: string, from: Source): void {
    const { emit } = this.#context;
    const at = momentOf(from);
    if (message.startsWith("got exception: ")) {
      this.#tasks.excuse(from.port);
      emit({ ...failureAt(at), text: cut(message), ...readException(message.slice(15)) });
    } else if (/^[Uu]nauthorized: Invalid API Key/.test(message))
      emit({ ...failureAt(at), text: cut(message), cause: "auth_invalid_key" });
    else if (message.startsWith("failed to find free space in the KV cache"))
      emit({ ...failureAt(at), text: cut(message), cause: "kv_cache_exhausted" });
    else if (message.startsWith("failed to load model"))
      emit({ ...failureAt(at), text: cut(message), cause: "model_load_failed" });
    else if (message.startsWith("instance name=")) {
      const status = CHILD_EXIT.exec(message)?.[1];
      if (status !== undefined && status !== "0") emit({ ...failureAt(at), text: cut(message), cause: "runner_crash" });
    } else if (from.level === "E") this.#serverError(message, from);
  }

  #serverError(message: string, from: Source): void {
    if (from.func === "" || message.trim() === "" || COMPANION.test(message)) return;
    const at = momentOf(from);
    this.#context.emit({ ...failureAt(at), text: cut(message), cause: causeOfError(message) });
  }

  #count(name: string, by: number, from: Source): void {
    this.#context.emit({ kind: "count", timeMs: from.timeMs, name, by });
  }

  /** A field that holds a figure: undefined when absent, refused and undefined when it is no number (`null` for NaN). */
  #number(value: unknown): number | undefined {
    if (value === undefined || typeof value === "number") return value;
    this.#context.reject("not-a-number");
    return undefined;
  }
}

/** Characters of a message that a failure keeps: it may quote a whole request. */
const MAX_TEXT_CHARS = 16 * 1024;
const cut = (text: string): string => text.slice(0, MAX_TEXT_CHARS).trimEnd();

const textOf = (value: unknown): string =>
  typeof value === "string" || typeof value === "number" ? String(value) : "";

const known = (value: number | undefined): number | undefined => (Number.isNaN(value) ? undefined : value);

const momentOf = (from: Source): TaskMoment => ({ timeMs: from.timeMs, model: from.server.model });

const failureAt = (at: TaskMoment) => ({ kind: "failure", timeMs: at.timeMs, model: at.model }) as const;
