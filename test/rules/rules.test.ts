import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { METRICS } from "../../src/metric/catalogue.ts";
import { RULE_DEFAULTS } from "../../src/rule/options.ts";
import { groupsOf } from "../../src/rule/render.ts";
import { type AlertRule, alertsOf, isAlert, type RuleFile } from "../../src/rule/rule.ts";
import { ruleFiles } from "../../src/rule/rule-files.ts";
import { TempFolder } from "../support/cli.ts";
import { installed } from "../support/processes.ts";
import { metricsIn } from "../support/promql.ts";
import { publishedFiles } from "../support/published-files.ts";
import { FLEET_CASES } from "./fleet-cases.ts";
import { NODE_CASES } from "./node-cases.ts";
import { OTHER_CASES } from "./other-cases.ts";
import type { RuleCase } from "./rule-case.ts";

const ROOT = path.join(import.meta.dirname, "../..");
const FILES = ruleFiles(RULE_DEFAULTS, "both");
const CASES: Readonly<Record<string, readonly RuleCase[]>> = {
  "tokentail-sla-node": NODE_CASES,
  "tokentail-sla-fleet": FLEET_CASES,
  ...OTHER_CASES,
};

test("the committed rules, dashboards and runbooks are those that are generated", () => {
  const wanted = publishedFiles();
  const folders = [...new Set([...wanted.keys()].map((file) => path.dirname(file)))].filter(
    (folder) => folder !== "docs",
  );
  const committed = folders.flatMap((folder) =>
    readdirSync(path.join(ROOT, folder)).map((file) => `${folder}/${file}`),
  );
  expect(committed.sort()).toEqual([...wanted.keys()].filter((file) => path.dirname(file) !== "docs").sort());
  for (const [file, text] of wanted) expect(readFileSync(path.join(ROOT, file), "utf8"), file).toBe(text);
});

test.skipIf(!installed("amtool"))("amtool accepts the Alertmanager example", async () => {
  const { status, output } = await run("amtool", ["check-config", path.join(ROOT, "docs/alertmanager.yml")], ROOT);
  if (status !== 0) expect.fail(output);
});

test("every alert has a case that fires, one that must not, and one with missing or sparse data", () => {
  const missing = FILES.flatMap((file) =>
    alertsOf([file]).flatMap(({ alert }) =>
      (["fires", "quiet", "sparse"] as const)
        .filter((kind) => !CASES[file.name]?.some((row) => row.alert === alert && row.kind === kind))
        .map((kind) => `${file.name} ${alert}: ${kind}`),
    ),
  );
  expect(missing).toEqual([]);
});

test("every metric in the rules is one of the catalogue, a recorded one, or Prometheus' own", () => {
  const known = new Set([
    ...Object.values(METRICS).flatMap(({ name, kind }) =>
      kind === "histogram" ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
    ),
    ...FILES.flatMap((file) =>
      file.groups.flatMap((group) => group.rules.flatMap((rule) => (isAlert(rule) ? [] : [rule.record]))),
    ),
    "up",
    "ALERTS",
  ]);
  const named = FILES.flatMap((file) =>
    file.groups.flatMap((group) =>
      group.rules.flatMap((rule) => [
        rule.expr,
        ...(isAlert(rule) ? rule.runbook.queries.map(([, query]) => query) : []),
      ]),
    ),
  ).flatMap(metricsIn);
  expect(named.length).toBeGreaterThan(150);
  expect([...new Set(named)].filter((name) => !known.has(name))).toEqual([]);
});

test("alerts keep the conventions", () => {
  const faults: string[] = [];
  const summaries = new Map<string, string>();
  for (const file of FILES) {
    for (const alert of alertsOf([file])) {
      const say = (fault: string): void => void faults.push(`${file.name} ${alert.alert}: ${fault}`);
      if (!/^(?:LLM|Tokentail)[A-Z][A-Za-z0-9]+$/.test(alert.alert))
        say("the name is no CamelCase of LLM or Tokentail");
      if (!/^(?:[A-Z]|tokentail ).*[^.]\.$/.test(alert.summary) || alert.summary.includes("{{"))
        say("the summary is no plain sentence");
      if ((summaries.get(alert.alert) ?? alert.summary) !== alert.summary) say("two summaries for one alert");
      summaries.set(alert.alert, alert.summary);
      if (!alert.description.includes("{{ ") && alert.alert !== "TokentailAbsent")
        say("the description names no label or value");
      if (Object.values(alert.labels ?? {}).some((value) => value.includes("{{"))) say("a label holds a template");
      if (/absent\(/.test(alert.expr) && alert.for === undefined) say("absent() without `for`");
      if (alert.runbook.checks.length === 0 || alert.runbook.queries.length === 0) say("the runbook is empty");
    }
  }
  expect(faults).toEqual([]);
});

test.skipIf(!installed("promtool"))("promtool check rules accepts every file", async () => {
  const { status, output } = await promtool(
    ["check", "rules", ...FILES.map(({ name }) => path.join(ROOT, "rules", `${name}.yaml`))],
    ROOT,
  );
  if (status !== 0) expect.fail(output);
});

test.skipIf(!installed("promtool")).for(FILES)("promtool test rules: $name", { timeout: 120_000 }, async (file) => {
  using folder = new TempFolder();
  const cases = CASES[file.name] ?? [];
  const bySpeed = Map.groupBy(cases, ({ every = "1m", wholeWeek = false }) => `${every} ${wholeWeek}`);
  const tests: string[] = [];
  for (const [speed, rows] of bySpeed) {
    const [every = "", wholeWeek] = speed.split(" ");
    const rules = ruleCopy(file, wholeWeek === "true" || file.name !== "tokentail-sla-fleet");
    const name = `${every}-${wholeWeek}`;
    writeFileSync(path.join(folder.path, `${name}.yaml`), rules);
    const document = {
      rule_files: [`${name}.yaml`],
      evaluation_interval: every,
      tests: rows.map((row) => testOf(row, alertsOf([file]))),
    };
    tests.push(folder.file(`${name}.test.yaml`, stringify(document, { lineWidth: 0 })));
  }
  const { status, output } = await promtool(["test", "rules", ...tests], folder.path);
  if (status !== 0) expect.fail(output);
});

/** A rule file as it is tested: promtool compares annotations too, and they are no matter here. */
function ruleCopy(file: RuleFile, wholeWeek: boolean): string {
  const groups = groupsOf(file, RULE_DEFAULTS) as Array<{ rules: Array<{ annotations?: unknown; expr: string }> }>;
  for (const { rules } of groups) {
    for (const rule of rules) {
      delete rule.annotations;
      if (!wholeWeek) rule.expr = rule.expr.replaceAll("offset 7d", "offset 5h");
    }
  }
  return stringify({ groups }, { lineWidth: 0 });
}

function testOf(row: RuleCase, alerts: readonly AlertRule[]): unknown {
  const rules = alerts.filter(({ alert }) => alert === row.alert);
  const expected = (row.fires ?? []).map((labels) => {
    const rule = rules.find((other) =>
      Object.entries(other.labels ?? {}).every(([name, value]) => labels[name] === undefined || labels[name] === value),
    );
    return {
      exp_labels: { severity: rule?.severity ?? "", alertgroup: rule?.alertgroup ?? "", ...rule?.labels, ...labels },
    };
  });
  return {
    name: `${row.alert}: ${row.name}`,
    interval: row.every ?? "1m",
    input_series: Object.entries(row.series).map(([series, values]) => ({ series, values })),
    alert_rule_test: [{ eval_time: row.at, alertname: row.alert, exp_alerts: expected }],
  };
}

const promtool = (args: readonly string[], cwd: string) => run("promtool", args, cwd);

async function run(
  command: string,
  args: readonly string[],
  cwd: string,
): Promise<{ status: number | null; output: string }> {
  const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const [status] = (await once(child, "close")) as [number | null];
  return { status, output: output.slice(-6000) };
}
