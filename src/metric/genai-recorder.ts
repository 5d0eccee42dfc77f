import { Latency } from "../model/latency.ts";
import type { RequestRecord, StepRecord } from "../model/record.ts";
import type { StreamInfo } from "../model/stream.ts";
import { GENAI_METRICS, GENAI_PROVIDERS, type HistogramDef } from "./catalogue.ts";
import { exemplify, type HistogramCell, type MetricSet, observe } from "./metric-set.ts";

/** The cells of the requests of one (stream, profile, model, route) that were answered well; others are looked up. */
interface Cells {
  readonly operation: string;
  readonly provider: string | undefined;
  readonly model: string | undefined;
  duration: HistogramCell | undefined;
  ttft: HistogramCell | undefined;
  tpot: HistogramCell | undefined;
  input: HistogramCell | undefined;
  output: HistogramCell | undefined;
}

/** Tables kept; beyond, they are built anew from the live series. */
const MAX_CELLS = 10_000;

/** Ends of routes that name an operation. */
const OPERATIONS = [
  ["/chat/completions", "chat"],
  ["/v1/messages", "chat"],
  ["/v1/responses", "chat"],
  ["/api/chat", "chat"],
  ["/completions", "text_completion"],
  ["/completion", "text_completion"],
  ["/generate", "text_completion"],
  ["/generate_stream", "text_completion"],
  ["/embeddings", "embeddings"],
  ["/embed", "embeddings"],
  ["/embedding", "embeddings"],
] as const;

/** `gen_ai.operation.name` of a route; `inference`, a value of our own, when the log does not tell. */
export function operationOf(route: string | undefined): string {
  if (route === undefined) return "inference";
  return OPERATIONS.find(([end]) => route.endsWith(end))?.[1] ?? "inference";
}

/** Records into the metrics of the OpenTelemetry GenAI semantic conventions, beside or in place of our own names. */
export class GenAiRecorder {
  readonly #set: MetricSet;
  readonly #withModel: boolean;
  #cells = new Map<StreamInfo, Map<string | undefined, Map<string | undefined, Map<string | undefined, Cells>>>>();
  #count = 0;

  /** @param options.model False leaves the model out of the series. */
  constructor(options: { set: MetricSet; model: boolean }) {
    this.#set = options.set;
    this.#withModel = options.model;
  }

  /** Call when series vanished: cells at hand may be among them. */
  forgetCells(): void {
    this.#cells = new Map();
    this.#count = 0;
  }

  /** @param profile Name of the profile that read the line. */
  request(record: RequestRecord, stream: StreamInfo, profile: string | undefined): void {
    const cells = this.#find(stream, profile, record.model, record.route);
    const { operation, provider, model } = cells;
    const { labels } = stream;
    const { latencies } = record;
    const ok = record.outcome === "ok";
    const cellOf = (def: HistogramDef, ...values: (string | undefined)[]): HistogramCell =>
      this.#set.cell(def, labels, operation, provider, model, ...values);
    const put = (cell: HistogramCell, ms: number): void => {
      observe(cell, ms / 1000);
      if (record.traceId !== undefined || record.id !== undefined)
        exemplify(cell, ms / 1000, record.timeMs, record.traceId, record.id);
    };
    const error = ok ? undefined : errorType(record);
    const e2eMs = latencies.get(Latency.e2e);
    if (e2eMs !== undefined) {
      if (ok) put((cells.duration ??= cellOf(GENAI_METRICS.requestDuration)), e2eMs);
      else put(cellOf(GENAI_METRICS.requestDuration, error), e2eMs);
    }
    if (ok) {
      const ttftMs = latencies.get(Latency.ttft);
      if (ttftMs !== undefined) put((cells.ttft ??= cellOf(GENAI_METRICS.ttft)), ttftMs);
      const tpotMs = latencies.get(Latency.tpot) ?? tpotOf(e2eMs, ttftMs, record.tokensOut);
      if (tpotMs !== undefined) put((cells.tpot ??= cellOf(GENAI_METRICS.tpot)), tpotMs);
    }
    const upstreamMs = latencies.get(Latency.upstream_llm) ?? latencies.get(Latency.llm);
    if (upstreamMs !== undefined) put(cellOf(GENAI_METRICS.clientDuration, undefined, error), upstreamMs);
    this.#parts(record, stream);
    const { tokensIn, tokensOut } = record;
    if (tokensIn !== undefined) observe((cells.input ??= cellOf(GENAI_METRICS.tokenUsage, "input")), tokensIn);
    if (tokensOut !== undefined) observe((cells.output ??= cellOf(GENAI_METRICS.tokenUsage, "output")), tokensOut);
  }

  step(record: StepRecord, stream: StreamInfo): void {
    const error = record.outcome === undefined || record.outcome === "ok" ? undefined : errorType(record);
    const model = this.#withModel ? record.model : undefined;
    const cell = this.#partCell(record.step, stream, model, record.collection, record.tool, error);
    if (cell !== undefined) observe(cell, record.durationMs / 1000);
  }

  /** Retrieval, embedding and tool times that a request's own line lists. */
  #parts(record: RequestRecord, stream: StreamInfo): void {
    const { kinds, valuesMs } = record.latencies;
    for (let index = 0; index < kinds.length; index++) {
      const cell = this.#partCell(kinds[index] as number, stream, undefined, undefined, undefined, undefined);
      if (cell !== undefined) observe(cell, (valuesMs[index] as number) / 1000);
    }
  }

  #partCell(
    kind: number,
    { labels }: StreamInfo,
    model: string | undefined,
    collection: string | undefined,
    tool: string | undefined,
    error: string | undefined,
  ): HistogramCell | undefined {
    const { clientDuration, toolDuration } = GENAI_METRICS;
    if (kind === Latency.retrieval)
      return this.#set.cell(clientDuration, labels, "retrieval", undefined, undefined, collection, error);
    if (kind === Latency.embedding)
      return this.#set.cell(clientDuration, labels, "embeddings", undefined, model, undefined, error);
    if (kind === Latency.tool) return this.#set.cell(toolDuration, labels, tool, error);
    return undefined;
  }

  #find(stream: StreamInfo, profile: string | undefined, model: string | undefined, route: string | undefined): Cells {
    const found = this.#cells.get(stream)?.get(profile)?.get(model)?.get(route);
    if (found !== undefined) return found;
    if (++this.#count > MAX_CELLS) this.forgetCells();
    const cells: Cells = {
      operation: operationOf(route),
      provider: profile === undefined ? undefined : GENAI_PROVIDERS[profile],
      model: this.#withModel ? model : undefined,
      duration: undefined,
      ttft: undefined,
      tpot: undefined,
      input: undefined,
      output: undefined,
    };
    const byProfile = getOrPut(this.#cells, stream, () => new Map());
    const byModel = getOrPut(byProfile, profile, () => new Map());
    getOrPut(byModel, model, () => new Map()).set(route, cells);
    return cells;
  }
}

/** Low in cardinality, as the convention demands: the client's leaving, a status, or `_OTHER`. */
function errorType(record: RequestRecord | StepRecord): string {
  if (record.outcome === "aborted") return "client_cancelled";
  const status = record.kind === "request" ? record.httpStatus : undefined;
  return status !== undefined && status >= 400 ? String(status) : "_OTHER";
}

/** The convention's own definition, for logs that hold both ends and the count. */
function tpotOf(
  e2eMs: number | undefined,
  ttftMs: number | undefined,
  tokensOut: number | undefined,
): number | undefined {
  if (e2eMs === undefined || ttftMs === undefined || tokensOut === undefined) return undefined;
  return tokensOut < 2 || e2eMs < ttftMs ? undefined : (e2eMs - ttftMs) / (tokensOut - 1);
}

function getOrPut<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
