import type { HistogramDef, MetricDef } from "../metric/catalogue.ts";

/** A query of a panel, before it gets its letter and data source. */
export interface Query {
  readonly expr: string;
  readonly legend: string;
  readonly format?: "table" | "heatmap";
  /** One value at the end of the range instead of a curve. */
  readonly instant?: boolean;
  readonly exemplar?: boolean;
}

export const query = (expr: string, legend: string, more: Omit<Query, "expr" | "legend"> = {}): Query => ({
  expr,
  legend,
  ...more,
});

/**
 * The metric with the matchers of the dashboard's variables. The service and model matchers are `.*` for "all", so that
 * series without these labels are shown too.
 *
 * @param suffix `_bucket`, `_count` or `_sum` of a histogram.
 */
export function pick(def: MetricDef, matchers = "", suffix = ""): string {
  const service = def.name.startsWith("tokentail_") && !def.labels.includes("service_name");
  const all = [
    'job=~"$job"',
    'instance=~"$instance"',
    ...(service ? [] : ['service_name=~"$service"']),
    ...(def.labels.includes("model") ? ['model=~"$model"'] : []),
    ...(matchers === "" ? [] : [matchers]),
  ];
  return `${def.name}${suffix}{${all.join(",")}}`;
}

/** Sum of a counter's rate. */
export const rate = (def: MetricDef, by: string, matchers = ""): string =>
  `sum${by === "" ? "" : ` by (${by})`} (rate(${pick(def, matchers)}[$__rate_interval]))`;

/** Increase over the whole range that is shown. */
export const overRange = (def: MetricDef, by: string, matchers = ""): string =>
  `sum${by === "" ? "" : ` by (${by})`} (increase(${pick(def, matchers)}[$__range]))`;

export function quantile(
  def: HistogramDef,
  q: number,
  options: { by?: string; window?: string; offset?: string } = {},
) {
  const { by, window = "$__rate_interval", offset } = options;
  const labels = by === undefined ? "le" : `${by}, le`;
  const shifted = offset === undefined ? "" : ` offset ${offset}`;
  return `histogram_quantile(${q}, sum by (${labels}) (rate(${pick(def, "", "_bucket")}[${window}]${shifted})))`;
}

/** P50, P95 and P99 of a histogram, with exemplars. */
export const quantiles = (def: HistogramDef): Query[] =>
  [0.5, 0.95, 0.99].map((q) => query(quantile(def, q), `p${q * 100}`, { exemplar: q === 0.99 }));

/** Mean of a histogram over the rate window: never over the life of the process. */
export const mean = (def: HistogramDef): string =>
  `sum (rate(${pick(def, "", "_sum")}[$__rate_interval])) / (sum (rate(${pick(def, "", "_count")}[$__rate_interval])) > 0)`;

export const heat = (def: HistogramDef): Query =>
  query(`sum by (le) (increase(${pick(def, "", "_bucket")}[$__rate_interval]))`, "{{le}}", { format: "heatmap" });

/** Gives series of an unknown model, tenant … a name that can be read in a legend. */
export const named = (label: string, expr: string): string =>
  `label_replace(${expr}, "${label}", "(not told)", "${label}", "")`;

/** A quotient that is absent, not NaN, where nothing was counted. */
export const share = (part: string, whole: string): string => `${part} / (${whole} > 0)`;
