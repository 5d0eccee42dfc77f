import { METRICS } from "../metric/catalogue.ts";
import { DATASOURCE, type Dashboard, type Panel, type Variable } from "./model.ts";
import { type PanelSpec, place } from "./panel.ts";

export interface DashboardSpec {
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  /** Start of the range that is shown first. */
  readonly from: string;
  /** Shows figures of services; else only of tokentail itself. */
  readonly services: boolean;
  readonly rows: readonly Row[];
}

export interface Row {
  readonly title: string;
  readonly panels: readonly PanelSpec[];
  /** For what many installations have no figures of. */
  readonly collapsed?: boolean;
}

const TAG = "tokentail";
const COLUMNS = 24;

export function assemble(spec: DashboardSpec): Dashboard {
  return {
    id: null,
    uid: spec.uid,
    title: `tokentail / ${spec.title}`,
    description: spec.description,
    tags: [TAG, "llm"],
    schemaVersion: 39,
    editable: false,
    graphTooltip: 1,
    refresh: "30s",
    timezone: "browser",
    time: { from: spec.from, to: "now" },
    links: [
      {
        type: "dashboards",
        title: "tokentail",
        tags: [TAG],
        asDropdown: false,
        includeVars: true,
        keepTime: true,
        targetBlank: false,
        icon: "external link",
        tooltip: "",
        url: "",
      },
    ],
    annotations: { list: [ANNOTATIONS_OF_GRAFANA, RULE_ALERTS, ENGINE_ALERTS] },
    templating: { list: variables(spec.services) },
    panels: layOut(spec.rows),
  };
}

function layOut(rows: readonly Row[]): Panel[] {
  const panels: Panel[] = [];
  let id = 1;
  let y = 0;
  for (const { title, panels: specs, collapsed = false } of rows) {
    const row = { id: id++, type: "row", title, gridPos: { x: 0, y: y++, w: COLUMNS, h: 1 }, collapsed };
    const inside: Panel[] = [];
    let x = 0;
    let lineHeight = 0;
    for (const spec of specs) {
      if (x + spec.w > COLUMNS) {
        x = 0;
        y += lineHeight;
        lineHeight = 0;
      }
      inside.push(place(spec, id++, x, y));
      x += spec.w;
      lineHeight = Math.max(lineHeight, spec.h);
    }
    y += lineHeight;
    if (collapsed) panels.push({ ...row, panels: inside });
    else panels.push({ ...row, panels: [] }, ...inside);
  }
  return panels;
}

const ANNOTATIONS_OF_GRAFANA = {
  builtIn: 1,
  datasource: { type: "grafana", uid: "-- Grafana --" },
  enable: true,
  hide: true,
  iconColor: "rgba(0, 211, 255, 1)",
  name: "Annotations & Alerts",
  type: "dashboard",
};

const RULE_ALERTS = {
  name: "Alerts of rules",
  datasource: DATASOURCE,
  enable: true,
  hide: false,
  iconColor: "red",
  expr: 'ALERTS{alertname=~"LLM.+|Tokentail.+",alertstate="firing",severity!="info"}',
  titleFormat: "{{alertname}}",
  textFormat: "{{service_name}} {{model}} {{budget}}",
  step: "60s",
};

/** Alerts pushed by the embedded engine leave no `ALERTS` series. */
const ENGINE_ALERTS = {
  name: "Alerts of tokentail",
  datasource: DATASOURCE,
  enable: true,
  hide: false,
  iconColor: "orange",
  expr: `${METRICS.alertState.name}{job=~"$job",instance=~"$instance"} == 2`,
  titleFormat: "{{alertname}}",
  textFormat: "{{service_name}} {{model}} {{budget}}",
  step: "60s",
};

function variables(services: boolean): Variable[] {
  const build = METRICS.buildInfo.name;
  return [
    {
      name: "datasource",
      label: "Data Source",
      type: "datasource",
      query: "prometheus",
      current: {},
      hide: 0,
      multi: false,
      includeAll: false,
      regex: "",
      refresh: 1,
      options: [],
    },
    labelValues("job", "Job", `label_values(${build}, job)`, ".+"),
    labelValues("instance", "Instance", `label_values(${build}{job=~"$job"}, instance)`, ".+"),
    ...(services
      ? [
          labelValues("service", "Service", 'label_values({job=~"$job",instance=~"$instance"}, service_name)', ".*"),
          labelValues(
            "model",
            "Model",
            `label_values({__name__=~"${METRICS.requests.name}|${METRICS.tokens.name}|${METRICS.p99Samples.name}",job=~"$job",instance=~"$instance"}, model)`,
            ".*",
          ),
        ]
      : []),
  ];
}

function labelValues(name: string, label: string, definition: string, allValue: string): Variable {
  return {
    name,
    label,
    type: "query",
    datasource: DATASOURCE,
    definition,
    query: { query: definition, refId: `${name}-variable` },
    current: { selected: true, text: "All", value: "$__all" },
    hide: 0,
    multi: true,
    includeAll: true,
    allValue,
    // on every change of the time range: models come and go
    refresh: 2,
    regex: "",
    sort: 1,
    options: [],
  };
}
