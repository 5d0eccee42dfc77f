import type { Line } from "../../model/line.ts";
import type { FailureRecord } from "../../model/record.ts";
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
import { parseTritonLine, type TritonLine } from "./prefix.ts";

/** evhtp's `htp_method_POST`: the number is the method's place in an enumeration (0 GET, 1 HEAD, 2 POST). */
const POST = "2";
const HTTP_REQUEST = /^HTTP request: (\d{1,2}) (\/\S{0,400})$/;
const INFERENCE =
  /^\/v2\/models\/[^/?]+(?:\/versions\/[^/?]+)?\/(?:infer|generate|generate_stream)(?:\?|$)|^\/v1\/(?:chat\/)?(?:completions|embeddings)(?:\?|$)/;
const PROBE = /^\/(?:v2\/(?:health\/|models\/[^/?]+(?:\/versions\/[^/?]+)?\/ready)|health|metrics|v1\/models)/;
/** Refusals that the scheduler writes as warnings or errors, by version. */
const REFUSED = /^(?:\[request id: [^\]]{0,200}\] )?(Exceeds maximum queue size|Request timeout expired)/;
const REQUEST_ID = /^\[request id: ([^\]]{1,200})\] /;
const MODEL = /^Failed to process the request\(s\) for model(?: instance)? '([^']{1,200})'/;
/** Unescaped messages: tables of the start-up, the stack of a Python backend, TensorRT-LLM's numbered frames. */
const TABLE = /^(?:\+-{2,}|\| )/;
const STACK = /^(?:At:$|\d{1,4} +0x[0-9a-f]+ )/;

export class TritonParser implements Parser {
  state: FailureBlockState = newFailureBlock();
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const parsed = parseTritonLine(line.text, line.readMs);
    if (parsed !== undefined) this.#message(parsed, line);
  }

  continues(line: Line): boolean {
    const { text } = line;
    if (TABLE.test(text)) return true;
    const parsed = parseTritonLine(text, line.readMs);
    if (parsed !== undefined) {
      // a Python backend's logger, which Triton prints: its file is no .cc
      this.#message(parsed, line);
      return true;
    }
    if (this.state.open === undefined) return false;
    if (STACK.test(text)) {
      addToFailure(this.state, text, this.#context.emit);
      return true;
    }
    return continueFailure(this.state, text, this.#context.emit);
  }

  flush(nowMs: number, final: boolean): void {
    closeQuietFailure(this.state, nowMs, final, this.#context.emit);
  }

  #message({ message, level, timeMs }: TritonLine, line: Line): void {
    const { emit } = this.#context;
    closeFailure(this.state, emit);
    if (level === "I") {
      const http = HTTP_REQUEST.exec(message);
      if (http === null) return;
      const target = http[2] ?? "";
      if (http[1] === POST && INFERENCE.test(target)) emit({ kind: "received", timeMs });
      else if (PROBE.test(target)) emit({ kind: "count", timeMs, name: "health_probes", by: 1 });
      return;
    }
    const refused = REFUSED.exec(message)?.[1];
    if (level === "W" && refused === undefined) return;
    const failure: FailureRecord = {
      kind: "failure",
      timeMs,
      text: message.trimEnd(),
      cause: refused?.startsWith("Exceeds") === true ? "queue_overflow" : undefined,
      requestId: known(REQUEST_ID.exec(message)?.[1]),
      model: MODEL.exec(message)?.[1],
    };
    openFailure(this.state, failure, emit, line.readMs);
  }
}

const known = (id: string | undefined): string | undefined => (id === "<id_unknown>" ? undefined : id);
