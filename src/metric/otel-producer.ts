import { type HrTime, ValueType } from "@opentelemetry/api";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AggregationTemporality,
  type CollectionResult,
  DataPointType,
  InstrumentType,
  type MetricData,
  type MetricProducer,
  type ResourceMetrics,
} from "@opentelemetry/sdk-metrics";
import { GENAI_ATTRIBUTES, type MetricDef } from "./catalogue.ts";
import type { HistogramCell, Labels, MetricSet, ValueCell } from "./metric-set.ts";

/**
 * Shows a {@link MetricSet} in OpenTelemetry's data model, so that its exporters read our series like those of any
 * instrument, without the SDK's cost per recording and with series that can vanish.
 */
export class MetricSetProducer implements MetricProducer {
  readonly #set: MetricSet;
  readonly #startMs: number;
  readonly #nowMs: () => number;
  readonly #beforeCollect: (nowMs: number) => void;
  readonly #resource: ReturnType<typeof resourceFromAttributes>;

  constructor(options: {
    set: MetricSet;
    nowMs: () => number;
    /** Refreshes series that are read, not written (queue lengths, file counts) before each collection. */
    beforeCollect: (nowMs: number) => void;
    resource: Readonly<Record<string, string>>;
    /** Since when the values count, milliseconds since the epoch: before this start when they outlived a restart. */
    startMs?: number;
  }) {
    this.#set = options.set;
    this.#nowMs = options.nowMs;
    this.#startMs = options.startMs ?? options.nowMs();
    this.#beforeCollect = options.beforeCollect;
    this.#resource = resourceFromAttributes(options.resource);
  }

  async collect(): Promise<CollectionResult> {
    const [resourceMetrics = this.#resourceMetrics([])] = this.batches(Number.POSITIVE_INFINITY);
    return { resourceMetrics, errors: [] };
  }

  /**
   * The same in parts, for a push that must not hold up reading.
   *
   * @param maxFigures Figures of one part (a histogram's series has one a bucket); at least one series.
   */
  *batches(maxFigures: number): Generator<ResourceMetrics> {
    const nowMs = this.#nowMs();
    this.#beforeCollect(nowMs);
    const startTime = hrTime(this.#startMs);
    const endTime = hrTime(nowMs);
    let metrics: MetricData[] = [];
    let figures = 0;
    for (const { def, cells } of this.#set.families()) {
      const weight = def.kind === "histogram" ? def.buckets.length + 3 : 1;
      let part: (ValueCell | HistogramCell)[] = [];
      for (const cell of cells) {
        part.push(cell);
        figures += weight;
        if (figures < maxFigures) continue;
        metrics.push(toMetricData(def, part, startTime, endTime));
        yield this.#resourceMetrics(metrics);
        metrics = [];
        part = [];
        figures = 0;
      }
      if (part.length > 0) metrics.push(toMetricData(def, part, startTime, endTime));
    }
    if (metrics.length > 0) yield this.#resourceMetrics(metrics);
  }

  #resourceMetrics(metrics: MetricData[]): ResourceMetrics {
    return { resource: this.#resource, scopeMetrics: [{ scope: { name: "tokentail" }, metrics }] };
  }
}

function hrTime(ms: number): HrTime {
  return [Math.floor(ms / 1000), (ms % 1000) * 1e6];
}

/** The attributes of a series; under a semantic convention, by the names that it gives them. */
function attributesOf(def: MetricDef, labels: Labels): Labels {
  if (def.otelName === undefined) return labels;
  return Object.fromEntries(Object.entries(labels).map(([name, value]) => [GENAI_ATTRIBUTES[name] ?? name, value]));
}

function toMetricData(
  def: MetricDef,
  cells: readonly (ValueCell | HistogramCell)[],
  startTime: HrTime,
  endTime: HrTime,
): MetricData {
  const type =
    def.kind === "counter"
      ? InstrumentType.COUNTER
      : def.kind === "gauge"
        ? InstrumentType.GAUGE
        : InstrumentType.HISTOGRAM;
  const common = {
    descriptor: {
      name: def.otelName ?? def.name,
      description: def.help,
      unit: def.unit,
      type,
      valueType: ValueType.DOUBLE,
      advice: {},
    },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  if (def.kind === "histogram") {
    return {
      ...common,
      dataPointType: DataPointType.HISTOGRAM,
      dataPoints: (cells as readonly HistogramCell[]).map((cell) => ({
        startTime,
        endTime,
        attributes: attributesOf(def, cell.labels),
        value: {
          buckets: { boundaries: [...cell.buckets], counts: [...cell.counts] },
          count: cell.count,
          sum: cell.sum,
        },
      })),
    };
  }
  const dataPoints = (cells as readonly ValueCell[]).map((cell) => ({
    startTime,
    endTime,
    attributes: attributesOf(def, cell.labels),
    value: cell.value,
  }));
  return def.kind === "counter"
    ? { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...common, dataPointType: DataPointType.GAUGE, dataPoints };
}
