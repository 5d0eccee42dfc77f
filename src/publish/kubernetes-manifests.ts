import { stringify } from "yaml";
import { dashboards, renderDashboard } from "../dashboard/dashboards.ts";
import type { Form, RuleOptions } from "../rule/options.ts";
import { GENERATED, groupsOf } from "../rule/render.ts";
import { ruleFiles } from "../rule/rule-files.ts";

export interface KubernetesOptions {
  readonly namespace: string;
  /** Labels of every resource beside our own: what the `ruleSelector` of a Prometheus asks for. */
  readonly labels: Readonly<Record<string, string>>;
}

const NAME = "tokentail";
/** The label that the dashboard sidecar of Grafana's chart looks for. */
const SIDECAR_LABEL = { grafana_dashboard: "1" };

/** Manifests by file name: PrometheusRules, dashboards in ConfigMaps for the sidecar, and a PodMonitor. */
export function kubernetesFiles(rules: RuleOptions, form: Form, options: KubernetesOptions): Map<string, string> {
  const metadata = (name: string, more: Readonly<Record<string, string>> = {}): unknown => ({
    name,
    namespace: options.namespace,
    labels: {
      "app.kubernetes.io/name": NAME,
      "app.kubernetes.io/managed-by": "tokentail-publish",
      ...more,
      ...options.labels,
    },
  });
  const prometheusRules = ruleFiles(rules, form).map((file) => ({
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PrometheusRule",
    metadata: metadata(file.name),
    spec: { groups: groupsOf(file, rules) },
  }));
  const configMaps = dashboards().map((dashboard) => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: metadata(dashboard.uid, SIDECAR_LABEL),
    data: { [`${dashboard.uid}.json`]: renderDashboard(dashboard) },
  }));
  const podMonitor = {
    apiVersion: "monitoring.coreos.com/v1",
    kind: "PodMonitor",
    metadata: metadata(NAME),
    spec: {
      // the job label becomes the value of this label of the pods, as the rules expect it
      jobLabel: "app.kubernetes.io/name",
      selector: { matchLabels: { "app.kubernetes.io/name": NAME } },
      podMetricsEndpoints: [{ port: "http", path: "/metrics", interval: "30s" }],
    },
  };
  return new Map([
    ["tokentail-prometheus-rules.yaml", documents(prometheusRules)],
    ["tokentail-grafana-dashboards.yaml", documents(configMaps)],
    ["tokentail-pod-monitor.yaml", documents([podMonitor])],
  ]);
}

export const isManifestOfOurs = (file: string, text: string): boolean =>
  /^tokentail-.*\.yaml$/.test(file) && text.startsWith(`# ${GENERATED}`);

const documents = (resources: readonly unknown[]): string =>
  `# ${GENERATED}\n${resources.map((resource) => stringify(resource, { lineWidth: 0 })).join("---\n")}`;
