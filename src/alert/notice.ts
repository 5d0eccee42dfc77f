import { type Alert, SEVERITIES } from "./alert-state.ts";

/** Resolved alerts are sent again this long: a receiver may have missed the end. */
const RESOLVED_MS = 15 * 60_000;

/** What a receiver is told of an alert. */
export interface Notice {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly startsAtMs: number;
  /** The end of a resolved alert; undefined while it fires. */
  readonly endedAtMs: number | undefined;
}

const SUMMARIES = {
  LLMSlaCritical: "LLM latency drifted while the token budget is nearly spent.",
  LLMLatencyP99Drift: "The P99 latency of an LLM service drifted against its baseline.",
  LLMTokenBudgetNearlySpent: "A token budget is nearly spent.",
} as const;

/** Identity of an alert for a receiver: values never stand in labels, because another label is another alert. */
export const noticeLabels = ({ alertname, labels }: Pick<Alert, "alertname" | "labels">): Record<string, string> => ({
  ...labels,
  alertname,
  severity: SEVERITIES[alertname],
  alertgroup: "llm-sla",
  source: "tokentail",
});

/** The notice of an alert that fires or was resolved lately; undefined for any other. */
export function noticeOf(alert: Alert, nowMs: number): Notice | undefined {
  const { firedMs, resolvedMs, resolvedFiredMs } = alert;
  if (firedMs === undefined && !(resolvedMs !== undefined && nowMs - resolvedMs <= RESOLVED_MS)) return undefined;
  return {
    labels: noticeLabels(alert),
    annotations: { summary: SUMMARIES[alert.alertname], description: describe(alert) },
    startsAtMs: firedMs ?? resolvedFiredMs ?? nowMs,
    endedAtMs: firedMs === undefined ? resolvedMs : undefined,
  };
}

const percent = (ratio: number): string => `${(ratio * 100).toFixed(1)} %`;
const seconds = (value: number): string => `${Number(value.toPrecision(3))} s`;

/** One or two sentences with the latest figures. */
export function describe({ labels, values, budgets }: Alert): string {
  const who = [labels["service_name"], labels["model"]].filter((name) => name !== undefined).join(" / ");
  const parts: string[] = [];
  if (values.p99_now_s !== null && values.p99_then_s !== null) {
    const signal = labels["signal"] === undefined ? "P99" : `P99 of ${labels["signal"]}`;
    const growth = values.drift_ratio === null ? "" : `, ${percent(values.drift_ratio)} more`;
    parts.push(
      `${signal} of ${who} is ${seconds(values.p99_now_s)} after ${seconds(values.p99_then_s)}${growth} (${values.samples_now} and ${values.samples_then} requests).`,
    );
  }
  if (values.budget_used_ratio !== null && budgets.length > 0)
    parts.push(`Token budget ${budgets.slice(0, 5).join(", ")} is ${percent(values.budget_used_ratio)} used.`);
  return parts.join(" ");
}
