/** When drift alerts of a service and model were firing: their windows are no baseline. Plain data: a commit holds it. */
export type FiringSpans = Map<string, Array<{ from: number; to: number }>>;

/** Spans kept of one service and model. */
const KEPT_SPANS = 1000;

/** Notes that an alert of `key` fires at a tick, `sinceMs` on. */
export function noteFiring(spans: FiringSpans, key: string, sinceMs: number, timeMs: number): void {
  let list = spans.get(key);
  if (list === undefined) {
    list = [];
    spans.set(key, list);
  }
  const last = list.at(-1);
  if (last !== undefined && sinceMs <= last.to) {
    last.to = Math.max(last.to, timeMs);
    return;
  }
  if (list.length >= KEPT_SPANS) list.shift();
  list.push({ from: sinceMs, to: timeMs });
}

/** True when an alert was firing somewhere in (`endMs` − `windowMs`, `endMs`]. */
export function firedWithin(spans: FiringSpans, key: string, endMs: number, windowMs: number): boolean {
  const list = spans.get(key);
  return list !== undefined && list.some(({ from, to }) => from <= endMs && to > endMs - windowMs);
}

/** Forgets spans that no baseline reaches any more. */
export function forgetBefore(spans: FiringSpans, timeMs: number): void {
  for (const [key, list] of spans) {
    const kept = list.filter(({ to }) => to > timeMs);
    if (kept.length === 0) spans.delete(key);
    else if (kept.length < list.length) spans.set(key, kept);
  }
}
