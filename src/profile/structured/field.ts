/**
 * What a key of a structured log can mean, as an index into the arrays of {@link LineFields}. The order is free;
 * durations come first so that a loop over them is a loop over their kinds.
 */
export const Field = {
  /** A duration the key itself calls end to end (`e2e_latency_ms`, `total_time`). */
  e2e: 0,
  /** A duration whose owner the rest of the line tells (`duration_ms`, `latency_ms`, `took`). */
  duration: 1,
  ttft: 2,
  ttfb: 3,
  queue: 4,
  prefill: 5,
  decode: 6,
  tpot: 7,
  itl: 8,
  upstream: 9,
  inference: 10,
  retrieval: 11,
  rerank: 12,
  embedding: 13,
  tool: 14,
  tokensIn: 15,
  tokensCached: 16,
  tokensCacheWritten: 17,
  tokensOut: 18,
  tokensReasoning: 19,
  tokensTotal: 20,
  cost: 21,
  retries: 22,
  attempts: 23,
  status: 24,
  success: 25,
  model: 26,
  tenant: 27,
  service: 28,
  route: 29,
  method: 30,
  requestId: 31,
  traceId: 32,
  finishReason: 33,
  stream: 34,
  error: 35,
  errorKind: 36,
  errorCode: 37,
  stack: 38,
  scores: 39,
  documents: 40,
  docTenants: 41,
  collection: 42,
  toolName: 43,
  gpu: 44,
  rule: 45,
  level: 46,
  levelNumber: 47,
  syslogLevel: 48,
  message: 49,
  event: 50,
  time: 51,
  /** Marks that tell loggers apart; their values are not read. */
  pid: 52,
  target: 53,
} as const;
export type Field = (typeof Field)[keyof typeof Field];

export const FIELD_COUNT = 54;
/** Fields below are durations. */
export const DURATION_FIELDS = 15;
/** Fields from there up to this one are plain numbers. */
export const LAST_NUMBER_FIELD = Field.attempts;
