import { budgetsFile } from "./budgets.ts";
import { failuresFile } from "./failures.ts";
import type { Form, RuleOptions } from "./options.ts";
import type { RuleFile } from "./rule.ts";
import { saturationFile } from "./saturation.ts";
import { selfFile } from "./self.ts";
import { slaFleetFile } from "./sla-fleet.ts";
import { slaNodeFile } from "./sla-node.ts";
import { sloFile } from "./slo.ts";

/** All rule files, in the order of their names' importance. */
export function ruleFiles(options: RuleOptions, form: Form): RuleFile[] {
  return [
    ...(form === "fleet" ? [] : [slaNodeFile(options)]),
    ...(form === "node" ? [] : [slaFleetFile(options)]),
    sloFile(options),
    failuresFile(options),
    saturationFile(options),
    budgetsFile(options),
    selfFile(options),
  ];
}
