import type { Options as BarGauge } from "@grafana/grafana-foundation-sdk/bargauge";
import type { Options as Heatmap } from "@grafana/grafana-foundation-sdk/heatmap";
import type { Options as Stat } from "@grafana/grafana-foundation-sdk/stat";
import type {
  Options as StateTimeline,
  FieldConfig as StateTimelineField,
} from "@grafana/grafana-foundation-sdk/statetimeline";
import type {
  Options as StatusHistory,
  FieldConfig as StatusHistoryField,
} from "@grafana/grafana-foundation-sdk/statushistory";
import type { Options as Table } from "@grafana/grafana-foundation-sdk/table";
import type { Options as TimeSeries, FieldConfig as TimeSeriesField } from "@grafana/grafana-foundation-sdk/timeseries";

/**
 * Grafana's own types of the panels we write, for `satisfies`: a wrong option is a compile error. Types only: nothing of
 * the SDK is there at run time. Its enums become the plain values that stand in the JSON.
 */
type Plain<T> = T extends string
  ? `${T}`
  : T extends number | boolean | null | undefined
    ? T
    : T extends ReadonlyArray<infer Item>
      ? ReadonlyArray<Plain<Item>>
      : T extends object
        ? { [Key in keyof T]: Plain<T[Key]> }
        : T;

export interface Sdk {
  readonly barGauge: Plain<BarGauge>;
  readonly heatmap: Plain<Heatmap>;
  readonly stat: Plain<Stat>;
  readonly stateTimeline: Plain<StateTimeline>;
  readonly stateTimelineField: Plain<StateTimelineField>;
  readonly statusHistory: Plain<StatusHistory>;
  readonly statusHistoryField: Plain<StatusHistoryField>;
  readonly table: Plain<Table>;
  readonly timeseries: Plain<TimeSeries>;
  readonly timeseriesField: Plain<TimeSeriesField>;
}
