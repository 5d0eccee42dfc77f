import { deserialize, serialize } from "node:v8";
import { expect, test } from "vitest";
import { z } from "zod";
import { BudgetLedger, type Usage } from "../../../src/budget/ledger.ts";
import { Budgets } from "../../../src/budget/schema.ts";
import { decimalOf } from "../../../src/core/decimal.ts";
import type { BudgetStanding } from "../../../src/model/sla.ts";

const NOON = Date.parse("2026-05-04T12:00Z");
const usage = (more: Partial<Usage>): Usage => ({
  service: "chat",
  model: "llama",
  tenant: "acme",
  route: "/v1",
  input: undefined,
  cached: undefined,
  output: undefined,
  ...more,
});

function ledgerOf(budgets: unknown[], charges: Partial<Usage>[] = [], at = NOON): BudgetLedger {
  const ledger = new BudgetLedger(Budgets.parse(budgets), { warnAt: decimalOf(0.95) });
  for (const charge of charges) ledger.charge(at, usage(charge));
  return ledger;
}
const standing = (ledger: BudgetLedger, at = NOON): BudgetStanding => ledger.standings(at)[0] as BudgetStanding;

test.for([
  { name: "2.85 of 3 is not above 95 %", limit: 3, weights: { input: 0.01 }, input: 285, spent: false, ratio: 0.95 },
  { name: "one token more is", limit: 3, weights: { input: 0.01 }, input: 286, spent: true, ratio: 286 / 300 },
  { name: "exactly 95 % is not", limit: 1_000_000, weights: {}, input: 950_000, spent: false, ratio: 0.95 },
  {
    name: "a limit in text with underscores",
    limit: "16_060",
    weights: {},
    input: 15_258,
    spent: true,
    ratio: 15_258 / 16_060,
  },
  { name: "a fractional limit", limit: 0.5, weights: { input: 0.1 }, input: 4, spent: false, ratio: 0.8 },
  { name: "no limit: null", limit: null, weights: {}, input: 10, spent: false, ratio: undefined },
  { name: "no limit: 2^63 − 1", limit: "9223372036854775807", weights: {}, input: 10, spent: false, ratio: undefined },
  {
    name: "no limit: infinity",
    limit: Number.POSITIVE_INFINITY,
    weights: {},
    input: 10,
    spent: false,
    ratio: undefined,
  },
  {
    name: "limit 0: any use is too much",
    limit: 0,
    weights: {},
    input: 1,
    spent: true,
    ratio: Number.POSITIVE_INFINITY,
  },
  { name: "limit 0 and nothing used", limit: 0, weights: {}, input: 0, spent: false, ratio: undefined },
])("$name", ({ limit, weights, input, spent, ratio }) => {
  const ledger = ledgerOf([{ name: "b", limit_tokens: limit, weights }], [{ input, output: 0 }]);
  expect(standing(ledger)).toMatchObject({ spent, ratio });
});

test("sums beyond 2^53 stay exact to the token", () => {
  const half = Number.MAX_SAFE_INTEGER;
  const limit = (2n * BigInt(half) * 100n) / 95n;
  const exactly = (limit * 95n) / 100n;
  const rest = Number(exactly - BigInt(half));
  const ledger = ledgerOf([{ name: "b", limit_tokens: String(limit) }], [{ input: half }, { input: rest }]);
  expect(standing(ledger).spent).toBe(false);
  ledger.charge(NOON, usage({ input: 1 }));
  expect(standing(ledger).spent).toBe(exactly * 100n === limit * 95n || (exactly + 1n) * 100n > limit * 95n);
});

test("fractional weights do not drift: 1,900 requests of 8.03 are 95 % of 16,060", () => {
  const budget = { name: "b", limit_tokens: 16_060, weights: { output: 0.1 }, model_coefficients: { llama: 1.1 } };
  const ledger = ledgerOf(
    [budget],
    Array.from({ length: 1900 }, () => ({ input: 7, output: 3 })),
  );
  expect(standing(ledger)).toMatchObject({ spent: false, used: 15_257 });
});

test.for([
  { name: "cached tokens weigh as input without a weight of their own", weights: {}, used: 130 },
  { name: "with one, they are charged apart", weights: { cached_input: 0.1 }, used: 20 + 8 + 30 },
])("$name", ({ weights, used }) => {
  const ledger = ledgerOf([{ name: "b", limit_tokens: 1000, weights }], [{ input: 100, cached: 80, output: 30 }]);
  expect(standing(ledger).used).toBe(used);
});

test("the first budget that matches takes all; one without match takes what is left", () => {
  const ledger = ledgerOf(
    [
      { name: "acme", match: { tenant: "acme" }, limit_tokens: 100 },
      { name: "chat", match: { service_name: "chat" }, limit_tokens: 100 },
      { name: "rest", limit_tokens: 100 },
    ],
    [{ input: 1 }, { tenant: "globex", input: 2 }, { tenant: "globex", service: "search", input: 4 }],
  );
  expect(ledger.standings(NOON).map(({ used }) => used)).toEqual([1, 2, 4]);
});

test("unknown usage leaves the ledger as it was; no usage in a period is no ratio", () => {
  const ledger = ledgerOf([{ name: "b", limit_tokens: 100 }], [{}]);
  expect(standing(ledger)).toMatchObject({ used: undefined, ratio: undefined, spent: false });
  ledger.charge(NOON, usage({ input: 50, output: 46 }));
  ledger.charge(NOON, usage({}));
  expect(standing(ledger)).toMatchObject({ ratio: 0.96, spent: true });
  expect(standing(ledger, NOON + 86_400_000)).toMatchObject({ ratio: undefined, spent: false });
});

test("a late line is charged to the period of its time", () => {
  const ledger = ledgerOf([{ name: "b", limit_tokens: 100 }], [{ input: 7 }], NOON + 86_400_000);
  ledger.charge(NOON, usage({ input: 50 }));
  expect([standing(ledger).used, standing(ledger, NOON + 86_400_000).used]).toEqual([50, 7]);
});

test("periods kept are bounded; what is older is counted", () => {
  const ledger = ledgerOf([{ name: "b", limit_tokens: 100, period: "1h" }]);
  for (let hour = 0; hour < 10; hour++) ledger.charge(NOON + hour * 3_600_000, usage({ input: 1 }));
  ledger.charge(NOON, usage({ input: 1 }));
  expect(ledger.tooOld).toBe(1);
  expect((ledger.state as Array<{ periods: unknown[] }>)[0]?.periods.length).toBe(4);
});

test("which service and model drew on it", () => {
  const ledger = ledgerOf([{ name: "b", limit_tokens: 100 }], [{ input: 5 }, { model: "qwen", output: 3 }]);
  const { drewOn, drawn } = standing(ledger);
  expect(drewOn({ service: "chat", model: "llama" })).toBe(true);
  expect(drewOn({ service: "chat", model: "gpt" })).toBe(false);
  expect([...drawn()].map(([{ model }, tokens]) => [model, tokens])).toEqual([
    ["llama", 5],
    ["qwen", 3],
  ]);
});

test("a commit and a reload keep what is spent", () => {
  const budgets = [{ name: "b", limit_tokens: 100, weights: { input: 1 } }];
  const before = ledgerOf(budgets, [{ input: 50 }, { input: 2 ** 52 }]);
  const after = ledgerOf(budgets);
  after.restore(deserialize(serialize(before.state)));
  expect(standing(after).used).toBe(standing(before).used);
  after.reload(Budgets.parse([{ name: "b", limit_tokens: 10, weights: { input: 2 } }]), decimalOf(0.95));
  expect(standing(after).used).toBe(2 * (50 + 2 ** 52));
});

test.for([
  {
    name: "two of one name",
    budgets: [
      { name: "b", limit_tokens: 1 },
      { name: "b", limit_tokens: 1 },
    ],
    says: /taken/,
  },
  {
    name: "no such zone",
    budgets: [{ name: "b", limit_tokens: 1, timezone: "Mars/Base" }],
    says: /no time zone "Mars\/Base"/,
  },
  { name: "a limit that is no number", budgets: [{ name: "b", limit_tokens: "lots" }], says: /no number/ },
  { name: "a negative weight", budgets: [{ name: "b", limit_tokens: 1, weights: { input: -1 } }], says: /no number/ },
  { name: "a period that is none", budgets: [{ name: "b", limit_tokens: 1, period: "2d" }], says: /1mo/ },
  { name: "no limit named", budgets: [{ name: "b" }], says: /limit_tokens/ },
])("configuration: $name is refused", ({ budgets, says }) => {
  const parsed = Budgets.safeParse(budgets);
  expect(parsed.success ? "accepted" : z.prettifyError(parsed.error)).toMatch(says);
});
