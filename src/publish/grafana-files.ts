import { stringify } from "yaml";
import { dashboards, renderDashboard } from "../dashboard/dashboards.ts";
import { GENERATED } from "../rule/render.ts";

const PROVIDER = "provisioning/dashboards/tokentail.yaml";
const DASHBOARDS = "dashboards/tokentail";

/**
 * Files for Grafana's provisioning: the provider and the dashboards.
 *
 * @param servedPath Where Grafana will see the dashboards.
 */
export function grafanaFiles(servedPath: string): Map<string, string> {
  const provider = {
    apiVersion: 1,
    providers: [
      {
        name: "tokentail",
        folder: "tokentail",
        type: "file",
        disableDeletion: false,
        allowUiUpdates: false,
        updateIntervalSeconds: 30,
        options: { path: servedPath, foldersFromFilesStructure: false },
      },
    ],
  };
  return new Map([
    [PROVIDER, `# ${GENERATED}\n${stringify(provider)}`],
    ...dashboards().map((dashboard): [string, string] => [
      `${DASHBOARDS}/${dashboard.uid}.json`,
      renderDashboard(dashboard),
    ]),
  ]);
}

/** A dashboard that we wrote has one of our uids and titles. */
export function isDashboardOfOurs(dashboard: unknown): boolean {
  const { uid, title } = dashboard as { uid?: unknown; title?: unknown };
  return (
    typeof uid === "string" &&
    uid.startsWith("tokentail-") &&
    typeof title === "string" &&
    title.startsWith("tokentail / ")
  );
}

export function isGrafanaFileOfOurs(file: string, text: string): boolean {
  if (file === PROVIDER) return text.startsWith(`# ${GENERATED}`);
  if (!/\/tokentail-[^/]*\.json$/.test(file)) return false;
  try {
    return isDashboardOfOurs(JSON.parse(text));
  } catch {
    // a half-written or hand-edited file: not to be touched
    return false;
  }
}
