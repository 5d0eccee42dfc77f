import { Latency } from "../../model/latency.ts";
import type { JsonObject, Line } from "../../model/line.ts";
import { type FailureRecord, RequestRecord } from "../../model/record.ts";
import { isInference, pathOf } from "../access-line.ts";
import { figureOf, firstText, objectOf, textOf } from "../gateway/field.ts";
import { causeOfStatus, outcomeOfStatus } from "../gateway/status.ts";
import type { Parser, ParserContext } from "../profile.ts";
import { readAiCalls, sumOf } from "./ai-block.ts";

/** One request a line; nothing is remembered. */
export class KongParser implements Parser {
  state = undefined;
  readonly #context: ParserContext;

  constructor(context: ParserContext) {
    this.#context = context;
  }

  parse(line: Line): void {
    const object = line.json;
    if (object === undefined) return;
    const { emit } = this.#context;
    const request = objectOf(object["request"]) ?? {};
    const response = objectOf(object["response"]) ?? {};
    const latencies = objectOf(object["latencies"]) ?? {};
    const route = pathOf(textOf(request["uri"]) ?? "");
    const status = figureOf(response["status"], this.#context) ?? 0;
    const e2eMs = figureOf(latencies["request"], this.#context);
    const startMs = figureOf(object["started_at"], this.#context) ?? line.timeMs;
    const timeMs = startMs + Math.max(0, e2eMs ?? 0);
    const ai = objectOf(object["ai"]);
    if (ai === undefined && !isInference(textOf(request["method"]) ?? "", route)) {
      emit({ kind: "http", timeMs, status, route, inference: false });
      return;
    }
    const record = new RequestRecord();
    record.timeMs = timeMs;
    record.id = textOf(request["id"]);
    record.traceId = textOf(objectOf(object["trace_id"])?.["w3c"]);
    record.outcome = outcomeOfStatus(status);
    record.httpStatus = status;
    record.route = route;
    record.tenant = firstText(objectOf(object["consumer"]) ?? {}, ["username", "custom_id", "id"]);
    record.retries = retriesOf(object["tries"]);
    record.latencies.set(Latency.e2e, e2eMs);
    if (ai !== undefined) this.#figures(record, ai);
    if (record.outcome !== "ok") record.failure = failureOf(record, object, status);
    emit(record);
  }

  /** Several calls may stand in one request: its tokens and cost are those of all of them, its model the proxy's. */
  #figures(record: RequestRecord, ai: JsonObject): void {
    const { emit } = this.#context;
    const { timeMs } = record;
    const calls = readAiCalls(ai, this.#context);
    const ok = record.outcome === "ok";
    record.model = calls.find(({ model }) => model !== undefined)?.model;
    record.tokensIn = sumOf(calls, (call) => call.tokensIn);
    record.tokensOut = sumOf(calls, (call) => call.tokensOut);
    record.costUsd = sumOf(calls, (call) => call.cost);
    for (const [index, call] of calls.entries()) {
      if (index === 0) record.latencies.set(Latency.upstream_llm, call.llmLatencyMs);
      else if (call.llmLatencyMs !== undefined)
        emit({ kind: "step", timeMs, step: Latency.upstream_llm, durationMs: call.llmLatencyMs, model: call.model });
      record.latencies.set(Latency.embedding, call.embeddingMs);
      if (call.estimatedOut !== undefined)
        emit({ kind: "estimate", timeMs, direction: "out", tokens: call.estimatedOut });
      if (call.cacheHit) emit({ kind: "count", timeMs, name: "cache_hits", by: 1 });
    }
    if (ok && record.tokensIn === undefined && record.tokensOut === undefined)
      emit({ kind: "count", timeMs, name: "ok_without_usage", by: 1 });
  }
}

/** One entry a try; undefined when the line lists none. */
function retriesOf(tries: unknown): number | undefined {
  return Array.isArray(tries) && tries.length > 0 ? tries.length - 1 : undefined;
}

function failureOf(record: RequestRecord, object: JsonObject, status: number): FailureRecord {
  const source = textOf(object["source"]) ?? "unknown";
  const upstream = textOf(object["upstream_status"]);
  const { timeMs, model, tenant, route } = record;
  return {
    kind: "failure",
    timeMs,
    text: `HTTP ${status} from ${source}${upstream === undefined ? "" : `, upstream ${upstream}`}`,
    cause: causeOf(status, source, upstream),
    httpStatus: status,
    model,
    tenant,
    route,
    requestId: record.id,
  };
}

/**
 * Kong's answers before any upstream: 400 is the prompt guard's (and the only trace of it), 429 a limit's, 503 the
 * balancer's that found no target.
 */
function causeOf(status: number, source: string, upstream: string | undefined): string | undefined {
  if (source !== "upstream" && upstream === undefined && status === 400) return "content_policy_block";
  return causeOfStatus(status);
}
