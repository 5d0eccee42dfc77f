import { expect, test } from "vitest";
import { dashboards } from "../../src/dashboard/dashboards.ts";
import type { Dashboard, Panel } from "../../src/dashboard/model.ts";
import { METRICS } from "../../src/metric/catalogue.ts";
import { RULE_DEFAULTS } from "../../src/rule/options.ts";
import { isAlert } from "../../src/rule/rule.ts";
import { ruleFiles } from "../../src/rule/rule-files.ts";
import { metricsIn } from "../support/promql.ts";

const ALL = dashboards();
const panelsOf = (dashboard: Dashboard): Panel[] =>
  dashboard.panels.flatMap((panel) => [panel, ...(panel.panels ?? [])]);
const shown = (dashboard: Dashboard): Panel[] => panelsOf(dashboard).filter(({ type }) => type !== "row");
const SERIES = new Set(
  Object.values(METRICS).flatMap(({ name, kind }) =>
    kind === "histogram" ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
  ),
);

/** Faults of one kind over all panels, as `dashboard / panel: fault`. */
function faults(check: (panel: Panel, dashboard: Dashboard) => string | false | undefined): string[] {
  return ALL.flatMap((dashboard) =>
    shown(dashboard).flatMap((panel) => {
      const fault = check(panel, dashboard);
      return fault ? [`${dashboard.title} / ${panel.title}: ${fault}`] : [];
    }),
  );
}
const exprs = (panel: Panel): string[] => (panel.targets ?? []).map(({ expr }) => expr);

/** Metrics that no dashboard and no rule uses, and why. */
const INTERNAL: Readonly<Record<string, string>> = {};

test("every catalogue metric is shown on a dashboard, used by a rule, or marked internal", () => {
  const used = new Set([
    ...ALL.flatMap((dashboard) => shown(dashboard).flatMap(exprs).flatMap(metricsIn)),
    ...ruleFiles(RULE_DEFAULTS, "both").flatMap((file) =>
      file.groups.flatMap((group) => group.rules.flatMap((rule) => metricsIn(rule.expr))),
    ),
  ]);
  const base = (name: string): string => name.replace(/_(?:bucket|count|sum)$/, "");
  const bases = new Set([...used].flatMap((name) => [name, base(name)]));
  expect(Object.values(METRICS).flatMap(({ name }) => (bases.has(name) || name in INTERNAL ? [] : [name]))).toEqual([]);
  expect(
    ruleFiles(RULE_DEFAULTS, "both")
      .flatMap((file) => file.groups)
      .flatMap((group) => group.rules)
      .some(isAlert),
  ).toBe(true);
});

test("dashboards have stable identities and unique panel ids", () => {
  expect(new Set(ALL.map(({ uid }) => uid)).size).toBe(ALL.length);
  for (const dashboard of ALL) {
    expect(dashboard.uid).toMatch(/^[a-z-]{1,40}$/);
    const ids = panelsOf(dashboard).map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(JSON.stringify(dashboard)).not.toMatch(/__inputs|DS_|robert|localhost/);
  }
});

test("panels do not overlap and stay within the grid", () => {
  const cells = new Set<string>();
  for (const dashboard of ALL) {
    for (const { gridPos, title } of dashboard.panels.flatMap((panel) => (panel.collapsed === true ? [] : [panel]))) {
      expect(gridPos.x + gridPos.w, title).toBeLessThanOrEqual(24);
      for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
        for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
          const cell = `${dashboard.uid} ${x} ${y}`;
          expect(cells.has(cell), `${title} overlaps at ${cell}`).toBe(false);
          cells.add(cell);
        }
      }
    }
  }
});

/** Rules of dashboard-linter. Prometheus' own `up` and `ALERTS` carry no label that the variables could match everywhere. */
test.for([
  {
    name: "template-datasource",
    check: () =>
      ALL.every(
        ({ templating }) =>
          templating.list.filter(({ type }) => type === "datasource").length === 1 &&
          templating.list[0]?.name === "datasource" &&
          templating.list[0].label === "Data Source",
      )
        ? undefined
        : "no variable datasource",
  },
  {
    name: "template-job, template-instance",
    check: (_: Panel, { templating }: Dashboard) =>
      ["job", "instance"].every((name) => {
        const variable = templating.list.find((one) => one.name === name);
        return (
          variable?.["multi"] === true &&
          variable["allValue"] === ".+" &&
          JSON.stringify(variable["datasource"]).includes("${datasource}")
        );
      })
        ? undefined
        : "job and instance are not multi with .+",
  },
  {
    name: "template-on-time-change-reload",
    check: (_: Panel, { templating }: Dashboard) =>
      templating.list.every((one) => one.type !== "query" || one["refresh"] === 2)
        ? undefined
        : "a variable is not reloaded",
  },
  {
    name: "panel-datasource",
    check: ({ datasource, targets }: Panel) =>
      [datasource, ...(targets ?? []).map((one) => one.datasource)].every((one) => one?.uid === "${datasource}")
        ? undefined
        : "another data source",
  },
  {
    name: "panel-title-description",
    check: ({ title, description }: Panel) =>
      title !== "" && (description ?? "").length > 20 ? undefined : "no title or description",
  },
  {
    name: "panel-units",
    check: ({ fieldConfig }: Panel) => (fieldConfig?.defaults["unit"] === undefined ? "no unit" : undefined),
  },
  { name: "panel-no-targets", check: (panel: Panel) => (exprs(panel).length === 0 ? "no query" : undefined) },
  {
    name: "an empty state that says why",
    check: ({ fieldConfig, description }: Panel) => {
      const text = fieldConfig?.defaults["noValue"];
      return typeof text === "string" && text.length > 5 && description?.includes(`Empty: ${text}.`)
        ? undefined
        : "no empty state";
    },
  },
  {
    name: "target-rate-interval",
    check: (panel: Panel) =>
      exprs(panel).find((expr) => /\b(?:rate|increase|irate)\([^[]*\[(?!\$__rate_interval|\$__range|1h\])/.test(expr)),
  },
  {
    name: "target-counter-agg: counters and histograms only inside rate or increase",
    check: (panel: Panel) =>
      exprs(panel).find((expr) => {
        const bare = expr.replace(/\b(?:rate|increase)\([^()]*\)/g, "");
        // what has been counted since the beginning is meant in these: they name it so
        if (/Counted in all|New within 7 days/.test(`${panel.title} ${JSON.stringify(panel.transformations ?? "")}`))
          return false;
        return /_(?:total|bucket|count|sum)\{/.test(bare);
      }),
  },
  {
    name: "target-job, target-instance",
    check: (panel: Panel) =>
      exprs(panel).find((expr) =>
        [...expr.matchAll(/([a-zA-Z_:][\w:]*)\{([^}]*)\}/g)].some(
          ([, name = "", matchers = ""]) =>
            name !== "ALERTS" && !(matchers.includes('job=~"$job"') && matchers.includes('instance=~"$instance"')),
        ),
      ),
  },
  {
    name: "every query names metrics of the catalogue",
    check: (panel: Panel) =>
      exprs(panel)
        .flatMap(metricsIn)
        .find((name) => !SERIES.has(name) && name !== "up" && name !== "ALERTS"),
  },
  {
    name: "no query without a metric",
    check: (panel: Panel) => exprs(panel).find((expr) => metricsIn(expr).length === 0),
  },
  {
    name: "no lifetime average",
    check: (panel: Panel) =>
      exprs(panel).find((expr) => /_sum\{[^}]*\}\s*\)?\s*\/[^(]*_count\{/.test(expr.replace(/rate\([^()]*\)/g, ""))),
  },
  {
    name: "no vendor label is matched",
    check: (panel: Panel) => exprs(panel).find((expr) => /telemetry_sdk|namespace=/.test(expr)),
  },
] as ReadonlyArray<{ name: string; check: (panel: Panel, dashboard: Dashboard) => string | undefined }>)(
  "$name",
  ({ check }) => {
    expect(faults(check)).toEqual([]);
  },
);
