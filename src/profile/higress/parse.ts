import { parseIso, UTC } from "../../core/timestamp.ts";
import { Latency } from "../../model/latency.ts";
import type { JsonObject, Line } from "../../model/line.ts";
import { asksForInference, countLeft, type EnvoyAccess, emitOther, failureOf, requestOf } from "../envoy/access.ts";
import { readLog } from "../envoy/text.ts";
import { figureOf, objectOrText, textOf } from "../gateway/field.ts";
import type { Parser, ParserContext } from "../profile.ts";
import { readFields } from "./fields.ts";

/** One request a line; nothing is remembered. */
export class HigressParser implements Parser {
  state = undefined;
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const fields = readFields(line);
    if (fields === undefined) this.#log(line.text);
    else this.#access(fields);
  }

  #log(text: string): void {
    const log = readLog(text, this.#context.zone);
    if (log === undefined || (log.level !== "error" && log.level !== "critical")) return;
    this.#context.emit({ kind: "failure", timeMs: log.timeMs, text: log.message });
  }

  #access(fields: JsonObject): void {
    const ai = objectOrText(fields["ai_log"]) ?? {};
    const access = this.#read(fields, ai);
    if (!asksForInference(access)) {
      emitOther(access, this.#context);
      return;
    }
    const figure = (key: string): number | undefined => figureOf(ai[key], this.#context);
    const record = requestOf(access);
    const denied = isDenied(ai);
    if (denied) {
      record.outcome = "error";
      record.latencies.remove(Latency.ttfb);
      record.failure = { ...failureOf(access), cause: causeOfDenial(ai), text: denialText(fields, ai) };
    }
    record.stream = ai["response_type"] === undefined ? undefined : ai["response_type"] === "stream";
    record.latencies.set(Latency.upstream_llm, figure("llm_service_duration"));
    if (record.outcome === "ok" && record.stream !== false)
      record.latencies.set(Latency.ttft, figure("llm_first_token_duration"));
    record.tokensIn = figure("input_token");
    record.tokensOut = figure("output_token");
    const details = objectOrText(ai["input_token_details"]);
    record.tokensInCached = figureOf(details?.["cached_tokens"], this.#context);
    if (record.tokensIn !== undefined && record.tokensInCached !== undefined)
      record.tokensInProcessed = record.tokensIn - record.tokensInCached;
    record.tokensOutReasoning = figureOf(objectOrText(ai["output_token_details"])?.["reasoning_tokens"], this.#context);
    const count = (name: string): void => this.#context.emit({ kind: "count", timeMs: record.timeMs, name, by: 1 });
    if (ai["cache_status"] === "hit") count("cache_hits");
    if (record.outcome === "ok" && record.tokensIn === undefined && record.tokensOut === undefined)
      count("ok_without_usage");
    countLeft(access, this.#context);
    this.#context.emit(record);
  }

  #read(fields: JsonObject, ai: JsonObject): EnvoyAccess {
    const start = textOf(fields["start_time"]);
    return {
      startMs: start === undefined ? Number.NaN : parseIso(start, 0, UTC).timeMs,
      method: textOf(fields["method"]),
      path: textOf(fields["path"]),
      status: figureOf(fields["response_code"], this.#context) ?? 0,
      flags: textOf(fields["response_flags"]),
      details: textOf(fields["response_code_details"]),
      transportFailure: textOf(fields["upstream_transport_failure_reason"]),
      durationMs: figureOf(fields["duration"], this.#context),
      upstreamServiceMs: figureOf(fields["upstream_service_time"], this.#context),
      requestId: textOf(fields["request_id"]),
      model: textOf(ai["model"]),
      tenant: textOf(ai["consumer"]),
    };
  }
}

/** The security guard answers for the model, with status 200; its own word for it is misspelt (`reqeust deny`). */
function isDenied(ai: JsonObject): boolean {
  return /\bdeny\b/.test(textOf(ai["safecheck_status"]) ?? "");
}

function causeOfDenial(ai: JsonObject): string {
  return /prompt|jailbreak|injection/i.test(textOf(ai["safecheck_riskLabel"]) ?? "")
    ? "prompt_injection_block"
    : "content_policy_block";
}

function denialText(fields: JsonObject, ai: JsonObject): string {
  const details = textOf(fields["response_code_details"]) ?? "denied";
  return `${details} ${textOf(ai["safecheck_status"]) ?? ""} ${textOf(ai["safecheck_riskLabel"]) ?? ""}`.trim();
}
