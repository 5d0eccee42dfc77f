import { writeFileSync } from "node:fs";
import path from "node:path";
import { CATALOGUE, CATALOGUE_VERSION } from "../../src/failure/catalogue.ts";
import type { Cause } from "../../src/failure/evidence.ts";
import { GENAI_METRICS, METRICS, type MetricDef, REPLACED_BY_GENAI } from "../../src/metric/catalogue.ts";
import { PROFILES } from "../../src/profile/registry.ts";

/** docs/metrics.md: the catalogue as tables. */
export function metricsPage(): string {
  const words = (labels: readonly string[]): string => labels.map((label) => `\`${label}\``).join(" ");
  const row = ({ name, kind, unit, labels, help }: MetricDef): string =>
    `| \`${name}\` | ${kind} | ${unit.replace(/[{}]/g, "")} | ${words(labels)} | ${help} |`;
  const rows = Object.values<MetricDef>(METRICS).map(row);
  const genai = Object.values<MetricDef>(GENAI_METRICS).map((def) => `| \`${def.otelName}\` ${row(def)}`);
  return `# Metrics

Generated from \`src/metric/catalogue.ts\` by \`npm run docs\`. Every series also carries the labels of its source.
A series exists only if the logs hold its figure; those of errors, of aborted requests and of causes that stop an engine begin at 0 where the
log can tell them, so that the first event shows as an increase. Labels whose value is unknown are absent; beyond
\`metrics.max_series\` series of one metric new label values become \`other\`, so that sums stay exact: labels of few values (\`outcome\`,
\`token_type\`, \`cause\`) keep theirs. Series never expire unless \`metrics.idle_expiry\` says after how long.

| name | type | unit | labels | meaning |
|---|---|---|---|---|
${rows.join("\n")}

## OpenTelemetry GenAI semantic conventions

With \`metrics.naming: genai\` these take the place of ${[...REPLACED_BY_GENAI].map((def) => `\`${def.name}\``).join(", ")};
with \`both\` they stand beside them. All other metrics keep their names, because the conventions have none for them. The published rules and
dashboards use our own names. \`/metrics\` shows the Prometheus form, an OTLP push the name and attributes of the convention
(dots in place of underscores).

\`gen_ai_operation_name\` follows from the route; \`inference\` where the log does not tell. \`gen_ai_provider_name\` is the engine that wrote the
log, and absent for gateways, whose provider is not known. \`error_type\` is the HTTP status, \`client_cancelled\` or \`_OTHER\`. There is no
\`gen_ai.client.operation.time_per_output_chunk\`: it wants one value a chunk, and logs hold the mean.

| OTLP name | Prometheus name | type | unit | labels | meaning |
|---|---|---|---|---|---|
${genai.join("\n")}
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

/** docs/causes.md: what each cause of failures means, and what to look at. */
export function causesPage(): string {
  const act: Record<Cause["severity"], string> = {
    page: "users fail now, and it does not heal by itself",
    ticket: "mend in working hours",
    info: "the caller's affair, as long as it is rare",
  };
  const section = ({ name, title, severity, firstChecks, evidence }: Cause): string => {
    const writers = [...new Set(evidence.map(({ by }) => by))].filter(
      (by) => !["any", "apps", "servers", "HTTP"].includes(by),
    );
    return `## ${name}

${title}. Severity \`${severity}\`: ${act[severity]}.

${firstChecks.map((check) => `* ${check}`).join("\n")}
${writers.length > 0 ? `\nKnown wordings of ${writers.join(", ")}.\n` : ""}`;
  };
  return `# Causes of failures

Generated from \`src/failure/catalogue.ts\` (version ${CATALOGUE_VERSION}) by \`npm run docs\`. A failure whose words fit no cause well enough is
\`unknown\`; unknown failures are grouped by the words they share. \`tokentail cluster\` shows causes, groups and what sets them apart from other
traffic.

${CATALOGUE.map(section).join("\n")}`;
}

if (import.meta.main) {
  const docs = path.join(import.meta.dirname, "../../docs");
  writeFileSync(path.join(docs, "metrics.md"), metricsPage());
  writeFileSync(path.join(docs, "formats.md"), formatsPage());
  writeFileSync(path.join(docs, "causes.md"), causesPage());
}
