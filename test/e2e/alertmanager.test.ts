import { once } from "node:events";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { expect, test } from "vitest";
import type { OutgoingAlert } from "../../src/publish/alertmanager-client.ts";
import { AlertmanagerFleet } from "../../src/publish/alertmanager-fleet.ts";
import { Alertmanager } from "../../src/publish/schema.ts";
import { TempFolder } from "../support/cli.ts";
import { eventually, freePort, installed, RunningProgram } from "../support/processes.ts";

const PROGRAM = "prometheus-alertmanager";
const MAIN = path.join(import.meta.dirname, "../../src/main.ts");
const WEEK_MS = 7 * 86_400_000;
const silent = { info: () => {}, warn: () => {} };

interface Shown {
  readonly labels: Record<string, string>;
  readonly annotations: Record<string, string>;
  readonly startsAt: string;
  readonly generatorURL: string;
  readonly status: { readonly state: string; readonly inhibitedBy: readonly string[] };
}

/** An Alertmanager of its own, with its notifications. */
class RealAlertmanager implements AsyncDisposable {
  readonly url: string;
  readonly notifications: Array<{ readonly status: string; readonly alertname: string }>;
  readonly #program: RunningProgram;
  readonly #webhook: Server;

  private constructor(
    url: string,
    notifications: RealAlertmanager["notifications"],
    program: RunningProgram,
    webhook: Server,
  ) {
    this.url = url;
    this.notifications = notifications;
    this.#program = program;
    this.#webhook = webhook;
  }

  static async start(folder: TempFolder, name: string): Promise<RealAlertmanager> {
    const notifications: RealAlertmanager["notifications"] = [];
    const webhook = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => {
        body += chunk.toString();
      });
      request.on("end", () => {
        const { alerts } = JSON.parse(body) as { alerts: Array<{ status: string; labels: { alertname: string } }> };
        for (const { status, labels } of alerts) notifications.push({ status, alertname: labels.alertname });
        response.end();
      });
    }).listen(0, "127.0.0.1");
    await once(webhook, "listening");
    const port = await freePort();
    const config = folder.file(
      `${name}.yml`,
      `route:
  receiver: hook
  group_by: [alertgroup, service_name, model, budget]
  group_wait: 2s
  group_interval: 1s
  repeat_interval: 1h
receivers:
  - name: hook
    webhook_configs: [{url: "http://127.0.0.1:${(webhook.address() as AddressInfo).port}", send_resolved: true}]
inhibit_rules:
  - source_matchers: [severity="critical", alertgroup="llm-sla"]
    target_matchers: [severity="warning", alertname="LLMLatencyP99Drift"]
    equal: [alertgroup, service_name, model]
`,
    );
    const program = new RunningProgram(PROGRAM, [
      `--config.file=${config}`,
      `--storage.path=${path.join(folder.path, name)}`,
      `--web.listen-address=127.0.0.1:${port}`,
      "--cluster.listen-address=",
    ]);
    const url = `http://127.0.0.1:${port}`;
    await eventually("the Alertmanager", async () => (await fetch(`${url}/-/ready`)).ok);
    return new RealAlertmanager(url, notifications, program, webhook);
  }

  async alerts(): Promise<Shown[]> {
    return (await (await fetch(`${this.url}/api/v2/alerts`)).json()) as Shown[];
  }

  async named(alertname: string): Promise<Shown | undefined> {
    return (await this.alerts()).find(({ labels }) => labels["alertname"] === alertname);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program[Symbol.asyncDispose]();
    this.#webhook.closeAllConnections();
    this.#webhook.close();
  }
}

const line = (timeMs: number, id: string, ms: number): string =>
  `${JSON.stringify({ time: new Date(timeMs).toISOString(), level: "info", msg: "request finished", request_id: id, service_name: "chat", model: "llama", tenant: "acme", status: 200, ttft_ms: 50, e2e_latency_ms: ms, tokens_in: 90, tokens_out: 10 })}\n`;

/** Six hundred requests of a week ago, and six hundred slower ones now. */
function writeLog(file: string, nowMs: number): void {
  const lines: string[] = [];
  for (let i = 0; i < 600; i++) lines.push(line(nowMs - WEEK_MS - i * 5000 - 60_000, `then-${i}`, 1000));
  for (let i = 599; i >= 0; i--) lines.push(line(nowMs - i * 5000, `now-${i}`, 2000));
  writeFileSync(file, lines.join(""));
}

function writeConfig(folder: TempFolder, parts: { port: number; urls: readonly string[]; limit: number }): string {
  return folder.file(
    "tokentail.yml",
    `sources: [{files: ["${path.join(folder.path, "chat.log")}"], start_at: beginning}]
http: {listen: "127.0.0.1:${parts.port}"}
state: {path: "${path.join(folder.path, "state")}"}
budgets: [{name: acme-daily, match: {tenant: acme}, limit_tokens: ${parts.limit}, period: 1mo}]
alerts: {every: 1s, for: 1s, keep_firing_for: 2s}
alertmanager: {urls: ${JSON.stringify(parts.urls)}, resend: 1s, external_labels: {cluster: test}}
`,
  );
}

const daemon = (config: string): RunningProgram => new RunningProgram(process.execPath, [MAIN, "run", "-c", config]);

test.skipIf(!installed(PROGRAM))(
  "a drift with a spent budget reaches two real Alertmanagers, outlives a kill -9 without flapping, and resolves",
  async () => {
    using folder = new TempFolder();
    await using first = await RealAlertmanager.start(folder, "am1");
    await using second = await RealAlertmanager.start(folder, "am2");
    writeLog(path.join(folder.path, "chat.log"), Date.now());
    const port = await freePort();
    const parts = { port, urls: [first.url, second.url], limit: 61_000 };
    const config = writeConfig(folder, parts);
    const url = `http://127.0.0.1:${port}`;
    const used = async (): Promise<number | undefined> => {
      const { budgets } = (await (await fetch(`${url}/api/v1/budgets`)).json()) as {
        budgets: Array<{ used_tokens: number }>;
      };
      return budgets[0]?.used_tokens;
    };
    let critical: Shown;
    let usedBefore: number | undefined;
    {
      await using program = daemon(config);
      for (const alertmanager of [first, second])
        await eventually(`the critical alert (${program.output.slice(-2000)})`, () =>
          alertmanager.named("LLMSlaCritical"),
        );
      critical = (await first.named("LLMSlaCritical")) as Shown;
      expect(critical.labels).toEqual({
        alertname: "LLMSlaCritical",
        severity: "critical",
        alertgroup: "llm-sla",
        source: "tokentail",
        cluster: "test",
        service_name: "chat",
        model: "llama",
      });
      expect((await first.named("LLMTokenBudgetNearlySpent"))?.labels).toMatchObject({
        budget: "acme-daily",
        tenant: "acme",
      });
      const drift = await eventually("the warning beneath", async () => {
        const shown = await first.named("LLMLatencyP99Drift");
        return shown?.status.state === "suppressed" ? shown : undefined;
      });
      expect(drift.labels).toMatchObject({ signal: "e2e", service_name: "chat", model: "llama" });
      await eventually("the page", () => first.notifications.some(({ alertname }) => alertname === "LLMSlaCritical"));

      const page = await fetch(critical.generatorURL);
      expect(page.status).toBe(200);
      expect(await page.text()).toContain("tokentail_p99_drift_ratio");
      const view = (await (await fetch(`${url}/api/v1/alerts`)).json()) as {
        services: unknown[];
        alertmanagers: Array<{ errors: number }>;
      };
      expect(view.services).toMatchObject([
        {
          labels: { service_name: "chat", model: "llama" },
          signals: [
            { signal: "ttft", drift: false },
            {
              signal: "e2e",
              drift: true,
              drift_ratio: 1,
              now: { samples: 600, p99_s: 2 },
              baseline: { samples: 600, p99_s: 1 },
            },
          ],
        },
      ]);
      expect(view.alertmanagers.map(({ errors }) => errors)).toEqual([0, 0]);
      const metrics = await (await fetch(`${url}/metrics`)).text();
      expect(metrics).toMatch(/^tokentail_p99_drift_ratio\{signal="e2e",service_name="chat",model="llama"\} 1$/m);
      expect(metrics).toMatch(/^tokentail_budget_used_tokens\{budget="acme-daily",tenant="acme"\} \d+$/m);
      usedBefore = await used();
      program.kill("SIGKILL");
      await program.ended();
    }
    const before = { notifications: first.notifications.length };
    await using program = daemon(config);
    await eventually(`the daemon (${program.output.slice(-2000)})`, async () => (await fetch(`${url}/-/ready`)).ok);
    appendFileSync(path.join(folder.path, "chat.log"), line(Date.now(), "after", 2000));
    await new Promise((resolve) => {
      setTimeout(resolve, 5000);
    });
    expect(await used()).toBe((usedBefore ?? 0) + 100);
    const after = (await first.named("LLMSlaCritical")) as Shown;
    expect(after.startsAt).toBe(critical.startsAt);
    expect(first.notifications.slice(before.notifications).filter(({ status }) => status === "resolved")).toEqual([]);

    // a higher limit, reloaded: the budget is no longer nearly spent
    writeConfig(folder, { ...parts, limit: 1_000_000 });
    expect((await fetch(`${url}/-/reload`, { method: "POST" })).status).toBe(200);
    for (const alertmanager of [first, second])
      await eventually("the end of the page", () =>
        alertmanager.notifications.some(
          ({ status, alertname }) => status === "resolved" && alertname === "LLMSlaCritical",
        ),
      );
    expect(first.notifications.filter(({ alertname }) => alertname === "LLMSlaCritical")).toEqual([
      { status: "firing", alertname: "LLMSlaCritical" },
      { status: "resolved", alertname: "LLMSlaCritical" },
    ]);
    expect(await first.named("LLMLatencyP99Drift")).toBeDefined();
    const budgets = (await (await fetch(`${url}/api/v1/budgets`)).json()) as {
      budgets: Array<{ limit_tokens: number }>;
    };
    expect(budgets.budgets[0]?.limit_tokens).toBe(1_000_000);

    // the file is looked at by itself; a bad one changes nothing
    writeFileSync(config, readFileSync(config, "utf8").replace("limit_tokens", "limit_token"));
    const reloadOk = async (): Promise<string | undefined> =>
      /^tokentail_config_last_reload_successful (\d)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1];
    await eventually("a look at the file", async () => (await reloadOk()) === "0");
    expect((await fetch(`${url}/-/reload`, { method: "POST" })).status).toBe(500);
    writeConfig(folder, { ...parts, limit: 2_000_000 });
    program.kill("SIGHUP");
    await eventually("a reload by signal", async () => (await reloadOk()) === "1");
  },
  60_000,
);

const alertOf = (name: string, more: Partial<OutgoingAlert> = {}): OutgoingAlert => ({
  labels: { alertname: name },
  annotations: {},
  startsAtMs: Date.now(),
  endsAtMs: Date.now() + 60_000,
  generatorUrl: "http://127.0.0.1:9843/alerts/x",
  ...more,
});

test.skipIf(!installed(PROGRAM))("a real Alertmanager stores every good part of a batch with bad ones", async () => {
  using folder = new TempFolder();
  await using alertmanager = await RealAlertmanager.start(folder, "am");
  const fleet = new AlertmanagerFleet({
    config: Alertmanager.parse({ urls: [alertmanager.url] }),
    clock: { nowMs: () => Date.now(), sleep: async () => {} },
    log: silent,
  });
  fleet.send([
    alertOf("good"),
    alertOf("bad-generator", { generatorUrl: "http://[:::" }),
    alertOf("bad-label", { labels: { alertname: "bad-label", "llm.model": "x", empty: "" } }),
    alertOf("lone-surrogate", { annotations: { summary: "\ud800" } }),
    alertOf("ends-before-start", { startsAtMs: Date.now() + 50_000, endsAtMs: Date.now() + 10 }),
    alertOf("last"),
  ]);
  await fleet.drained();
  const names = (await alertmanager.alerts())
    .map(({ labels }) => labels["alertname"] ?? "")
    .sort((a, b) => a.localeCompare(b));
  expect(names).toEqual(["bad-generator", "bad-label", "good", "last", "lone-surrogate"]);
  expect(fleet.states[0]).toMatchObject({ sent: 5, errors: 1 });
});
