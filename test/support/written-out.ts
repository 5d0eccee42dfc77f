import { isAlert, type RuleFile } from "../../src/rule/rule.ts";

/**
 * The alert's expression with its recording rules written out, so that it can be asked about the past: rules are only
 * recorded from now on. `X offset 7d` becomes the subquery of the same instant.
 */
export function writtenOut(file: RuleFile, alert: string, stepS = 300): string {
  const records = new Map<string, string[]>();
  const rules = file.groups.flatMap((group) => group.rules);
  for (const rule of rules) {
    if (isAlert(rule)) continue;
    let { expr } = rule;
    for (const [label, value] of Object.entries(rule.labels ?? {}))
      expr = `label_replace(${expr}, "${label}", "${value}", "", "")`;
    records.set(rule.record, [...(records.get(rule.record) ?? []), expr]);
  }
  const expand = (expr: string): string =>
    expr.replace(/[a-z_]+:[a-z_]+:[a-z0-9_]+( offset 7d)?/g, (found, offset: string | undefined) => {
      const inner = (records.get(found.replace(" offset 7d", "")) ?? []).map((one) => `(${expand(one)})`).join(" or ");
      return offset === undefined ? `(${inner})` : `last_over_time((${inner})[${stepS}s:${stepS}s] offset 7d)`;
    });
  const rule = rules.find((one) => isAlert(one) && one.alert === alert);
  return expand(rule?.expr ?? "");
}
