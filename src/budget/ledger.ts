import { type Decimal, ratio, toNumber, unitsAt } from "../core/decimal.ts";
import { LocalTime } from "../core/local-time.ts";
import type { BudgetPort, BudgetStanding, ServiceKey } from "../model/sla.ts";
import { type Period, type PeriodKind, periodAt } from "./period.ts";

/** What of a budget's configuration the ledger needs. */
export interface BudgetRule {
  readonly name: string;
  readonly match: {
    readonly tenant?: string | undefined;
    readonly service_name?: string | undefined;
    readonly model?: string | undefined;
    readonly route?: string | undefined;
  };
  /** Undefined: no limit, the use is shown all the same. */
  readonly limit_tokens: Decimal | undefined;
  readonly period: PeriodKind;
  readonly timezone: string;
  readonly weights: { readonly input: Decimal; readonly output: Decimal; readonly cached_input?: Decimal | undefined };
  readonly model_coefficients: Readonly<Record<string, Decimal>>;
}

/** Tokens of one request, or of several of the same labels. Whole numbers; unknown is undefined and changes nothing. */
export interface Usage {
  readonly service: string;
  readonly model: string;
  readonly tenant: string;
  readonly route: string;
  /** The full prompt. */
  readonly input: number | undefined;
  /** Part of `input`. */
  readonly cached: number | undefined;
  readonly output: number | undefined;
}

/** Raw tokens that one service and model drew: weights apply when a figure is asked for, so that they may be changed. */
interface Drawn {
  readonly service: string;
  readonly model: string;
  input: bigint;
  cached: bigint;
  output: bigint;
}

/** One period of one budget, as a commit holds it. */
interface PeriodLedger extends Period {
  readonly drawn: Map<string, Drawn>;
}

/** Periods kept of a budget: the present one, neighbours for late lines and clocks ahead. */
const KEPT_PERIODS = 4;
const ONE: Decimal = { units: 1n, scale: 0 };

/** Charges token budgets by event time; the first that matches takes all. Sums are integers of any size. */
export class BudgetLedger implements BudgetPort {
  readonly key = "budget-ledger";
  /** Grows with every charge. */
  version = 0;
  /** Charges that were too old for the periods kept. */
  tooOld = 0;
  #books: Book[];
  #warnAt: Decimal;
  readonly #keptPeriods: number;

  /** @param options.keptPeriods Infinity for a replay, which charges all before it looks. */
  constructor(budgets: readonly BudgetRule[], options: { warnAt: Decimal; keptPeriods?: number }) {
    this.#warnAt = options.warnAt;
    this.#keptPeriods = options.keptPeriods ?? KEPT_PERIODS;
    this.#books = budgets.map((budget) => new Book(budget));
  }

  /** Index of the budget that a request draws on, or -1. */
  bookOf(usage: Pick<Usage, "service" | "model" | "tenant" | "route">): number {
    return this.#books.findIndex((book) => book.matches(usage));
  }

  periodOf(book: number, timeMs: number): Period {
    return (this.#books[book] as Book).periodAt(timeMs);
  }

  /** @param timeMs Event time. */
  charge(timeMs: number, usage: Usage): void {
    if (usage.input === undefined && usage.output === undefined) return;
    const book = this.#books[this.bookOf(usage)];
    if (book === undefined) return;
    this.version++;
    if (!book.charge(book.periodAt(timeMs), usage, this.#keptPeriods)) this.tooOld++;
  }

  standings(atMs: number): readonly BudgetStanding[] {
    return this.#books.map((book) => book.standing(atMs, this.#warnAt));
  }

  get state(): unknown {
    return this.#books.map(({ budget, periods }) => ({ name: budget.name, periods: [...periods.values()] }));
  }

  restore(state: unknown): void {
    for (const { name, periods } of state as Array<{ name: string; periods: PeriodLedger[] }>) {
      const book = this.#books.find(({ budget }) => budget.name === name);
      for (const period of periods) book?.periods.set(period.startMs, period);
      book?.changed();
    }
  }

  /** Other budgets, limits or weights: what was spent in the present period stays spent. */
  reload(budgets: readonly BudgetRule[], warnAt: Decimal): void {
    const { state } = this;
    this.#books = budgets.map((budget) => new Book(budget));
    this.#warnAt = warnAt;
    this.restore(state);
    this.version++;
  }
}

class Book {
  readonly budget: BudgetRule;
  readonly periods = new Map<number, PeriodLedger>();
  readonly #clock: LocalTime;
  /** Digits after the point of a weight times a coefficient. */
  readonly #scale: number;
  readonly #weightScale: number;
  #period: Period = { startMs: 0, endMs: 0 };
  /** The last standing, while nothing was charged. */
  #standing: { readonly period: PeriodLedger | undefined; readonly units: bigint } | undefined;

  constructor(budget: BudgetRule) {
    this.budget = budget;
    this.#clock = new LocalTime(budget.timezone);
    const { input, output, cached_input } = budget.weights;
    this.#weightScale = Math.max(input.scale, output.scale, cached_input?.scale ?? 0);
    this.#scale =
      this.#weightScale + Math.max(0, ...Object.values(budget.model_coefficients).map(({ scale }) => scale));
  }

  matches({ service, model, tenant, route }: Pick<Usage, "service" | "model" | "tenant" | "route">): boolean {
    const { match } = this.budget;
    return (
      (match.tenant === undefined || match.tenant === tenant) &&
      (match.service_name === undefined || match.service_name === service) &&
      (match.model === undefined || match.model === model) &&
      (match.route === undefined || match.route === route)
    );
  }

  periodAt(timeMs: number): Period {
    const { startMs, endMs } = this.#period;
    if (!(timeMs >= startMs && timeMs < endMs)) this.#period = periodAt(this.budget.period, this.#clock, timeMs);
    return this.#period;
  }

  changed(): void {
    this.#standing = undefined;
  }

  /** @returns False when the period is older than those kept. */
  charge({ startMs, endMs }: Period, usage: Usage, kept: number): boolean {
    let period = this.periods.get(startMs);
    if (period === undefined) {
      if (this.periods.size >= kept) {
        const oldest = Math.min(...this.periods.keys());
        if (startMs < oldest) return false;
        this.periods.delete(oldest);
      }
      period = { startMs, endMs, drawn: new Map() };
      this.periods.set(startMs, period);
    }
    const { service, model } = usage;
    const key = drawnKey(service, model);
    let drawn = period.drawn.get(key);
    if (drawn === undefined) {
      drawn = { service, model, input: 0n, cached: 0n, output: 0n };
      period.drawn.set(key, drawn);
    }
    if (usage.input !== undefined) drawn.input += BigInt(usage.input);
    if (usage.output !== undefined) drawn.output += BigInt(usage.output);
    if (usage.input !== undefined && usage.cached !== undefined)
      drawn.cached += BigInt(Math.min(usage.cached, usage.input));
    this.#standing = undefined;
    return true;
  }

  standing(atMs: number, warnAt: Decimal): BudgetStanding {
    const { startMs, endMs } = this.periodAt(atMs);
    const { name, match, limit_tokens: limit } = this.budget;
    const period = this.periods.get(startMs);
    if (this.#standing === undefined || this.#standing.period !== period) {
      let units = 0n;
      if (period !== undefined) for (const drawn of period.drawn.values()) units += this.#units(drawn);
      this.#standing = { period, units };
    }
    const { units } = this.#standing;
    const one = 10n ** BigInt(this.#scale);
    // used / limit > warn_at, in integers
    const spent =
      period !== undefined &&
      limit !== undefined &&
      units * 10n ** BigInt(limit.scale + warnAt.scale) > limit.units * warnAt.units * one;
    const used = period === undefined ? undefined : ratio(units, one);
    return {
      name,
      tenant: match.tenant,
      startMs,
      resetMs: endMs,
      used,
      limit: limit === undefined ? undefined : toNumber(limit),
      ratio: period === undefined || limit === undefined ? undefined : overLimit(units, limit, this.#scale),
      spent,
      drawn: () => this.#drawn(period, one),
      drewOn: ({ service, model }) => period?.drawn.has(drawnKey(service, model)) === true,
    };
  }

  *#drawn(period: PeriodLedger | undefined, one: bigint): Iterable<readonly [ServiceKey, number]> {
    for (const drawn of period?.drawn.values() ?? []) yield [drawn, ratio(this.#units(drawn), one)];
  }

  /** Weighted tokens × 10^scale. */
  #units({ model, input, cached, output }: Drawn): bigint {
    const { weights, model_coefficients } = this.budget;
    const at = this.#weightScale;
    const coefficient = Object.hasOwn(model_coefficients, model) ? (model_coefficients[model] ?? ONE) : ONE;
    const apart = weights.cached_input === undefined ? 0n : cached;
    const weighted =
      unitsAt(weights.input, at) * (input - apart) +
      (weights.cached_input === undefined ? 0n : unitsAt(weights.cached_input, at) * apart) +
      unitsAt(weights.output, at) * output;
    return weighted * unitsAt(coefficient, this.#scale - at);
  }
}

const drawnKey = (service: string, model: string): string => `${service}\u0000${model}`;

function overLimit(units: bigint, limit: Decimal, scale: number): number | undefined {
  if (limit.units === 0n) return units > 0n ? Number.POSITIVE_INFINITY : undefined;
  return ratio(units * 10n ** BigInt(limit.scale), limit.units * 10n ** BigInt(scale));
}
