import { putBounded } from "../../core/bounded-map.ts";
import { Latency } from "../../model/latency.ts";
import type { FailureRecord } from "../../model/record.ts";
import type { ParserContext } from "../profile.ts";
import type { Figure } from "./figures.ts";
import { type Blocks, idOf, isStale, measured, newTask, portOf, slotKey, type Task } from "./task.ts";
import { leftFailure, newRequest, type TaskMoment } from "./task-records.ts";

/** A client that left, not reported yet, because what comes next may say that it did not. */
interface Leaving {
  readonly key: string;
  readonly port: string;
  readonly kind: "aborted" | "left";
  readonly text: string;
  readonly at: TaskMoment;
  lines: number;
  sinceMs: number | undefined;
}

export interface TaskState {
  /**
   * In order of launch. Several of one number run when servers share a stream without ports (Ollama with two models), or when
   * one was left over from a run that ended in the middle of it.
   */
  running: Map<string, Task[]>;
  /** Released or ended: a cancel, an error or the block may still follow. */
  recent: Map<string, Task>;
  leaving: Leaving[];
  /** Last block of each slot. */
  last: Blocks;
}

export const newTaskState = (): TaskState => ({ running: new Map(), recent: new Map(), leaving: [], last: new Map() });

/** More than slots and queued tasks of any server; beyond, the oldest is forgotten and its prompt length with it. */
const MAX_RUNNING = 4096;
const MAX_RECENT = 256;
const MAX_NAMESAKES = 8;
const MAX_LEAVING = 64;
/** Lines of the same server within which a block or an exception explains a cancelled task. */
const PATIENCE_LINES = { aborted: 1, left: 8 } as const;
const PATIENCE_MS = 5000;

/** Joins what single lines say of a task, by (port, task), into one request at its end. */
export class Tasks {
  state = newTaskState();
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  launch(key: string, slot: string): void {
    // the same number in a new run of the server
    const before = this.#forget(key);
    if (before !== undefined) this.#left(before);
    this.state.recent.delete(key);
    const namesakes = this.state.running.get(key) ?? [];
    if (namesakes.length >= MAX_NAMESAKES) namesakes.shift();
    namesakes.push(newTask(slot, true));
    putBounded(this.state.running, key, namesakes, MAX_RUNNING);
  }

  prompt(key: string, tokens: number): void {
    const task = this.#newest(key);
    if (task === undefined || task.fate !== "") return;
    task.promptTokens = tokens;
    if (tokens === 0) task.empty = true;
  }

  emptyPrompt(key: string): void {
    const task = this.#newest(key);
    if (task !== undefined && task.fate === "") task.empty = true;
  }

  /** Each batch of a long prompt says how much is in the cache by then; only the first says what was reused. */
  cached(key: string, tokens: number): void {
    const task = this.#newest(key);
    if (task !== undefined && task.fate === "") task.cachedTokens ??= tokens;
  }

  /** @param trusted False where lines of a prompt may pass for lines of the server: then only launched tasks count. */
  figure(key: string, slot: string, figure: Figure, at: TaskMoment, trusted: boolean): void {
    const task = this.#ofFigure(key, slot, figure, trusted);
    if (task === undefined) return;
    if (figure.kind === "prompt") {
      task.prefillMs = figure.ms;
      task.prefillTokens = figure.tokens;
    } else if (figure.kind === "decode") {
      task.decodeMs = figure.ms;
      task.decodeTokens = figure.tokens;
    } else this.#finish(key, task, figure.ms, at);
  }

  release(key: string, at: TaskMoment): void {
    const ended = this.state.recent.get(key);
    if (ended !== undefined && ended.fate !== "" && !ended.released) {
      ended.released = true;
      return;
    }
    const task = this.#oldest(key);
    if (task === undefined || task.released) return;
    task.released = true;
    // the line of the total was lost
    if (task.fate === "" && task.decodeMs !== undefined) this.#finish(key, task, undefined, at);
    this.#retire(key, task);
    if (task.fate !== "" || !task.cancelled) return;
    const leaving = this.state.leaving.find((one) => one.key === key);
    if (leaving !== undefined) leaving.lines = 0;
  }

  /** `send_error`: the request failed, once; a further error of the task is a record of its own. */
  fail(key: string, id: string, failure: FailureRecord, at: TaskMoment): void {
    const task = this.#oldest(key) ?? newTask("", false);
    this.#forget(key);
    const before = task.fate;
    this.#retire(key, task);
    if (before === "failed" || before === "finished" || before === "aborted") {
      this.#context.emit(failure);
      return;
    }
    task.fate = "failed";
    const request = newRequest(id, at);
    request.outcome = "error";
    request.failure = failure;
    this.#context.emit(request);
  }

  /**
   * `cancel task`: the client left, unless it is the clean-up after an error. `mayBeAnswer`: since late 2025 the line is also
   * written when the answer could not be made, and the exception follows.
   */
  cancel(key: string, text: string, at: TaskMoment, mayBeAnswer: boolean): void {
    const task = this.state.running.get(key)?.find(({ cancelled }) => !cancelled) ?? this.#oldest(key);
    if (task?.cancelled === true || task?.fate === "failed" || task?.fate === "aborted") return;
    if (task === undefined || (task.fate === "" && !this.state.running.has(key))) {
      // it waited for a slot, or its slot is free already
      const gone = task ?? newTask("", false);
      gone.cancelled = true;
      this.#retire(key, gone);
      this.#abort(key, gone, text, at);
      return;
    }
    task.cancelled = true;
    if (task.fate === "finished") {
      if (mayBeAnswer) this.#leave({ key, kind: "left", text, at });
      else this.#context.emit(leftFailure(text, at, idOf(key)));
    } else this.#leave({ key, kind: "aborted", text, at });
  }

  /** `got exception` on a server: the answer of the task cancelled just before could not be made; nobody left. */
  excuse(port: string): void {
    const { leaving } = this.state;
    const index = leaving.findIndex((one) => one.port === port && one.kind === "left");
    if (index >= 0) leaving.splice(index, 1);
  }

  /** Another line of the server: who was leaving has left by now. A task that still runs waits for its release. */
  tick(port: string, key: string | undefined): void {
    const { leaving } = this.state;
    for (let index = 0; index < leaving.length; index++) {
      const one = leaving[index] as Leaving;
      if (one.port !== port || one.key === key) continue;
      if (one.kind === "aborted" && this.state.running.has(one.key)) continue;
      if (++one.lines <= PATIENCE_LINES[one.kind]) continue;
      leaving.splice(index--, 1);
      this.#left(one);
    }
  }

  flush(nowMs: number, final: boolean): void {
    const { leaving } = this.state;
    if (leaving.length === 0) return;
    this.state.leaving = leaving.filter((one) => {
      one.sinceMs ??= nowMs;
      if (!final && nowMs - one.sinceMs < PATIENCE_MS) return true;
      this.#left(one);
      return false;
    });
  }

  #oldest(key: string): Task | undefined {
    return this.state.running.get(key)?.[0] ?? this.state.recent.get(key);
  }

  #newest(key: string): Task | undefined {
    return this.state.running.get(key)?.at(-1) ?? this.state.recent.get(key);
  }

  /** The task whose block this is: among namesakes the one whose prompt fits, or whose block has begun. */
  #known(key: string, { kind, tokens }: Figure): Task | undefined {
    const running = this.state.running.get(key);
    const recent = this.state.recent.get(key);
    if (running === undefined) return recent;
    const waits = recent?.fate === "" && recent.released;
    if (running.length === 1 && !waits) return running[0];
    const namesakes = waits ? [recent, ...running] : running;
    const ofBlock = namesakes.find((task) =>
      kind === "prompt"
        ? task.promptTokens !== undefined && task.promptTokens - (task.cachedTokens ?? 0) === tokens
        : task.prefillMs !== undefined,
    );
    return ofBlock ?? namesakes[0];
  }

  #ofFigure(key: string, slot: string, figure: Figure, trusted: boolean): Task | undefined {
    const known = this.#known(key, figure);
    if (known !== undefined && known.fate === "") return known;
    if (known?.launched === true || !trusted) return undefined;
    // launches are not in this log (it starts later, or was filtered)
    if (figure.kind !== "prompt" && known !== undefined) return undefined;
    const task = newTask(slot, false);
    this.#retire(key, task);
    return task;
  }

  #finish(key: string, task: Task, totalMs: number | undefined, at: TaskMoment): void {
    task.fate = "finished";
    this.#retire(key, task);
    const request = newRequest(idOf(key), at);
    if (isStale(this.state.last, slotKey(key, task), task)) {
      this.#context.reject("implausible-duration");
      request.tokensIn = task.promptTokens;
    } else {
      request.latencies.set(Latency.prefill, measured(task.prefillMs, task.prefillTokens));
      request.latencies.set(Latency.decode, measured(task.decodeMs, task.decodeTokens));
      request.latencies.set(Latency.engine_total, totalMs);
      request.tokensIn = task.promptTokens;
      request.tokensInProcessed = task.prefillTokens;
      if (task.promptTokens !== undefined && (task.cachedTokens ?? 0) <= task.promptTokens)
        request.tokensInCached = task.cachedTokens;
      request.tokensOut = task.decodeTokens;
    }
    this.#context.emit(request);
    if (task.cancelled) {
      const leaving = this.#forget(key);
      if (leaving !== undefined) this.#context.emit(leftFailure(leaving.text, at, idOf(key)));
    }
  }

  #retire(key: string, task: Task): void {
    const others = this.state.running.get(key)?.filter((one) => one !== task) ?? [];
    if (others.length === 0) this.state.running.delete(key);
    else this.state.running.set(key, others);
    putBounded(this.state.recent, key, task, MAX_RECENT);
  }

  #leave(who: { key: string; kind: Leaving["kind"]; text: string; at: TaskMoment }): void {
    const { leaving } = this.state;
    if (leaving.length >= MAX_LEAVING) this.#left(leaving.shift() as Leaving);
    const port = portOf(who.key);
    leaving.push({
      key: who.key,
      port,
      kind: who.kind,
      text: who.text,
      at: who.at,
      lines: 0,
      sinceMs: undefined,
    });
  }

  #forget(key: string): Leaving | undefined {
    const index = this.state.leaving.findIndex((one) => one.key === key);
    return index < 0 ? undefined : this.state.leaving.splice(index, 1)[0];
  }

  #left(one: Leaving): void {
    const task = this.#oldest(one.key);
    if (one.kind === "left" || task?.fate === "finished")
      this.#context.emit(leftFailure(one.text, one.at, idOf(one.key)));
    else this.#abort(one.key, task, one.text, one.at);
  }

  #abort(key: string, task: Task | undefined, text: string, at: TaskMoment): void {
    if (task !== undefined) task.fate = "aborted";
    const request = newRequest(idOf(key), at);
    request.outcome = "aborted";
    request.failure = leftFailure(text, at, request.id);
    this.#context.emit(request);
  }
}
