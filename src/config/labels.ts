import { METRICS, type MetricDef } from "../metric/catalogue.ts";
import type { Config } from "./schema.ts";

/** Labels of metrics that a source may set: the value where the log tells none. */
const DEFAULTS = new Set(["model", "route", "tenant", "service_name", "engine", "collection", "tool"]);
/** Labels that a pod's path gives. */
const POD = ["namespace", "pod", "container", "restart_count"];

/** Why the labels of a source cannot stand beside others, both places named; undefined when they can. */
export function labelCollision(config: Config): string | undefined {
  for (const [index, source] of config.sources.entries()) {
    for (const name of Object.keys(source.labels)) {
      const at = `sources[${index}].labels.${name}`;
      if (source.kubernetes !== undefined && POD.includes(name))
        return `${at}: collides with the label "${name}" that sources[${index}].kubernetes takes from the path; rename one`;
      if (DEFAULTS.has(name)) continue;
      const metric = Object.values<MetricDef>(METRICS).find((def) => def.labels.includes(name));
      if (metric !== undefined)
        return `${at}: collides with the label "${name}" of the metric ${metric.name}; choose another name`;
      if (name.startsWith("gen_ai_") || name === "error_type")
        return `${at}: collides with the labels of metrics.naming genai; choose another name`;
    }
  }
  return undefined;
}
