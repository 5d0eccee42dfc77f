/**
 * Draws every dashboard from real query results into docs/img: the daemon follows simulated traffic, a real Prometheus scrapes
 * it, each panel's own queries are asked, and Chromium takes the picture. Grafana draws them more finely; what is to be seen
 * here is whether queries, legends, units and empty states read well. Run with: npm run screens
 */
import { spawnSync } from "node:child_process";
import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { App } from "../../src/app.ts";
import { parseConfig } from "../../src/config/load.ts";
import { systemClock } from "../../src/core/system-clock.ts";
import { UTC } from "../../src/core/timestamp.ts";
import { dashboards } from "../../src/dashboard/dashboards.ts";
import type { Dashboard, Panel } from "../../src/dashboard/model.ts";
import { LogStream } from "../../src/simulate/log-stream.ts";
import { TempFolder } from "./cli.ts";
import { eventually, freePort, RunningProgram } from "./processes.ts";
import { interpolated } from "./promql.ts";

const ROOT = path.join(import.meta.dirname, "../..");
const BROWSER = process.env["CHROMIUM"] ?? "chromium";
/** Pieces of the traffic that are written one a second, so that there are curves. */
const PIECES = 45;
const COLOURS = [
  "#73bf69",
  "#f2cc0c",
  "#e02f44",
  "#5794f2",
  "#b877d9",
  "#ff9830",
  "#8ab8ff",
  "#96d98d",
  "#fade2a",
  "#ffa6b0",
];
const CELL = { width: 60, height: 34 };

interface Series {
  readonly legend: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly values: ReadonlyArray<readonly [timeS: number, value: number]>;
}

const escape = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
const short = (value: number): string =>
  Math.abs(value) >= 1000
    ? Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 }).format(value)
    : String(Number(value.toPrecision(3)));

function told(value: number, unit: unknown): string {
  if (Number.isNaN(value)) return "No traffic";
  if (unit === "percentunit") return `${short(value * 100)} %`;
  if (unit === "s") return value < 1 ? `${short(value * 1000)} ms` : `${short(value)} s`;
  const suffix: Readonly<Record<string, string>> = {
    reqps: " req/s",
    cps: "/s",
    bytes: " B",
    Bps: " B/s",
    currencyUSD: " $",
  };
  return `${short(value)}${suffix[String(unit)] ?? ""}`;
}

function curves(series: readonly Series[], width: number, height: number, unit: unknown): string {
  const all = series.flatMap(({ values }) => values);
  const times = all.map(([timeS]) => timeS);
  const [first, last] = [Math.min(...times), Math.max(...times)];
  // counts beside a quantile have an axis of their own
  const counts = (legend: string): boolean => legend.startsWith("requests ") && unit === "s";
  const topOf = (some: readonly Series[]): number =>
    Math.max(1e-9, ...some.flatMap(({ values }) => values.map(([, value]) => value)).filter(Number.isFinite)) * 1.1;
  const top = topOf(series.filter(({ legend }) => !counts(legend)));
  const countTop = topOf(series.filter(({ legend }) => counts(legend)));
  const x = (timeS: number): number => 50 + ((timeS - first) / Math.max(1, last - first)) * (width - 60);
  const y = (value: number, highest = top): number => height - 5 - (value / highest) * (height - 15);
  const lines = series.map(({ legend: name, values }, index) => {
    const points = values
      .filter(([, value]) => Number.isFinite(value))
      .map(([timeS, value]) => `${x(timeS).toFixed(1)},${y(value, counts(name) ? countTop : top).toFixed(1)}`);
    return `<polyline fill="none" stroke="${COLOURS[index % COLOURS.length]}" stroke-width="1.5" points="${points.join(" ")}"/>`;
  });
  const axis = [0, 0.5, 1].map(
    (part) =>
      `<text x="46" y="${y((top * part) / 1.1) + 3}" text-anchor="end">${told((top * part) / 1.1, unit)}</text>`,
  );
  const legend = series
    .slice(0, 8)
    .map(
      ({ legend: name, values }, index) =>
        `<span style="color:${COLOURS[index % COLOURS.length]}">▬</span> ${escape(name)} <b>${told(values.at(-1)?.[1] ?? Number.NaN, counts(name) ? "short" : unit)}</b>`,
    );
  return `<svg width="${width}" height="${height}">${lines.join("")}${axis.join("")}</svg><div class="legend">${legend.join(" &nbsp; ")}${series.length > 8 ? ` … ${series.length} series` : ""}</div>`;
}

/** Rows of cells, coloured by value; buckets are made differences first. */
function cells(series: readonly Series[], width: number, height: number, buckets: boolean): string {
  const rows = buckets ? differences(series) : series;
  const times = [...new Set(rows.flatMap(({ values }) => values.map(([timeS]) => timeS)))].sort((a, b) => a - b);
  const top = Math.max(1e-9, ...rows.flatMap(({ values }) => values.map(([, value]) => value)).filter(Number.isFinite));
  const cellWidth = (width - 130) / Math.max(1, times.length);
  const rowHeight = Math.min(24, (height - 4) / Math.max(1, rows.length));
  const drawn = rows.map(({ legend, values }, row) => {
    const y = buckets ? height - (row + 1) * rowHeight : row * rowHeight;
    const boxes = values
      .filter(([, value]) => value > 0)
      .map(
        ([timeS, value]) =>
          `<rect x="${(130 + times.indexOf(timeS) * cellWidth).toFixed(1)}" y="${y.toFixed(1)}" width="${cellWidth.toFixed(1)}" height="${(rowHeight * 0.9).toFixed(1)}" fill="#ff9830" opacity="${(0.15 + 0.85 * Math.sqrt(value / top)).toFixed(2)}"/>`,
      );
    const label =
      rowHeight >= 8 || row % 4 === 0
        ? `<text x="125" y="${y + rowHeight * 0.8}" text-anchor="end">${escape(legend.slice(0, 24))}</text>`
        : "";
    return boxes.join("") + label;
  });
  return `<svg width="${width}" height="${height}">${drawn.join("")}</svg>`;
}

function differences(series: readonly Series[]): Series[] {
  const sorted = series.toSorted(
    (a, b) => Number(a.legend.replace("+Inf", "Infinity")) - Number(b.legend.replace("+Inf", "Infinity")),
  );
  let below = new Map<number, number>();
  const rows = sorted.map((one) => {
    const values = one.values.map(([timeS, value]) => [timeS, value - (below.get(timeS) ?? 0)] as const);
    below = new Map(one.values);
    return { ...one, values };
  });
  const used = rows.map(({ values }) => values.some(([, value]) => value > 0.01));
  return rows.slice(Math.max(0, used.indexOf(true) - 1), used.lastIndexOf(true) + 2);
}

function body(panel: Panel, results: readonly Series[][], width: number, height: number): string {
  const unit = panel.fieldConfig?.defaults["unit"];
  const series = results.flat().filter(({ values }) => values.some(([, value]) => Number.isFinite(value)));
  if (series.length === 0) return `<div class="empty">${escape(String(panel.fieldConfig?.defaults["noValue"]))}</div>`;
  switch (panel.type) {
    case "stat":
      return `<div class="stat">${series.map(({ values, legend }) => `${series.length > 1 ? `<small>${escape(legend)}</small> ` : ""}${told(values.at(-1)?.[1] ?? Number.NaN, unit)}`).join("<br>")}</div>`;
    case "heatmap":
      return cells(series, width, height, true);
    case "status-history":
    case "state-timeline":
      return cells(
        panel.type === "state-timeline"
          ? series.map((one) => ({ ...one, values: one.values.map(([timeS, value]) => [timeS, value + 0.2] as const) }))
          : series,
        width,
        height,
        false,
      );
    case "bargauge": {
      const top = Math.max(...series.map(({ values }) => values.at(-1)?.[1] ?? 0));
      return series
        .slice(0, 9)
        .map(
          ({ legend, values }) =>
            `<div class="bar"><i style="width:${(((values.at(-1)?.[1] ?? 0) / top) * 60).toFixed(0)}%"></i> ${escape(legend)} <b>${told(values.at(-1)?.[1] ?? Number.NaN, unit)}</b></div>`,
        )
        .join("");
    }
    case "table": {
      const rows = new Map<string, string[]>();
      for (const [column, found] of results.entries())
        for (const { labels, values } of found) {
          const key = Object.entries(labels)
            .filter(([name]) => name !== "__name__")
            .map(([name, value]) => `${name}=${value}`)
            .join(" ");
          const row = rows.get(key) ?? [];
          row[column] = short(values.at(-1)?.[1] ?? Number.NaN);
          rows.set(key, row);
        }
      return `<table>${[...rows]
        .slice(0, 9)
        .map(
          ([key, row]) =>
            `<tr><td>${escape(key)}</td>${Array.from(row, (value) => `<td>${value ?? ""}</td>`).join("")}</tr>`,
        )
        .join("")}</table>`;
    }
    default:
      return curves(series, width, height - 34, unit);
  }
}

async function page(
  dashboard: Dashboard,
  ask: (
    expr: string,
    instant: boolean,
  ) => Promise<Array<{ metric: Record<string, string>; values: Array<[number, string]> }>>,
): Promise<{ html: string; heightPx: number }> {
  let y = 0;
  const boxes: string[] = [];
  for (const panel of dashboard.panels.flatMap((one) => [one, ...(one.panels ?? [])])) {
    const { x, w, h } = panel.gridPos;
    y = Math.max(y, panel.gridPos.y + h);
    const [width, height] = [w * CELL.width - 8, h * CELL.height - 8];
    const at = `left:${x * CELL.width}px;top:${panel.gridPos.y * CELL.height}px;width:${width}px;height:${height}px`;
    if (panel.type === "row") {
      boxes.push(`<h2 style="${at}">${escape(panel.title)}</h2>`);
      continue;
    }
    const results: Series[][] = [];
    for (const { expr, legendFormat, instant } of panel.targets ?? [])
      results.push(
        (await ask(interpolated(expr, "1m", "10s"), instant)).map(({ metric, values }) => ({
          labels: metric,
          legend: legendFormat.replace(/\{\{(\w+)\}\}/g, (_, name: string) => metric[name] ?? "").replace(/ +/g, " "),
          values: values.map(([timeS, value]) => [timeS, Number(value)] as const),
        })),
      );
    boxes.push(
      `<section style="${at}"><h3>${escape(panel.title)}</h3>${body(panel, results, width - 16, height - 32)}</section>`,
    );
  }
  const style =
    "body{background:#111217;color:#ccccdc;font:12px sans-serif;margin:12px;position:relative}section,h2{position:absolute;overflow:hidden;box-sizing:border-box}section{background:#181b1f;border:1px solid #2c3235;padding:6px 8px}h2{font-size:15px;margin:4px 0}h3{font-size:13px;margin:0 0 4px}text{fill:#9a9aa8;font-size:10px}.stat{font-size:24px;color:#73bf69;text-align:center}.stat small{font-size:12px}.empty{color:#8e8e8e;text-align:center;margin-top:20px}.legend{font-size:11px}td{padding:2px 10px;border-bottom:1px solid #2c3235}.bar i{display:inline-block;height:12px;background:#5794f2}.bar{margin:5px}";
  return {
    html: `<!doctype html><meta charset="utf-8"><style>${style}</style>${boxes.join("")}`,
    heightPx: y * CELL.height + 40,
  };
}

const GOLDEN = path.join(ROOT, "test/golden");
using folder = new TempFolder();
const logFolder = path.join(folder.path, "logs");
mkdirSync(logFolder);
const endMs = Date.now();
const stream = new LogStream({ scenario: "incident", rate: 12, seed: 7, startMs: endMs - 600_000, endMs });
const entries = [...stream.entries()];
const config = parseConfig(
  JSON.stringify({
    sources: [{ files: [path.join(logFolder, "*.log")], start_at: "beginning", labels: { service_name: "demo" } }],
    http: { listen: "127.0.0.1:0" },
    budgets: [{ name: "daily", limit_tokens: 20_000_000, period: "1d" }],
    alerts: { every: "1s", drift: { min_samples: 50 } },
  }),
  "screens",
);
await using app = await App.create({
  config,
  clock: systemClock,
  log: { info: () => {}, warn: () => {}, error: () => {} },
  zone: UTC,
});
const port = await freePort();
const prometheusConfig = folder.file(
  "prometheus.yml",
  `global: {scrape_interval: 1s}\nscrape_configs:\n  - job_name: tokentail\n    static_configs: [{targets: ["${new URL(app.http.url).host}"]}]\n`,
);
await using prometheus = new RunningProgram("prometheus", [
  `--config.file=${prometheusConfig}`,
  `--storage.tsdb.path=${folder.path}/data`,
  `--web.listen-address=127.0.0.1:${port}`,
]);
await eventually(`Prometheus ${prometheus.output}`, async () => (await fetch(`http://127.0.0.1:${port}/-/ready`)).ok);
app.start();
const golden = readdirSync(GOLDEN, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".log"));
for (let piece = 0; piece < PIECES; piece++) {
  for (const { server, text } of entries.slice(
    (entries.length * piece) / PIECES,
    (entries.length * (piece + 1)) / PIECES,
  ))
    appendFileSync(path.join(logFolder, `${server}.log`), text);
  for (const file of golden.slice((golden.length * piece) / PIECES, (golden.length * (piece + 1)) / PIECES))
    writeFileSync(path.join(logFolder, file.replaceAll(path.sep, "-")), readFileSync(path.join(GOLDEN, file)));
  await systemClock.sleep(1000);
}
mkdirSync(path.join(ROOT, "docs/img"), { recursive: true });
const nowS = Date.now() / 1000;
for (const dashboard of dashboards()) {
  const { html, heightPx } = await page(dashboard, async (expr, instant) => {
    const route = instant ? `query?time=${nowS}` : `query_range?start=${nowS - PIECES}&end=${nowS}&step=1`;
    const { data } = (await (
      await fetch(`http://127.0.0.1:${port}/api/v1/${route}&query=${encodeURIComponent(expr)}`)
    ).json()) as {
      data?: {
        result: Array<{ metric: Record<string, string>; values?: Array<[number, string]>; value?: [number, string] }>;
      };
    };
    return (data?.result ?? []).map(({ metric, values, value }) => ({
      metric,
      values: values ?? (value === undefined ? [] : [value]),
    }));
  });
  const file = folder.file(`${dashboard.uid}.html`, html);
  const picture = path.join(ROOT, "docs/img", `${dashboard.uid}.png`);
  const shot = spawnSync(
    BROWSER,
    [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--hide-scrollbars",
      `--window-size=1470,${heightPx}`,
      `--screenshot=${picture}`,
      `file://${file}`,
    ],
    { encoding: "utf8", timeout: 60_000 },
  );
  console.log(`${shot.status === 0 ? "drew" : "could not draw"} ${path.relative(ROOT, picture)}`);
}
