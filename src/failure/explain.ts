import { benjaminiHochberg, gStatistic, logChiSquareTail } from "./significance.ts";

/** What is known of one request, failed or not. Missing and null are unknown, never a value. */
export type Attributes = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** An attribute value that failures of one cause have more often than other traffic. */
export interface Explanation {
  readonly attribute: string;
  /** The value; for a number the best split, e.g. `>= 182`. */
  readonly value: string;
  /** Failures that have it. */
  readonly count: number;
  /** Of the failures whose attribute is known, 0–1. */
  readonly share: number;
  /** Of the traffic compared with, 0–1. */
  readonly baseline_share: number;
}

export interface ExplainOptions {
  /** Fewest failures that must have a value. */
  readonly minSupport?: number;
  /** Smallest share of the failures that must have it. */
  readonly minShare?: number;
  /** Share of false ones among the explanations given (Benjamini–Hochberg). */
  readonly falseRate?: number;
  /** Most explanations a cause. */
  readonly limit?: number;
}

/** Names of requests and moments: they explain nothing. */
const IDENTITY = /(?:^|[._-])(?:id|ids|uuid|ts|time|timestamp|date|trace|span)$|Id$|^id$/;
/**
 * What a failure looks like, not whom it hit: successful traffic never has it, so it would always come first.
 * Listed after everything that can explain.
 */
const SYMPTOMS: ReadonlySet<string> = new Set([
  "http_status",
  "status",
  "error_code",
  "error_class",
  "stack_depth",
  "level",
  "latency_ms",
  "finish_reason",
]);
/** Values of one attribute that are tested; an attribute of more is a kind of id. */
const MAX_VALUES = 200;
const MAX_CUTS = 40;

interface Tested extends Explanation {
  /** Logarithm of the p-value; for a number of its best split, raised by the number of cuts tried. */
  readonly logP: number;
  /** The same, raised by the number of values the attribute had to offer: makes attributes comparable. */
  readonly rank: number;
}

/**
 * Finds what failures of one cause have more often than the traffic they are compared with, most telling first: a G-test
 * for each value, numbers by their best split (corrected for the cuts tried); of all tests only those are kept that hold
 * in spite of their number. Attributes of many values rank a little lower: one of many is sooner odd by chance. Symptoms
 * come last.
 */
export function explain(
  failures: readonly Attributes[],
  baseline: readonly Attributes[],
  options: ExplainOptions = {},
): Explanation[] {
  const { minSupport = 3, minShare = 0.2, falseRate = 0.05, limit = 10 } = options;
  const names = new Set<string>();
  for (const failure of failures) for (const name of Object.keys(failure)) if (!IDENTITY.test(name)) names.add(name);
  const tested: Tested[] = [];
  for (const name of names) {
    const own = known(failures, name);
    const others = known(baseline, name);
    if (own.length < minSupport || others.length === 0) continue;
    const numeric = !CATEGORIES.has(name) && own.every(isNumber) && others.every(isNumber);
    const found = numeric
      ? bestSplit(name, own as number[], others as number[], minSupport)
      : overRepresented(name, own.map(String), others.map(String), minSupport);
    for (const one of found) if (one.share >= minShare) tested.push(one);
  }
  const causes = tested.filter(({ attribute }) => !SYMPTOMS.has(attribute));
  const symptoms = tested.filter(({ attribute }) => SYMPTOMS.has(attribute));
  return [...significant(causes, falseRate), ...significant(symptoms, falseRate)]
    .slice(0, limit)
    .map(({ attribute, value, count, share, baseline_share }) => ({ attribute, value, count, share, baseline_share }));
}

/** Those that hold in spite of the number of tests, best first. */
function significant(tested: readonly Tested[], falseRate: number): Tested[] {
  const kept = benjaminiHochberg(
    tested.map(({ logP }) => logP),
    falseRate,
  );
  return tested
    .filter((_, index) => kept[index])
    .sort((a, b) => a.rank - b.rank || (a.attribute + a.value < b.attribute + b.value ? -1 : 1));
}

/** Numbers that are names. */
const CATEGORIES: ReadonlySet<string> = new Set(["http_status", "status", "error_code", "gpu"]);

const isNumber = (value: unknown): boolean => typeof value === "number";

function known(requests: readonly Attributes[], name: string): (string | number | boolean)[] {
  const values: (string | number | boolean)[] = [];
  for (const request of requests) {
    const value = request[name];
    if (value !== null && value !== undefined && !Number.isNaN(value)) values.push(value);
  }
  return values;
}

function overRepresented(
  attribute: string,
  own: readonly string[],
  others: readonly string[],
  minSupport: number,
): Tested[] {
  const ownCounts = tally(own);
  const otherCounts = tally(others);
  const offered = new Set([...ownCounts.keys(), ...otherCounts.keys()]).size;
  if (offered > MAX_VALUES) return [];
  const found: Tested[] = [];
  for (const [value, count] of ownCounts) {
    if (count < minSupport) continue;
    const one = test(attribute, value, count, own.length, otherCounts.get(value) ?? 0, others.length, 1, offered);
    if (one !== undefined) found.push(one);
  }
  return found;
}

/** The cut, upwards or downwards, that parts the failures best from the others. */
function bestSplit(attribute: string, own: readonly number[], others: readonly number[], minSupport: number): Tested[] {
  const values = [...new Set(own)].sort((a, b) => a - b);
  const step = Math.max(1, Math.ceil(values.length / MAX_CUTS));
  const cuts = values.filter((_, index) => index % step === 0 || index === values.length - 1);
  let best: Tested | undefined;
  for (const cut of cuts) {
    for (const above of [true, false]) {
      const inside = (value: number): boolean => (above ? value >= cut : value <= cut);
      const count = own.filter(inside).length;
      if (count < minSupport || count > own.length) continue;
      const value = `${above ? ">=" : "<="} ${cut}`;
      const one = test(
        attribute,
        value,
        count,
        own.length,
        others.filter(inside).length,
        others.length,
        cuts.length,
        1,
      );
      if (one !== undefined && (best === undefined || one.logP < best.logP)) best = one;
    }
  }
  return best === undefined ? [] : [best];
}

function test(
  attribute: string,
  value: string,
  count: number,
  size: number,
  otherCount: number,
  otherSize: number,
  tries: number,
  offered: number,
): Tested | undefined {
  const share = count / size;
  const baseline_share = otherCount / otherSize;
  if (share <= baseline_share) return undefined;
  const logP = Math.min(0, logChiSquareTail(gStatistic(count, size, otherCount, otherSize)) + Math.log(tries));
  return { attribute, value, count, share, baseline_share, logP, rank: logP + Math.log(offered) };
}

function tally(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}
