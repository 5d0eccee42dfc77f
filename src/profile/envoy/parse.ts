import type { Line } from "../../model/line.ts";
import { addToFailure, closeFailure, type FailureBlockState, newFailureBlock, openFailure } from "../failure-block.ts";
import type { Parser, ParserContext } from "../profile.ts";
import { asksForInference, countLeft, type EnvoyAccess, emitOther, requestOf } from "./access.ts";
import { isAccess, readAccessObject } from "./json.ts";
import { readAccess, readLog, startsAccess } from "./text.ts";

/** Wall time that the lines of one crash may be apart. */
const WAIT_MS = 5000;

/** Envoy's access log in text or JSON, and its own log lines. */
export class EnvoyParser implements Parser {
  state: FailureBlockState & { readMs: number } = { ...newFailureBlock(), readMs: Number.NaN };
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const { text } = line;
    if (startsAccess(text)) {
      const access = readAccess(text, this.#context);
      if (access !== undefined) this.#answer(access);
      return;
    }
    const object = line.json;
    if (object !== undefined) {
      if (isAccess(object)) this.#answer(readAccessObject(object, this.#context));
      return;
    }
    this.state.readMs = line.readMs;
    this.#log(text);
  }

  flush(nowMs: number, final: boolean): void {
    if (final || nowMs - this.state.readMs >= WAIT_MS) closeFailure(this.state, this.#context.emit);
  }

  #answer(access: EnvoyAccess): void {
    if (!asksForInference(access)) {
      emitOther(access, this.#context);
      return;
    }
    countLeft(access, this.#context);
    this.#context.emit(requestOf(access));
  }

  #log(text: string): void {
    const log = readLog(text, this.#context.zone);
    if (log === undefined) return;
    // a crash is told in many records of one component
    if (log.component === "backtrace" && this.state.open !== undefined) {
      addToFailure(this.state, log.message, this.#context.emit);
      return;
    }
    closeFailure(this.state, this.#context.emit);
    if (log.level !== "error" && log.level !== "critical") return;
    openFailure(this.state, { kind: "failure", timeMs: log.timeMs, text: log.message }, this.#context.emit);
  }
}
