import { DATASOURCE, type Panel, type Target } from "./model.ts";
import type { Query } from "./query.ts";
import type { Sdk } from "./sdk.ts";

/** A panel before it has an id and a place. */
export interface PanelSpec {
  readonly type: string;
  readonly title: string;
  readonly description: string;
  /** Why it may show nothing; Grafana writes it into the empty panel. */
  readonly empty: string;
  readonly queries: readonly Query[];
  readonly w: number;
  readonly h: number;
  readonly defaults: Readonly<Record<string, unknown>>;
  readonly overrides: readonly unknown[];
  readonly options: Readonly<Record<string, unknown>>;
  readonly transformations?: readonly unknown[];
}

interface Texts {
  readonly title: string;
  readonly description: string;
  readonly empty: string;
  readonly queries: readonly Query[];
  readonly unit: string;
  readonly w?: number;
  readonly h?: number;
}

export interface Step {
  readonly from: number | null;
  readonly color: string;
}

/** Quantiles keep their colours on every dashboard; what belongs to the past is dashed. */
const FIXED: Readonly<Record<string, string>> = { p50: "green", p95: "yellow", p99: "red" };

const fixedColours = Object.entries(FIXED).map(([name, color]) => ({
  matcher: { id: "byName", options: name },
  properties: [{ id: "color", value: { mode: "fixed", fixedColor: color } }],
}));

const PAST = {
  matcher: { id: "byRegexp", options: "/ago/" },
  properties: [
    { id: "custom.lineStyle", value: { fill: "dash", dash: [8, 6] } },
    { id: "custom.fillOpacity", value: 0 },
  ],
};

/** Series whose name begins with `requests` go on the right axis: sample counts beside a quantile. */
const SAMPLES = {
  matcher: { id: "byRegexp", options: "/^requests/" },
  properties: [
    { id: "unit", value: "short" },
    { id: "custom.axisPlacement", value: "right" },
    { id: "custom.axisLabel", value: "requests" },
    { id: "custom.fillOpacity", value: 8 },
    { id: "custom.lineWidth", value: 0 },
    { id: "color", value: { mode: "fixed", fixedColor: "#8e8e8e" } },
  ],
};

const thresholds = (steps: readonly Step[]): unknown => ({
  mode: "absolute",
  steps: steps.map(({ from, color }) => ({ value: from, color })),
});

const NO_JUDGEMENT: readonly Step[] = [{ from: null, color: "green" }];

function base(texts: Texts, type: string, w: number, h: number) {
  const { title, description, empty, queries } = texts;
  return {
    type,
    title,
    description: `${description}\n\nEmpty: ${empty}.`,
    empty,
    queries,
    w: texts.w ?? w,
    h: texts.h ?? h,
  };
}

export function timeseries(
  texts: Texts & {
    readonly stack?: boolean;
    readonly max?: number;
    readonly log?: boolean;
    /** Values may lie below 0. */
    readonly signed?: boolean;
    readonly steps?: readonly Step[];
  },
): PanelSpec {
  const { unit, stack = false, max, log = false, signed = false, steps } = texts;
  return {
    ...base(texts, "timeseries", 12, 8),
    defaults: {
      unit,
      ...(signed ? {} : { min: 0 }),
      ...(max === undefined ? {} : { max }),
      noValue: texts.empty,
      color: { mode: "palette-classic" },
      thresholds: thresholds(steps ?? NO_JUDGEMENT),
      custom: {
        drawStyle: "line",
        lineWidth: 1,
        fillOpacity: stack ? 40 : 6,
        showPoints: "never",
        spanNulls: 180_000,
        stacking: { mode: stack ? "normal" : "none", group: "A" },
        scaleDistribution: log ? { type: "log", log: 10 } : { type: "linear" },
        thresholdsStyle: { mode: steps === undefined ? "off" : "dashed" },
      } satisfies Sdk["timeseriesField"],
    },
    overrides: [...fixedColours, PAST, SAMPLES],
    options: {
      legend: {
        displayMode: "table",
        placement: "bottom",
        calcs: ["lastNotNull", "max"],
        showLegend: true,
        sortBy: "Max",
        sortDesc: true,
      },
      tooltip: { mode: "multi", sort: "desc" },
    } satisfies Sdk["timeseries"],
  };
}

export function stat(texts: Texts & { readonly steps?: readonly Step[]; readonly decimals?: number }): PanelSpec {
  const { unit, steps, decimals } = texts;
  return {
    ...base(texts, "stat", 4, 4),
    defaults: {
      unit,
      noValue: texts.empty,
      ...(decimals === undefined ? {} : { decimals }),
      color: {
        mode: steps === undefined ? "fixed" : "thresholds",
        ...(steps === undefined ? { fixedColor: "blue" } : {}),
      },
      thresholds: thresholds(steps ?? NO_JUDGEMENT),
      mappings: [{ type: "special", options: { match: "null+nan", result: { text: "No traffic", color: "text" } } }],
    },
    overrides: [],
    options: {
      colorMode: "value",
      wideLayout: true,
      showPercentChange: false,
      percentChangeColorMode: "standard",
      graphMode: "area",
      justifyMode: "auto",
      textMode: "auto",
      orientation: "auto",
      reduceOptions: { calcs: ["lastNotNull"], fields: "", values: false },
    } satisfies Sdk["stat"],
  };
}

/** @param texts.unit Unit of the vertical axis: of the value that the buckets bound. */
export function heatmap(texts: Texts): PanelSpec {
  return {
    ...base(texts, "heatmap", 12, 8),
    defaults: { unit: "short", noValue: texts.empty, custom: {} },
    overrides: [],
    options: {
      calculate: false,
      showValue: "never",
      cellGap: 1,
      cellValues: { unit: "short" },
      color: {
        mode: "scheme",
        scheme: "Oranges",
        steps: 64,
        exponent: 0.5,
        fill: "dark-orange",
        scale: "exponential",
        reverse: false,
      },
      exemplars: { color: "rgba(255,0,255,0.7)" },
      filterValues: { le: 1e-9 },
      legend: { show: true },
      rowsFrame: { layout: "auto" },
      tooltip: { mode: "single", yHistogram: true, showColorScale: false },
      yAxis: { axisPlacement: "left", reverse: false, unit: texts.unit },
    } satisfies Sdk["heatmap"],
  };
}

export function barGauge(texts: Texts & { readonly steps?: readonly Step[]; readonly max?: number }): PanelSpec {
  const { unit, steps, max } = texts;
  return {
    ...base(texts, "bargauge", 12, 8),
    defaults: {
      unit,
      min: 0,
      ...(max === undefined ? {} : { max }),
      noValue: texts.empty,
      color: { mode: steps === undefined ? "palette-classic" : "thresholds" },
      thresholds: thresholds(steps ?? NO_JUDGEMENT),
    },
    overrides: [],
    options: {
      displayMode: "gradient",
      namePlacement: "auto",
      sizing: "auto",
      maxVizHeight: 300,
      legend: { displayMode: "list", placement: "bottom", showLegend: false, calcs: [] },
      orientation: "horizontal",
      valueMode: "color",
      showUnfilled: true,
      minVizWidth: 8,
      minVizHeight: 16,
      reduceOptions: { calcs: ["lastNotNull"], fields: "", values: false },
    } satisfies Sdk["barGauge"],
  };
}

/** A row of colour per series over time, for states. */
export function stateTimeline(
  texts: Texts & { readonly states: ReadonlyArray<readonly [value: number, text: string, color: string]> },
): PanelSpec {
  return {
    ...base(texts, "state-timeline", 24, 6),
    defaults: {
      unit: texts.unit,
      noValue: texts.empty,
      color: { mode: "thresholds" },
      thresholds: thresholds(NO_JUDGEMENT),
      custom: { fillOpacity: 80, lineWidth: 0 } satisfies Sdk["stateTimelineField"],
      mappings: [
        {
          type: "value",
          options: Object.fromEntries(
            texts.states.map(([value, text, color], index) => [String(value), { text, color, index }]),
          ),
        },
      ],
    },
    overrides: [],
    options: {
      mergeValues: true,
      showValue: "never",
      alignValue: "left",
      rowHeight: 0.9,
      legend: { displayMode: "list", placement: "bottom", showLegend: true, calcs: [] },
      tooltip: { mode: "single", sort: "none" },
    } satisfies Sdk["stateTimeline"],
  };
}

/** Series by time, each cell coloured by its value: a heat map whose rows are names. */
export function heatRows(texts: Texts): PanelSpec {
  return {
    ...base(texts, "status-history", 24, 8),
    defaults: {
      unit: texts.unit,
      noValue: texts.empty,
      color: { mode: "continuous-YlRd" },
      thresholds: thresholds(NO_JUDGEMENT),
      custom: { fillOpacity: 85, lineWidth: 1 } satisfies Sdk["statusHistoryField"],
    },
    overrides: [],
    options: {
      showValue: "never",
      rowHeight: 0.9,
      colWidth: 0.9,
      legend: { displayMode: "list", placement: "bottom", showLegend: false, calcs: [] },
      tooltip: { mode: "single", sort: "none" },
    } satisfies Sdk["statusHistory"],
  };
}

/**
 * A table of instant values: one row per label set, one column per query.
 *
 * @param texts.columns Name and unit of each query's column, in their order.
 */
export function table(
  texts: Omit<Texts, "unit"> & { readonly columns: ReadonlyArray<readonly [name: string, unit: string]> },
): PanelSpec {
  const { columns } = texts;
  const letters = columns.map((_, index) => letter(index));
  return {
    ...base({ ...texts, unit: "short" }, "table", 12, 8),
    queries: texts.queries.map((one) => ({ ...one, format: "table" as const, instant: true })),
    defaults: { unit: "short", noValue: texts.empty, custom: { align: "auto", filterable: true } },
    overrides: columns.map(([name, unit]) => ({
      matcher: { id: "byName", options: name },
      properties: [{ id: "unit", value: unit }],
    })),
    options: {
      frameIndex: 0,
      showHeader: true,
      cellHeight: "sm",
      sortBy: [{ displayName: columns[0]?.[0] ?? "", desc: true }],
      footer: { show: false, reducer: ["sum"], fields: [] },
    } satisfies Sdk["table"],
    transformations: [
      { id: "merge", options: {} },
      {
        id: "organize",
        options: {
          excludeByName: { Time: true },
          indexByName: {},
          renameByName: Object.fromEntries(
            columns.map(([name], index) => [columns.length === 1 ? "Value" : `Value #${letters[index]}`, name]),
          ),
        },
      },
    ],
  };
}

const letter = (index: number): string => String.fromCodePoint(65 + index);

/** Gives the panel its id, place and targets. */
export function place(spec: PanelSpec, id: number, x: number, y: number): Panel {
  const { type, title, description, w, h, defaults, overrides, options, transformations } = spec;
  return {
    id,
    type,
    title,
    description,
    datasource: DATASOURCE,
    gridPos: { x, y, w, h },
    targets: spec.queries.map(
      ({ expr, legend, format, instant = false, exemplar = false }, index): Target => ({
        refId: letter(index),
        expr,
        datasource: DATASOURCE,
        editorMode: "code",
        legendFormat: legend,
        range: !instant,
        instant,
        format: format ?? "time_series",
        exemplar,
      }),
    ),
    fieldConfig: { defaults, overrides },
    options,
    ...(transformations === undefined ? {} : { transformations }),
  };
}
