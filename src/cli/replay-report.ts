import type { DriftCourse, Episode, NoVerdictSpan, ReplayResult } from "../app/replay.ts";
import type { Config } from "../config/schema.ts";
import { count, duration, moment, percent } from "./format.ts";
import { type Io, type Paint, painter } from "./io.ts";

const HOUR_MS = 3_600_000;
const SPARK_COLUMNS = 60;
const LEVELS = "▁▂▃▄▅▆▇█";
/** Rows of the table; the rest is counted. */
const MAX_ROWS = 50;

/** What `tokentail replay` prints for people. */
export function replayReport(result: ReplayResult, config: Config, io: Io): string {
  const paint = painter(io);
  const sections = [
    head(result, config, paint),
    episodeTable(result.episodes, paint),
    courses(result, config.alerts.drift.max_drift, paint),
    unjudged(result.noVerdicts, paint),
  ];
  return sections.filter((section) => section !== "").join("\n");
}

function head(result: ReplayResult, config: Config, paint: Paint): string {
  const { fromMs, toMs, episodes, rejected } = result;
  const of = (severity: string): Episode[] => episodes.filter((episode) => episode.severity === severity);
  const pages = of("critical");
  const warnings = of("warning");
  const times = (n: number): string => (n === 1 ? "once" : n === 2 ? "twice" : `${count(n)} times`);
  const when = pages.slice(0, 3).map(({ firedMs }) => moment(firedMs).slice(0, 16));
  const paged =
    pages.length === 0
      ? "Would not have paged"
      : `Would have paged ${times(pages.length)}: ${when.join(", ")}${pages.length > 3 ? ", …" : ""}`;
  const { drift, tokens } = config.alerts;
  let text = `${paint("bold", paged)}; ${count(warnings.length)} warning${warnings.length === 1 ? "" : "s"}\n`;
  text += paint(
    "dim",
    `${moment(fromMs)} – ${moment(toMs)} (${duration(toMs - fromMs)}) · ${count(result.requests)} requests · ${count(result.evaluations)} evaluations · drift over ${percent(drift.max_drift)} (${drift.rule}), budget over ${percent(tokens.warn_at)}\n`,
  );
  const refused = [...rejected].map(([reason, n]) => `${reason} × ${count(n)}`);
  return refused.length === 0 ? text : `${text}Refused   ${refused.join(" · ")}\n`;
}

function episodeTable(episodes: readonly Episode[], paint: Paint): string {
  if (episodes.length === 0) return "";
  const rows = episodes
    .slice(0, MAX_ROWS)
    .map((episode) => [
      moment(episode.firedMs).slice(0, 16),
      episode.resolvedMs === undefined ? "still firing" : duration(episode.resolvedMs - episode.firedMs),
      episode.severity,
      episode.alertname,
      named(episode.labels),
      figures(episode),
    ]);
  const table = columns([["fired (UTC)", "for", "severity", "alert", "of", "figures"], ...rows]);
  const [title = "", ...rest] = table;
  const more =
    episodes.length > MAX_ROWS ? [paint("dim", `… and ${episodes.length - MAX_ROWS} more (--json has all)`)] : [];
  return `${[paint("dim", title), ...rest, ...more].join("\n")}\n`;
}

function figures({ values }: Episode): string {
  const parts: string[] = [];
  if (values.p99_now_s !== null && values.p99_then_s !== null)
    parts.push(
      `P99 ${duration(values.p99_then_s * 1000)} → ${duration(values.p99_now_s * 1000)} (${signed(values.drift_ratio ?? Number.NaN)})`,
    );
  if (values.budget_used_ratio !== null) parts.push(`budget ${percent(values.budget_used_ratio)}`);
  if (values.risk_score !== null) parts.push(`risk ${values.risk_score.toFixed(2)}`);
  return parts.join(", ");
}

/** One line a signal: the greatest drift of each stretch; full height is twice the threshold. */
function courses({ courses: all, fromMs, toMs }: ReplayResult, maxDrift: number, paint: Paint): string {
  const judged = all.filter(({ hours }) => hours.size > 0);
  if (judged.length === 0) return "";
  const rows = judged
    .toSorted((a, b) => peak(b) - peak(a))
    .slice(0, 20)
    .map((course) => [
      named(course.labels),
      course.signal,
      spark(course, fromMs, toMs, maxDrift),
      `max ${signed(peak(course))}`,
    ]);
  return `${paint("dim", `Drift of the P99 (· = no verdict, full height = ${percent(2 * maxDrift)})`)}\n${columns(rows).join("\n")}\n`;
}

const peak = ({ hours }: DriftCourse): number => Math.max(...hours.values());

function spark({ hours }: DriftCourse, fromMs: number, toMs: number, maxDrift: number): string {
  const first = Math.floor(fromMs / HOUR_MS);
  const span = Math.floor(toMs / HOUR_MS) - first + 1;
  const width = Math.min(SPARK_COLUMNS, span);
  const cells = Array.from({ length: width }, () => Number.NaN);
  for (const [hour, ratio] of hours) {
    const at = Math.floor(((hour - first) / span) * width);
    if (!(ratio <= (cells[at] ?? Number.NaN))) cells[at] = ratio;
  }
  const top = 2 * Math.max(maxDrift, 1e-9);
  return cells
    .map((ratio) => (Number.isNaN(ratio) ? "·" : LEVELS[Math.min(7, Math.max(0, Math.floor((ratio / top) * 8)))]))
    .join("");
}

function unjudged(spans: readonly NoVerdictSpan[], paint: Paint): string {
  const sums = new Map<string, number>();
  for (const { labels, signal, reason, fromMs, toMs } of spans) {
    const key = `${named(labels)}\u0000${signal}\u0000${reason}`;
    sums.set(key, (sums.get(key) ?? 0) + toMs - fromMs + 60_000);
  }
  if (sums.size === 0) return "";
  const rows = [...sums]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 20)
    .map(([key, ms]) => [...key.split("\u0000"), duration(ms)]);
  return `${paint("dim", "Not judged")}\n${columns(rows).join("\n")}\n`;
}

const named = (labels: Readonly<Record<string, string>>): string =>
  Object.entries(labels)
    .filter(([name]) => name !== "signal")
    .map(([, value]) => value)
    .join("/") + (labels["signal"] === undefined ? "" : ` ${labels["signal"]}`);

const signed = (ratio: number): string => `${ratio < 0 ? "−" : "+"}${percent(Math.abs(ratio))}`;

function columns(rows: ReadonlyArray<readonly string[]>): string[] {
  const widths: number[] = [];
  for (const row of rows) for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length);
  return rows.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}
