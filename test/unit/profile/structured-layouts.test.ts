import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Line } from "../../../src/model/line.ts";
import type { Parser, Profile } from "../../../src/profile/profile.ts";
import { PROFILES } from "../../../src/profile/registry.ts";
import { structured } from "../../../src/profile/structured/index.ts";
import { type ReadLog, readLog } from "../../support/read-log.ts";

let repeated = 0;

/** The structured profile, with its layouts (and a count of the lines they read) or without. */
const variant = (layouts: boolean): readonly Profile[] =>
  PROFILES.map((profile) =>
    profile !== structured
      ? profile
      : {
          ...profile,
          open: (context) => {
            const parser = structured.open(context);
            const plain: Parser = {
              get state() {
                return parser.state;
              },
              set state(state) {
                parser.state = state;
              },
              parse: (line) => parser.parse(line),
              continues: (line) => parser.continues?.(line) === true,
              flush: (nowMs, final) => parser.flush?.(nowMs, final),
            };
            if (!layouts) return plain;
            return Object.assign(plain, {
              repeat: (line: Line) => {
                const taken = parser.repeat?.(line) === true;
                if (taken) repeated++;
                return taken;
              },
              learn: (...about: Parameters<NonNullable<Parser["learn"]>>) => parser.learn?.(...about),
            });
          },
        },
  );
const FAST = variant(true);
const GENERAL = variant(false);

const figures = ({ records, rejected, unrecognised, profiles, report }: ReadLog): unknown => ({
  records,
  rejected,
  unrecognised,
  profiles,
  report,
});

/** @returns How many lines the layouts read. */
function sameFigures(log: string | Buffer, cuts: readonly number[] = []): number {
  repeated = 0;
  const fast = figures(readLog(log, { profiles: FAST, cuts }));
  const taken = repeated;
  expect(fast).toEqual(figures(readLog(log, { profiles: GENERAL })));
  return taken;
}

const time = (index: number): string => new Date(Date.UTC(2026, 2, 2, 10) + index * 737).toISOString();
const repeat = (line: (index: number) => string, count = 20): string =>
  Array.from({ length: count }, (_, index) => `${line(index)}\n`).join("");

test.for([
  {
    name: "flat JSON of a request",
    line: (n: number) =>
      `{"time":"${time(n)}","level":"info","msg":"chat completed","request_id":"${(n * 7919).toString(16)}","model":"m${n % 3}","tenant":"t${n % 2}","status":200,"ttft_ms":${n}.5,"e2e_latency_ms":${n * 10},"tokens_in":${n},"tokens_out":${n}}`,
    least: 17,
  },
  {
    name: "JSON with blanks, as Python writes it",
    line: (n: number) =>
      `{"timestamp": "2026-03-02 10:00:${10 + n},123", "level": "INFO", "message": "chat completed", "model": "m", "latency_ms": ${n}.25, "prompt_tokens": ${n}, "completion_tokens": ${n}}`,
    least: 18,
  },
  {
    name: "JSON with its usage in an object",
    line: (n: number) =>
      `{"level":"info","ts":${1_772_445_600 + n}.125,"msg":"chat completed","user":"u-${n}","model":"m","duration_ms":${n},"usage":{"prompt_tokens":${n},"completion_tokens":${n},"total_tokens":${2 * n}}}`,
    least: 18,
  },
  {
    name: "logfmt",
    line: (n: number) =>
      `time=${time(n)} level=info msg="chat completed" model=m${n % 3} tenant=acme status=200 ttft_ms=${n}.5 tokens_in=${n} tokens_out=${n} worker=${n}`,
    least: 18,
  },
  {
    name: "nothing where a bare duration has its unit from the logger's habit",
    line: (n: number) =>
      `{"level":"info","ts":${1_772_445_600 + n}.1,"msg":"chat done","model":"m","latency":0.${n}1,"completion_tokens":3}`,
    least: 0,
    most: 0,
  },
  {
    name: "nothing of which a figure is refused every time",
    line: (n: number) => `{"time":"${time(n)}","msg":"chat done","model":"m","ttft_ms":NaN,"tokens_out":${n}}`,
    least: 0,
    most: 0,
  },
])("layouts read $name", ({ line, least, most = 20 }) => {
  const taken = sameFigures(repeat(line));
  expect(taken).toBeGreaterThanOrEqual(least);
  expect(taken).toBeLessThanOrEqual(most);
});

const base = (n: number): string =>
  `{"time":"${time(n)}","level":"info","msg":"chat completed","request_id":"req-${1000 + n}","model":"m","status":200,"ttft_ms":${n}.5,"tokens_in":${n},"tokens_out":${n}}`;

test.for([
  { name: "a negative duration", change: (line: string) => line.replace('"ttft_ms":', '"ttft_ms":-') },
  { name: "NaN", change: (line: string) => line.replace(/"ttft_ms":[\d.]+/, '"ttft_ms":NaN') },
  {
    name: "a leading zero, which makes it no JSON",
    change: (line: string) => line.replace('"tokens_in":', '"tokens_in":0'),
  },
  {
    name: "more digits than are exact",
    change: (line: string) => line.replace('"ttft_ms":', '"ttft_ms":12345678901234567'),
  },
  { name: "an exponent", change: (line: string) => line.replace(/"ttft_ms":[\d.]+/, '"ttft_ms":1e2') },
  { name: "a fraction of a token", change: (line: string) => line.replace(/"tokens_in":\d+/, '"tokens_in":1.5') },
  { name: "text where a number stood", change: (line: string) => line.replace(/"ttft_ms":[\d.]+/, '"ttft_ms":"1.2s"') },
  { name: "no value", change: (line: string) => line.replace('"m"', '""') },
  { name: "a word for no value", change: (line: string) => line.replace('"m"', '"None"') },
  { name: "an id for no value", change: (line: string) => line.replace(/"req-\d+"/, '"-"') },
  { name: "an id too long", change: (line: string) => line.replace("req-", `req-${"a".repeat(300)}`) },
  { name: "an escape", change: (line: string) => line.replace('"m"', '"m\\u0041"') },
  { name: "other letters than ASCII", change: (line: string) => line.replace('"m"', '"modèle"') },
  { name: "a colour", change: (line: string) => line.replace('"m"', '"\u001b[31mm\u001b[0m"') },
  { name: "a status of its own", change: (line: string) => line.replace("200", "503") },
  { name: "a level of its own", change: (line: string) => line.replace('"info"', '"error"') },
  { name: "words of its own", change: (line: string) => line.replace("chat completed", "chat started") },
  { name: "a minute that is none", change: (line: string) => line.replace(/T10:\d\d/, "T10:61") },
  { name: "a second that is none", change: (line: string) => line.replace(/:\d\d\./, ":61.") },
  { name: "a key more", change: (line: string) => line.replace("}", ',"error":"boom"}') },
  { name: "a key twice", change: (line: string) => line.replace("}", ',"tokens_out":1}') },
  { name: "keys in another order", change: (line: string) => line.replace(/^\{(.*?),(.*?),/, "{$2,$1,") },
  { name: "its end cut off", change: (line: string) => line.slice(0, -3) },
  { name: "text behind its end", change: (line: string) => `${line} x` },
  { name: "a carriage return", change: (line: string) => `${line}\r` },
])("a line with $name is read like any other", ({ change }) => {
  const log = Array.from({ length: 24 }, (_, n) => `${n % 4 === 3 ? change(base(n)) : base(n)}\n`).join("");
  expect(sameFigures(log)).toBeGreaterThan(0);
});

test("a request of which earlier lines told is joined with them", () => {
  const log = Array.from({ length: 12 }, (_, n) =>
    n % 3 === 2
      ? `{"time":"${time(n)}","level":"info","event":"llm.completed","request_id":"req-${1001 + n}","model":"inner","tokens_out":7,"duration_ms":5}\n`
      : `${base(n)}\n`,
  ).join("");
  expect(sameFigures(log)).toBeGreaterThan(0);
});

test("programs that a wrapper names have layouts of their own", () => {
  const log = repeat((n) => `2026-03-02T10:00:${10 + n}.000000+00:00 host app${n % 3}[12]: ${base(n)}`, 24);
  expect(sameFigures(log)).toBeGreaterThan(12);
});

test("a profile whose claims may hang on any character is asked about every line", () => {
  let asked = 0;
  const any: Profile = {
    ...structured,
    name: "any",
    rank: "specific",
    claimsAnywhere: true,
    claims: () => ++asked < 0,
  };
  readLog(repeat(base), { profiles: [any, structured] });
  expect(asked).toBe(20);
});

test("a traceback behind a failed line stays with it", () => {
  const log = Array.from({ length: 12 }, (_, n) =>
    n % 4 === 3
      ? `time=${time(n)} level=error msg="chat failed" model=m ttft_ms=1\nTraceback (most recent call last):\n  File "a.py", line 1\nValueError: no\n`
      : `time=${time(n)} level=info msg="chat completed" model=m ttft_ms=${n}\n`,
  ).join("");
  expect(sameFigures(log)).toBeGreaterThan(0);
});

/** Nearly always what a writer means, now and then what it should not write. */
const mostly = (good: fc.Arbitrary<string>, bad: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.oneof({ weight: 40, arbitrary: good }, { weight: 1, arbitrary: bad });
const oddWord = fc.constantFrom("None", "", "-", "null", 'q"x', "back\\slash", "ü", "x y", "n", "1.5", "a/b");
const word = mostly(fc.constantFrom("m", "llama-3.1-8b", "a.b:c"), oddWord);
const ODD_NUMBERS = '-1 NaN Infinity 1e3 007 1. .5 null 12345678901234567890 "12" 1,5 0x10 1.2s true -0'.split(" ");
const oddNumber = fc.constantFrom("", ...ODD_NUMBERS);
const number = mostly(
  fc.oneof(
    fc.integer({ min: 0, max: 99_999 }).map(String),
    fc.double({ min: 0, max: 1e6, noNaN: true }).map((value) => value.toFixed(3)),
  ),
  oddNumber,
);
const KEYS = {
  ttft_ms: number,
  e2e_latency_ms: number,
  duration_s: number,
  tokens_in: number,
  tokens_out: number,
  total_tokens: number,
  cost_usd: number,
  worker: number,
  queue_ms: mostly(number, fc.constantFrom("[1]", "{}")),
  latency: mostly(fc.constant("5"), number),
  retries: mostly(fc.constant("1"), number),
  status: mostly(fc.constant("200"), fc.constantFrom("503", "499", "0", "ok", "999")),
  model: word,
  tenant: word,
  user: word,
  request_id: mostly(
    fc.stringMatching(/^[0-9a-f]{16}$/),
    fc.oneof(oddWord, fc.constantFrom("req-1", "req-2", "req-3")),
  ),
  trace_id: mostly(fc.stringMatching(/^[0-9a-f]{32}$/), oddWord),
  level: mostly(fc.constant("info"), fc.constantFrom("error", "warn")),
  msg: mostly(
    fc.constantFrom("chat completed", "request served"),
    fc.constantFrom("chat failed", "llm call", "chat started", "retry"),
  ),
  event: mostly(fc.constant("completed"), fc.constantFrom("request.completed", "llm.completed")),
  time: mostly(
    fc.integer({ min: 0, max: 400 }).map(time),
    fc.constantFrom("2026-03-02 10:00:00,123", "2026-03-02T10:61:00.000Z", "1772445600", "1772445600.25", "yesterday"),
  ),
} as const;
type Key = keyof typeof KEYS;

const FIGURES: ReadonlySet<Key> = new Set<Key>([
  ...(["ttft_ms", "e2e_latency_ms", "duration_s", "tokens_in", "tokens_out", "total_tokens"] as const),
  ...(["cost_usd", "worker", "queue_ms", "latency", "retries"] as const),
]);

/** Lines of a few statements, whose values differ, some of which no writer should write. */
const log = fc
  .array(fc.tuple(fc.boolean(), fc.shuffledSubarray(Object.keys(KEYS) as Key[], { minLength: 3, maxLength: 12 })), {
    minLength: 1,
    maxLength: 3,
  })
  .chain((statements) =>
    fc.array(
      fc.nat(statements.length - 1).chain((at) => {
        const [json, keys] = statements[at] as [boolean, Key[]];
        return fc.tuple(...keys.map((key) => KEYS[key])).map((values) => {
          if (!json)
            return keys
              .map((key, n) => `${key}=${/[ "]/.test(values[n] ?? "") ? JSON.stringify(values[n]) : values[n]}`)
              .join(" ");
          const members = keys.map((key, n) => {
            const value = values[n] ?? "";
            const bare = FIGURES.has(key) || (key === "status" && /^\d/.test(value));
            return `"${key}":${bare && value !== "" ? value : JSON.stringify(value)}`;
          });
          return `{${members.join(",")}}`;
        });
      }),
      { minLength: 8, maxLength: 40 },
    ),
  );

test("layouts never give another figure, whatever the values are and however the bytes are cut", () => {
  let taken = 0;
  fc.assert(
    fc.property(log, fc.array(fc.nat(4000), { maxLength: 4 }), (lines, cuts) => {
      taken += sameFigures(`${lines.join("\n")}\n`, cuts);
    }),
    { numRuns: 300 },
  );
  expect(taken).toBeGreaterThan(1000);
});

test("a byte changed anywhere gives the figures of the changed line", () => {
  const bytes = Buffer.from(
    repeat(base, 6) +
      repeat(
        (n) =>
          `time=${time(n)} level=info msg="chat completed" model=m request_id=r-${n} ttft_ms=${n}.5 tokens_out=${n}`,
        6,
      ),
  );
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }),
      (changes) => {
        const changed = Buffer.from(bytes);
        for (const [at, byte] of changes) changed[at] = byte;
        sameFigures(changed);
      },
    ),
    { numRuns: 300 },
  );
});

const GOLDEN = path.join(import.meta.dirname, "../../golden");
const goldens = readdirSync(GOLDEN, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".log"));

test.for(goldens.map((file) => ({ file })))(
  "layouts give the figures of golden $file, once and over again",
  ({ file }) => {
    const bytes = readFileSync(path.join(GOLDEN, file));
    if (bytes.length > 2 ** 20) return;
    sameFigures(bytes);
    // the same statements with other digits
    let digit = 7;
    const again = Buffer.from(bytes);
    for (let at = 0; at < again.length; at++) {
      const code = again[at] as number;
      if (code < 48 || code > 57) continue;
      digit = (digit * 31 + 11) % 97;
      if (digit % 5 === 0) again[at] = 48 + (digit % 10);
    }
    sameFigures(Buffer.concat([bytes, bytes[bytes.length - 1] === 10 ? Buffer.alloc(0) : Buffer.from("\n"), again]));
  },
);
