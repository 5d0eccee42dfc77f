/** Figures of a `Req Time Stats(…)` line; durations in milliseconds. */
export interface TimeStats {
  tokensIn: number | undefined;
  tokensOut: number | undefined;
  queueMs: number | undefined;
  forwardMs: number | undefined;
}

const HEAD =
  /^Req Time Stats\(rid=([^,)\s]+)(?:, bootstrap_room=[^,)]+)?(?:, input len=(\d+))?(?:, output len=(\d+))?(?:, type=(\w+))?[^)]*\): /;
/** Longer than any request: an epoch time that was printed as a duration (`start_time=0.000`). */
const IMPLAUSIBLE_MS = 7 * 86_400_000;

/**
 * Reads `Req Time Stats(rid=…, input len=412, output len=87, type=unified): queue_duration=0.41ms, forward_duration=…`, also
 * the forms of prefill–decode disaggregation.
 *
 * @see sglang `srt/managers/schedule_batch.py` `TimeStats`, `srt/tracing` at 013a199bc
 */
export function parseTimeStats(
  message: string,
): { readonly rid: string; readonly stats: TimeStats; readonly implausible: boolean } | undefined {
  const head = HEAD.exec(message);
  if (head === null) return undefined;
  const rest = message.slice(head[0].length);
  let implausible = /\bstart(?:_time)?=0\.0+\b/.test(rest);
  const duration = (name: string): number | undefined => {
    const text = new RegExp(`(?:^|[ ;,])${name}[=(](-?[\\d.]+)ms`).exec(rest)?.[1];
    if (text === undefined) return undefined;
    const ms = Number(text);
    if (ms > IMPLAUSIBLE_MS) implausible = true;
    return ms;
  };
  const queueMs = duration("queue_duration");
  const forwardMs = duration("forward_duration");
  const stats: TimeStats = {
    tokensIn: head[2] === undefined ? undefined : Number(head[2]),
    tokensOut: head[3] === undefined ? undefined : Number(head[3]),
    queueMs: implausible ? undefined : queueMs,
    forwardMs: implausible ? undefined : forwardMs,
  };
  return { rid: head[1] ?? "", stats, implausible };
}
