import { Random } from "./random.ts";

export const SCENARIOS = ["steady", "incident", "drift"] as const;
export type Scenario = (typeof SCENARIOS)[number];

export interface TrafficOptions {
  readonly scenario: Scenario;
  /** Requests a second over all servers, mean over a day. */
  readonly rate: number;
  readonly seed: number;
  readonly startMs: number;
  /** End of arrivals, milliseconds since the epoch; Infinity never ends. */
  readonly endMs: number;
}

/** Ten kinds of failure, by their cause in the catalogue. */
export const FAILURE_KINDS = [
  "gpu_oom",
  "context_length_exceeded",
  "rate_limited",
  "upstream_timeout",
  "auth_invalid_key",
  "vector_index_missing",
  "prompt_injection_block",
  "content_policy_block",
  "client_cancelled",
  "model_not_found",
] as const;
export type FailureKind = (typeof FAILURE_KINDS)[number];

/** Who serves the request: each writes its own log in its own format. */
export const SERVERS = ["vllm", "sglang", "rag-api"] as const;
export type Server = (typeof SERVERS)[number];

const FAILURES: Readonly<Record<Server, readonly FailureKind[]>> = {
  vllm: ["gpu_oom", "model_not_found", "client_cancelled"],
  sglang: ["context_length_exceeded", "client_cancelled"],
  "rag-api": [
    "rate_limited",
    "upstream_timeout",
    "auth_invalid_key",
    "vector_index_missing",
    "prompt_injection_block",
    "content_policy_block",
  ],
};

/** One request as it will go. Times in whole milliseconds since the epoch, durations in milliseconds. */
export interface Trip {
  readonly server: Server;
  readonly id: string;
  readonly model: string;
  readonly tenant: string;
  readonly route: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly queueMs: number;
  readonly ttftMs: number;
  readonly e2eMs: number;
  readonly inputTokens: number;
  readonly cachedTokens: number;
  readonly outputTokens: number;
  readonly finishReason: "stop" | "length";
  readonly failure: FailureKind | undefined;
}

const MODELS: Readonly<Record<Server, readonly string[]>> = {
  vllm: ["llama-3.1-8b-instruct"],
  sglang: ["qwen-2.5-72b"],
  "rag-api": ["gpt-4o-mini", "llama-3.1-8b-instruct", "mistral-small"],
};
const TENANTS = ["acme", "globex", "initech", "umbrella"] as const;
const ROUTES: Readonly<Record<Server, readonly string[]>> = {
  vllm: ["/v1/chat/completions", "/v1/completions"],
  sglang: ["/v1/chat/completions", "/generate"],
  "rag-api": ["/v1/answer", "/v1/search", "/v1/chat"],
};

const DAY_MS = 86_400_000;
/** Context length above which the simulated engine refuses. */
const CONTEXT_LIMIT = 32_768;

/** Share of the mean rate at a time of day (UTC): quiet at 3 h, busiest at 15 h. */
export function dailyFactor(timeMs: number): number {
  const day = ((timeMs % DAY_MS) + DAY_MS) % DAY_MS;
  return 1 - 0.6 * Math.cos((2 * Math.PI * (day / 3_600_000 - 3)) / 24);
}

/** Requests in order of arrival: a Poisson stream thinned to the daily cycle, lognormal latencies and lengths. */
export function* traffic(options: TrafficOptions): Generator<Trip> {
  const random = new Random(options.seed);
  const peakMeanMs = 1000 / (options.rate * 1.6);
  let timeMs = options.startMs;
  for (;;) {
    timeMs += random.exponential(peakMeanMs);
    if (timeMs >= options.endMs) return;
    if (random.chance(dailyFactor(timeMs) / 1.6)) yield trip(random, Math.round(timeMs), options);
  }
}

function trip(random: Random, startMs: number, options: TrafficOptions): Trip {
  const server = random.pick(SERVERS);
  const failure = failureOf(random, server, startMs, options);
  const slow = options.scenario === "drift" && startMs > middle(options) ? 1.6 : 1;
  const inputTokens =
    failure === "context_length_exceeded"
      ? CONTEXT_LIMIT + random.integer(1, 9000)
      : Math.min(30_000, Math.max(4, Math.round(random.lognormal(700, 0.9))));
  const outputTokens = Math.min(4096, Math.max(1, Math.round(random.lognormal(160, 0.8))));
  const queueMs = rounded(random.lognormal(4, 1) * slow);
  const ttftMs = rounded(queueMs + random.lognormal(90, 0.5) * slow + inputTokens * 0.05);
  const e2eMs = rounded(ttftMs + (outputTokens - 1) * random.lognormal(12, 0.2) * slow);
  return {
    server,
    id: random.hex(32),
    model: random.pick(MODELS[server]),
    tenant: random.pick(TENANTS),
    route: random.pick(ROUTES[server]),
    startMs,
    endMs: startMs + Math.ceil(e2eMs),
    queueMs,
    ttftMs,
    e2eMs,
    inputTokens,
    cachedTokens: random.chance(0.4) ? Math.floor(inputTokens * random.next() * 0.8) : 0,
    outputTokens,
    finishReason: random.chance(0.08) ? "length" : "stop",
    failure,
  };
}

/** To the microsecond, as servers print. */
const rounded = (ms: number): number => Math.round(ms * 1000) / 1000;

const middle = ({ startMs, endMs }: TrafficOptions): number =>
  endMs === Number.POSITIVE_INFINITY ? startMs + 300_000 : (startMs + endMs) / 2;

function failureOf(random: Random, server: Server, timeMs: number, options: TrafficOptions): FailureKind | undefined {
  const inIncident = options.scenario === "incident" && Math.abs(timeMs - middle(options)) < 60_000;
  if (inIncident && server === "rag-api" && random.chance(0.5)) return "upstream_timeout";
  return random.chance(0.04) ? random.pick(FAILURES[server]) : undefined;
}
