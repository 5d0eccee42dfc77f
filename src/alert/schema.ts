import { z } from "zod";
import { decimalOf } from "../core/decimal.ts";
import { durationText } from "../core/duration-text.ts";
import { isZone } from "../core/local-time.ts";
import { SIGNALS } from "../model/sla.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** A threshold that is compared exactly as written. */
const threshold = (max: number) => z.number().min(0).max(max);

const Drift = z
  .strictObject({
    signals: z.array(z.enum(SIGNALS)).default(["ttft", "e2e"]).describe("Latencies that are judged; each on its own."),
    by: z
      .array(z.enum(["service_name", "model"]))
      .default(["service_name", "model"])
      .describe("What is told apart; requests that differ in the rest are judged together."),
    window: durationText({ minMs: 5 * MINUTE_MS, maxMs: DAY_MS, stepMs: MINUTE_MS }, "1h").describe(
      "Length of the compared windows, whole minutes.",
    ),
    baseline: durationText({ minMs: 3_600_000, maxMs: 28 * DAY_MS, stepMs: MINUTE_MS }, "7d").describe(
      "How long ago the baseline window ended; twice as long when an alert was firing then.",
    ),
    max_drift: threshold(100)
      .default(0.15)
      .describe("Growth of the P99 that is allowed; exactly this much does not fire."),
    min_samples: z
      .int()
      .min(1)
      .max(1_000_000_000)
      .default(500)
      .describe("Successful requests that both windows must hold."),
    rule: z
      .enum(["separate", "interval", "naive"])
      .default("separate")
      .describe(
        "separate: lower end of now's 90 % interval over upper end of then's; interval: over the point then; naive: point over point.",
      ),
    timezone: z
      .string()
      .refine(isZone, { error: (issue) => `no time zone "${String(issue.input)}"; an IANA name such as Europe/Berlin` })
      .optional()
      .describe("Compare with the same hour by this clock; without it with 168 hours before."),
  })
  .prefault({})
  .describe("Drift of the P99 against the week before.");

const Joint = z
  .strictObject({
    weights: z
      .strictObject({ drift: z.number().min(0).default(0.6), tokens: z.number().min(0).default(0.4) })
      .prefault({})
      .describe("Parts of the risk score."),
  })
  .prefault({})
  .describe("The joint alert.");

export const Alerts = z
  .strictObject({
    drift: Drift,
    tokens: z
      .strictObject({
        warn_at: threshold(10).default(0.95).describe("Used share of a budget above which it is nearly spent."),
      })
      .prefault({})
      .describe("Token budgets."),
    for: durationText({ minMs: 0, maxMs: DAY_MS }, "5m").describe("How long a condition must hold before it fires."),
    keep_firing_for: durationText({ minMs: 0, maxMs: DAY_MS }, "10m").describe(
      "How long a condition must be false before a firing alert resolves.",
    ),
    every: durationText({ minMs: 1000, maxMs: MINUTE_MS }, "1m").describe(
      "Time between two evaluations of the daemon.",
    ),
    joint: Joint,
  })
  .prefault({})
  .describe("When alerts fire.");
export type AlertsConfig = z.infer<typeof Alerts>;

/** @returns The thresholds as exact decimals. */
export const exactThresholds = ({ drift, tokens }: AlertsConfig) => ({
  maxDrift: decimalOf(drift.max_drift),
  warnAt: decimalOf(tokens.warn_at),
});
