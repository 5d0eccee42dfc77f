import { LATENCY_NAMES } from "../model/latency.ts";
import type { CauseTotal, Totals } from "./totals.ts";

/** What was read of one file. */
export interface FileReport {
  readonly path: string;
  readonly frame: string;
  readonly lines: number;
  readonly bytes: number;
  readonly records: number;
  readonly unrecognised: number;
  readonly profiles: Readonly<Record<string, number>>;
}

/** The document of `analyze --json`, schema `tokentail.analyze/1`. */
export function analyzeReport(files: readonly FileReport[], totals: Totals): Record<string, unknown> {
  return {
    schema: "tokentail.analyze/1",
    files,
    requests: {
      received: totals.requests.received ?? null,
      finished: totals.requests.finished ?? null,
      failed: totals.requests.failed ?? null,
      aborted: totals.requests.aborted ?? null,
      by_model: Object.fromEntries(totals.byModel.sorted),
      by_tenant: Object.fromEntries(totals.byTenant.sorted),
      by_route: Object.fromEntries(totals.byRoute.sorted),
      by_finish_reason: Object.fromEntries(totals.byFinishReason.sorted),
    },
    http: { inference: sorted(totals.http), other: totals.httpOther },
    latency_ms: Object.fromEntries(
      LATENCY_NAMES.flatMap((name, kind) => {
        const seen = totals.latencies[kind];
        if (seen === undefined) return [];
        const { count, sum, max } = seen;
        const [p50, p90, p99] = [seen.quantile(0.5), seen.quantile(0.9), seen.quantile(0.99)];
        return [[name, { count, sum, p50, p90, p99, max }]];
      }),
    ),
    tokens: Object.fromEntries([...totals.tokens].map(([key, { count, sum }]) => [key, { count, sum: sum.value }])),
    tokens_estimated: Object.fromEntries([...totals.estimated].map(([key, sum]) => [key, sum.value])),
    cost_usd: totals.cost?.value ?? null,
    gauges_last: gauges(totals),
    counters: Object.fromEntries(totals.counters),
    scores: Object.fromEntries(
      [...totals.scores].map(([name, { count, sum, min, max }]) => [name, { count, sum, min, max }]),
    ),
    errors: {
      records: Object.fromEntries([...totals.causes].map(([cause, { count }]) => [cause, count])),
    },
    root_causes: causesByCount(totals).map(({ cause, count, example, firstMs, lastMs }) => ({
      cause,
      count,
      example,
      first: isoTime(firstMs),
      last: isoTime(lastMs),
    })),
    rejected_values: Object.fromEntries(totals.rejected),
  };
}

/** Causes, most frequent first. */
export function causesByCount(totals: Totals): CauseTotal[] {
  return [...totals.causes.values()].sort((a, b) => b.count - a.count || (a.cause < b.cause ? -1 : 1));
}

/** A lone engine that is number 000 (vLLM without data parallelism) or has no name is shown without a level of its own. */
function gauges(totals: Totals): Record<string, unknown> {
  const engines = [...totals.gauges];
  if (engines.length === 1 && /^0*$/.test(engines[0]?.[0] ?? "x")) return { ...engines[0]?.[1] };
  const named = engines.filter(([engine]) => engine !== "");
  return { ...totals.gauges.get(""), ...Object.fromEntries(named) };
}

function isoTime(timeMs: number): string | null {
  return Number.isFinite(timeMs) ? new Date(timeMs).toISOString() : null;
}

function sorted(map: ReadonlyMap<number, number>): Record<string, number> {
  return Object.fromEntries([...map].sort((a, b) => b[1] - a[1] || (String(a[0]) < String(b[0]) ? -1 : 1)));
}
