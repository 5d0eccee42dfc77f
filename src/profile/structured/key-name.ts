import { type Alias, aliasOf } from "./aliases.ts";
import { DURATION_FIELDS, Field } from "./field.ts";

/** Milliseconds of one unit, by the last word of a key (`latency_ms`, `elapsedSeconds`, `duration-us`). */
const UNIT_WORDS: Readonly<Record<string, number>> = {
  ms: 1,
  msec: 1,
  msecs: 1,
  millis: 1,
  millisec: 1,
  millisecs: 1,
  millisecond: 1,
  milliseconds: 1,
  s: 1000,
  sec: 1000,
  secs: 1000,
  second: 1000,
  seconds: 1000,
  us: 1e-3,
  usec: 1e-3,
  usecs: 1e-3,
  micros: 1e-3,
  microsec: 1e-3,
  microsecond: 1e-3,
  microseconds: 1e-3,
  ns: 1e-6,
  nsec: 1e-6,
  nanos: 1e-6,
  nanosecond: 1e-6,
  nanoseconds: 1e-6,
  min: 60_000,
  mins: 60_000,
  minutes: 60_000,
};
/** Without a separator only these end a key as a unit (`latencyms`); a lone `s` may be a plural. */
const GLUED_UNITS = [
  "milliseconds",
  "microseconds",
  "nanoseconds",
  "seconds",
  "millis",
  "secs",
  "sec",
  "ms",
  "us",
  "ns",
];

/** Objects that add nothing to the meaning of the keys inside them: `usage.prompt_tokens`, `extra.latency_ms`. */
const TRANSPARENT = new Set(
  `usage metrics metric timings timing performance perf tokens token_usage usage_metadata latency latencies durations
  duration fields field extra extras record context ctx data payload attributes attrs attr props properties meta metadata
  details detail labels tags kv info llm gen_ai genai rag chat message msg event json jsonpayload log result summary span
  request req response res resp http http_request http_response answer completion body_summary trace stats`.split(
    /\s+/,
  ),
);
/** Words of a flat key that are like such an object: `llm_prompt_tokens`, `usage_completion_tokens`. */
const PREFIXES = new Set([
  "llm",
  "genai",
  "gen",
  "ai",
  "rag",
  "usage",
  "metrics",
  "metric",
  "timing",
  "latency",
  "openai",
]);
/** Objects never looked into: what users typed, settings, and figures of more than this line's request. */
const OPAQUE = new Set(
  `messages prompt prompts input inputs output outputs content body query args arguments kwargs parameters params headers
  config configuration settings options opts schema env environ example examples template expected previous prev before
  after old new baseline limit limits quota budget avg average mean median min max p50 p75 p90 p95 p99 p999 percentiles
  histogram cumulative total_usage totals session daily monthly hourly lifetime thread process file choices tools
  elapsed`.split(/\s+/),
);

export interface KeyMeaning {
  readonly alias: Alias;
  /** Milliseconds in one unit; 0 when the key does not say. */
  readonly unitMs: number;
  readonly rank: number;
}

/** `ttftMs`, `TTFT-ms`, `@ttft.ms` → `["ttft", "ms"]`. */
function wordsOf(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
}

const isDuration = (alias: Alias): boolean => alias.field < DURATION_FIELDS;

/** True for an object whose keys must not be read, whatever they are called. */
export function isOpaque(key: string): boolean {
  return OPAQUE.has(wordsOf(key).join("_"));
}

/**
 * What the key at the end of `path` means, judged with the objects it stands in; the fewer of them need to be passed
 * over, the better its rank.
 *
 * @param path Keys as written, outermost first; a dotted key counts as the path it spells.
 * @param inheritedUnitMs Unit that an enclosing key names (`latency_ms: {total, ttft}`); 0 if none does.
 */
export function meaningOf(path: readonly string[], inheritedUnitMs: number): KeyMeaning | undefined {
  const words = path.flatMap((key) => key.split(".")).filter((key) => key !== "" && key !== "@");
  for (let from = 0; from < words.length; from++) {
    const found = nameOf(words.slice(from).join("_"), inheritedUnitMs);
    if (found !== undefined && (from === 0 || passes(words.slice(0, from), found.alias.distinct))) {
      return { ...found, rank: Math.min(250, found.rank + 10 * from) };
    }
  }
  return undefined;
}

function passes(containers: readonly string[], distinct: boolean): boolean {
  return containers.every((container) => {
    const name = wordsOf(container);
    // the unit of `latency_ms: {…}` is no part of its name
    const bare = name.length > 1 && UNIT_WORDS[name.at(-1) ?? ""] !== undefined ? name.slice(0, -1) : name;
    return TRANSPARENT.has(bare.join("_")) || (distinct && !OPAQUE.has(bare.join("_")));
  });
}

function nameOf(name: string, inheritedUnitMs: number): KeyMeaning | undefined {
  const whole = aliasOf(name);
  if (whole !== undefined && (!isDuration(whole) || !whole.needsUnit || inheritedUnitMs > 0)) {
    const unitMs = isDuration(whole) ? whole.unitMs || inheritedUnitMs || conventional(name) : 0;
    return { alias: whole, unitMs, rank: whole.rank };
  }
  const words = wordsOf(name);
  const unitMs = words.length > 1 ? UNIT_WORDS[words.at(-1) ?? ""] : undefined;
  if (unitMs !== undefined) {
    const stem = words.slice(0, -1);
    if (stem.length > 1 && stem.at(-1) === "in") stem.pop();
    const found = withUnit(stem.join("_"), unitMs);
    if (found !== undefined) return found;
  }
  const flat = words.join("");
  const glued = GLUED_UNITS.find((unit) => flat.length > unit.length && flat.endsWith(unit));
  if (glued !== undefined) {
    const found = withUnit(flat.slice(0, -glued.length), UNIT_WORDS[glued] ?? 0);
    if (found !== undefined) return found;
  }
  if (words.length > 2 && PREFIXES.has(words[0] ?? "")) {
    const found = nameOf(words.slice(1).join("_"), inheritedUnitMs);
    if (found !== undefined && (found.alias.distinct || isDuration(found.alias))) {
      return { ...found, rank: found.rank + 1 };
    }
  }
  return undefined;
}

function withUnit(stem: string, unitMs: number): KeyMeaning | undefined {
  const alias = aliasOf(stem);
  if (alias === undefined) return undefined;
  if (isDuration(alias)) return { alias, unitMs, rank: alias.rank };
  // `timestamp_ms`; a bare `time_ms` may be a time or a duration, so it is neither
  if (alias.field === Field.time && stem !== "time" && stem !== "t") return { alias, unitMs: 0, rank: alias.rank };
  return undefined;
}

/** pino-http writes `responseTime`, always milliseconds (pinojs/pino-http logger.js); the snake form is many things. */
function conventional(name: string): number {
  return name === "responseTime" ? 1 : 0;
}
