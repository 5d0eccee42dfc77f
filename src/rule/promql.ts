import { METRICS } from "../metric/catalogue.ts";
import type { MetricKey } from "./rule.ts";

/** Names of the catalogue's metrics by their key, for PromQL templates: a metric that is renamed is renamed here too. */
export const N = Object.fromEntries(Object.entries(METRICS).map(([key, { name }]) => [key, name])) as Readonly<
  Record<MetricKey, string>
>;

/** Strips the common indent of a template and its first and last line break. */
export function promql(text: string): string {
  const lines = text.replace(/^\n|\n\s*$/g, "").split("\n");
  const indents = lines.filter((line) => line.trim() !== "").map((line) => line.length - line.trimStart().length);
  const indent = Math.min(...indents);
  return lines.map((line) => line.slice(indent)).join("\n");
}

/** Shifts the lines after the first, so that a nested expression reads well. */
export const nested = (text: string, spaces: number): string => text.replaceAll("\n", `\n${" ".repeat(spaces)}`);

/**
 * A gauge that a failed scrape does not interrupt: one missing sample would start `for` anew. Three minutes bridge two
 * failed scrapes of a minute and stay below every `for` that uses it.
 */
export const steady = (selector: string): string => `last_over_time(${selector}[3m])`;

/**
 * A gauge whose absence says something: it is bridged over failed scrapes as {@link steady} does, but when the daemon was
 * scraped and did not show it, it is absent. No verdict and no known usage are false at once, as they are for the daemon.
 */
export const told = (name: string): string => `(${name} or (${steady(name)} unless on (job, instance) ${N.buildInfo}))`;

/**
 * True where a counter grew within the window, also when its first sample is already above zero: `increase` alone
 * overlooks the birth of a series, and rare counters are born with their first event.
 */
export function grew(name: string, by: string, window: string, matchers = ""): string {
  const selector = matchers === "" ? name : `${name}{${matchers}}`;
  return promql(`
    sum by (${by}) (increase(${selector}[${window}])) > 0
    or
    sum by (${by}) (
      (${selector} unless ${selector} offset ${window})
      and on (job, instance) (${N.buildInfo} offset ${window})
    ) > 0
  `);
}

/** Matches `le="2"` and, since Prometheus 3, `le="2.0"`. */
export const atMost = (bound: number): string =>
  Number.isInteger(bound) ? `le=~"${bound}(\\\\.0)?"` : `le="${bound}"`;
