import type { METRICS } from "../metric/catalogue.ts";

/** critical pages now, warning makes a ticket, info is never routed. */
export type Severity = "critical" | "warning" | "info";

export interface RecordingRule {
  /** `level:metric:operations`. */
  readonly record: string;
  readonly expr: string;
  readonly labels?: Readonly<Record<string, string>>;
}

export interface AlertRule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly keepFiringFor?: string;
  readonly severity: Severity;
  /** Alerts of one group are notified together; Alertmanager groups by it. */
  readonly alertgroup: string;
  /** Static labels beside severity and alertgroup; never a value that moves. */
  readonly labels?: Readonly<Record<string, string>>;
  /** One sentence, the same for every series of the alert. */
  readonly summary: string;
  /** Template with the labels and the value. */
  readonly description: string;
  /** `uid` of the dashboard that shows it. */
  readonly dashboard: string;
  readonly runbook: Runbook;
}

/** What the page of an alert says beside its condition. */
export interface Runbook {
  /** What is true in the world when it fires, and what it costs. */
  readonly meaning: string;
  /** What to look at, in order. */
  readonly checks: readonly string[];
  readonly queries: ReadonlyArray<readonly [title: string, promql: string]>;
}

export interface RuleGroup {
  readonly name: string;
  readonly interval?: string;
  readonly rules: ReadonlyArray<RecordingRule | AlertRule>;
}

export interface RuleFile {
  /** File name without `.yaml`. */
  readonly name: string;
  /** First lines of the file: what it is for, one sentence a line. */
  readonly about: readonly string[];
  readonly groups: readonly RuleGroup[];
}

export type MetricKey = keyof typeof METRICS;

export const isAlert = (rule: RecordingRule | AlertRule): rule is AlertRule => "alert" in rule;

export const alertsOf = (files: readonly RuleFile[]): AlertRule[] =>
  files.flatMap((file) => file.groups.flatMap((group) => group.rules.filter(isAlert)));
