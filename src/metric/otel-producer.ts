import { type HrTime, ValueType } from "@opentelemetry/api";
import { resourceFromAttributes } from "@opentelemetry/resources";
import {
  AggregationTemporality,
  type CollectionResult,
  DataPointType,
  InstrumentType,
  type MetricData,
  type MetricProducer,
} from "@opentelemetry/sdk-metrics";
import type { MetricDef } from "./catalogue.ts";
import type { HistogramCell, MetricSet, ValueCell } from "./metric-set.ts";

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
  }) {
    this.#set = options.set;
    this.#nowMs = options.nowMs;
    this.#startMs = options.nowMs();
    this.#beforeCollect = options.beforeCollect;
    this.#resource = resourceFromAttributes(options.resource);
  }

  async collect(): Promise<CollectionResult> {
    const nowMs = this.#nowMs();
    this.#beforeCollect(nowMs);
    const startTime = hrTime(this.#startMs);
    const endTime = hrTime(nowMs);
    const metrics: MetricData[] = [];
    for (const { def, cells } of this.#set.families()) {
      const data = toMetricData(def, [...cells], startTime, endTime);
      if (data.dataPoints.length > 0) metrics.push(data);
    }
    return {
      resourceMetrics: { resource: this.#resource, scopeMetrics: [{ scope: { name: "tokentail" }, metrics }] },
      errors: [],
    };
  }
}

function hrTime(ms: number): HrTime {
  return [Math.floor(ms / 1000), (ms % 1000) * 1e6];
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
      name: def.name,
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
        attributes: cell.labels,
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
    attributes: cell.labels,
    value: cell.value,
  }));
  return def.kind === "counter"
    ? { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
    : { ...common, dataPointType: DataPointType.GAUGE, dataPoints };
}
