import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { cli, TempFolder } from "../support/cli.ts";
import { FakeGrafana } from "../support/fake-grafana.ts";
import { installed } from "../support/processes.ts";

const actions = (stdout: string): string[] => [
  ...new Set([...stdout.matchAll(/^(create|update|remove|unchanged) /gm)].map(([, action]) => action ?? "")),
];

test("prometheus: writes, then finds nothing to do, then mends what was changed", async () => {
  using folder = new TempFolder();
  const out = path.join(folder.path, "rules");
  const first = await cli(["publish", "prometheus", "--out", out]);
  expect({ exit: first.exit, actions: actions(first.stdout) }).toEqual({ exit: 0, actions: ["create"] });
  expect(readdirSync(out).every((file) => file.endsWith(".yaml"))).toBe(true);
  const checked = await cli(["publish", "prometheus", "--out", out, "--check"]);
  expect({ exit: checked.exit, actions: actions(checked.stdout) }).toEqual({ exit: 0, actions: ["unchanged"] });

  const file = path.join(out, "tokentail-slo.yaml");
  const generated = readFileSync(file, "utf8");
  writeFileSync(file, generated.replace("14.4", "99").replace("> 0.144", "> 0.9"));
  const differs = await cli(["publish", "prometheus", "--out", out, "--check"]);
  expect(differs.exit).toBe(1);
  expect(differs.stdout).toMatch(/^update .*tokentail-slo\.yaml\n@@ line \d+\n- .*0\.9/m);
  expect((await cli(["publish", "prometheus", "--out", out, "--dry-run"])).exit).toBe(0);
  expect(readFileSync(file, "utf8")).not.toBe(generated);
  await cli(["publish", "prometheus", "--out", out]);
  expect(readFileSync(file, "utf8")).toBe(generated);
});

test("prometheus: the thresholds of the configuration", async () => {
  using folder = new TempFolder();
  const config = folder.file(
    "config.yml",
    "sources: [{stdin: true}]\nalerts: {for: 2m, keep_firing_for: 90s, drift: {max_drift: 0.3, min_samples: 700, rule: interval}, tokens: {warn_at: 0.9}}\n",
  );
  const out = path.join(folder.path, "rules");
  expect((await cli(["publish", "prometheus", "--out", out, "-c", config])).exit).toBe(0);
  const rules = readFileSync(path.join(out, "tokentail-sla-node.yaml"), "utf8");
  for (const part of [
    "* 0 + 0.3",
    "* 0 + 0.9",
    "* 0 + 700",
    "for: 2m",
    "keep_firing_for: 90s",
    "tokentail_p99_baseline_seconds[",
  ])
    expect(rules).toContain(part);
  expect(rules).not.toContain("baseline_upper_bound");
  const faulty = folder.file("faulty.yml", "sources: []\n");
  expect((await cli(["publish", "prometheus", "--out", out, "-c", faulty])).exit).toBe(2);
});

test("prometheus: one form only, and what is no longer wanted is removed", async () => {
  using folder = new TempFolder();
  await cli(["publish", "prometheus", "--out", folder.path]);
  writeFileSync(path.join(folder.path, "tokentail-mine.yaml"), "groups: []\n");
  const { exit } = await cli(["publish", "prometheus", "--out", folder.path, "--form", "node"]);
  expect(exit).toBe(0);
  expect(existsSync(path.join(folder.path, "tokentail-sla-fleet.yaml"))).toBe(false);
  expect(existsSync(path.join(folder.path, "tokentail-sla-node.yaml"))).toBe(true);
  expect(existsSync(path.join(folder.path, "tokentail-mine.yaml"))).toBe(true);
});

test("prometheus: a file that is not ours is never overwritten, and nothing else is written", async () => {
  using folder = new TempFolder();
  writeFileSync(path.join(folder.path, "tokentail-self.yaml"), "groups: [] # mine\n");
  const { exit, stderr } = await cli(["publish", "prometheus", "--out", folder.path]);
  expect(exit).toBe(1);
  expect(stderr).toMatch(
    /^tokentail: Cannot write ".*tokentail-self\.yaml": a file that tokentail did not write is there/,
  );
  expect(readdirSync(folder.path)).toEqual(["tokentail-self.yaml"]);
});

test("prometheus: asks for a reload, and says what to do when it is refused", async () => {
  using folder = new TempFolder();
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(request.url === "/ok/-/reload" ? 200 : 403).end("Lifecycle API is not enabled.");
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const fine = await cli(["publish", "prometheus", "--out", folder.path, "--reload-url", `${url}/ok/`]);
    expect({ exit: fine.exit, asked }).toEqual({ exit: 0, asked: ["POST /ok/-/reload"] });
    const refused = await cli(["publish", "prometheus", "--out", folder.path, "--reload-url", url]);
    expect(refused.exit).toBe(1);
    expect(refused.stderr).toContain("--web.enable-lifecycle");
    await cli(["publish", "prometheus", "--out", folder.path, "--reload-url", url, "--check"]);
    expect(asked).toHaveLength(2);
  } finally {
    server.close();
  }
});

test.for([
  { name: "prometheus without a folder", argv: ["prometheus"], says: "--out DIR" },
  { name: "an unknown form", argv: ["prometheus", "--out", "x", "--form", "cluster"], says: "node, fleet, both" },
  { name: "grafana with neither folder nor address", argv: ["grafana"], says: "either --out DIR or --url URL" },
  { name: "an address without a scheme", argv: ["grafana", "--url", "grafana:3000"], says: "no http://" },
  {
    name: "a token file that is not there",
    argv: ["grafana", "--url", "http://127.0.0.1:1", "--token-file", "/nowhere"],
    says: "Cannot read --token-file",
  },
  { name: "a label without a value", argv: ["kubernetes", "--label", "release"], says: "NAME=VALUE" },
  { name: "kubernetes --check without a folder", argv: ["kubernetes", "--check"], says: "--out DIR" },
])("usage: $name", async ({ argv, says }) => {
  const { exit, stderr } = await cli(["publish", ...argv]);
  expect(exit).toBe(2);
  expect(stderr).toContain(says);
  expect(stderr.trimEnd().split("\n")).toHaveLength(1);
});

test("grafana --out: a provider, dashboards that it names, and idempotence", async () => {
  using folder = new TempFolder();
  const run = (...more: string[]) => cli(["publish", "grafana", "--out", folder.path, "--path", "/srv/dash", ...more]);
  expect((await run()).exit).toBe(0);
  const provider = parse(readFileSync(path.join(folder.path, "provisioning/dashboards/tokentail.yaml"), "utf8")) as {
    apiVersion: number;
    providers: Array<{ type: string; options: { path: string } }>;
  };
  expect(provider).toMatchObject({ apiVersion: 1, providers: [{ type: "file", options: { path: "/srv/dash" } }] });
  expect(readdirSync(path.join(folder.path, "dashboards/tokentail"))).toHaveLength(5);
  expect((await run("--check")).exit).toBe(0);
  const file = path.join(folder.path, "dashboards/tokentail/tokentail-drift.json");
  writeFileSync(file, readFileSync(file, "utf8").replace("tokentail / Drift", "Mine"));
  const { exit, stderr } = await run();
  expect({ exit, stderr }).toMatchObject({
    exit: 1,
    stderr: expect.stringContaining("tokentail-drift.json") as string,
  });
});

test("grafana --url: makes the folder once, saves once, updates only what changed", async () => {
  using folder = new TempFolder();
  await using grafana = await FakeGrafana.start();
  const token = folder.file("token", `${grafana.token}\n`);
  const run = (...more: string[]) =>
    cli(["publish", "grafana", "--url", `${grafana.url}/`, "--token-file", token, ...more]);

  const dryRun = await run("--check");
  expect({ exit: dryRun.exit, actions: actions(dryRun.stdout), stored: grafana.dashboards.size }).toEqual({
    exit: 1,
    actions: ["create"],
    stored: 0,
  });
  expect(grafana.requests.some((request) => request.startsWith("POST"))).toBe(false);

  expect((await run()).exit).toBe(0);
  expect([...grafana.folders]).toEqual([["tokentail", "tokentail"]]);
  expect([...grafana.dashboards.values()].map(({ version, folderUid }) => `${version} ${folderUid}`)).toEqual(
    Array.from({ length: 5 }, () => "1 tokentail"),
  );

  const again = await run();
  expect({ exit: again.exit, actions: actions(again.stdout) }).toEqual({ exit: 0, actions: ["unchanged"] });
  expect([...grafana.dashboards.values()].every(({ version }) => version === 1)).toBe(true);

  const drift = grafana.dashboards.get("tokentail-drift");
  if (drift === undefined) throw new Error("not saved");
  grafana.dashboards.set("tokentail-drift", {
    ...drift,
    dashboard: { ...drift.dashboard, tags: ["tokentail", "tokentail-hash-000000000000"] },
  });
  const check = await run("--check");
  expect(check.exit).toBe(1);
  expect(check.stdout).toMatch(/^update {4}tokentail \/ Drift$/m);
  await run();
  expect([...grafana.dashboards].flatMap(([uid, { version }]) => (version > 1 ? [`${uid} ${version}`] : []))).toEqual([
    "tokentail-drift 2",
  ]);
});

test("grafana --url: another's dashboard with our uid is never overwritten, and nothing is written", async () => {
  using folder = new TempFolder();
  await using grafana = await FakeGrafana.start();
  grafana.dashboards.set("tokentail-self", {
    dashboard: { uid: "tokentail-self", title: "My own" },
    folderUid: "",
    version: 3,
    message: "",
  });
  const { exit, stderr } = await cli([
    "publish",
    "grafana",
    "--url",
    grafana.url,
    "--token-file",
    folder.file("token", grafana.token),
  ]);
  expect(exit).toBe(1);
  expect(stderr).toContain('another dashboard "My own" with uid "tokentail-self"');
  expect({ folders: grafana.folders.size, dashboards: grafana.dashboards.size }).toEqual({ folders: 0, dashboards: 1 });
});

test("grafana --url: says what is missing", async () => {
  using folder = new TempFolder();
  await using grafana = await FakeGrafana.start();
  const anonymous = await cli(["publish", "grafana", "--url", grafana.url]);
  expect({ exit: anonymous.exit, stderr: anonymous.stderr }).toMatchObject({
    exit: 1,
    stderr: expect.stringMatching(/401 Unauthorized; .*--token-file/) as string,
  });
  grafana.writeStatus = 403;
  const viewer = await cli([
    "publish",
    "grafana",
    "--url",
    grafana.url,
    "--token-file",
    folder.file("token", grafana.token),
  ]);
  expect({ exit: viewer.exit, stderr: viewer.stderr }).toMatchObject({
    exit: 1,
    stderr: expect.stringMatching(/403 .*role Editor/) as string,
  });
  const nobody = await cli(["publish", "grafana", "--url", "http://127.0.0.1:9"]);
  expect({ exit: nobody.exit, stderr: nobody.stderr }).toMatchObject({
    exit: 1,
    stderr: expect.stringMatching(/^tokentail: Cannot reach Grafana at http:\/\/127\.0\.0\.1:9/) as string,
  });
});

test("kubernetes: resources that the operator and the sidecar take", async () => {
  const { exit, stdout } = await cli(["publish", "kubernetes", "--namespace", "obs", "--label", "release=prom"]);
  expect(exit).toBe(0);
  const resources = parseAllDocuments(stdout).map(
    (document) =>
      document.toJS() as {
        kind: string;
        metadata: { name: string; namespace: string; labels: Record<string, string> };
        spec?: { groups?: unknown[]; jobLabel?: string };
        data?: Record<string, string>;
      },
  );
  const kinds = Map.groupBy(resources, ({ kind }) => kind);
  expect([...kinds].map(([kind, all]) => [kind, all.length])).toEqual([
    ["PrometheusRule", 7],
    ["ConfigMap", 5],
    ["PodMonitor", 1],
  ]);
  for (const { metadata } of resources) {
    expect(metadata).toMatchObject({ namespace: "obs", labels: { release: "prom" } });
    expect(metadata.name).toMatch(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);
  }
  for (const map of kinds.get("ConfigMap") ?? []) {
    expect(map.metadata.labels["grafana_dashboard"]).toBe("1");
    const [text = ""] = Object.values(map.data ?? {});
    expect(Buffer.byteLength(text)).toBeLessThan(1_000_000);
    expect((JSON.parse(text) as { uid: string }).uid).toBe(map.metadata.name);
  }
  expect(kinds.get("PodMonitor")?.[0]?.spec?.jobLabel).toBe("app.kubernetes.io/name");
});

test.skipIf(!installed("promtool"))("rules with links and another job pass promtool", async () => {
  using folder = new TempFolder();
  const out = path.join(folder.path, "r");
  mkdirSync(out);
  await cli([
    "publish",
    "prometheus",
    "--out",
    out,
    "--job",
    "tt",
    "--runbooks",
    "https://example.com/rb",
    "--grafana-url",
    "https://example.com/grafana/",
  ]);
  const files = readdirSync(out).map((file) => path.join(out, file));
  const check = spawnSync("promtool", ["check", "rules", ...files], { encoding: "utf8" });
  expect({ status: check.status, said: check.stderr }).toEqual({ status: 0, said: "" });
  const rules = readFileSync(path.join(out, "tokentail-self.yaml"), "utf8");
  expect(rules).toContain('up{job="tt"} == 0');
  expect(rules).toContain("runbook_url: https://example.com/rb/TokentailDown.md");
  expect(rules).toContain("dashboard_url: https://example.com/grafana/d/tokentail-self");
});
