import { causesByCount, type FileReport } from "../analysis/report.ts";
import type { Breakdown, Totals } from "../analysis/totals.ts";
import { LATENCY_NAMES, type LatencyName } from "../model/latency.ts";
import { byteSize, count, duration, moment, oneLine, percent, sparkline } from "./format.ts";
import { type Io, type Paint, painter } from "./io.ts";
import type { UnrecognisedShapes } from "./unrecognised.ts";

const HISTOGRAM_COLUMNS = 24;
const LATENCY_TITLES: Partial<Record<LatencyName, string>> = {
  e2e: "E2E",
  ttft: "TTFT",
  ttfb: "TTFB",
  tpot: "TPOT",
  itl: "ITL",
};

/** What `tokentail analyze` prints for people. */
export function textReport(files: readonly FileReport[], totals: Totals, shapes: UnrecognisedShapes, io: Io): string {
  const paint = painter(io);
  const sections = [
    filesSection(files, totals, paint),
    requestsSection(totals, paint),
    latencySection(totals, paint),
    slowSection(totals, paint),
    failuresSection(totals, paint, io.columns),
    unrecognisedSection(files, shapes, paint, io.columns),
  ];
  return sections.filter((section) => section !== "").join("\n");
}

function filesSection(files: readonly FileReport[], totals: Totals, paint: Paint): string {
  const rows = files.map(({ path, frame, lines, bytes, unrecognised, profiles }) => {
    const shares = Object.entries(profiles)
      .sort((a, b) => b[1] - a[1])
      .map(([name, taken]) => `${name} ${percent(taken / Math.max(1, lines))}`);
    if (unrecognised > 0) shares.push(`not recognised ${percent(unrecognised / Math.max(1, lines))}`);
    const framed = frame === "plain" ? "" : ` · ${frame}`;
    return `${paint("bold", path)} · ${count(lines)} line${lines === 1 ? "" : "s"} · ${byteSize(bytes)}${framed} · ${shares.join(", ") || "nothing recognised"}\n`;
  });
  const span =
    totals.firstMs <= totals.lastMs
      ? `${moment(totals.firstMs)}${totals.lastMs > totals.firstMs ? ` – ${moment(totals.lastMs)} (${duration(totals.lastMs - totals.firstMs)})` : ""}\n`
      : "";
  return rows.join("") + paint("dim", span);
}

function requestsSection(totals: Totals, paint: Paint): string {
  const { received, finished, failed, aborted } = totals.requests;
  const told = [
    [received, "received"],
    [finished, "finished"],
    [failed, "failed"],
    [aborted, "aborted by the client"],
  ] as const;
  const known = told.flatMap(([value, word]) => (value === undefined ? [] : [`${count(value)} ${word}`]));
  const unknown = told.flatMap(([value, word]) => (value === undefined ? [word] : []));
  let text = "";
  if (known.length > 0) {
    text += row(
      paint,
      "Requests",
      known.join(" · ") +
        (unknown.length > 0 ? paint("dim", `   (this log does not tell: ${unknown.join(", ")})`) : ""),
    );
  }
  if (totals.http.size > 0 || totals.httpOther > 0) {
    const statuses = [...totals.http]
      .sort((a, b) => a[0] - b[0])
      .map(([status, times]) => `${status} × ${count(times)}`);
    if (totals.httpOther > 0) statuses.push(`other paths × ${count(totals.httpOther)}`);
    text += row(paint, "HTTP", statuses.join(" · "));
  }
  const tokens = tokensLine(totals);
  if (tokens !== "") text += row(paint, "Tokens", tokens);
  for (const [direction, sum] of totals.estimated) {
    text += row(
      paint,
      "",
      paint("dim", `≈ ${count(sum.value)} ${direction.replace("_", " ")} (estimate: rate × interval)`),
    );
  }
  if (totals.cost !== undefined) text += row(paint, "Cost", `$${trimCost(totals.cost.value)}`);
  for (const [title, map] of [
    ["Models", totals.byModel],
    ["Tenants", totals.byTenant],
  ] as const) {
    if (map.size > 0) text += row(paint, title, breakdown(map));
  }
  const rejected = [...totals.rejected].map(([reason, times]) => `${reason} × ${count(times)}`);
  if (rejected.length > 0)
    text += row(paint, "Refused", `${rejected.join(" · ")}${paint("dim", "   (figures that cannot be)")}`);
  return text;
}

function tokensLine(totals: Totals): string {
  const sum = (key: Parameters<typeof totals.tokens.get>[0]): number | undefined => totals.tokens.get(key)?.sum.value;
  const parts: string[] = [];
  const input = sum("in");
  const cached = sum("in_cached");
  if (input !== undefined)
    parts.push(
      `${count(input)} in${cached === undefined || input === 0 ? "" : ` (${percent(cached / input)} cached)`}`,
    );
  const processed = sum("in_processed");
  if (processed !== undefined) parts.push(`${count(processed)} in after the cache`);
  const output = sum("out");
  const reasoning = sum("out_reasoning");
  if (output !== undefined)
    parts.push(
      `${count(output)} out${reasoning === undefined || output === 0 ? "" : ` (${percent(reasoning / output)} reasoning)`}`,
    );
  for (const key of ["embedding", "total"] as const) {
    const other = sum(key);
    if (other !== undefined) parts.push(`${count(other)} ${key}`);
  }
  return parts.join(" · ");
}

function latencySection(totals: Totals, paint: Paint): string {
  const rows = LATENCY_NAMES.flatMap((name, kind) => {
    const seen = totals.latencies[kind];
    if (seen === undefined) return [];
    const title = LATENCY_TITLES[name] ?? name.replaceAll("_", " ");
    const figures = [seen.quantile(0.5), seen.quantile(0.9), seen.quantile(0.99), seen.max].map((ms) =>
      duration(ms).padStart(9),
    );
    const bars = sparkline(seen.bins(), seen.min, seen.max, HISTOGRAM_COLUMNS);
    return [
      `  ${title.padEnd(16)}${count(seen.count).padStart(9)}${figures.join("")}  ${paint("cyan", bars)} ${paint("dim", `${duration(seen.min)} – ${duration(seen.max)}`)}\n`,
    ];
  });
  if (rows.length === 0) return "";
  const head = `  ${"".padEnd(16)}${"count".padStart(9)}${["p50", "p90", "p99", "max"].map((name) => name.padStart(9)).join("")}  distribution\n`;
  return paint("bold", "Latency\n") + paint("dim", head) + rows.join("");
}

function slowSection(totals: Totals, paint: Paint): string {
  if (totals.slowest.length === 0) return "";
  const rows = totals.slowest.map(({ e2eMs, ttftMs, timeMs, id, model, route, tokensIn, tokensOut }) => {
    const parts = [
      duration(e2eMs).padStart(9),
      ttftMs === undefined ? "" : `TTFT ${duration(ttftMs)}`,
      tokensIn === undefined && tokensOut === undefined
        ? ""
        : `${tokensIn === undefined ? "?" : count(tokensIn)} → ${tokensOut === undefined ? "?" : count(tokensOut)} tokens`,
      model ?? "",
      route ?? "",
      id ?? "",
      Number.isFinite(timeMs) ? moment(timeMs) : "",
    ];
    return `  ${parts.filter((part) => part !== "").join("  ")}\n`;
  });
  return paint("bold", "Slowest requests\n") + rows.join("");
}

function failuresSection(totals: Totals, paint: Paint, columns: number): string {
  const causes = causesByCount(totals);
  if (causes.length === 0) return "";
  const rows = causes.map(({ cause, count: times, example, firstMs, lastMs }) => {
    const when = Number.isFinite(firstMs)
      ? paint("dim", `  ${moment(firstMs)}${lastMs > firstMs ? ` – ${moment(lastMs)}` : ""}`)
      : "";
    return `  ${paint("red", cause)} × ${count(times)}${when}\n      ${oneLine(example, columns - 8)}\n`;
  });
  return paint("bold", "Failures\n") + rows.join("");
}

function unrecognisedSection(
  files: readonly FileReport[],
  shapes: UnrecognisedShapes,
  paint: Paint,
  columns: number,
): string {
  const lines = files.reduce((sum, file) => sum + file.unrecognised, 0);
  if (lines === 0) return "";
  const all = files.reduce((sum, file) => sum + file.lines, 0);
  const rows = shapes
    .top(3)
    .map(({ example, count: times }) => `  ${`× ${count(times)}`.padEnd(8)}${oneLine(example, columns - 12)}\n`);
  return (
    paint(
      "bold",
      `Not recognised: ${count(lines)} line${lines === 1 ? "" : "s"} (${percent(lines / Math.max(1, all))})\n`,
    ) + rows.join("")
  );
}

function breakdown({ sorted }: Breakdown): string {
  const shown = sorted.slice(0, 6).map(([name, times]) => `${oneLine(name, 40)} × ${count(times)}`);
  if (sorted.length > shown.length) shown.push(`and ${count(sorted.length - shown.length)} more`);
  return shown.join(" · ");
}

const row = (paint: Paint, title: string, text: string): string => `${paint("bold", title.padEnd(10))}${text}\n`;

const trimCost = (usd: number): string => (usd >= 100 ? usd.toFixed(2) : usd.toPrecision(6).replace(/\.?0+$/, ""));
