import { z } from "zod";
import { type Decimal, decimalOf, parseDecimal } from "../core/decimal.ts";
import { isZone } from "../core/local-time.ts";

/** Limits at and above this are what other programs write for "none". */
const NO_LIMIT = 2n ** 63n - 1n;

/** Decimal of a number or text; the fault is told. */
function exactly(value: number | string, context: z.RefinementCtx): Decimal | undefined {
  const decimal = typeof value === "number" && value >= 0 ? decimalOf(value) : parseDecimal(String(value));
  if (decimal === undefined) context.addIssue({ code: "custom", message: `"${value}" is no number of at least 0` });
  return decimal;
}

/** A number of at least 0, kept exactly as written: `0.1`, `50_000_000`. */
const exact = z
  .union([z.number(), z.string()])
  .transform((value, context): Decimal => exactly(value, context) ?? z.NEVER);

/** A limit; `null`, infinity and the largest 64-bit integer say that there is none. */
const limit = z
  .union([z.number(), z.literal(Number.POSITIVE_INFINITY), z.string(), z.null()])
  .transform((value, context): Decimal | undefined => {
    if (value === null || value === Number.POSITIVE_INFINITY) return undefined;
    const decimal = exactly(value, context);
    return decimal === undefined || decimal.units >= NO_LIMIT * 10n ** BigInt(decimal.scale) ? undefined : decimal;
  });

export const Zone = z
  .string()
  .refine(isZone, { error: (issue) => `no time zone "${String(issue.input)}"; an IANA name such as Europe/Berlin` });

export const PERIODS = ["1h", "1d", "1w", "1mo"] as const;

export const Budget = z
  .strictObject({
    name: z.string().min(1).max(100).describe("Name of the budget: the label `budget`."),
    match: z
      .strictObject({
        tenant: z.string().optional(),
        service_name: z.string().optional(),
        model: z.string().optional(),
        route: z.string().optional(),
      })
      .default({})
      .describe("Requests that draw on it; the first budget that matches is charged. Empty: all that is left."),
    limit_tokens: limit.describe("Weighted tokens of one period; null for none."),
    period: z.enum(PERIODS).default("1d").describe("Local hour, date, ISO week or month."),
    timezone: Zone.default("UTC").describe("Time zone whose clock begins the periods."),
    weights: z
      .strictObject({
        input: exact.prefault(1).describe("Weight of an input token."),
        output: exact.prefault(1).describe("Weight of an output token."),
        cached_input: exact
          .optional()
          .describe("Weight of an input token that came from a cache; without it they weigh as input."),
      })
      .prefault({})
      .describe("Token economics: what one token of a type costs."),
    model_coefficients: z
      .record(z.string(), exact)
      .default({})
      .describe("Factor on all tokens of a model; 1 for models that are not named."),
  })
  .describe("A token budget.");
export type Budget = z.infer<typeof Budget>;

export const Budgets = z
  .array(Budget)
  .max(1000)
  .default([])
  .superRefine((budgets, context) => {
    const names = new Set<string>();
    for (const [index, { name }] of budgets.entries()) {
      if (names.has(name))
        context.addIssue({ code: "custom", path: [index, "name"], message: `"${name}" is taken by another budget` });
      names.add(name);
    }
  })
  .describe("Token budgets; the first that matches a request is charged.");
