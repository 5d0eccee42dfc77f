/** Milliseconds in one of each unit that logs write. `µ` is U+00B5 (Rust, Go); U+03BC and `u` are met too. */
export const UNIT_MS: Readonly<Record<string, number>> = {
  ns: 1e-6,
  nanos: 1e-6,
  us: 1e-3,
  "\u00b5s": 1e-3,
  "\u03bcs": 1e-3,
  micros: 1e-3,
  ms: 1,
  millis: 1,
  s: 1000,
  sec: 1000,
  secs: 1000,
  seconds: 1000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

const PART =
  /([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e([+-]?[0-9]+))?\s*(nanos|micros|millis|seconds|secs|sec|min|ns|us|[\u00b5\u03bc]s|ms|s|m|h|d)/gy;

/**
 * Reads a duration that carries its own unit: Go (`1m10.5s`, `823.4µs`), Rust `{:?}` (`12.5ms`), Elasticsearch (`747.3micros`).
 *
 * @returns Milliseconds; NaN when the text is not wholly such a duration. A leading minus gives a negative figure.
 */
export function parseDurationMs(text: string): number {
  let rest = text.trim();
  let sign = 1;
  if (rest.startsWith("-")) {
    sign = -1;
    rest = rest.slice(1);
  } else if (rest.startsWith("+")) rest = rest.slice(1);
  if (rest === "0") return 0;
  let total = 0;
  PART.lastIndex = 0;
  let at = 0;
  while (at < rest.length) {
    const part = PART.exec(rest);
    if (part === null) return Number.NaN;
    const figure = Number(part[2] === undefined ? part[1] : `${part[1]}e${part[2]}`);
    total += figure * (UNIT_MS[part[3] ?? ""] ?? Number.NaN);
    at = PART.lastIndex;
  }
  return at === 0 ? Number.NaN : sign * total;
}
