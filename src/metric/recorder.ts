import { LATENCY_NAMES, Latency, type LatencyName } from "../model/latency.ts";
import type {
  FailureRecord,
  GaugeRecord,
  LogRecord,
  RejectReason,
  RequestRecord,
  StepRecord,
} from "../model/record.ts";
import type { StreamInfo } from "../model/stream.ts";
import {
  DECLARED_CAUSES,
  GENAI_PROVIDERS,
  type HistogramDef,
  METRICS,
  type MetricDef,
  type Naming,
  REPLACED_BY_GENAI,
  type ValueDef,
} from "./catalogue.ts";
import { GenAiRecorder } from "./genai-recorder.ts";
import { exemplify, type HistogramCell, type MetricSet, observe, type ValueCell } from "./metric-set.ts";

/** Gauges of an engine vanish when its log has not renewed them for this long: engines log every 5–10 s while they work. */
const GAUGE_STALE_MS = 60_000;
const STALE_GAUGES: ReadonlySet<MetricDef> = new Set<MetricDef>([
  METRICS.running,
  METRICS.waiting,
  METRICS.kvCacheUsage,
  METRICS.prefixCacheHits,
  METRICS.tokensPerSecond,
]);

const LATENCY_METRICS: Partial<Record<LatencyName, HistogramDef>> = {
  e2e: METRICS.requestDuration,
  ttft: METRICS.requestTtft,
  ttfb: METRICS.firstByte,
  queue: METRICS.requestQueue,
  prefill: METRICS.requestPrefill,
  decode: METRICS.requestDecode,
  tpot: METRICS.requestTpot,
  itl: METRICS.chunkInterval,
  upstream_llm: METRICS.upstream,
  llm: METRICS.upstream,
  retrieval: METRICS.retrieval,
  rerank: METRICS.rerank,
  embedding: METRICS.embedding,
  tool: METRICS.tool,
  model_load: METRICS.modelLoad,
};

/** The cells of one (stream, model, route, tenant): fetched once, then only added to. */
interface Bundle {
  readonly model: string | undefined;
  readonly route: string | undefined;
  readonly tenant: string | undefined;
  readonly latencies: Array<HistogramCell | undefined>;
  readonly outcomes: Map<string, ValueCell>;
  input: ValueCell | undefined;
  output: ValueCell | undefined;
  cached: ValueCell | undefined;
  reasoning: ValueCell | undefined;
  context: HistogramCell | undefined;
  answer: HistogramCell | undefined;
  rate: HistogramCell | undefined;
  cost: ValueCell | undefined;
}

type Tree = Map<string | undefined, Map<string | undefined, Map<string | undefined, Bundle>>>;

/** Counts of a profile that are metrics of their own; others stay figures of a report. */
const COUNTERS: Readonly<Record<string, ValueDef>> = {
  retries: METRICS.retries,
  fallbacks: METRICS.fallbacks,
  preemptions: METRICS.preemptions,
  retractions: METRICS.preemptions,
  duplicates_dropped: METRICS.duplicates,
};

/** Outcomes whose series begin at 0, by what the profile must tell. */
const ENDS = [
  ["failed", "error"],
  ["aborted", "aborted"],
] as const;

/** Bundles kept; beyond, the table is emptied and built anew from the live series. */
const MAX_BUNDLES = 10_000;

/** Which of the request's own labels the series carry; others are left out, their sums merge. */
export type RequestLabel = "model" | "route" | "tenant";

/** What the recorder asks of the profile that read a line. */
export interface Reader {
  readonly name: string;
  /** Which ends of requests its log can tell. */
  readonly tells: readonly string[];
}

/** Turns records into series. One for the whole daemon. */
export class Recorder {
  readonly set: MetricSet;
  readonly #keep: ReadonlySet<RequestLabel>;
  readonly #latencyDefs: ReadonlyArray<HistogramDef | undefined>;
  /** False under the naming `genai`: the metrics it replaces are not written. */
  readonly #own: boolean;
  readonly #genai: GenAiRecorder | undefined;
  /** Series not written for this long vanish, milliseconds; undefined: never. */
  readonly #idleMs: number | undefined;
  /** Streams whose engine's causes stand at 0. */
  readonly #declared = new WeakSet<StreamInfo>();
  #bundles = new Map<StreamInfo, Tree>();
  #bundleCount = 0;

  constructor(options: {
    set: MetricSet;
    labels: readonly RequestLabel[];
    naming?: Naming;
    idleMs?: number | undefined;
  }) {
    const { set, naming = "llm" } = options;
    this.set = set;
    this.#keep = new Set(options.labels);
    this.#own = naming !== "genai";
    this.#idleMs = options.idleMs;
    this.#genai = naming === "llm" ? undefined : new GenAiRecorder({ set, model: this.#keep.has("model") });
    this.#latencyDefs = LATENCY_NAMES.map((name) => LATENCY_METRICS[name]).map((def) =>
      def !== undefined && !this.#own && REPLACED_BY_GENAI.has(def) ? undefined : def,
    );
  }

  /**
   * @param nowMs Wall time, for the age of gauges.
   * @param reader The profile that read the line, if known.
   */
  record(record: LogRecord, stream: StreamInfo, nowMs: number, reader?: Reader): void {
    const { set } = this;
    const { labels } = stream;
    switch (record.kind) {
      case "request":
        this.#request(record, stream, reader);
        return;
      case "received":
        set.cell(METRICS.requestsReceived, labels).value++;
        if (record.tokensIn !== undefined)
          this.#bundle(stream, undefined, undefined, undefined, "input").value += record.tokensIn;
        return;
      case "http":
        set.cell(METRICS.httpResponses, labels, this.#label("route", record.route), String(record.status)).value++;
        return;
      case "step":
        this.#step(record, stream);
        this.#genai?.step(record, stream);
        return;
      case "gauges":
        this.#declareCauses(stream, reader);
        this.#gauges(record, stream, nowMs);
        return;
      case "count":
        this.#count(record.name, record.by, stream);
        return;
      case "score":
        observe(set.cell(METRICS.semanticScore, labels, this.#label("model", record.model)), record.value);
        return;
      case "failure":
        this.#failure(record, stream);
        return;
      case "tokens":
      case "estimate":
    }
  }

  reject(reason: RejectReason, stream: StreamInfo): void {
    this.set.cell(METRICS.rejected, stream.labels, reason).value++;
  }

  /** Call before a snapshot: silent engines lose their gauges, and idle series go when the configuration says so. */
  dropStale(nowMs: number): void {
    this.set.dropStale(STALE_GAUGES, nowMs - GAUGE_STALE_MS);
    if (this.#idleMs === undefined || this.set.dropIdle(nowMs, this.#idleMs) === 0) return;
    // cells at hand may be among those that went: what is added to them would be lost
    this.#bundles = new Map();
    this.#bundleCount = 0;
    this.#genai?.forgetCells();
  }

  #declareCauses(stream: StreamInfo, reader: Reader | undefined): void {
    if (reader === undefined || this.#declared.has(stream) || GENAI_PROVIDERS[reader.name] === undefined) return;
    this.#declared.add(stream);
    const tenant = this.#label("tenant", stream.labels["tenant"]);
    for (const cause of DECLARED_CAUSES) this.set.declare(METRICS.failures, stream.labels, cause, undefined, tenant);
  }

  #failure(record: FailureRecord, stream: StreamInfo): void {
    const { set } = this;
    const { labels } = stream;
    const { cause = "unknown" } = record;
    const tenant = this.#label("tenant", record.tenant ?? labels["tenant"]);
    set.cell(METRICS.failures, labels, cause, this.#label("model", record.model), tenant).value++;
    if (cause === "prompt_injection_block") set.cell(METRICS.promptInjections, labels, "blocked").value++;
    else if (cause === "cross_tenant_leak") set.cell(METRICS.tenantLeaks, labels).value++;
  }

  #label(name: RequestLabel, value: string | undefined): string | undefined {
    return this.#keep.has(name) ? value : undefined;
  }

  #request(record: RequestRecord, stream: StreamInfo, reader: Reader | undefined): void {
    const bundle = this.#find(stream, record.model, record.route, record.tenant ?? stream.labels["tenant"], reader);
    this.#genai?.request(record, stream, reader?.name);
    this.#outcome(bundle, record, stream).value++;
    if (record.httpStatus !== undefined) {
      this.set.cell(METRICS.httpResponses, stream.labels, bundle.route, String(record.httpStatus)).value++;
    }
    const { kinds, valuesMs } = record.latencies;
    for (let index = 0; index < kinds.length; index++) {
      const kind = kinds[index] as number;
      const cell = (bundle.latencies[kind] ??= this.#latencyCell(kind, bundle, stream));
      if (cell === undefined) continue;
      const seconds = (valuesMs[index] as number) / 1000;
      observe(cell, seconds);
      if (record.traceId !== undefined || record.id !== undefined)
        exemplify(cell, seconds, record.timeMs, record.traceId, record.id);
    }
    this.#tokens(record, bundle, stream);
    if (record.costUsd !== undefined) {
      (bundle.cost ??= this.set.cell(METRICS.cost, stream.labels, bundle.model, bundle.tenant)).value += record.costUsd;
    }
    if (record.scores !== undefined && record.scores.length > 0) {
      observe(this.set.cell(METRICS.topScore, stream.labels, undefined), Math.max(...record.scores));
    }
    if (record.retries !== undefined && record.retries > 0) this.#count("retries", record.retries, stream);
  }

  #outcome(bundle: Bundle, record: RequestRecord, stream: StreamInfo): ValueCell {
    const key = record.finishReason === undefined ? record.outcome : `${record.outcome} ${record.finishReason}`;
    let cell = bundle.outcomes.get(key);
    if (cell === undefined) {
      const { model, route, tenant } = bundle;
      cell = this.set.cell(METRICS.requests, stream.labels, model, route, tenant, record.outcome, record.finishReason);
      if (bundle.outcomes.size < 100) bundle.outcomes.set(key, cell);
    }
    return cell;
  }

  #tokens(record: RequestRecord, bundle: Bundle, stream: StreamInfo): void {
    const { set } = this;
    const { labels } = stream;
    const { model, route, tenant } = bundle;
    if (record.tokensIn !== undefined) {
      (bundle.input ??= set.cell(METRICS.tokens, labels, model, route, tenant, "input")).value += record.tokensIn;
      if (this.#own) observe((bundle.context ??= set.cell(METRICS.contextTokens, labels, model)), record.tokensIn);
    }
    if (record.tokensOut !== undefined) {
      (bundle.output ??= set.cell(METRICS.tokens, labels, model, route, tenant, "output")).value += record.tokensOut;
      if (this.#own) observe((bundle.answer ??= set.cell(METRICS.outputTokens, labels, model)), record.tokensOut);
      const rate = outputRate(record);
      if (rate !== undefined) observe((bundle.rate ??= set.cell(METRICS.outputRate, labels, model)), rate);
    }
    if (record.tokensInCached !== undefined) {
      (bundle.cached ??= set.cell(METRICS.cachedTokens, labels, model, tenant)).value += record.tokensInCached;
    }
    if (record.tokensOutReasoning !== undefined) {
      (bundle.reasoning ??= set.cell(METRICS.reasoningTokens, labels, model, tenant)).value +=
        record.tokensOutReasoning;
    }
  }

  #step(record: StepRecord, stream: StreamInfo): void {
    const { set } = this;
    const { labels } = stream;
    const seconds = record.durationMs / 1000;
    switch (record.step) {
      case Latency.retrieval:
        if (this.#own) observe(set.cell(METRICS.retrieval, labels, record.collection), seconds);
        break;
      case Latency.tool:
        if (this.#own) observe(set.cell(METRICS.tool, labels, record.tool), seconds);
        set.cell(METRICS.toolCalls, labels, record.tool, record.outcome ?? "ok").value++;
        break;
      default: {
        const def = this.#latencyDefs[record.step];
        if (def !== undefined) observe(set.cell(def, labels, this.#label("model", record.model)), seconds);
      }
    }
    if (record.scores !== undefined && record.scores.length > 0) {
      observe(set.cell(METRICS.topScore, labels, record.collection), Math.max(...record.scores));
    }
  }

  #gauges(record: GaugeRecord, stream: StreamInfo, nowMs: number): void {
    const put = (def: ValueDef, value: number | undefined, ...values: (string | undefined)[]): void => {
      if (value === undefined || !Number.isFinite(value)) return;
      const cell = this.set.cell(def, stream.labels, record.engine, ...values);
      cell.value = value;
      cell.writtenMs = nowMs;
    };
    const { values } = record;
    put(METRICS.running, values.running);
    put(METRICS.waiting, values.waiting);
    put(METRICS.kvCacheUsage, values.kv_cache_usage_ratio);
    put(METRICS.prefixCacheHits, values.prefix_cache_hit_ratio);
    put(METRICS.tokensPerSecond, values.prompt_tokens_per_s, "prompt");
    put(METRICS.tokensPerSecond, values.generation_tokens_per_s, "generation");
  }

  #count(name: string, by: number, stream: StreamInfo): void {
    const def = COUNTERS[name];
    if (def !== undefined) this.set.cell(def, stream.labels).value += by;
  }

  #bundle(
    stream: StreamInfo,
    model: string | undefined,
    route: string | undefined,
    tenant: string | undefined,
    type: "input",
  ): ValueCell {
    const bundle = this.#find(stream, model, route, tenant);
    return (bundle[type] ??= this.set.cell(
      METRICS.tokens,
      stream.labels,
      bundle.model,
      bundle.route,
      bundle.tenant,
      type,
    ));
  }

  #find(
    stream: StreamInfo,
    model: string | undefined,
    route: string | undefined,
    tenant: string | undefined,
    reader?: Reader,
  ): Bundle {
    const found = this.#bundles.get(stream)?.get(model)?.get(route)?.get(tenant);
    return found ?? this.#newBundle(stream, model, route, tenant, reader);
  }

  #newBundle(
    stream: StreamInfo,
    model: string | undefined,
    route: string | undefined,
    tenant: string | undefined,
    reader: Reader | undefined,
  ): Bundle {
    if (++this.#bundleCount > MAX_BUNDLES) {
      this.#bundles = new Map();
      this.#bundleCount = 1;
    }
    const bundle: Bundle = {
      model: this.#label("model", model),
      route: this.#label("route", route),
      tenant: this.#label("tenant", tenant),
      latencies: [],
      outcomes: new Map(),
      input: undefined,
      output: undefined,
      cached: undefined,
      reasoning: undefined,
      context: undefined,
      answer: undefined,
      rate: undefined,
      cost: undefined,
    };
    this.#declareCauses(stream, reader);
    for (const [told, outcome] of ENDS) {
      // the first error of a model must show as an increase; a log that tells no errors gets no 0, nor do tenants, who are many
      if (bundle.tenant === stream.labels["tenant"] && reader?.tells.includes(told) === true)
        this.set.declare(
          METRICS.requests,
          stream.labels,
          bundle.model,
          bundle.route,
          bundle.tenant,
          outcome,
          undefined,
        );
    }
    const byModel = getOrPut(this.#bundles, stream, () => new Map());
    const byRoute = getOrPut(byModel, model, () => new Map());
    getOrPut(byRoute, route, () => new Map()).set(tenant, bundle);
    return bundle;
  }

  #latencyCell(kind: number, { model, route, tenant }: Bundle, stream: StreamInfo): HistogramCell | undefined {
    const def = this.#latencyDefs[kind];
    if (def === undefined) return undefined;
    const known: Record<string, string | undefined> = { model, route, tenant };
    return this.set.cell(def, stream.labels, ...def.labels.map((name) => known[name]));
  }
}

/** Output tokens per second of decoding, where the log tells the decode time or both ends of it. */
function outputRate(record: RequestRecord): number | undefined {
  const tokens = record.tokensOut ?? 0;
  const decodeMs = record.latencies.get(Latency.decode);
  if (decodeMs !== undefined) return decodeMs > 0 && tokens > 0 ? tokens / (decodeMs / 1000) : undefined;
  const e2eMs = record.latencies.get(Latency.e2e);
  const ttftMs = record.latencies.get(Latency.ttft);
  if (e2eMs === undefined || ttftMs === undefined || tokens < 2 || e2eMs <= ttftMs) return undefined;
  return (tokens - 1) / ((e2eMs - ttftMs) / 1000);
}

function getOrPut<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}
