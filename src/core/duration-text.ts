import { z } from "zod";

const UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

/** Reads `5m`, `1h`, `7d`, `1h30m`. @returns Milliseconds, NaN when the text is no such duration. */
export function durationTextMs(text: string): number {
  if (text === "0") return 0;
  if (!/^(?:\d+(?:ms|[smhdw]))+$/.test(text)) return Number.NaN;
  let sum = 0;
  for (const [, figure, unit] of text.matchAll(/(\d+)(ms|[smhdw])/g))
    sum += Number(figure) * (UNITS_MS[unit ?? ""] ?? 0);
  return sum;
}

/** A duration of the configuration, as milliseconds. `stepMs`: it must be a multiple. */
export function durationText(bounds: { minMs: number; maxMs: number; stepMs?: number }, initial: string) {
  return z
    .string()
    .default(initial)
    .transform((text, context) => {
      const ms = durationTextMs(text);
      const { minMs, maxMs, stepMs = 1 } = bounds;
      if (Number.isNaN(ms)) context.addIssue({ code: "custom", message: `"${text}" is no duration, e.g. 5m or 1h` });
      else if (ms < minMs || ms > maxMs)
        context.addIssue({ code: "custom", message: `must be ${told(minMs)} to ${told(maxMs)}, not ${text}` });
      else if (ms % stepMs !== 0)
        context.addIssue({ code: "custom", message: `must be a multiple of ${told(stepMs)}, not ${text}` });
      return ms;
    });
}

/** `90m`, `7d`: the largest unit that divides it. */
export function told(ms: number): string {
  if (ms === 0) return "0s";
  for (const [unit, size] of Object.entries(UNITS_MS).toReversed()) if (ms % size === 0) return `${ms / size}${unit}`;
  return `${ms}ms`;
}
