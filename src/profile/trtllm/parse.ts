import { Latency } from "../../model/latency.ts";
import type { Line } from "../../model/line.ts";
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
import { type Iteration, parseIteration } from "./iteration.ts";
import { parseTrtllmLine } from "./prefix.ts";

/** Numbered frames of the C++ runtime: `1       0x7f00aa /app/libtensorrt_llm.so(+0x7f00aa) [0x7f00aa]`. */
const FRAME = /^\d{1,4} +0x[0-9a-f]+ /;

interface State {
  block: FailureBlockState;
  /** The rank whose iterations count: with `TLLM_PROFILE_LOG_RANKS` every rank prints the same steps. */
  rank: number | undefined;
}

export class TrtllmParser implements Parser {
  state: State = { block: newFailureBlock(), rank: undefined };
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const parsed = parseTrtllmLine(line.text, this.#context.zone);
    if (parsed === undefined) return;
    const { emit } = this.#context;
    const { message, level } = parsed;
    const timeMs = Number.isNaN(parsed.timeMs) ? line.timeMs : parsed.timeMs;
    const iteration = level === "I" ? parseIteration(message) : undefined;
    if (iteration !== undefined) {
      this.#iteration(iteration, timeMs);
      return;
    }
    closeFailure(this.state.block, emit);
    if (level !== "E" && level !== "F") return;
    const cause = message.startsWith("Hang detected") ? "engine_hang_watchdog" : undefined;
    openFailure(this.state.block, { kind: "failure", timeMs, text: message, cause }, emit, line.readMs);
  }

  continues(line: Line): boolean {
    if (this.state.block.open === undefined) return false;
    if (FRAME.test(line.text)) {
      addToFailure(this.state.block, line.text, this.#context.emit);
      return true;
    }
    return continueFailure(this.state.block, line.text, this.#context.emit);
  }

  flush(nowMs: number, final: boolean): void {
    closeQuietFailure(this.state.block, nowMs, final, this.#context.emit);
  }

  #iteration(iteration: Iteration, timeMs: number): void {
    const { rank = 0, hostStepMs, deviceStepMs, contextTokens, generationTokens, gauges } = iteration;
    this.state.rank ??= rank;
    if (rank !== this.state.rank) return;
    const { emit } = this.#context;
    emit({ kind: "count", timeMs, name: "iterations", by: 1 });
    if (contextTokens !== undefined) emit({ kind: "count", timeMs, name: "context_tokens", by: contextTokens });
    if (generationTokens !== undefined)
      emit({ kind: "count", timeMs, name: "generation_tokens", by: generationTokens });
    if (hostStepMs !== undefined) emit({ kind: "step", timeMs, step: Latency.host_step, durationMs: hostStepMs });
    if (deviceStepMs !== undefined) emit({ kind: "step", timeMs, step: Latency.device_step, durationMs: deviceStepMs });
    emit({ kind: "gauges", timeMs, values: gauges });
  }
}
