import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { METRICS as M } from "../../src/metric/catalogue.ts";
import { alertmanagerExample } from "../../src/rule/alertmanager-example.ts";
import { RULE_DEFAULTS } from "../../src/rule/options.ts";
import { renderRules } from "../../src/rule/render.ts";
import { slaNodeFile } from "../../src/rule/sla-node.ts";
import { TempFolder } from "../support/cli.ts";
import { eventually, freePort, installed, RunningProgram } from "../support/processes.ts";

interface Notification {
  readonly receiver: string;
  readonly alerts: ReadonlyArray<{ readonly status: string; readonly labels: Readonly<Record<string, string>> }>;
}

async function listening(answer: (route: string, body: string) => string): Promise<{ server: Server; port: number }> {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => {
      body += chunk.toString();
    });
    request.on("end", () => {
      response.writeHead(200, { "content-type": "text/plain; version=0.0.4" });
      response.end(answer(request.url ?? "", body));
    });
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  return { server, port: (server.address() as AddressInfo).port };
}

/** What a daemon with one service, one budget and a verdict shows. */
function exposition(drifted: boolean, spent: boolean): string {
  const chat = '{signal="ttft",service_name="chat",model="llama"}';
  const other = '{signal="ttft",service_name="search",model="llama"}';
  const budget = '{budget="daily",tenant="acme"}';
  const rows: Array<readonly [string, number]> = [
    [M.buildInfo.name, 1],
    [M.p99DriftRatio.name + chat, drifted ? 0.5 : 0.01],
    [M.p99LowerBound.name + chat, drifted ? 2.9 : 2],
    [M.p99BaselineUpperBound.name + chat, 2.1],
    [M.p99DriftRatio.name + other, drifted ? 0.4 : 0],
    [M.p99LowerBound.name + other, drifted ? 2.8 : 2],
    [M.p99BaselineUpperBound.name + other, 2.1],
    [M.budgetUsedRatio.name + budget, spent ? 0.97 : 0.4],
    [`${M.budgetDrawn.name}{budget="daily",tenant="acme",service_name="chat",model="llama"}`, 970],
  ];
  return `${rows.map(([series, value]) => `${series} ${value}`).join("\n")}\n`;
}

test.skipIf(!installed("prometheus") || !installed("prometheus-alertmanager"))(
  "rules → Prometheus → Alertmanager: groups, silences the drift warning under the joint alert, resolves",
  { timeout: 90_000 },
  async () => {
    using folder = new TempFolder();
    let state = { drifted: true, spent: true };
    const told: Notification[] = [];
    const exporter = await listening(() => exposition(state.drifted, state.spent));
    const webhook = await listening((_, body) => {
      told.push(JSON.parse(body) as Notification);
      return "";
    });
    try {
      const alertmanagerPort = await freePort();
      const prometheusPort = await freePort();
      const example = parse(alertmanagerExample()) as {
        route: Record<string, unknown>;
        receivers: Array<{ name: string; webhook_configs?: Array<{ url: string; send_resolved?: boolean }> }>;
      };
      Object.assign(example.route, { group_wait: "2s", group_interval: "1s" });
      for (const { name, webhook_configs: hooks = [] } of example.receivers)
        for (const hook of hooks) hook.url = `http://127.0.0.1:${webhook.port}/${name}`;
      const config = folder.file("alertmanager.yml", stringify(example));
      const options = { ...RULE_DEFAULTS, for: "0s", keepFiringFor: "0s" };
      mkdirSync(path.join(folder.path, "rules"));
      writeFileSync(
        path.join(folder.path, "rules/node.yaml"),
        renderRules(slaNodeFile(options), options).replaceAll("[3m]", "[2s]"),
      );
      const prometheusConfig = folder.file(
        "prometheus.yml",
        stringify({
          global: { scrape_interval: "1s", evaluation_interval: "1s" },
          rule_files: [path.join(folder.path, "rules/*.yaml")],
          alerting: { alertmanagers: [{ static_configs: [{ targets: [`127.0.0.1:${alertmanagerPort}`] }] }] },
          scrape_configs: [{ job_name: "tokentail", static_configs: [{ targets: [`127.0.0.1:${exporter.port}`] }] }],
        }),
      );
      await using alertmanager = new RunningProgram("prometheus-alertmanager", [
        `--config.file=${config}`,
        `--storage.path=${path.join(folder.path, "am")}`,
        `--web.listen-address=127.0.0.1:${alertmanagerPort}`,
        "--cluster.listen-address=",
      ]);
      await eventually(
        `Alertmanager (${alertmanager.output.slice(-300)})`,
        async () => (await fetch(`http://127.0.0.1:${alertmanagerPort}/-/ready`)).ok,
      );
      await using prometheus = new RunningProgram("prometheus", [
        `--config.file=${prometheusConfig}`,
        `--storage.tsdb.path=${path.join(folder.path, "data")}`,
        `--web.listen-address=127.0.0.1:${prometheusPort}`,
        "--rules.alert.resend-delay=1s",
      ]);

      const names = (status: string): string[] =>
        [
          ...new Set(
            told.flatMap(({ receiver, alerts }) =>
              alerts
                .filter((alert) => alert.status === status)
                .map(
                  ({ labels }) =>
                    `${receiver}: ${labels["alertname"]} ${labels["service_name"] ?? labels["budget"] ?? ""}`,
                ),
            ),
          ),
        ].sort();
      const firing = [
        "pager: LLMSlaCritical chat",
        "tickets: LLMLatencyP99Drift search",
        "tickets: LLMTokenBudgetNearlySpent daily",
      ];
      await eventually(`three notifications, not ${JSON.stringify(told)} (${prometheus.output.slice(-300)})`, () =>
        firing.every((one) => names("firing").includes(one)),
      );
      // the drift warning of the same service is there, and held back; that of another service is not
      expect(names("firing")).toEqual(firing);
      const held = (await (
        await fetch(`http://127.0.0.1:${alertmanagerPort}/api/v2/alerts?inhibited=true`)
      ).json()) as Array<{
        labels: Record<string, string>;
        status: { state: string };
      }>;
      expect(
        held
          .filter(({ status }) => status.state === "suppressed")
          .map(({ labels }) => `${labels["alertname"]} ${labels["service_name"]}`),
      ).toEqual(["LLMLatencyP99Drift chat"]);

      state = { drifted: true, spent: false };
      await eventually(
        "the joint alert to resolve and the warning to take over",
        () =>
          names("resolved").includes("pager: LLMSlaCritical chat") &&
          names("firing").includes("tickets: LLMLatencyP99Drift chat"),
      );
      state = { drifted: false, spent: false };
      await eventually(
        "everything to resolve",
        () =>
          names("resolved").includes("tickets: LLMLatencyP99Drift chat") &&
          names("resolved").includes("tickets: LLMLatencyP99Drift search"),
      );
      expect(names("resolved")).toContain("tickets: LLMTokenBudgetNearlySpent daily");
    } finally {
      exporter.server.close();
      webhook.server.close();
      exporter.server.closeAllConnections();
      webhook.server.closeAllConnections();
    }
  },
);
