import { parseIso, UTC } from "../../core/timestamp.ts";
import { Latency } from "../../model/latency.ts";
import type { JsonObject, Line } from "../../model/line.ts";
import { figureOf, textOf } from "../gateway/field.ts";
import type { Parser, ParserContext } from "../profile.ts";
import { asksForInference, countLeft, type EnvoyAccess, emitOther, endOf, failureOf, requestOf } from "./access.ts";
import { type AiUsage, isAccess, readAccessObject, readUsage } from "./json.ts";

/** `[START] PATH model=M 200 llm_input_token=15 llm_output_token=7 llm_reasoning_token=- 1526ms`, printed by `aigw run`. */
const RUN =
  /^\[([^\]]{19,35})\] (\S{1,4000}) model=(\S{1,300}) (\d{1,3}|-)((?: [\w.]{1,60}=\S{0,60}){0,20}) (\S{1,20})ms\s*$/;

/** True for the first characters of that line. */
export function startsRun(text: string): boolean {
  if (text.charCodeAt(0) !== 91 || text.charCodeAt(11) !== 84) return false;
  const close = text.indexOf("]", 20);
  return close > 0 && close < 37 && text.startsWith(" /", close + 1) && RUN.test(text.slice(0, 5000));
}

/** Envoy AI Gateway: every line is whole in itself, nothing is remembered. */
export class AiGatewayParser implements Parser {
  state = undefined;
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const object = line.json;
    if (object !== undefined && isAccess(object)) this.#object(object);
    else this.#run(line.text);
  }

  #object(object: JsonObject): void {
    const access = readAccessObject(object, this.#context);
    if (textOf(object["mcp.method.name"]) !== undefined) this.#mcp(object, access);
    else this.#answer(access, readUsage(object, this.#context));
  }

  #run(text: string): void {
    const found = RUN.exec(text);
    if (found === null) return;
    const [, start = "", path, model, status, pairs = "", duration] = found;
    const usage = Object.fromEntries(
      pairs
        .trim()
        .split(" ")
        .map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
    );
    const access: EnvoyAccess = {
      startMs: parseIso(start, 0, UTC).timeMs,
      method: undefined,
      path,
      status: status === "-" ? 0 : Number(status),
      flags: undefined,
      details: undefined,
      transportFailure: undefined,
      durationMs: figureOf(duration, this.#context),
      upstreamServiceMs: undefined,
      requestId: undefined,
      model: textOf(model),
      tenant: undefined,
    };
    this.#answer(access, readUsage(usage, this.#context));
  }

  #answer(access: EnvoyAccess, usage: AiUsage): void {
    if (!asksForInference(access)) {
      emitOther(access, this.#context);
      return;
    }
    const record = requestOf(access);
    record.tokensIn = usage.tokensIn;
    record.tokensInCached = usage.tokensInCached;
    if (usage.tokensIn !== undefined && usage.tokensInCached !== undefined)
      record.tokensInProcessed = usage.tokensIn - usage.tokensInCached;
    record.tokensOut = usage.tokensOut;
    record.tokensOutReasoning = usage.tokensOutReasoning;
    if (record.outcome === "ok") {
      record.latencies.set(Latency.ttft, usage.ttftMs);
      record.latencies.set(Latency.itl, usage.itlMs);
      if (usage.tokensIn === undefined && usage.tokensOut === undefined)
        this.#context.emit({ kind: "count", timeMs: record.timeMs, name: "ok_without_usage", by: 1 });
    }
    countLeft(access, this.#context);
    this.#context.emit(record);
  }

  /** A call of a tool server: no request to a model, no token. */
  #mcp(object: JsonObject, access: EnvoyAccess): void {
    const { emit } = this.#context;
    emitOther(access, this.#context);
    if (object["mcp.method.name"] !== "tools/call") return;
    const timeMs = endOf(access);
    const failed = access.status === 0 || access.status >= 400;
    emit({ kind: "count", timeMs, name: "tool_calls", by: 1 });
    const tool = textOf(object["mcp.tool.name"]);
    if (access.durationMs !== undefined)
      emit({
        kind: "step",
        timeMs,
        step: Latency.tool,
        durationMs: access.durationMs,
        outcome: failed ? "error" : "ok",
        tool,
      });
    if (!failed) return;
    const failure = failureOf(access);
    const cause = failure.cause === "upstream_timeout" ? "tool_call_timeout" : failure.cause;
    emit({ ...failure, cause, text: tool === undefined ? failure.text : `tool ${tool}: ${failure.text}` });
  }
}
