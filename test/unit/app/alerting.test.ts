import { deserialize, serialize } from "node:v8";
import { expect, test } from "vitest";
import { Alerting } from "../../../src/app/alerting.ts";
import { parseConfig } from "../../../src/config/load.ts";
import { Latency } from "../../../src/model/latency.ts";
import { RequestRecord } from "../../../src/model/record.ts";

const MINUTE = 60_000;
const DAY = 86_400_000;
const NOW = Date.parse("2026-05-11T12:00Z");
const STREAM = { name: "a.log", labels: { service_name: "chat", tenant: "acme" }, profile: "auto" };

interface Shown {
  readonly alerts: Array<{ alertname: string; state: string; fired_at: string | null }>;
  readonly skipped_requests: Record<string, number>;
}

class Daemon {
  nowMs = NOW;
  caughtUp = true;
  readonly logged: string[] = [];
  readonly alerting: Alerting;

  constructor(saved: ReadonlyMap<string, unknown> = new Map()) {
    const config = parseConfig(
      JSON.stringify({
        sources: [{ files: ["a.log"] }],
        budgets: [{ name: "acme", match: { tenant: "acme" }, limit_tokens: 100 }],
        alerts: { for: "2m", keep_firing_for: "2m" },
      }),
      "test",
    );
    const tell = (_: unknown, message: string): void => void this.logged.push(message);
    this.alerting = new Alerting({
      config,
      clock: { nowMs: () => this.nowMs, sleep: async () => {} },
      log: { info: tell, warn: tell, error: tell },
      saved,
      caughtUp: () => this.caughtUp,
    });
  }

  request(timeMs: number, ms: number, tokens?: number): void {
    const record = new RequestRecord();
    record.timeMs = timeMs;
    record.model = "llama";
    record.latencies.set(Latency.e2e, ms);
    record.tokensIn = tokens;
    this.alerting.record(record, STREAM, this.nowMs);
  }

  /** Six hundred requests of the hour before `endMs`. */
  hour(endMs: number, ms: number): void {
    for (let at = 0; at < 600; at++) this.request(endMs - at * 5000, ms);
  }

  async ticks(minutes: number): Promise<void> {
    for (let at = 0; at < minutes; at++) {
      await this.alerting.tick(this.nowMs);
      this.nowMs += MINUTE;
    }
  }

  /** The rows of a commit, as a restart reads them. */
  get rows(): Map<string, unknown> {
    const { baselines, ports } = this.alerting;
    const rows = new Map<string, unknown>(ports.map(({ key, state }) => [key, state]));
    for (const [key, row] of baselines.changes()) rows.set(key, row);
    return new Map([...rows].map(([key, row]) => [key, deserialize(serialize(row)) as unknown]));
  }

  get shown(): Shown {
    return this.alerting.alerts() as Shown;
  }

  get firing(): string[] {
    return this.shown.alerts.filter(({ state }) => state === "firing").map(({ alertname }) => alertname);
  }
}

function drifting(): Daemon {
  const daemon = new Daemon();
  daemon.hour(NOW - 7 * DAY, 1000);
  daemon.hour(NOW, 2000);
  daemon.request(NOW, 2000, 96);
  return daemon;
}

test("fires after `for`, with every transition logged", async () => {
  const daemon = drifting();
  await daemon.ticks(3);
  expect(daemon.firing.sort()).toEqual(["LLMLatencyP99Drift", "LLMSlaCritical", "LLMTokenBudgetNearlySpent"]);
  expect(daemon.logged).toEqual([
    ...Array<string>(3).fill("Alert is pending"),
    ...Array<string>(3).fill("Alert fires"),
  ]);
});

test("a restart in the middle goes on from the commit", async () => {
  const before = drifting();
  await before.ticks(2);
  const after = new Daemon(before.rows);
  after.nowMs = before.nowMs;
  await after.ticks(1);
  expect(after.firing).toHaveLength(3);
  expect(after.alerting.budgets()).toMatchObject({
    budgets: [{ used_tokens: 96, used_ratio: 0.96, nearly_spent: true }],
  });
  const again = new Daemon(after.rows);
  again.nowMs = after.nowMs;
  expect(again.shown.alerts.map(({ fired_at }) => fired_at)).toEqual(
    after.shown.alerts.map(({ fired_at }) => fired_at),
  );
});

test("while old lines are read nothing is judged, and nothing resolves", async () => {
  const before = drifting();
  await before.ticks(3);
  const after = new Daemon(before.rows);
  after.nowMs = before.nowMs;
  after.caughtUp = false;
  await after.ticks(60);
  expect(after.firing).toHaveLength(3);
});

test("lines without a usable time are counted and touch nothing", async () => {
  const daemon = new Daemon();
  for (const timeMs of [Number.NaN, 5, NOW + 3 * DAY]) daemon.request(timeMs, 1, 99);
  await daemon.ticks(4);
  expect(daemon.shown.skipped_requests).toEqual({ "no-time": 1, "unset-clock": 1, "clock-ahead": 1 });
  expect(daemon.firing).toEqual([]);
});

test("what is older than the retention is not kept", () => {
  const daemon = new Daemon();
  daemon.hour(NOW - 30 * DAY, 1000);
  expect(daemon.alerting.baselines.slotCount).toBe(0);
});
