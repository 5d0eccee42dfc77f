/** What the rules take from the configuration or the command line. */
export interface RuleOptions {
  readonly drift: {
    /** Greatest growth of a P99 that is no drift; exclusive: exactly this much does not fire. */
    readonly maxDrift: number;
    /** Requests that both windows must hold. */
    readonly minSamples: number;
    /** Which ends of the two intervals are compared. */
    readonly rule: "separate" | "interval" | "naive";
  };
  readonly tokens: { readonly warnAt: number };
  readonly for: string;
  readonly keepFiringFor: string;
  readonly slo: SloOptions;
  /** Prefix of a runbook's address; the alert's name and `.md` follow. */
  readonly runbooks: string;
  /** Prefix of a dashboard's address, before `/d/UID`; undefined leaves the link out. */
  readonly grafana?: string;
  /** Value of the `job` label of tokentail's scrape job. */
  readonly job: string;
}

export interface SloOptions {
  /** Share of requests that must end well. */
  readonly availability: number;
  /** Share of requests whose first token must come within `ttftSeconds`, one of the histogram's bounds. */
  readonly ttft: number;
  readonly ttftSeconds: number;
  /** Requests in the long window below which no burn rate is judged. */
  readonly minRequests: number;
}

export const RULE_DEFAULTS: RuleOptions = {
  drift: { maxDrift: 0.15, minSamples: 500, rule: "separate" },
  tokens: { warnAt: 0.95 },
  for: "5m",
  keepFiringFor: "10m",
  slo: { availability: 0.99, ttft: 0.95, ttftSeconds: 2.2, minRequests: 100 },
  runbooks: "docs/runbooks/",
  job: "tokentail",
};

/**
 * Room for the error of binary fractions: exactly 15 % and exactly 95 % must not fire, and 3.45 / 3 - 1 is a little more
 * than 0.15 in floating point.
 */
export const FLOAT_ROOM = "1e-12";

/** `uid`s of the dashboards, so that rules can link them. */
export const DASHBOARD_UIDS = {
  overview: "tokentail-overview",
  tokens: "tokentail-tokens",
  causes: "tokentail-root-causes",
  drift: "tokentail-drift",
  self: "tokentail-self",
} as const;

/** Where the joint alert is decided: on each node's own bounds, or on sums over all nodes. */
export const FORMS = ["node", "fleet", "both"] as const;
export type Form = (typeof FORMS)[number];
