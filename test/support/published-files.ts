import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { dashboards, renderDashboard } from "../../src/dashboard/dashboards.ts";
import { alertmanagerExample } from "../../src/rule/alertmanager-example.ts";
import { RULE_DEFAULTS } from "../../src/rule/options.ts";
import { renderRules } from "../../src/rule/render.ts";
import { ruleFiles } from "../../src/rule/rule-files.ts";
import { runbookPages } from "../../src/rule/runbook-page.ts";

/** Everything in the repository that is generated from rules and dashboards, by path; run this file to write it. */
export function publishedFiles(): Map<string, string> {
  const rules = ruleFiles(RULE_DEFAULTS, "both");
  return new Map([
    ...rules.map((file): [string, string] => [`rules/${file.name}.yaml`, renderRules(file, RULE_DEFAULTS)]),
    ...dashboards().map((one): [string, string] => [`grafana/${one.uid}.json`, renderDashboard(one)]),
    ...[...runbookPages(rules, RULE_DEFAULTS)].map(([file, text]): [string, string] => [`docs/runbooks/${file}`, text]),
    ["docs/alertmanager.yml", alertmanagerExample()],
  ]);
}

if (import.meta.main) {
  for (const [file, text] of publishedFiles()) {
    const target = path.join(import.meta.dirname, "../..", file);
    mkdirSync(path.dirname(target), { recursive: true });
    writeFileSync(target, text);
  }
}
