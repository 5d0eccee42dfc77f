import { expect, test } from "vitest";
import { type DriftRule, exceeds, judge } from "../../../src/alert/verdict.ts";
import { decimalOf } from "../../../src/core/decimal.ts";
import type { BaselinePort, WindowFigures, WindowRole } from "../../../src/model/sla.ts";

const rule: DriftRule = {
  windowMs: 3_600_000,
  baselineMs: 604_800_000,
  minSamples: 500,
  maxDrift: decimalOf(0.15),
  rule: "separate",
  clock: undefined,
};
const figures = (samples: number, seconds: number, more: Partial<WindowFigures> = {}): WindowFigures => ({
  samples,
  p99Ns: seconds * 1e9,
  lowerNs: seconds * 1e9,
  upperNs: seconds * 1e9,
  overflow: false,
  ...more,
});

function verdict(
  windows: Partial<Record<WindowRole, WindowFigures>>,
  options: { firing?: readonly number[]; rule?: Partial<DriftRule> } = {},
) {
  const source: BaselinePort = { services: () => [], window: (_id, _signal, role) => windows[role] };
  return judge(
    { ...rule, ...options.rule },
    source,
    0,
    "e2e",
    [30, 20, 10],
    (end) => options.firing?.includes(end) === true,
  );
}

test.for([
  { name: "3.45 s against 3 s is exactly 15 %", now: 3.45, base: 3, drift: false },
  { name: "6.9 s against 6 s", now: 6.9, base: 6, drift: false },
  { name: "2.3 s against 2 s", now: 2.3, base: 2, drift: false },
  { name: "a nanosecond more is a drift", now: 3.450000001, base: 3, drift: true },
  { name: "faster is none", now: 1, base: 3, drift: false },
])("$name", ({ now, base, drift }) => {
  expect(verdict({ 0: figures(1000, now), 1: figures(1000, base) })).toMatchObject({ drift, reason: undefined });
});

test.for([
  { name: "an empty present window: nothing to say", windows: {}, reason: undefined },
  { name: "499 now", windows: { 0: figures(499, 9), 1: figures(1000, 1) }, reason: "insufficient_samples" },
  {
    name: "500 and 500 are enough",
    windows: { 0: figures(500, 9), 1: figures(500, 1) },
    reason: undefined,
    drift: true,
  },
  { name: "nothing then", windows: { 0: figures(500, 9) }, reason: "baseline_missing" },
  { name: "499 then", windows: { 0: figures(500, 9), 1: figures(499, 1) }, reason: "insufficient_samples" },
  {
    name: "beyond the sketch",
    windows: { 0: figures(500, 9, { overflow: true }), 1: figures(500, 1) },
    reason: "overflow",
  },
  {
    name: "no upper end then",
    windows: { 0: figures(500, 9), 1: figures(500, 1, { upperNs: Number.POSITIVE_INFINITY }) },
    reason: undefined,
    drift: false,
  },
  {
    name: "tainted: two baselines ago instead",
    windows: { 0: figures(500, 9), 1: figures(500, 9), 2: figures(500, 1) },
    firing: [20],
    reason: undefined,
    drift: true,
  },
  {
    name: "tainted twice",
    windows: { 0: figures(500, 9), 1: figures(500, 9), 2: figures(500, 1) },
    firing: [20, 10],
    reason: "baseline_tainted",
  },
  {
    name: "tainted, and thin before",
    windows: { 0: figures(500, 9), 1: figures(500, 9), 2: figures(499, 1) },
    firing: [20],
    reason: "baseline_tainted",
  },
  {
    name: "thin now goes before tainted",
    windows: { 0: figures(499, 9), 1: figures(500, 9) },
    firing: [20, 10],
    reason: "insufficient_samples",
  },
  {
    name: "a thin baseline does not fall back",
    windows: { 0: figures(500, 9), 1: figures(499, 1), 2: figures(500, 1) },
    reason: "insufficient_samples",
  },
] as Array<{
  name: string;
  windows: Partial<Record<WindowRole, WindowFigures>>;
  firing?: number[];
  reason: string | undefined;
  drift?: boolean;
}>)("$name", ({ windows, firing = [], reason, drift = false }) => {
  expect(verdict(windows, { firing })).toMatchObject({ reason, drift });
});

test.for([
  { rule: "separate", drift: false },
  { rule: "interval", drift: false },
  { rule: "naive", drift: true },
] as const)("$rule compares its own ends", ({ rule: name, drift }) => {
  const now = figures(1000, 2, { lowerNs: 1.1e9 });
  expect(verdict({ 0: now, 1: figures(1000, 1, { upperNs: 1.5e9 }) }, { rule: { rule: name } }).drift).toBe(drift);
});

test("large figures are compared as integers", () => {
  expect(exceeds(115_000_000_000_000, 100_000_000_000_000, decimalOf(0.15))).toBe(false);
  expect(exceeds(115_000_000_000_001, 100_000_000_000_000, decimalOf(0.15))).toBe(true);
});
