/**
 * Episodes of LLMLatencyP99Drift on traffic that did not change, and how soon a real step is found, by the three rules.
 * `node bench/false-alarms.ts [days]`: steady traffic of `days` judged days a cell (default 14), lognormal latencies.
 */
import { AlertEngine, type AlertRules } from "../src/alert/engine.ts";
import { alertRulesOf } from "../src/app/alert-rules.ts";
import { Baselines } from "../src/baseline/baselines.ts";
import { parseConfig } from "../src/config/load.ts";
import type { BudgetPort } from "../src/model/sla.ts";
import { Random } from "../src/simulate/random.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START = Date.UTC(2026, 4, 4);
const days = Number(process.argv[2] ?? 14);
const RULES = ["naive", "interval", "separate"] as const;
const NO_BUDGETS: BudgetPort = { standings: () => [] };

function rulesOf(rule: (typeof RULES)[number]): AlertRules {
  const alerts = { drift: { rule, signals: ["e2e"] } };
  return alertRulesOf(parseConfig(JSON.stringify({ sources: [{ files: ["x"] }], alerts }), "bench"));
}

function normalOf(random: Random): () => number {
  return () => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());
}

/** Poisson arrivals of one service; `factor` slows those of a time down. */
function traffic(
  perHour: number,
  sigma: number,
  toMs: number,
  seed: number,
  factor: (timeMs: number) => number,
): Baselines {
  const random = new Random(seed);
  const normal = normalOf(random);
  const baselines = new Baselines({ windowMs: HOUR_MS, retentionMs: Number.POSITIVE_INFINITY, maxBuckets: 1e9 });
  const id = baselines.idOf("service", "model") as number;
  for (let timeMs = START; timeMs < toMs; timeMs += (-Math.log(1 - random.next()) * HOUR_MS) / perHour)
    baselines.add(id, 1, Math.ceil(timeMs), Math.round(2500 * factor(timeMs) * Math.exp(sigma * normal())));
  return baselines;
}

/** Times at which the drift alert fired, milliseconds. */
function episodes(baselines: Baselines, rules: AlertRules, fromMs: number, toMs: number): number[] {
  const fired: number[] = [];
  const engine = new AlertEngine({
    rules,
    baselines,
    budgets: NO_BUDGETS,
    onTransition: (_alert, transition, timeMs) => {
      if (transition === "fired") fired.push(timeMs);
    },
  });
  for (let timeMs = fromMs; timeMs <= toMs; timeMs += MINUTE_MS) engine.evaluate(timeMs);
  return fired;
}

const rules = new Map(RULES.map((rule) => [rule, rulesOf(rule)]));
console.log(`Nothing changed: episodes a day, ${days} judged days a cell\n`);
console.log(`| requests an hour | sigma | ${RULES.join(" | ")} |\n|---|---|${RULES.map(() => "---|").join("")}`);
for (const perHour of [600, 1000, 3000]) {
  for (const sigma of [0.3, 0.6, 1.0]) {
    const endMs = START + (7 + days) * DAY_MS;
    const baselines = traffic(perHour, sigma, endMs, perHour + sigma * 10, () => 1);
    const cells = RULES.map((rule) =>
      (episodes(baselines, rules.get(rule) as AlertRules, START + 7 * DAY_MS + HOUR_MS, endMs).length / days).toFixed(
        2,
      ),
    );
    console.log(`| ${perHour} | ${sigma.toFixed(1)} | ${cells.join(" | ")} |`);
  }
}

const DRAWS = 20;
console.log(`\nA real step: minutes until it fires (median and worst of ${DRAWS} draws), rule separate\n`);
console.log("| requests an hour | sigma | step | median | worst | missed within 3 h |\n|---|---|---|---|---|---|");
for (const [perHour, sigma, step] of [
  [1800, 0.3, 1.5],
  [1800, 0.3, 2],
  [1800, 0.6, 1.5],
  [1800, 0.6, 2],
  [1800, 1.0, 2],
] as const) {
  const delays: number[] = [];
  for (let draw = 0; draw < DRAWS; draw++) {
    const stepMs = START + 7 * DAY_MS + 3 * HOUR_MS;
    const endMs = stepMs + 3 * HOUR_MS;
    // only the hours that are compared are drawn
    const full = traffic(perHour, sigma, START + 6 * HOUR_MS, 100 + draw, () => 1);
    const random = new Random(999 + draw);
    const normal = normalOf(random);
    for (
      let timeMs = stepMs - 2 * HOUR_MS;
      timeMs < endMs;
      timeMs += (-Math.log(1 - random.next()) * HOUR_MS) / perHour
    )
      full.add(0, 1, Math.ceil(timeMs), Math.round(2500 * (timeMs >= stepMs ? step : 1) * Math.exp(sigma * normal())));
    const [first] = episodes(full, rules.get("separate") as AlertRules, stepMs, endMs);
    delays.push(first === undefined ? Number.POSITIVE_INFINITY : (first - stepMs) / MINUTE_MS);
  }
  delays.sort((a, b) => a - b);
  const found = delays.filter(Number.isFinite);
  const show = (minutes: number | undefined): string => (minutes === undefined ? "–" : String(minutes));
  console.log(
    `| ${perHour} | ${sigma.toFixed(1)} | +${Math.round((step - 1) * 100)} % | ${show(found[found.length >> 1])} | ${show(found.at(-1))} | ${DRAWS - found.length} |`,
  );
}
