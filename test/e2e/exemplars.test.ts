import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { App } from "../../src/app.ts";
import { parseConfig } from "../../src/config/load.ts";
import { systemClock } from "../../src/core/system-clock.ts";
import { UTC } from "../../src/core/timestamp.ts";
import { TempFolder } from "../support/cli.ts";
import { eventually, freePort, installed, RunningProgram } from "../support/processes.ts";

const silent = { info: () => {}, warn: () => {}, error: () => {} };
const OPEN_METRICS = "application/openmetrics-text; version=1.0.0";

async function start(folder: TempFolder): Promise<App> {
  const config = parseConfig(
    JSON.stringify({
      sources: [{ files: [path.join(folder.path, "*.log")], start_at: "beginning", labels: { service_name: "chat" } }],
      http: { listen: "127.0.0.1:0" },
      metrics: { naming: "both" },
    }),
    "test",
  );
  const app = await App.create({ config, clock: systemClock, log: silent, zone: UTC });
  app.start();
  await app.caughtUp();
  return app;
}

const line = (fields: Record<string, unknown>): string =>
  `${JSON.stringify({ time: new Date().toISOString(), model: "m", status: 200, ...fields })}\n`;

/** A Prometheus with exemplar storage that scrapes the daemon; answers queries. */
async function scraped(folder: TempFolder, app: App) {
  const port = await freePort();
  const config = path.join(folder.path, "prometheus.yml");
  writeFileSync(
    config,
    `global: {scrape_interval: 1s}\nscrape_configs:\n  - job_name: tokentail\n    static_configs: [{targets: ["${new URL(app.http.url).host}"]}]\n`,
  );
  const program = new RunningProgram("prometheus", [
    `--config.file=${config}`,
    `--storage.tsdb.path=${path.join(folder.path, "data")}`,
    `--web.listen-address=127.0.0.1:${port}`,
    "--enable-feature=exemplar-storage",
  ]);
  const ask = async <T>(api: string): Promise<T> => {
    const answer = (await (await fetch(`http://127.0.0.1:${port}/api/v1/${api}`)).json()) as { data: T };
    return answer.data;
  };
  const value = async (promql: string): Promise<number | undefined> => {
    const { result } = await ask<{ result: Array<{ value: [number, string] }> }>(
      `query?query=${encodeURIComponent(promql)}`,
    );
    return result[0] === undefined ? undefined : Number(result[0].value[1]);
  };
  return { program, ask, value };
}

interface ExemplarSeries {
  readonly seriesLabels: Record<string, string>;
  readonly exemplars: Array<{ labels: Record<string, string>; value: string; timestamp: number }>;
}

test.skipIf(!installed("prometheus"))("a slow bucket leads to its trace in a real Prometheus", async () => {
  using folder = new TempFolder();
  folder.file(
    "a.log",
    line({ duration_ms: 1200, ttft_ms: 200, request_id: "r-fast", trace_id: "4bf92f3577b34da6a3ce929d0e0e4736" }) +
      line({ duration_ms: 45_000, ttft_ms: 9000, request_id: "r-slow", trace_id: "00f067aa0ba902b7a3ce929d0e0e4736" }),
  );
  await using app = await start(folder);
  const { program, ask } = await scraped(folder, app);
  await using _ = program;
  const now = Date.now() / 1000;
  for (const name of ["llm_request_duration_seconds", "gen_ai_server_request_duration_seconds"]) {
    const found = await eventually(`exemplars of ${name} (${program.output.slice(-300)})`, async () => {
      const query = encodeURIComponent(`${name}_bucket`);
      const series = await ask<ExemplarSeries[]>(`query_exemplars?query=${query}&start=${now - 600}&end=${now + 600}`);
      return series.length >= 2 ? series : undefined;
    });
    const slow = found.find(({ seriesLabels }) => Number(seriesLabels["le"]) === 50);
    expect(slow?.exemplars).toMatchObject([
      { labels: { request_id: "r-slow", trace_id: "00f067aa0ba902b7a3ce929d0e0e4736" }, value: "45" },
    ]);
  }
});

const HOSTILE = [
  'quote " backslash \\ end\\',
  "line\nbreak\r\n\ttab",
  "nul \u0000 and \u0085\u2028",
  "x".repeat(10_240),
  '",le="0.1"} 99\nllm_requests_total{tenant="fake',
  "1.leading-digit",
  "# EOF",
  "{}",
  "emoji 🎉",
];

test.skipIf(!installed("prometheus") || !installed("promtool"))(
  "hostile names in the log never break a scrape, nor lose a request",
  async () => {
    using folder = new TempFolder();
    const lines = HOSTILE.map((name) =>
      line({
        model: name,
        route: name,
        tenant: name,
        duration_ms: 10,
        request_id: name,
        trace_id: name,
        "a.b": name,
        a_b: name,
        le: name,
      }),
    );
    const invalid = Buffer.concat([
      Buffer.from(line({ model: "XX", tenant: "bytes", duration_ms: 10 }).split("XX")[0] ?? ""),
      Buffer.from([0xff, 0xfe, 0xc3, 0x28]),
      Buffer.from(line({ model: "XX", tenant: "bytes", duration_ms: 10 }).split("XX")[1] ?? ""),
    ]);
    folder.file("a.log", Buffer.concat([Buffer.from(lines.join("")), invalid]));
    await using app = await start(folder);

    const plain = await (await fetch(`${app.http.url}/metrics`)).text();
    const check = spawnSync("promtool", ["check", "metrics"], { input: plain, encoding: "utf8" });
    expect({
      status: check.status,
      said: check.stderr.split("\n").filter((said) => /error|parse/i.test(said)),
    }).toEqual({
      status: 0,
      said: [],
    });
    const open = await (await fetch(`${app.http.url}/metrics`, { headers: { Accept: OPEN_METRICS } })).text();
    expect(open.endsWith("\n# EOF\n")).toBe(true);

    const { program, value } = await scraped(folder, app);
    await using _ = program;
    await eventually(`a scrape (${program.output.slice(-300)})`, async () => (await value("up")) === 1);
    expect(await value('sum(llm_requests_total{outcome="ok"})')).toBe(HOSTILE.length + 1);
    expect(await value("sum(llm_request_duration_seconds_count)")).toBe(HOSTILE.length + 1);
  },
);
