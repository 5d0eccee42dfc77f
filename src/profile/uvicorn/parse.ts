import type { Line } from "../../model/line.ts";
import { isInference, parseAccessLine } from "../access-line.ts";
import { closeFailure, closeQuietFailure, continueFailure, newFailureBlock, openFailure } from "../failure-block.ts";
import type { Parser, ParserContext } from "../profile.ts";

/** Columns of level, colon and padding in front of uvicorn's message. */
const PREFIX = 10;

export class UvicornParser implements Parser {
  state = newFailureBlock();
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const message = line.text.slice(PREFIX);
    const access = parseAccessLine(message);
    if (access !== undefined) {
      this.#context.emit({
        kind: "http",
        timeMs: line.timeMs,
        status: access.status,
        route: access.route,
        inference: isInference(access.method, access.route),
      });
      return;
    }
    closeFailure(this.state, this.#context.emit);
    if (line.text.startsWith("ERROR:") || line.text.startsWith("CRITICAL:")) {
      openFailure(this.state, { kind: "failure", timeMs: line.timeMs, text: message }, this.#context.emit, line.readMs);
    }
  }

  continues(line: Line): boolean {
    return continueFailure(this.state, line.text, this.#context.emit);
  }

  flush(nowMs: number, final: boolean): void {
    closeQuietFailure(this.state, nowMs, final, this.#context.emit);
  }
}
