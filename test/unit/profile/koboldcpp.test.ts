import { expect, test } from "vitest";
import { readLog } from "../../support/read-log.ts";

test.for([
  {
    name: "2024",
    line: "CtxLimit:512/4096, Amt:100/120, Init:0.10s, Process:1.20s (3.0ms/T = 330.0T/s), Generate:2.40s (24.0ms/T = 41.7T/s), Total:3.60s (27.8T/s)",
    latency: { prefill: 1200, decode: 2400, tpot: 24, engine_total: 3600 },
    out: 100,
  },
  {
    name: "2025: a time, no time per token",
    line: "[12:34:56] CtxLimit:512/4096, Amt:100/120, Init:0.10s, Process:1.20s (330.00T/s), Generate:2.40s (41.67T/s), Total:3.60s",
    latency: { prefill: 1200, decode: 2400, engine_total: 3600 },
    out: 100,
  },
])("koboldcpp: $name", ({ line, latency, out }) => {
  const { report, profiles } = readLog(`${line}\n`);
  expect(profiles).toEqual({ koboldcpp: 1 });
  expect(
    Object.fromEntries(Object.entries<{ sum: number }>(report["latency_ms"]).map(([kind, { sum }]) => [kind, sum])),
  ).toEqual(latency);
  expect(report["tokens"]).toEqual({ out: { count: 1, sum: out } });
  expect(report["requests"]).toMatchObject({ finished: 1, received: null, failed: null, aborted: null });
});

test("koboldcpp: a time without date is put on the nearest day", () => {
  const [record] = readLog(
    "[23:59:00] CtxLimit:1/2, Amt:1/2, Init:0.10s, Process:1.20s (1T/s), Generate:2.40s (1T/s), Total:3.60s\n",
    { readMs: Date.UTC(2026, 5, 2, 0, 1) },
  ).records;
  expect(record?.timeMs).toBe(Date.UTC(2026, 5, 1, 23, 59));
});

test("koboldcpp: figures that are none are refused", () => {
  const { rejected, report } = readLog(
    "CtxLimit:1/2, Amt:1/2, Init:0.10s, Process:nans (nanms/T = nanT/s), Generate:-1.00s (1.0ms/T = 1T/s), Total:0.00s\n",
  );
  expect(rejected.toSorted()).toEqual(["negative-duration", "not-a-number"]);
  expect(report["requests"].finished).toBe(1);
});
