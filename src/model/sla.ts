/** What the joint alert is about: one service and model. An unknown one is the empty text. */
export interface ServiceKey {
  readonly service: string;
  readonly model: string;
}

/** Latencies that a drift can be judged on, by their name under `latency_ms`. */
export const SIGNALS = ["ttft", "e2e"] as const;
export type Signal = (typeof SIGNALS)[number];

/** Successful requests of one signal in one window. Durations in nanoseconds, whole numbers. */
export interface WindowFigures {
  readonly samples: number;
  /** Nearest-rank 99th percentile. */
  readonly p99Ns: number;
  /** Ends of the 90 % order-statistic interval of the P99; Infinity where the sample is too small to have one. */
  readonly lowerNs: number;
  readonly upperNs: number;
  /** A figure lies beyond what a sketch can hold, or below what was kept of it. */
  readonly overflow: boolean;
}

/** Which of the windows that move on from tick to tick is meant. */
export type WindowRole = 0 | 1 | 2;

/** Where the alert engine gets latencies from. */
export interface BaselinePort {
  /** Every service and model with a request in the retention; the id is stable. */
  services(): Iterable<readonly [id: number, key: ServiceKey]>;
  /** The window (`endMs` − its length, `endMs`]; undefined when it is empty. */
  window(id: number, signal: Signal, role: WindowRole, endMs: number): WindowFigures | undefined;
}

/** A budget at an instant. */
export interface BudgetStanding {
  readonly name: string;
  /** The tenant that its match names, if any. */
  readonly tenant: string | undefined;
  readonly startMs: number;
  /** When the next period begins. */
  readonly resetMs: number;
  /** Weighted tokens; undefined while no usage is known in the period. */
  readonly used: number | undefined;
  /** Undefined for a budget without limit. */
  readonly limit: number | undefined;
  /** Used over limit; undefined without usage or limit; Infinity when the limit is 0 and something was used. */
  readonly ratio: number | undefined;
  /** Compared exactly: used / limit > warn_at. */
  readonly spent: boolean;
  /** Weighted tokens that each service and model drew in the period. */
  drawn(): Iterable<readonly [key: ServiceKey, tokens: number]>;
  drewOn(key: ServiceKey): boolean;
}

export interface BudgetPort {
  standings(atMs: number): readonly BudgetStanding[];
}
