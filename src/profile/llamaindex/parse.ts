import { Latency, type LatencyKind } from "../../model/latency.ts";
import type { Line } from "../../model/line.ts";
import type { Parser, ParserContext } from "../profile.ts";
import { figureOf } from "../rag/value.ts";

/** Opens and closes a printed trace: ten asterisks. */
export const STARS = "**********";
// core/callbacks/llama_debug.py: `{indent}|_{event_type} ->  {seconds} seconds`; the enum prints as member or as value
const EVENT = /^((?: {2}){1,60})\|_(?:CBEventType\.)?([A-Za-z_]{2,40}) -> {1,2}(\S{1,40}) seconds$/;

export const isEvent = (text: string): boolean => EVENT.test(text);

const KINDS: Readonly<Record<string, LatencyKind>> = {
  query: Latency.llamaindex_query,
  retrieve: Latency.retrieval,
  reranking: Latency.rerank,
  embedding: Latency.embedding,
  llm: Latency.upstream_llm,
  function_call: Latency.tool,
};

interface State {
  /** Events around the last one, the outermost first. */
  above: { indent: number; type: string }[];
  /** The last line was ten asterisks: the name of a trace may follow. */
  stars: boolean;
}

export class LlamaindexParser implements Parser {
  state: State = { above: [], stars: false };
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    if (line.text === STARS) {
      this.state = { above: [], stars: true };
      return;
    }
    this.state.stars = false;
    const event = EVENT.exec(line.text);
    if (event !== null) this.#event(event[1]?.length ?? 0, (event[2] ?? "").toLowerCase(), event[3], line.timeMs);
  }

  continues(line: Line): boolean {
    if (!this.state.stars || !line.text.startsWith("Trace: ")) return false;
    this.state.stars = false;
    this.#context.emit({ kind: "count", timeMs: line.timeMs, name: "llamaindex_traces", by: 1 });
    return true;
  }

  /** A query inside a query, or a retrieval inside a retrieval, is a part of it. */
  #event(indent: number, type: string, seconds: string | undefined, timeMs: number): void {
    const { above } = this.state;
    while (above.length > 0 && (above.at(-1)?.indent ?? 0) >= indent) above.pop();
    const inside = above.some((event) => event.type === type);
    above.push({ indent, type });
    const step = KINDS[type];
    if (step === undefined || inside) return;
    const figure = figureOf(seconds, this.#context);
    if (figure !== undefined) this.#context.emit({ kind: "step", timeMs, step, durationMs: figure * 1000 });
  }
}
