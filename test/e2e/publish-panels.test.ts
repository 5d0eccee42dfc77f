import { appendFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { App } from "../../src/app.ts";
import { parseConfig } from "../../src/config/load.ts";
import { systemClock } from "../../src/core/system-clock.ts";
import { UTC } from "../../src/core/timestamp.ts";
import { dashboards } from "../../src/dashboard/dashboards.ts";
import { METRICS as M } from "../../src/metric/catalogue.ts";
import { RULE_DEFAULTS } from "../../src/rule/options.ts";
import { renderRules } from "../../src/rule/render.ts";
import { ruleFiles } from "../../src/rule/rule-files.ts";
import { LogStream } from "../../src/simulate/log-stream.ts";
import { TempFolder } from "../support/cli.ts";
import { eventually, freePort, installed, RunningProgram } from "../support/processes.ts";
import { interpolated, metricsIn } from "../support/promql.ts";

const GOLDEN = path.join(import.meta.dirname, "../golden");
const silent = { info: () => {}, warn: () => {}, error: () => {} };

/**
 * Metrics that this traffic does not bring forth, and why: a panel may be empty only if all its metrics are among these or
 * its queries look back further than the test has run. Its empty state then says the same to whoever looks at it.
 */
const NOT_IN_TRAFFIC: ReadonlyMap<string, string> = new Map([
  ...[M.p99Baseline, M.p99BaselineUpperBound, M.p99DriftRatio, M.riskScore].map(
    (def) => [def.name, "needs a week of history"] as const,
  ),
  ...[M.notificationsSent, M.notificationErrors, M.notificationsDropped, M.notificationsQueued, M.alertmanagerSkew].map(
    (def) => [def.name, "no Alertmanager is configured"] as const,
  ),
  ...[M.otlpPushes, M.otlpLastPush].map((def) => [def.name, "no collector is configured"] as const),
  ["ALERTS", "no alert of a rule is pending or firing"],
  [M.alertState.name, "no alert of the engine is pending or firing"],
  [M.alertSkipped.name, "every request was taken"],
  [M.tenantLeaks.name, "rare: one line of one log, its series is born with it"],
  [M.promptInjections.name, "rare"],
  [M.overflow.name, "no metric reached its limit"],
  [M.sourceErrors.name, "no read failed"],
]);

interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data?: { readonly result: ReadonlyArray<{ readonly value: readonly [number, string] }> };
}

/** Files of every format: the golden logs, and simulated traffic of an incident. */
function logs(): Array<readonly [name: string, text: string]> {
  const golden = readdirSync(GOLDEN, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".log"))
    .map((file) => [file.replaceAll(path.sep, "-"), readFileSync(path.join(GOLDEN, file), "utf8")] as const);
  const endMs = Date.now();
  const stream = new LogStream({ scenario: "incident", rate: 6, seed: 7, startMs: endMs - 600_000, endMs });
  const simulated = new Map<string, string>();
  for (const { server, text } of stream.entries()) simulated.set(server, (simulated.get(server) ?? "") + text);
  return [...golden, ...[...simulated].map(([server, text]) => [`simulated-${server}.log`, text] as const)];
}

test.skipIf(!installed("prometheus"))(
  "every panel of every dashboard shows data, or is empty for a documented reason",
  { timeout: 120_000 },
  async () => {
    using folder = new TempFolder();
    const logFolder = path.join(folder.path, "logs");
    const ruleFolder = path.join(folder.path, "rules");
    for (const each of [logFolder, ruleFolder]) mkdirSync(each);
    for (const file of ruleFiles(RULE_DEFAULTS, "both"))
      writeFileSync(path.join(ruleFolder, `${file.name}.yaml`), renderRules(file, RULE_DEFAULTS));
    const config = parseConfig(
      JSON.stringify({
        sources: [{ files: [path.join(logFolder, "*.log")], start_at: "beginning", labels: { service_name: "all" } }],
        http: { listen: "127.0.0.1:0" },
        budgets: [{ name: "daily", limit_tokens: 100_000_000, period: "1d" }],
        alerts: { every: "1s", drift: { min_samples: 50 } },
      }),
      "test",
    );
    await using app = await App.create({ config, clock: systemClock, log: silent, zone: UTC });
    const port = await freePort();
    writeFileSync(
      path.join(folder.path, "prometheus.yml"),
      `global: {scrape_interval: 1s, evaluation_interval: 2s}\nrule_files: ["${ruleFolder}/*.yaml"]\nscrape_configs:\n  - job_name: tokentail\n    static_configs: [{targets: ["${new URL(app.http.url).host}"]}]\n`,
    );
    await using prometheus = new RunningProgram("prometheus", [
      `--config.file=${path.join(folder.path, "prometheus.yml")}`,
      `--storage.tsdb.path=${path.join(folder.path, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--enable-feature=exemplar-storage",
    ]);
    const ask = async (route: string): Promise<Answer> =>
      (await (await fetch(`http://127.0.0.1:${port}/api/v1/${route}`)).json()) as Answer;
    const query = (promql: string): Promise<Answer> => ask(`query?query=${encodeURIComponent(promql)}`);
    const scraped = (condition: string): Promise<boolean> =>
      eventually(
        `${condition} (${prometheus.output.slice(-300)})`,
        async () => ((await query(condition)).data?.result.length ?? 0) > 0,
      );

    app.start();
    const written = logs();
    // first a piece of each, so that series are born before they grow
    for (const [name, text] of written) writeFileSync(path.join(logFolder, name), text);
    await app.caughtUp();
    await scraped(`${M.buildInfo.name} and on () (sum(${M.requests.name}) > 0)`);
    const firstLines = (await query(`sum(${M.lines.name})`)).data?.result;
    for (const [name, text] of written) appendFileSync(path.join(logFolder, `again-${name}`), text);
    await app.caughtUp();
    await scraped(`sum(${M.lines.name}) > ${Number(firstLines?.[0]?.value[1]) * 1.5}`);
    await scraped(`count_over_time(${M.buildInfo.name}[1m]) > 4`);

    const broken: string[] = [];
    const empty: string[] = [];
    let panels = 0;
    for (const dashboard of dashboards()) {
      for (const panel of dashboard.panels.flatMap((one) => [one, ...(one.panels ?? [])])) {
        if (panel.type === "row") continue;
        panels++;
        let found = 0;
        for (const { expr } of panel.targets ?? []) {
          const answer = await query(interpolated(expr));
          if (answer.status !== "success") broken.push(`${dashboard.title} / ${panel.title}: ${answer.error}`);
          found += (answer.data?.result ?? []).filter(({ value }) => Number.isFinite(Number(value[1]))).length;
        }
        const names = [...new Set((panel.targets ?? []).flatMap(({ expr }) => metricsIn(expr)))];
        const bases = names.map((name) => name.replace(/_(?:bucket|count|sum)$/, ""));
        const excused = bases.every((name) => NOT_IN_TRAFFIC.has(name));
        if (found === 0 && !excused && panel.title !== "New within 7 days")
          empty.push(`${dashboard.title} / ${panel.title}`);
      }
    }
    expect({ broken, empty }).toEqual({ broken: [], empty: [] });
    expect(panels).toBeGreaterThan(60);

    const absent: string[] = [];
    for (const { name, kind } of Object.values(M)) {
      const series = kind === "histogram" ? `${name}_count` : name;
      const { data } = await query(`count(last_over_time(${series}[10m]))`);
      if ((data?.result.length ?? 0) === 0 && !NOT_IN_TRAFFIC.has(name)) absent.push(name);
    }
    expect(absent).toEqual([]);

    const rules = (await (await fetch(`http://127.0.0.1:${port}/api/v1/rules`)).json()) as {
      data: { groups: Array<{ rules: Array<{ name: string; health: string; lastError?: string }> }> };
    };
    const unhealthy = rules.data.groups
      .flatMap((group) => group.rules)
      .filter(({ health }) => health === "err")
      .map(({ name, lastError }) => `${name}: ${lastError}`);
    expect(unhealthy).toEqual([]);
  },
);
