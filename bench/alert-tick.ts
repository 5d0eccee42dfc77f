/**
 * How long one evaluation takes, and how long it holds others up: 1,000 services × 2 signals at full history.
 * `node bench/alert-tick.ts [services] [requests a service and hour]`
 */
import { AlertEngine } from "../src/alert/engine.ts";
import { alertRulesOf } from "../src/app/alert-rules.ts";
import { Baselines } from "../src/baseline/baselines.ts";
import { BudgetLedger } from "../src/budget/ledger.ts";
import { parseConfig } from "../src/config/load.ts";
import { Random } from "../src/simulate/random.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const WEEK_MS = 168 * HOUR_MS;
const services = Number(process.argv[2] ?? 1000);
const perHour = Number(process.argv[3] ?? 600);
const TICKS = 30;
const start = Date.UTC(2026, 4, 11);
const random = new Random(1);
const normal = (): number => Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next());

const budgets = Array.from({ length: 20 }, (_, at) => ({
  name: `b${at}`,
  match: { tenant: `t${at}` },
  limit_tokens: 1e9,
}));
const config = parseConfig(JSON.stringify({ sources: [{ files: ["x"] }], budgets }), "bench");
const rules = alertRulesOf(config);
const baselines = new Baselines({ windowMs: HOUR_MS, retentionMs: 15 * 24 * HOUR_MS, maxBuckets: 1e9 });
const ledger = new BudgetLedger(config.budgets, { warnAt: rules.warnAt });
const ids = Array.from({ length: services }, (_, at) => baselines.idOf(`service-${at}`, "model") as number);
const spanMs = HOUR_MS + TICKS * MINUTE_MS;
for (const [at, id] of ids.entries()) {
  for (const from of [start - WEEK_MS - HOUR_MS, start - HOUR_MS]) {
    for (let i = 0; i < (perHour * spanMs) / HOUR_MS; i++) {
      const timeMs = Math.ceil(from + random.next() * spanMs);
      baselines.add(id, 0, timeMs, 150 * Math.exp(0.6 * normal()));
      baselines.add(id, 1, timeMs, 2500 * Math.exp(0.6 * normal()));
    }
  }
  const usage = {
    service: `service-${at}`,
    model: "model",
    tenant: `t${at % 20}`,
    route: "",
    input: 10,
    cached: 1,
    output: 2,
  };
  ledger.charge(start, usage);
}
// the daemon commits several times a second
for (const _ of baselines.changes());
const engine = new AlertEngine({ rules, baselines, budgets: ledger });
const ticks: number[] = [];
let longest = 0;
for (let tick = 0; tick <= TICKS; tick++) {
  const beginMs = performance.now();
  let stepMs = beginMs;
  for (const _ of engine.steps(start + tick * MINUTE_MS)) {
    const now = performance.now();
    if (tick > 0) longest = Math.max(longest, now - stepMs);
    stepMs = now;
  }
  const tookMs = performance.now() - beginMs;
  if (tick === 0) console.log(`first tick (windows built): ${tookMs.toFixed(0)} ms`);
  else ticks.push(tookMs);
}
ticks.sort((a, b) => a - b);
const at = (q: number): string =>
  (ticks[Math.min(ticks.length - 1, Math.floor(q * ticks.length))] as number).toFixed(1);
console.log(`${services} services × 2 signals, ${perHour} requests an hour each, ${engine.services.length} judged`);
console.log(
  `tick: median ${at(0.5)} ms, P90 ${at(0.9)} ms, max ${at(1)} ms; longest step without a turn for others ${longest.toFixed(1)} ms`,
);
const beginMs = performance.now();
let tidyLongest = 0;
let stepMs = beginMs;
for (const _ of baselines.tidy(start + 3 * HOUR_MS)) {
  const now = performance.now();
  tidyLongest = Math.max(tidyLongest, now - stepMs);
  stepMs = now;
}
console.log(
  `tidy after three hours: ${(performance.now() - beginMs).toFixed(0)} ms, longest step ${tidyLongest.toFixed(1)} ms; ${baselines.buckets} buckets, RSS ${(process.memoryUsage.rss() / 2 ** 20).toFixed(0)} MiB`,
);
