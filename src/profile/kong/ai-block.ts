import type { JsonObject } from "../../model/line.ts";
import { figureOf, firstFigure, objectOf, textOf } from "../gateway/field.ts";
import type { ParserContext } from "../profile.ts";

/** One call of a model within a request: of the proxy plugin, or of a plugin beside it. */
export interface AiCall {
  readonly plugin: string;
  readonly model: string | undefined;
  readonly llmLatencyMs: number | undefined;
  readonly tokensIn: number | undefined;
  readonly tokensOut: number | undefined;
  /** Kong's estimate of a stream without usage: a quarter of its characters. */
  readonly estimatedOut: number | undefined;
  readonly cost: number | undefined;
  readonly cacheHit: boolean;
  readonly embeddingMs: number | undefined;
}

/**
 * Reads the `ai` block in its four shapes: 3.6 (`ai.meta`), 3.7 and 3.8–3.9 (`ai["ai-proxy"]`, other usage names),
 * main (`ai.proxy`, with siblings for other plugins).
 *
 * @see Kong/kong `kong/llm/plugin/observability.lua`, `kong/plugins/ai-proxy` at tags 3.6–3.9 and 22246ef28c
 */
export function readAiCalls(ai: JsonObject, context: ParserContext): AiCall[] {
  if (objectOf(ai["meta"]) !== undefined || objectOf(ai["usage"]) !== undefined)
    return [readCall("proxy", ai, context)];
  const calls: AiCall[] = [];
  for (const plugin in ai) {
    const block = objectOf(ai[plugin]);
    if (block === undefined) continue;
    if (objectOf(block["meta"]) === undefined && objectOf(block["usage"]) === undefined) continue;
    const call = readCall(plugin, block, context);
    if (plugin === "proxy" || plugin.startsWith("ai-proxy")) calls.unshift(call);
    else calls.push(call);
  }
  return calls;
}

function readCall(plugin: string, block: JsonObject, context: ParserContext): AiCall {
  const meta = objectOf(block["meta"]) ?? {};
  const usage = objectOf(block["usage"]) ?? {};
  const cache = objectOf(block["cache"]) ?? {};
  const tokensIn = firstFigure(usage, ["prompt_tokens", "prompt_token"], context);
  const tokensOut = firstFigure(usage, ["completion_tokens", "completion_token"], context);
  const blank = tokensIn === 0 && tokensOut === 0;
  // no prompt is empty: the provider sent no usage, and the completion was estimated
  const estimated = tokensIn === 0 && (tokensOut ?? 0) > 0;
  return {
    plugin,
    model: modelOf(meta["request_model"]) ?? modelOf(meta["response_model"]),
    llmLatencyMs: figureOf(meta["llm_latency"], context),
    tokensIn: blank || estimated ? undefined : tokensIn,
    tokensOut: blank || estimated ? undefined : tokensOut,
    estimatedOut: estimated ? tokensOut : undefined,
    cost: blank ? undefined : figureOf(usage["cost"], context),
    cacheHit: /^hit$/i.test(textOf(cache["cache_status"]) ?? ""),
    embeddingMs: figureOf(cache["embeddings_latency"], context),
  };
}

function modelOf(value: unknown): string | undefined {
  const model = textOf(value);
  return model === "UNSPECIFIED" ? undefined : model;
}

/** The sum of what is known; undefined when nothing is. */
export function sumOf(calls: readonly AiCall[], figure: (call: AiCall) => number | undefined): number | undefined {
  let sum: number | undefined;
  for (const call of calls) {
    const value = figure(call);
    if (value !== undefined) sum = (sum ?? 0) + value;
  }
  return sum;
}
