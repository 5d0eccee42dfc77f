import { deserialize, serialize } from "node:v8";
import { expect, test } from "vitest";
import { AlertEngine, type AlertRules } from "../../../src/alert/engine.ts";
import { fingerprint } from "../../../src/alert/fingerprint.ts";
import { noticeOf } from "../../../src/alert/notice.ts";
import { decimalOf } from "../../../src/core/decimal.ts";
import type { BudgetStanding, ServiceKey, Signal, WindowFigures } from "../../../src/model/sla.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const T0 = Date.parse("2026-05-11T12:00Z");
const RULES: AlertRules = {
  drift: {
    signals: ["ttft", "e2e"],
    by: ["service_name", "model"],
    windowMs: HOUR,
    baselineMs: 7 * DAY,
    minSamples: 500,
    maxDrift: decimalOf(0.15),
    rule: "separate",
    clock: undefined,
  },
  warnAt: decimalOf(0.95),
  weights: { drift: 0.6, tokens: 0.4 },
  forMs: 5 * MINUTE,
  keepMs: 10 * MINUTE,
};

const figures = (seconds: number): WindowFigures => ({
  samples: 1000,
  p99Ns: seconds * 1e9,
  lowerNs: seconds * 1e9,
  upperNs: seconds * 1e9,
  overflow: false,
});

const budgetOf = (ratio: number | undefined, drawnBy: readonly ServiceKey[], name = "acme"): BudgetStanding => ({
  name,
  tenant: "acme",
  startMs: T0,
  resetMs: T0 + DAY,
  used: ratio === undefined ? undefined : ratio * 100,
  limit: 100,
  ratio,
  spent: (ratio ?? 0) > 0.95,
  drawn: () => drawnBy.map((key) => [key, 1] as const),
  drewOn: (key) => drawnBy.some(({ service, model }) => service === key.service && model === key.model),
});

const CHAT: ServiceKey = { service: "chat", model: "llama" };
const CODE: ServiceKey = { service: "code", model: "llama" };

/** Services with P99s by signal and time; everything else stands still. */
class World {
  services: ServiceKey[] = [CHAT];
  seconds: (key: ServiceKey, signal: Signal, endMs: number) => number | undefined = () => 1;
  budgets: BudgetStanding[] = [];
  readonly told: string[] = [];

  engine(rules: Partial<AlertRules> = {}): AlertEngine {
    return new AlertEngine({
      rules: { ...RULES, ...rules },
      baselines: {
        services: () => this.services.map((key, id) => [id, key] as const),
        window: (id, signal, _role, endMs) => {
          const seconds = this.seconds(this.services[id] as ServiceKey, signal, endMs);
          return seconds === undefined ? undefined : figures(seconds);
        },
      },
      budgets: { standings: () => this.budgets },
      onTransition: ({ alertname, labels }, transition, timeMs) =>
        this.told.push(
          `${(timeMs - T0) / MINUTE} ${alertname} ${labels["signal"] ?? labels["budget"] ?? labels["service_name"]} ${transition}`,
        ),
    });
  }
}

function run(engine: AlertEngine, from: number, to: number): void {
  for (let minute = from; minute <= to; minute++) engine.evaluate(T0 + minute * MINUTE);
}

const slowNow = (_key: ServiceKey, signal: Signal, endMs: number): number => (signal === "e2e" && endMs >= T0 ? 2 : 1);

test("critical needs a drift and a spent budget that the same service and model drew on", () => {
  const world = new World();
  world.services = [CHAT, CODE];
  world.seconds = slowNow;
  world.budgets = [budgetOf(0.96, [CODE])];
  const engine = world.engine();
  run(engine, 0, 6);
  expect(world.told.filter((text) => text.includes("fired"))).toEqual([
    "5 LLMTokenBudgetNearlySpent acme fired",
    "5 LLMLatencyP99Drift e2e fired",
    "5 LLMLatencyP99Drift e2e fired",
    "5 LLMSlaCritical code fired",
  ]);
  const critical = [...engine.alerts].find(({ alertname }) => alertname === "LLMSlaCritical");
  expect(critical?.values).toMatchObject({ drift_ratio: 1, budget_used_ratio: 0.96, samples_now: 1000 });
  expect(critical?.values.risk_score).toBeCloseTo(0.6 / 0.15 + (0.4 * 0.96) / 0.95, 12);
});

test("critical has a `for` of its own, from when both hold; it ends first and the warning goes on", () => {
  const world = new World();
  world.seconds = slowNow;
  const engine = world.engine();
  run(engine, 0, 9);
  world.budgets = [budgetOf(0.96, [CHAT]), budgetOf(0.99, [CHAT], "other")];
  run(engine, 10, 20);
  world.budgets = [budgetOf(undefined, [])];
  run(engine, 21, 40);
  expect(world.told.filter((text) => /fired|resolved/.test(text) && !text.includes("Budget"))).toEqual([
    "5 LLMLatencyP99Drift e2e fired",
    "15 LLMSlaCritical chat fired",
    "31 LLMSlaCritical chat resolved",
  ]);
});

test("the highest of several spent budgets is shown", () => {
  const world = new World();
  world.seconds = slowNow;
  world.budgets = [budgetOf(0.96, [CHAT]), budgetOf(0.99, [CHAT], "b"), budgetOf(0.5, [CHAT], "c")];
  const engine = world.engine({ forMs: 0 });
  run(engine, 0, 0);
  const critical = [...engine.alerts].find(({ alertname }) => alertname === "LLMSlaCritical");
  expect(critical).toMatchObject({ budgets: ["acme", "b"], values: { budget_used_ratio: 0.99 } });
});

test("a drift alert taints the week after it, for its own service and model", () => {
  const world = new World();
  world.services = [CHAT, CODE];
  // an incident on day 0 for an hour; a week later the same level as in the incident, and as a week before it
  world.seconds = (key, _signal, endMs) =>
    endMs >= T0 && endMs < T0 + HOUR && key.service === "chat" ? 2 : endMs >= T0 + 7 * DAY - HOUR ? 1.6 : 1;
  const engine = world.engine({ forMs: 0, keepMs: 0 });
  run(engine, 0, 70);
  world.told.length = 0;
  engine.evaluate(T0 + 7 * DAY + 30 * MINUTE);
  const reasons = engine.services.map(({ key, verdicts }) => [
    key.service,
    verdicts.get("e2e")?.baseEndMs,
    verdicts.get("e2e")?.drift,
  ]);
  expect(reasons).toEqual([
    ["chat", T0 - 7 * DAY + 30 * MINUTE, true],
    ["code", T0 + 30 * MINUTE, true],
  ]);
});

test("an alert whose service or budget is gone resolves", () => {
  const world = new World();
  world.seconds = slowNow;
  world.budgets = [budgetOf(0.96, [CHAT])];
  const engine = world.engine({ forMs: 0, keepMs: 0 });
  run(engine, 0, 1);
  world.services = [];
  world.budgets = [];
  run(engine, 2, 2);
  expect(world.told.filter((text) => text.includes("resolved"))).toHaveLength(3);
  run(engine, 3, 20);
  expect([...engine.alerts]).toEqual([]);
});

test("services told apart by one label only: any model's draw counts", () => {
  const world = new World();
  world.services = [{ service: "chat", model: "" }];
  world.seconds = slowNow;
  world.budgets = [budgetOf(0.96, [CHAT])];
  const engine = world.engine({ forMs: 0, drift: { ...RULES.drift, by: ["service_name"] } });
  run(engine, 0, 0);
  expect([...engine.alerts].map(({ labels }) => labels)).toContainEqual({ service_name: "chat" });
  expect(world.told).toContain("0 LLMSlaCritical chat fired");
});

test("an unknown service is named so: an empty label would equal every other empty one", () => {
  const world = new World();
  world.services = [{ service: "", model: "llama" }];
  world.seconds = slowNow;
  const engine = world.engine({ forMs: 0 });
  run(engine, 0, 0);
  expect([...engine.alerts][0]?.labels).toEqual({ service_name: "unknown", model: "llama", signal: "e2e" });
});

test("a restart goes on: pending time, firing since, and what was firing", () => {
  const world = new World();
  world.seconds = slowNow;
  const before = world.engine();
  run(before, 0, 4);
  const after = world.engine();
  after.restore(deserialize(serialize(before.state)));
  run(after, 5, 5);
  expect(world.told.at(-1)).toBe("5 LLMLatencyP99Drift e2e fired");
  const again = world.engine();
  again.restore(deserialize(serialize(after.state)));
  run(again, 6, 7);
  expect([...again.alerts][0]).toMatchObject({ firedMs: T0 + 5 * MINUTE });
  expect(world.told.filter((text) => text.includes("fired"))).toHaveLength(1);
});

test("time that nobody watched neither fires nor resolves", () => {
  const world = new World();
  world.seconds = slowNow;
  const engine = world.engine();
  run(engine, 0, 2);
  engine.evaluate(T0 + 120 * MINUTE);
  expect(world.told).toEqual(["0 LLMLatencyP99Drift e2e pending"]);
  run(engine, 121, 123);
  expect(world.told.at(-1)).toBe("123 LLMLatencyP99Drift e2e fired");
  world.seconds = () => 1;
  run(engine, 124, 126);
  engine.evaluate(T0 + 300 * MINUTE);
  expect(world.told.filter((text) => text.includes("resolved"))).toEqual([]);
});

test("no verdict counts as false", () => {
  const world = new World();
  world.seconds = slowNow;
  const engine = world.engine();
  run(engine, 0, 5);
  world.seconds = () => undefined;
  run(engine, 6, 16);
  expect(world.told.at(-1)).toBe("16 LLMLatencyP99Drift e2e resolved");
});

test("a resolved alert is told for fifteen minutes, with the start of its episode; a new one begins afresh", () => {
  const world = new World();
  world.seconds = slowNow;
  const engine = world.engine({ forMs: 0, keepMs: 0 });
  run(engine, 0, 1);
  world.seconds = () => 1;
  run(engine, 2, 2);
  const [alert] = [...engine.alerts];
  if (alert === undefined) throw new Error("no alert");
  expect(noticeOf(alert, T0 + 17 * MINUTE)).toMatchObject({ startsAtMs: T0, endedAtMs: T0 + 2 * MINUTE });
  expect(noticeOf(alert, T0 + 18 * MINUTE)).toBeUndefined();
  world.seconds = slowNow;
  run(engine, 3, 3);
  expect(noticeOf(alert, T0 + 3 * MINUTE)).toMatchObject({ startsAtMs: T0 + 3 * MINUTE, endedAtMs: undefined });
  expect(Object.keys(noticeOf(alert, T0)?.labels ?? {})).not.toContain("drift_ratio");
});

test("fingerprints depend on the labels, not on their order", () => {
  expect(fingerprint({ a: "1", b: "2" })).toBe(fingerprint({ b: "2", a: "1" }));
  expect(fingerprint({ a: "1", b: "2" })).not.toBe(fingerprint({ a: "12", b: "" }));
  expect(fingerprint({})).toMatch(/^[0-9a-f]{16}$/);
});
