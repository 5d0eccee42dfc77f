/** Figures of a `Req Time Stats(…)` line; durations in milliseconds. */
export interface TimeStats {
  tokensIn: number | undefined;
  tokensOut: number | undefined;
  queueMs: number | undefined;
  forwardMs: number | undefined;
}

export interface TimeStatsLine {
  readonly rid: string;
  readonly stats: TimeStats;
  /** Durations that were no durations: an epoch time came out because a start was never taken. */
  readonly implausible: number;
}

const HEAD =
  /^Req Time Stats\(rid=([^,)\s]{1,200})(?:, bootstrap_room=[^,)]{1,40})?(?:, input len=(\d+))?(?:, output len=(\d+))?(?:, type=(\w+))?[^)]{0,100}\): ?/;
const DURATION = /(?:^|[ ;,])(queue|forward)_duration[=(](-?[\d.]+|nan|inf)ms/g;
const UNSTARTED = /(?:^|[ ;,])start(?:_time)?=0\.0+(?:[,;\s]|$)/;
/** A week: longer than any request, shorter than any time since the epoch. */
export const IMPLAUSIBLE_MS = 7 * 86_400_000;

/**
 * Reads `Req Time Stats(rid=…, input len=412, output len=87, type=unified): queue_duration=0.41ms, forward_duration=…`, also
 * the forms of prefill–decode disaggregation. With `start_time=0.000` the wait began at the epoch: neither figure is one.
 *
 * @see sglang `srt/managers/schedule_batch.py` `log_time_stats`, `srt/observability/req_time_stats.py` (mid-2026)
 */
export function parseTimeStats(message: string): TimeStatsLine | undefined {
  const head = HEAD.exec(message);
  if (head === null) return undefined;
  const rest = message.slice(head[0].length, head[0].length + 2000);
  const stats: TimeStats = {
    tokensIn: count(head[2]),
    tokensOut: count(head[3]),
    queueMs: undefined,
    forwardMs: undefined,
  };
  const unstarted = UNSTARTED.test(rest);
  let implausible = 0;
  for (const [, name, text] of rest.matchAll(DURATION)) {
    const ms = Number(text);
    if (ms > IMPLAUSIBLE_MS || (unstarted && ms !== 0)) implausible++;
    else if (unstarted) continue;
    else if (name === "queue") stats.queueMs = ms;
    // 0.00 ms for tokens that were generated: an end that was not taken
    else if (ms !== 0 || (stats.tokensOut ?? 0) === 0) stats.forwardMs = ms;
  }
  return { rid: head[1] ?? "", stats, implausible };
}

const count = (text: string | undefined): number | undefined => (text === undefined ? undefined : Number(text));
