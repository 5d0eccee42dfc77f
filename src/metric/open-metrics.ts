import type { MetricDef } from "./catalogue.ts";
import { cleanLabelValue, type Exemplar, type HistogramCell, type Labels, type MetricSet } from "./metric-set.ts";

/** Lines of one piece, a few milliseconds of rendering: what stands between two turns of the event loop. */
const PIECE_LINES = 2000;

/** UCUM units as OpenMetrics spells them at the end of a name. */
const UNIT_SUFFIX: Readonly<Record<string, string>> = { s: "seconds", By: "bytes", "1": "ratio" };

/** `open-metrics`: OpenMetrics 1.0 with exemplars; `text`: the Prometheus text format 0.0.4, which has none. */
type Format = "open-metrics" | "text";

/**
 * The exposition in OpenMetrics 1.0 text, with exemplars, in pieces: the caller writes one and lets others have their turn. A
 * family that cannot be rendered is left out and told to `onFault` (whole, unless it is larger than a piece); the others are
 * still served.
 *
 * @see OpenMetrics 1.0.0, https://prometheus.io/docs/specs/om/open_metrics_spec/
 */
export function* renderOpenMetrics(
  set: MetricSet,
  onFault: (metric: string, error: unknown) => void,
): Generator<string> {
  yield* render(set, "open-metrics", onFault);
  yield "# EOF\n";
}

/**
 * The same in the Prometheus text format 0.0.4.
 *
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/
 */
export function renderText(set: MetricSet, onFault: (metric: string, error: unknown) => void): Generator<string> {
  return render(set, "text", onFault);
}

function* render(set: MetricSet, format: Format, onFault: (metric: string, error: unknown) => void): Generator<string> {
  let piece = "";
  let lines = 0;
  for (const { def, cells } of set.families()) {
    // a family is rendered in one go unless it is large, so that a fault leaves nothing of it behind
    const before = piece;
    try {
      piece += head(def, format);
      for (const cell of cells) {
        piece +=
          "counts" in cell
            ? renderHistogram(def.name, cell, format)
            : `${def.name}${labelText(cell.labels)} ${figure(cell.value)}\n`;
        lines += "counts" in cell ? cell.buckets.length + 3 : 1;
        if (lines < PIECE_LINES) continue;
        yield piece;
        piece = "";
        lines = 0;
      }
    } catch (error) {
      piece = piece.startsWith(before) ? before : "";
      onFault(def.name, error);
    }
  }
  if (piece !== "") yield piece;
}

function head(def: MetricDef, format: Format): string {
  if (format === "text") return `# HELP ${def.name} ${escape(def.help)}\n# TYPE ${def.name} ${def.kind}\n`;
  const family = def.kind === "counter" ? def.name.replace(/_total$/, "") : def.name;
  const suffix = UNIT_SUFFIX[def.unit];
  const unit = suffix !== undefined && family.endsWith(`_${suffix}`) ? `# UNIT ${family} ${suffix}\n` : "";
  return `# TYPE ${family} ${def.kind}\n${unit}# HELP ${family} ${escape(def.help)}\n`;
}

function renderHistogram(name: string, cell: HistogramCell, format: Format): string {
  const exemplars = format === "text" ? undefined : cell.exemplars;
  const inner = labelPairs(cell.labels);
  const head = `${name}_bucket{${inner}${inner === "" ? "" : ","}le="`;
  let text = "";
  let cumulative = 0;
  for (let index = 0; index <= cell.buckets.length; index++) {
    cumulative += cell.counts[index] as number;
    const bound = index === cell.buckets.length ? "+Inf" : figure(cell.buckets[index] as number);
    text += `${head}${bound}"} ${cumulative}${exemplarText(exemplars?.[index])}\n`;
  }
  const labels = labelText(cell.labels);
  return `${text}${name}_count${labels} ${cell.count}\n${name}_sum${labels} ${figure(cell.sum)}\n`;
}

/** OpenMetrics wants at most 128 characters of label names and values in an exemplar. */
const EXEMPLAR_CHARS = 128;

function exemplarText(exemplar: Exemplar | undefined): string {
  if (exemplar === undefined) return "";
  const { traceId, requestId, value, timeMs } = exemplar;
  let pairs = "";
  let left = EXEMPLAR_CHARS;
  for (const [name, id] of [
    ["trace_id", traceId],
    ["request_id", requestId],
  ] as const) {
    if (id === undefined || name.length + id.length > left) continue;
    left -= name.length + id.length;
    pairs += `${pairs === "" ? "" : ","}${name}="${escape(cleanLabelValue(id)).replaceAll('"', '\\"')}"`;
  }
  if (pairs === "") return "";
  return ` # {${pairs}} ${figure(value)}${Number.isFinite(timeMs) ? ` ${(timeMs / 1000).toFixed(3)}` : ""}`;
}

function labelText(labels: Labels): string {
  const pairs = labelPairs(labels);
  return pairs === "" ? "" : `{${pairs}}`;
}

const rendered = new WeakMap<Labels, string>();

/** The label set as text; made once a series. */
function labelPairs(labels: Labels): string {
  let text = rendered.get(labels);
  if (text === undefined) {
    text = Object.entries(labels)
      .map(([name, value]) => `${name}="${escape(value).replaceAll('"', '\\"')}"`)
      .join(",");
    rendered.set(labels, text);
  }
  return text;
}

const escape = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");

/** A float as OpenMetrics writes it: integers with `.0` where a float is meant are equal to those without. */
function figure(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  if (value === Number.NEGATIVE_INFINITY) return "-Inf";
  return String(value);
}

/** True when an `Accept` header prefers OpenMetrics 1.0 to the plain text format. */
export function wantsOpenMetrics(accept: string | undefined): boolean {
  let open = 0;
  let plain = 0;
  for (const part of (accept ?? "").toLowerCase().split(",")) {
    const [type = "", ...parameters] = part.split(";").map((word) => word.trim());
    const quality = Number(parameters.find((parameter) => parameter.startsWith("q="))?.slice(2) ?? "1");
    const version = parameters.find((parameter) => parameter.startsWith("version="))?.slice(8);
    if (
      type === "application/openmetrics-text" &&
      (version === undefined || version === "1.0.0" || version === "0.0.1")
    )
      open = Math.max(open, quality);
    else if (type === "text/plain") plain = Math.max(plain, quality);
  }
  return open > 0 && open >= plain;
}
