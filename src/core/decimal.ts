/** An exact decimal number: `units / 10 ** scale`. Thresholds, weights and limits are compared as these, never as doubles. */
export interface Decimal {
  readonly units: bigint;
  /** Digits after the point, at least 0. */
  readonly scale: number;
}

const DECIMAL = /^(\d[\d_]*)(?:\.([\d_]+))?(?:e([+-]?\d{1,3}))?$/i;
/** More digits than any figure of a configuration needs. */
const MAX_EXPONENT = 60;

/** Reads `50_000_000`, `0.15` or `1e9`. @returns Undefined when the text is no decimal number of at least 0. */
export function parseDecimal(text: string): Decimal | undefined {
  const match = DECIMAL.exec(text.trim());
  if (match === null) return undefined;
  const whole = (match[1] ?? "").replaceAll("_", "");
  const part = (match[2] ?? "").replaceAll("_", "");
  const exponent = Number(match[3] ?? 0);
  if (Math.abs(exponent) > MAX_EXPONENT) return undefined;
  const scale = part.length - exponent;
  const digits = BigInt(whole + part);
  return scale >= 0 ? { units: digits, scale } : { units: digits * 10n ** BigInt(-scale), scale: 0 };
}

/** The decimal that a double prints as: 0.1 is a tenth. @throws {RangeError} For NaN, infinite and negative numbers. */
export function decimalOf(value: number): Decimal {
  const decimal = Number.isFinite(value) ? parseDecimal(String(value)) : undefined;
  if (decimal === undefined) throw new RangeError(`No decimal number of at least 0: ${value}`);
  return decimal;
}

/** Units at a scale that is at least the decimal's own. */
export const unitsAt = ({ units, scale }: Decimal, at: number): bigint => units * 10n ** BigInt(at - scale);

export const toNumber = ({ units, scale }: Decimal): number => ratio(units, 10n ** BigInt(scale));

/** `a / b` as a double, right to about 15 digits whatever the size of both; `b` is above 0. */
export function ratio(a: bigint, b: bigint): number {
  const whole = a / b;
  const digits = whole === 0n ? 18n + BigInt(b.toString().length) : 18n;
  const power = 10n ** digits;
  return Number((a * power) / b) / Number(power);
}
