import { Latencies, type LatencyKind } from "./latency.ts";

/**
 * What one line, or several joined by a profile, says. Unknown is `undefined`, never 0.
 * Records are plain data: a profile emits them, and a consumer may keep them.
 */
export type LogRecord =
  | RequestRecord
  | ReceivedRecord
  | HttpRecord
  | StepRecord
  | GaugeRecord
  | CountRecord
  | TokenRecord
  | EstimateRecord
  | ScoreRecord
  | FailureRecord;

/** `ok` = answered well; `error` = failed; `aborted` = the client left. */
export type Outcome = "ok" | "error" | "aborted";

/** One request that ended, once: attempts, hops and duplicates are joined before this is emitted. */
export class RequestRecord {
  readonly kind = "request";
  /** Event time of the end, milliseconds since the epoch; NaN when the line holds none. */
  timeMs = Number.NaN;
  outcome: Outcome = "ok";
  /** The writer's request id: becomes an exemplar, never a label. */
  id: string | undefined = undefined;
  traceId: string | undefined = undefined;
  model: string | undefined = undefined;
  tenant: string | undefined = undefined;
  /** Service that the line itself names; it goes before the one of the stream's labels. */
  service: string | undefined = undefined;
  /** Path or endpoint without query string. */
  route: string | undefined = undefined;
  finishReason: string | undefined = undefined;
  /** Counted under `http.inference` with the request; set it only if no {@link HttpRecord} is emitted for the same answer. */
  httpStatus: number | undefined = undefined;
  stream: boolean | undefined = undefined;
  /** The full prompt, cached tokens included. */
  tokensIn: number | undefined = undefined;
  /** The prompt less what the cache held. */
  tokensInProcessed: number | undefined = undefined;
  /** Subset of `tokensIn`. */
  tokensInCached: number | undefined = undefined;
  tokensOut: number | undefined = undefined;
  /** Subset of `tokensOut`. */
  tokensOutReasoning: number | undefined = undefined;
  costUsd: number | undefined = undefined;
  readonly latencies: Latencies;
  /** Retrieval scores that the request's own line lists. */
  scores: readonly number[] | undefined = undefined;
  /** GPU or device the line names, e.g. `0`. */
  gpu: string | undefined = undefined;
  retries: number | undefined = undefined;
  /** Why it failed, when the same line says so; counted once as a failure record. */
  failure: FailureRecord | undefined = undefined;
  /** When set, a second record of the same key within the duplicate window is dropped and counted. */
  dedupeKey: string | undefined = undefined;

  constructor(latencies: Latencies = new Latencies()) {
    this.latencies = latencies;
  }
}

/** A request was taken in; its end, if the log shows it, is a {@link RequestRecord}. */
export interface ReceivedRecord {
  readonly kind: "received";
  readonly timeMs: number;
  /** Prompt tokens, where the line of arrival lists them and the line of the end does not. */
  readonly tokensIn?: number | undefined;
}

/** An HTTP access line that is not, in this format, the request itself. */
export interface HttpRecord {
  readonly kind: "http";
  readonly timeMs: number;
  readonly status: number;
  readonly route: string;
  /** False for health checks, metrics, listings and other requests that ask for no inference or retrieval. */
  readonly inference: boolean;
}

/** A part of a request, or work outside of one, with its own duration: retrieval, rerank, tool call, shard query, iteration… */
export interface StepRecord {
  readonly kind: "step";
  readonly timeMs: number;
  readonly step: LatencyKind;
  readonly durationMs: number;
  readonly outcome?: Outcome | undefined;
  readonly model?: string | undefined;
  readonly tenant?: string | undefined;
  readonly collection?: string | undefined;
  readonly tool?: string | undefined;
  readonly scores?: readonly number[] | undefined;
}

/** Last known state of an engine. Ratios are 0–1. */
export interface GaugeRecord {
  readonly kind: "gauges";
  readonly timeMs: number;
  /** Data-parallel rank or engine number as the line names it (`DP0`, `001`); undefined when it names none. */
  readonly engine?: string | undefined;
  readonly values: Readonly<Partial<Record<GaugeName, number>>>;
}

export type GaugeName =
  | "running"
  | "waiting"
  | "swapped"
  | "scheduled"
  | "kv_cache_usage_ratio"
  | "cpu_kv_cache_usage_ratio"
  | "prefix_cache_hit_ratio"
  | "prompt_tokens_per_s"
  | "generation_tokens_per_s";

/** Something that happened `by` times: `preemptions`, `retractions`, `retries`, `fallbacks`, `health_probes`, … (key under `counters`). */
export interface CountRecord {
  readonly kind: "count";
  readonly timeMs: number;
  readonly name: string;
  readonly by: number;
}

/** Tokens that belong to no single request of this log: `embedding`, or a `total` where nothing finer exists. */
export interface TokenRecord {
  readonly kind: "tokens";
  readonly timeMs: number;
  readonly type: "embedding" | "total";
  readonly tokens: number;
}

/** Rate × interval of a periodic line. Never added to counted tokens. */
export interface EstimateRecord {
  readonly kind: "estimate";
  readonly timeMs: number;
  readonly direction: "prompt" | "prompt_computed" | "generation" | "out";
  readonly tokens: number;
}

/** A quality score outside of a request: `semantic`, `recall`, `reciprocal_rank`, … */
export interface ScoreRecord {
  readonly kind: "score";
  readonly timeMs: number;
  readonly name: string;
  readonly value: number;
  readonly model?: string | undefined;
  readonly tenant?: string | undefined;
}

/** One failure as the log tells it: its line with all continuation lines. */
export interface FailureRecord {
  readonly kind: "failure";
  readonly timeMs: number;
  /** The whole block, lines joined by `\n`, prefixes of the logger removed. */
  readonly text: string;
  /** A cause that the format itself decides (a status word, an error class). Undefined: the catalogue decides by the text. */
  readonly cause?: string | undefined;
  readonly httpStatus?: number | undefined;
  /** Exception or error class as printed, e.g. `RateLimitError`. */
  readonly errorClass?: string | undefined;
  readonly model?: string | undefined;
  readonly tenant?: string | undefined;
  readonly route?: string | undefined;
  readonly requestId?: string | undefined;
  readonly gpu?: string | undefined;
}

/** Why a figure of a line was refused; the key under `rejected_values`. */
export type RejectReason =
  | "negative-duration"
  | "not-a-number"
  | "implausible-duration"
  | "negative-tokens"
  | "fractional-tokens"
  | "negative-cost"
  | "unknown-unit";
