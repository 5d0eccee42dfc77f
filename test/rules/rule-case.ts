/** One case of `promtool test rules`: what is stored, and what fires at a time. */
export interface RuleCase {
  readonly alert: string;
  /** The rule that the case shows. */
  readonly name: string;
  readonly kind: "fires" | "quiet" | "sparse";
  /** Samples by series, in promtool's notation, one a minute unless `every` says else. */
  readonly series: Readonly<Record<string, string>>;
  readonly at: string;
  readonly every?: string;
  /** Labels beside severity, alertgroup and those that the rule adds, of each alert that must fire. */
  readonly fires?: ReadonlyArray<Readonly<Record<string, string>>>;
  /** Uses the real 7 days; others are run with `offset 5h`, which is the same rule and 30 times as fast. */
  readonly wholeWeek?: boolean;
}

/** A counter that grows by `perStep` for a number of steps, phase after phase; it starts at `from`. */
export function counter(phases: ReadonlyArray<readonly [perStep: number, steps: number]>, from = 0): string {
  let value = from;
  const parts = phases.map(([perStep, steps], index) => {
    const start = index === 0 ? value : value + perStep;
    const more = index === 0 ? steps : steps - 1;
    value = start + perStep * more;
    return `${start}+${perStep}x${more}`;
  });
  return parts.join(" ");
}

export const constant = (value: number, steps = 60): string => `${value}x${steps}`;

/** Every second scrape fails: a stale marker is written. */
export const flaky = (value: number, pairs = 30): string =>
  Array.from({ length: pairs }, () => `${value} stale`).join(" ");
