import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { AlertEngine } from "../../src/alert/engine.ts";
import { decimalOf } from "../../src/core/decimal.ts";
import { METRICS as M } from "../../src/metric/catalogue.ts";
import type { BudgetStanding, ServiceKey, WindowFigures } from "../../src/model/sla.ts";
import { RULE_DEFAULTS } from "../../src/rule/options.ts";
import { slaNodeFile } from "../../src/rule/sla-node.ts";
import { Random } from "../../src/simulate/random.ts";
import { TempFolder } from "../support/cli.ts";
import { eventually, freePort, installed, RunningProgram } from "../support/processes.ts";
import { writtenOut } from "../support/written-out.ts";

const MINUTE_MS = 60_000;
const MINUTES = 900;
const KEYS: readonly ServiceKey[] = [
  { service: "chat", model: "llama" },
  { service: "search", model: "llama" },
  { service: "batch", model: "qwen" },
];
const { maxDrift, minSamples } = RULE_DEFAULTS.drift;
const ALERTS = ["LLMLatencyP99Drift", "LLMTokenBudgetNearlySpent", "LLMSlaCritical"] as const;

/** Figures of every minute: latencies, counts and budgets that wander about their thresholds. */
function wander(random: Random): Array<{ now: readonly WindowFigures[]; ratios: readonly number[] }> {
  const level = KEYS.map(() => 2);
  const used = [0.9, 0.5];
  return Array.from({ length: MINUTES }, () => {
    const now = KEYS.map((_, index): WindowFigures => {
      level[index] = Math.min(3, Math.max(1.8, (level[index] as number) * random.lognormal(1, 0.03)));
      const p99Ns = Math.round(level[index] * 1e9);
      // too few requests for a verdict now and then
      const samples = random.chance(0.01) ? 300 : 2000;
      return { samples, p99Ns, lowerNs: Math.round(p99Ns * 0.95), upperNs: Math.round(p99Ns * 1.05), overflow: false };
    });
    for (const index of used.keys())
      used[index] = Math.min(1.1, Math.max(0.8, (used[index] as number) * random.lognormal(1, 0.01)));
    return { now, ratios: [...used] };
  });
}

const THEN: WindowFigures = { samples: 2000, p99Ns: 2e9, lowerNs: 1.95e9, upperNs: 2.05e9, overflow: false };

interface Episode {
  readonly series: string;
  readonly firedMinute: number;
  readonly resolvedMinute: number;
}

/** Episodes of a condition given minute by minute, with Prometheus' `for` and `keep_firing_for`. */
function episodesOf(series: string, active: ReadonlySet<number>, forMinutes: number, keepMinutes: number): Episode[] {
  const episodes: Episode[] = [];
  let since = Number.NaN;
  let fired = Number.NaN;
  let falseSince = Number.NaN;
  for (let minute = 0; minute < MINUTES; minute++) {
    if (active.has(minute)) {
      falseSince = Number.NaN;
      if (Number.isNaN(since)) since = minute;
      if (Number.isNaN(fired) && minute - since >= forMinutes) fired = minute;
      continue;
    }
    since = Number.isNaN(fired) ? Number.NaN : since;
    if (Number.isNaN(fired)) continue;
    if (Number.isNaN(falseSince)) falseSince = minute;
    if (minute - falseSince < keepMinutes) continue;
    episodes.push({ series, firedMinute: fired, resolvedMinute: minute });
    since = fired = falseSince = Number.NaN;
  }
  return Number.isNaN(fired) ? episodes : [...episodes, { series, firedMinute: fired, resolvedMinute: MINUTES }];
}

test.skipIf(!installed("prometheus") || !installed("promtool"))(
  "the rules of the node form find the episodes of the embedded engine, within two evaluations",
  { timeout: 60_000 },
  async () => {
    using folder = new TempFolder();
    const startMs = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS - (MINUTES + 120) * MINUTE_MS;
    const minutes = wander(new Random(11));
    let minute = 0;
    const standing = (name: string, budget: number, keys: readonly ServiceKey[]): BudgetStanding => {
      const ratio = minutes[minute]?.ratios[budget] ?? 0;
      return {
        name,
        tenant: "acme",
        startMs,
        resetMs: startMs + 86_400_000,
        used: ratio * 1e6,
        limit: 1e6,
        ratio,
        spent: ratio > 0.95,
        drawn: () => keys.map((key) => [key, 1000] as const),
        drewOn: (key) => keys.some((one) => one.service === key.service && one.model === key.model),
      };
    };
    const engineEpisodes: Episode[] = [];
    const engine = new AlertEngine({
      rules: {
        drift: {
          signals: ["ttft"],
          by: ["service_name", "model"],
          windowMs: 3_600_000,
          baselineMs: 7 * 86_400_000,
          minSamples,
          maxDrift: decimalOf(maxDrift),
          rule: "separate",
          clock: undefined,
        },
        warnAt: decimalOf(0.95),
        weights: { drift: 0.6, tokens: 0.4 },
        forMs: 5 * MINUTE_MS,
        keepMs: 10 * MINUTE_MS,
      },
      baselines: {
        services: () => KEYS.map((key, id) => [id, key] as const),
        window: (id, _signal, role) => (role === 0 ? minutes[minute]?.now[id] : THEN),
      },
      budgets: { standings: () => [standing("one", 0, KEYS.slice(0, 2)), standing("two", 1, KEYS.slice(2))] },
      onTransition: ({ alertname, labels, resolvedFiredMs }, transition, timeMs) => {
        if (transition !== "resolved") return;
        const at = (ms: number | undefined): number => ((ms ?? Number.NaN) - startMs) / MINUTE_MS;
        const series = `${alertname} ${labels["service_name"] ?? labels["budget"]}`;
        engineEpisodes.push({ series, firedMinute: at(resolvedFiredMs), resolvedMinute: at(timeMs) });
      },
    });
    const lines: string[] = [];
    for (minute = 0; minute < MINUTES; minute++) {
      const timeMs = startMs + minute * MINUTE_MS;
      engine.evaluate(timeMs);
      const put = (def: { name: string }, value: number | undefined, labels: Record<string, string> = {}): void => {
        const all = Object.entries({ job: "tokentail", instance: "n1", ...labels }).map(
          ([name, text]) => `${name}="${text}"`,
        );
        if (value !== undefined) lines.push(`${def.name}{${all.join(",")}} ${value} ${timeMs / 1000}`);
      };
      put(M.buildInfo, 1);
      for (const { labels, verdicts } of engine.services) {
        for (const [signal, { now, base, ratio }] of verdicts) {
          const own = { ...labels, signal };
          put(M.p99LowerBound, now && now.lowerNs / 1e9, own);
          put(M.p99BaselineUpperBound, base && base.upperNs / 1e9, own);
          put(M.p99DriftRatio, ratio, own);
        }
      }
      for (const { name, tenant = "", ratio, drawn } of engine.budgets) {
        put(M.budgetUsedRatio, ratio, { budget: name, tenant });
        for (const [{ service, model }, tokens] of drawn())
          put(M.budgetDrawn, tokens, { budget: name, tenant, service_name: service, model });
      }
    }
    const byMetric = Map.groupBy(lines, (line) => line.slice(0, line.indexOf("{")));
    const text = [...byMetric].map(([name, rows]) => `# TYPE ${name} gauge\n${rows.join("\n")}\n`).join("");
    const data = path.join(folder.path, "data");
    mkdirSync(data);
    const loaded = spawnSync(
      "promtool",
      ["tsdb", "create-blocks-from", "openmetrics", folder.file("samples.om", `${text}# EOF\n`), data],
      { encoding: "utf8" },
    );
    expect(loaded.status, loaded.stderr).toBe(0);

    const port = await freePort();
    writeFileSync(path.join(folder.path, "prometheus.yml"), "global: {}\n");
    await using prometheus = new RunningProgram("prometheus", [
      `--config.file=${path.join(folder.path, "prometheus.yml")}`,
      `--storage.tsdb.path=${data}`,
      `--web.listen-address=127.0.0.1:${port}`,
      // loaded samples have no stale markers: a series that a scrape does not show is to end with it, as it does in life
      "--query.lookback-delta=59s",
    ]);
    await eventually(
      `Prometheus (${prometheus.output.slice(-300)})`,
      async () => (await fetch(`http://127.0.0.1:${port}/-/ready`)).ok,
    );
    const ruleEpisodes: Episode[] = [];
    for (const alert of ALERTS) {
      const body = new URLSearchParams({
        query: writtenOut(slaNodeFile(RULE_DEFAULTS), alert),
        start: String(startMs / 1000),
        end: String(startMs / 1000 + (MINUTES - 1) * 60),
        step: "60",
      });
      const answer = (await (
        await fetch(`http://127.0.0.1:${port}/api/v1/query_range`, { method: "POST", body })
      ).json()) as {
        data: { result: Array<{ metric: Record<string, string>; values: Array<[number, string]> }> };
      };
      for (const { metric, values } of answer.data.result) {
        const active = new Set(values.map(([timeS]) => Math.round((timeS - startMs / 1000) / 60)));
        ruleEpisodes.push(...episodesOf(`${alert} ${metric["service_name"] ?? metric["budget"]}`, active, 5, 10));
      }
    }

    const ended = ruleEpisodes.filter(({ resolvedMinute }) => resolvedMinute < MINUTES - 3);
    const near = (a: Episode, b: Episode): boolean =>
      a.series === b.series &&
      Math.abs(a.firedMinute - b.firedMinute) <= 2 &&
      Math.abs(a.resolvedMinute - b.resolvedMinute) <= 2;
    expect(new Set(engineEpisodes.map(({ series }) => series.split(" ")[0]))).toEqual(new Set(ALERTS));
    expect(engineEpisodes.length).toBeGreaterThan(15);
    expect({
      engineOnly: engineEpisodes.filter((one) => !ruleEpisodes.some((other) => near(one, other))),
      rulesOnly: ended.filter((one) => !engineEpisodes.some((other) => near(one, other))),
    }).toEqual({ engineOnly: [], rulesOnly: [] });
  },
);
