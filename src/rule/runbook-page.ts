import type { RuleOptions } from "./options.ts";
import { type AlertRule, alertsOf, type RuleFile } from "./rule.ts";

/** One page for each alert name, `NAME.md`, and an index. The sentences stand beside the rules. */
export function runbookPages(files: readonly RuleFile[], options: RuleOptions): Map<string, string> {
  const alerts = Map.groupBy(alertsOf(files), ({ alert }) => alert);
  const pages = new Map([...alerts].map(([name, variants]) => [`${name}.md`, page(name, variants, files, options)]));
  return pages.set("README.md", index(files));
}

function page(name: string, variants: readonly AlertRule[], files: readonly RuleFile[], options: RuleOptions): string {
  const [first] = variants as [AlertRule, ...AlertRule[]];
  const { runbook } = first;
  const conditions = variants.map((rule) => {
    const scope = Object.entries(rule.labels ?? {})
      .map(([label, value]) => `\`${label}="${value}"\``)
      .join(", ");
    const file = files.find((one) => alertsOf([one]).includes(rule))?.name ?? "";
    const held = rule.for === undefined ? "Fires at once" : `Fires when this has held for ${rule.for}`;
    const kept =
      rule.keepFiringFor === undefined ? "" : ` and resolves when it has been false for ${rule.keepFiringFor}`;
    return `${held}${kept}${scope === "" ? "" : ` (${scope})`}, \`rules/${file}.yaml\`:\n\n\`\`\`promql\n${rule.expr}\n\`\`\``;
  });
  const queries = runbook.queries.map(([title, promql]) => `${title}:\n\n\`\`\`promql\n${promql}\n\`\`\``);
  return `# ${name}

${first.summary} Severity: **${first.severity}**.

## What it means

${runbook.meaning}

## What to check

${runbook.checks.map((check, number) => `${number + 1}. ${check}`).join("\n")}

## Queries

${queries.join("\n\n")}

Dashboard: \`${options.grafana ?? ""}/d/${first.dashboard}\`.

## When it fires

${conditions.join("\n\n")}
`;
}

function index(files: readonly RuleFile[]): string {
  const sections = files.map((file) => {
    const rows = alertsOf([file]).map(
      ({ alert, severity, summary }) => `| [${alert}](${alert}.md) | ${severity} | ${summary} |`,
    );
    const unique = [...new Set(rows)];
    return `## ${file.name}\n\n${file.about.join(" ")}\n\n| alert | severity | meaning |\n|---|---|---|\n${unique.join("\n")}`;
  });
  return `# Runbooks

One page for each alert of \`rules/\`. Generated from \`src/rule\` by \`npm run published\`.

Severity: *critical* pages somebody now, *warning* makes a ticket, *info* is shown and never routed.

${sections.join("\n\n")}
`;
}
