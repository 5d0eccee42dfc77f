/** The part of Grafana's classic dashboard JSON (schema 39, read by Grafana 10 to 13) that we write. */
export interface Dashboard {
  readonly id: null;
  readonly uid: string;
  readonly title: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly schemaVersion: 39;
  readonly editable: false;
  readonly graphTooltip: 1;
  readonly refresh: string;
  readonly timezone: "browser";
  readonly time: { readonly from: string; readonly to: "now" };
  readonly links: readonly unknown[];
  readonly annotations: { readonly list: readonly unknown[] };
  readonly templating: { readonly list: readonly Variable[] };
  readonly panels: readonly Panel[];
}

export interface Datasource {
  readonly type: string;
  readonly uid: string;
}

export interface Variable {
  readonly name: string;
  readonly label: string;
  readonly type: "datasource" | "query";
  readonly query: unknown;
  readonly [key: string]: unknown;
}

export interface Target {
  readonly refId: string;
  readonly expr: string;
  readonly datasource: Datasource;
  readonly editorMode: "code";
  readonly legendFormat: string;
  readonly range: boolean;
  readonly instant: boolean;
  readonly format: "time_series" | "table" | "heatmap";
  readonly exemplar: boolean;
}

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly description?: string;
  readonly datasource?: Datasource;
  readonly targets?: readonly Target[];
  readonly fieldConfig?: {
    readonly defaults: Readonly<Record<string, unknown>>;
    readonly overrides: readonly unknown[];
  };
  readonly options?: Readonly<Record<string, unknown>>;
  readonly transformations?: readonly unknown[];
  readonly collapsed?: boolean;
  readonly panels?: readonly Panel[];
}

export const DATASOURCE: Datasource = { type: "prometheus", uid: "${datasource}" };
