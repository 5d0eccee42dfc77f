import { writeFileSync } from "node:fs";
import path from "node:path";
import { METRICS, type MetricDef } from "../../src/metric/catalogue.ts";
import { PROFILES } from "../../src/profile/registry.ts";

/** docs/metrics.md: the catalogue as a table. */
export function metricsPage(): string {
  const rows = Object.values<MetricDef>(METRICS).map(
    ({ name, kind, unit, labels, help }) =>
      `| \`${name}\` | ${kind} | ${unit.replace(/[{}]/g, "")} | ${labels.map((label) => `\`${label}\``).join(" ")} | ${help} |`,
  );
  return `# Metrics

Generated from \`src/metric/catalogue.ts\` by \`npm run docs\`. Every series also carries the labels of its source.
A series exists only if the logs hold its figure. Labels whose value is unknown are absent; beyond \`metrics.max_series\` series of one metric
new label values become \`other\`, so that sums stay exact.

| name | type | unit | labels | meaning |
|---|---|---|---|---|
${rows.join("\n")}
`;
}

/** docs/formats.md: the profiles as a table, and what each log cannot tell. */
export function formatsPage(): string {
  const rows = PROFILES.map(
    ({ name, title, tells, figures }) =>
      `| \`${name}\` | ${title} | ${tells.join(", ") || "–"} | ${figures.join(", ")} |`,
  );
  const details = PROFILES.map(
    ({ name, title, upstream, cannotTell }) =>
      `### ${title} (\`${name}\`)\n\nRead from: ${upstream}.\n${cannotTell.length > 0 ? `\nThis log cannot tell:\n\n${cannotTell.map((sentence) => `* ${sentence}`).join("\n")}\n` : ""}`,
  );
  return `# Formats

Generated from the profiles by \`npm run docs\`. The profile is chosen per line; several writers may share one stream.

| profile | writer | requests it tells | figures |
|---|---|---|---|
${rows.join("\n")}

## What each log cannot tell

${details.join("\n")}`;
}

if (import.meta.main) {
  const docs = path.join(import.meta.dirname, "../../docs");
  writeFileSync(path.join(docs, "metrics.md"), metricsPage());
  writeFileSync(path.join(docs, "formats.md"), formatsPage());
}
