import { deserialize, serialize } from "node:v8";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type BaselineOptions, Baselines } from "../../../src/baseline/baselines.ts";
import { intervalRanks, pointRank } from "../../../src/baseline/order-rank.ts";
import type { WindowFigures } from "../../../src/model/sla.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const T0 = Date.parse("2026-05-04T00:00Z");
const OPTIONS: BaselineOptions = { windowMs: HOUR, retentionMs: 15 * DAY };

function filled(values: Iterable<readonly [timeMs: number, ms: number]>, options = OPTIONS): Baselines {
  const baselines = new Baselines(options);
  const id = baselines.idOf("chat", "llama") as number;
  for (const [timeMs, ms] of values) baselines.add(id, 1, timeMs, ms);
  return baselines;
}
const drain = (steps: Generator<void>): void => {
  for (const _ of steps);
};
const e2e = (baselines: Baselines, endMs: number): WindowFigures | undefined => baselines.window(0, "e2e", 0, endMs);

/** The same window on the raw values. */
function exact(
  values: readonly (readonly [number, number])[],
  endMs: number,
): Omit<WindowFigures, "overflow"> | undefined {
  const sorted = values
    .filter(([timeMs]) => timeMs > endMs - HOUR && timeMs <= endMs)
    .map(([, ms]) => Math.round(ms * 1e6))
    .sort((a, b) => a - b);
  const n = sorted.length;
  if (n === 0) return undefined;
  const [lower, upper] = intervalRanks(n);
  return {
    samples: n,
    p99Ns: sorted[pointRank(n) - 1] as number,
    lowerNs: sorted[lower - 1] ?? 0,
    upperNs: sorted[upper - 1] ?? Number.POSITIVE_INFINITY,
  };
}

function close(got: WindowFigures | undefined, wanted: Omit<WindowFigures, "overflow"> | undefined): void {
  expect(got?.samples).toBe(wanted?.samples);
  if (got === undefined || wanted === undefined) return;
  for (const name of ["p99Ns", "lowerNs", "upperNs"] as const) {
    if (Number.isFinite(wanted[name])) expect(Math.abs(got[name] / wanted[name] - 1)).toBeLessThanOrEqual(0.01);
    else expect(got[name]).toBe(wanted[name]);
  }
}

function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
}
const normal = (random: () => number): number => Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random());

const SHAPES: Record<string, (random: () => number) => number> = {
  "lognormal 0.3": (random) => 2500 * Math.exp(0.3 * normal(random)),
  "lognormal 1.0": (random) => 2500 * Math.exp(normal(random)),
  bimodal: (random) => (random() < 0.985 ? 100 + 10 * random() : 9000 + 500 * random()),
  constant: () => 3450,
  "two constants": (random) => (random() < 0.99 ? 3000 : 3010),
  "sub-millisecond": (random) => 0.05 * Math.exp(0.5 * normal(random)),
};

test.for(Object.keys(SHAPES))("quantiles and interval within 1 %% of the order statistics: %s", (name) => {
  const shape = SHAPES[name] as (random: () => number) => number;
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 31 }), fc.integer({ min: 1, max: 3000 }), (seed, n) => {
      const random = randomOf(seed);
      const values = Array.from({ length: n }, () => [T0 + Math.ceil(random() * 2 * HOUR), shape(random)] as const);
      const baselines = filled(values);
      for (const end of [T0 + HOUR, T0 + 61 * MINUTE, T0 + 90 * MINUTE, T0 + 2 * HOUR])
        close(e2e(baselines, end), exact(values, end));
    }),
    { numRuns: 40 },
  );
});

test("constant latencies come back exactly", () => {
  const baselines = filled(Array.from({ length: 700 }, (_, at) => [T0 + 1 + at, 3450] as const));
  expect(e2e(baselines, T0 + HOUR)).toEqual({
    samples: 700,
    p99Ns: 3.45e9,
    lowerNs: 3.45e9,
    upperNs: 3.45e9,
    overflow: false,
  });
});

test("the order in which values come does not matter", () => {
  const random = randomOf(5);
  const values = Array.from({ length: 2000 }, () => [T0 + Math.ceil(random() * HOUR), 100 / random()] as const);
  const shuffled = values.toSorted(() => random() - 0.5);
  expect(e2e(filled(shuffled), T0 + HOUR)).toEqual(e2e(filled(values), T0 + HOUR));
});

test("a window is open at its start and closed at its end", () => {
  const baselines = filled([
    [T0, 1],
    [T0 + 1, 2],
    [T0 + HOUR, 3],
    [T0 + HOUR + 1, 4],
  ]);
  expect(e2e(baselines, T0 + HOUR)?.samples).toBe(2);
});

test("a late line is in the windows over its time at once", () => {
  const baselines = filled([[T0 + HOUR, 1]]);
  expect(e2e(baselines, T0 + HOUR)?.samples).toBe(1);
  baselines.add(0, 1, T0 + 30 * MINUTE, 5);
  expect(e2e(baselines, T0 + HOUR)).toMatchObject({ samples: 2, p99Ns: 5e6 });
});

test("a sliding window equals one that is built anew", () => {
  const random = randomOf(9);
  const values = Array.from({ length: 4000 }, () => [T0 + Math.ceil(random() * 5 * HOUR), 100 / random()] as const);
  const sliding = filled(values);
  for (let end = T0; end <= T0 + 6 * HOUR; end += 7 * MINUTE)
    expect(e2e(sliding, end)).toEqual(e2e(filled(values), end));
});

test("values beyond the sketch are told", () => {
  const day = 86_400_000;
  expect(e2e(filled(Array.from({ length: 10 }, () => [T0 + 1, 2 * day] as const)), T0 + HOUR)?.overflow).toBe(true);
});

test.for(["lognormal 1.0", "bimodal", "constant", "lognormal 0.3"])(
  "thinning out old hours changes no window: %s",
  (name) => {
    const shape = SHAPES[name] as (random: () => number) => number;
    const random = randomOf(11);
    const values: Array<readonly [number, number]> = [];
    for (let hour = 0; hour < 30; hour++) {
      // an hour of an incident, a quiet hour, hours of ordinary traffic
      const n = hour === 12 ? 40 : 2000;
      const factor = hour === 7 ? 5 : 1;
      for (let i = 0; i < n; i++) values.push([T0 + hour * HOUR + Math.ceil(random() * HOUR), factor * shape(random)]);
    }
    const full = filled(values);
    const thin = filled(values);
    const before = thin.buckets;
    drain(thin.tidy(T0 + 30 * HOUR));
    if (name !== "constant") expect(thin.buckets).toBeLessThan(before * 0.35);
    for (let end = T0 + MINUTE; end <= T0 + 30 * HOUR; end += 11 * MINUTE)
      expect(e2e(thin, end)).toEqual(e2e(full, end));
  },
);

test("a restart goes on exactly, also from a thinned state", () => {
  const random = randomOf(13);
  const values = Array.from({ length: 20_000 }, () => [T0 + Math.ceil(random() * 10 * HOUR), 100 / random()] as const);
  const before = filled(values.slice(0, 19_000));
  const rows = new Map<string, unknown>();
  const commit = (baselines: Baselines): void => {
    for (const [key, row] of baselines.changes()) {
      if (row === undefined) rows.delete(key);
      else rows.set(key, deserialize(serialize(row)));
    }
    rows.set(baselines.key, deserialize(serialize(baselines.state)));
  };
  commit(before);
  drain(before.tidy(T0 + 10 * HOUR));
  commit(before);
  const after = new Baselines(OPTIONS);
  after.restore(rows);
  for (const [timeMs, ms] of values.slice(19_000)) {
    before.add(0, 1, timeMs, ms);
    after.add(0, 1, timeMs, ms);
  }
  for (let end = T0; end <= T0 + 10 * HOUR; end += 13 * MINUTE) expect(e2e(after, end)).toEqual(e2e(before, end));
  expect(after.idOf("chat", "llama")).toBe(0);
});

test.for([
  { name: "another window", options: { ...OPTIONS, windowMs: 2 * HOUR } },
  { name: "other labels", options: { ...OPTIONS, by: ["service_name"] } },
])("sketches of $name are given up, with their rows", ({ options }) => {
  const before = filled([[T0 + 1, 5]]);
  const rows = new Map<string, unknown>([...before.changes(), [before.key, before.state]]);
  const after = new Baselines(options);
  expect(after.restore(rows)).toBe(false);
  expect(after.slotCount).toBe(0);
  expect([...after.changes()].map(([, row]) => row)).toEqual([undefined]);
});

test("what is past the retention goes, with its row", () => {
  const baselines = filled([
    [T0, 1],
    [T0 + 14 * DAY, 1],
  ]);
  for (const _ of baselines.changes());
  drain(baselines.tidy(T0 + 15 * DAY + MINUTE));
  expect([...baselines.changes()].filter(([, row]) => row === undefined)).toHaveLength(1);
  expect(baselines.slotCount).toBe(1);
  drain(baselines.tidy(T0 + 40 * DAY));
  expect([...baselines.services()]).toEqual([]);
  expect(baselines.idOf("code", "qwen")).toBe(0);
  expect(e2e(baselines, T0 + 40 * DAY)).toBeUndefined();
});

test("memory is bounded: services are counted, buckets drop the oldest slots", () => {
  const baselines = new Baselines({ ...OPTIONS, maxServices: 2, maxBuckets: 100 });
  expect(["a", "b", "c"].map((model) => baselines.idOf("chat", model))).toEqual([0, 1, undefined]);
  expect(baselines.overflowed).toBe(1);
  for (let at = 0; at < 500; at++) baselines.add(0, 1, T0 + at * MINUTE, at + 1);
  drain(baselines.tidy(T0 + 500 * MINUTE));
  expect(baselines.buckets).toBeLessThanOrEqual(100);
  expect(baselines.droppedSlots).toBe(400);
});
