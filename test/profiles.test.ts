import fc from "fast-check";
import { expect, test } from "vitest";
import { UTC } from "../src/core/timestamp.ts";
import { Framer } from "../src/frame/framer.ts";
import { Candidates } from "../src/profile/candidates.ts";
import { PROFILES } from "../src/profile/registry.ts";
import { fuzz } from "./support/fuzz.ts";
import { type GoldenLog, goldenLogs } from "./support/golden-logs.ts";
import { type Report, readLog } from "./support/read-log.ts";

const rows = goldenLogs.map((log) => ({ name: log.name, log }));

test.for(rows)("no profile claims lines of another: $name", ({ log }) => {
  const candidates = new Candidates(PROFILES);
  const specific = PROFILES.filter((profile) => profile.rank === "specific");
  const claimed: string[] = [];
  const hidden: string[] = [];
  const framer = new Framer({
    maxLineBytes: 1024 * 1024,
    zone: UTC,
    onLine: (line) => {
      const claims = PROFILES.filter((profile) => profile.claims(line));
      if (claims.filter((profile) => specific.includes(profile)).length > 1) {
        claimed.push(`${claims.map((profile) => profile.name).join(" + ")}: ${line.text.slice(0, 120)}`);
      }
      // what keeps lines of others away must not keep a profile's own lines away
      const offered = candidates.of(line);
      for (const profile of claims)
        if (!offered.includes(profile)) hidden.push(`${profile.name}: ${line.text.slice(0, 120)}`);
    },
  });
  framer.push(log.bytes, 0, Date.UTC(2026, 5, 1));
  framer.end();
  expect({ claimed, hidden }).toEqual({ claimed: [], hidden: [] });
});

test.for(rows)("the report is the same however the bytes are cut: $name", ({ log }) => {
  const whole = readLog(log.bytes).report;
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: Math.max(1, log.bytes.length - 1) }), { minLength: 1, maxLength: 12 }),
      (cuts) => {
        expect(readLog(log.bytes, { cuts }).report).toEqual(whole);
      },
    ),
    { numRuns: 6, seed: 7 },
  );
});

/** Figures that add up over files, without what names a file or a time. */
function figures(report: Report): Record<string, unknown> {
  const { requests, http, latency_ms, tokens, tokens_estimated, cost_usd, errors, counters, rejected_values } = report;
  const latencies = Object.fromEntries(
    Object.entries<Report>(latency_ms).map(([kind, { count, sum }]) => [kind, [count, Number(sum.toFixed(3))]]),
  );
  return {
    requests,
    http,
    latencies,
    tokens,
    tokens_estimated,
    cost_usd: cost_usd === null ? null : Number(cost_usd.toFixed(9)),
    errors,
    counters,
    rejected_values,
  };
}

const WRAPPED_ALREADY = /^(?:frame|docker|k8s|journald|syslog)/;
/** Text that a line-based wrapper carries as it is. */
const plainLogs = rows.filter(
  ({ log }) => !WRAPPED_ALREADY.test(log.folder) && !log.bytes.includes(0) && !log.bytes.includes("\r"),
);

test.for(plainLogs)("wrapped by a container runtime, a log says the same: $name", ({ log }) => {
  const lines = log.bytes.toString("utf8").replace(/\n$/, "").split("\n");
  const want = figures(readLog(log.bytes).report);
  const cri = lines.map((line) => `2026-06-01T00:00:00.5Z stdout F ${line}\n`).join("");
  const docker = lines
    .map((line) => `${JSON.stringify({ log: `${line}\n`, stream: "stdout", time: "2026-06-01T00:00:00.5Z" })}\n`)
    .join("");
  expect(figures(readLog(cri).report)).toEqual(want);
  expect(figures(readLog(docker).report)).toEqual(want);
});

const golden = (name: string): GoldenLog => {
  const found = goldenLogs.find((log) => log.name === name);
  if (found === undefined) throw new RangeError(`no golden log ${name}`);
  return found;
};

test.for([
  ["vllm/vllm-v1", "structured/app-json"],
  ["sglang/sglang-json", "structured/app-json"],
  ["vllm/vllm-rust", "nginx/nginx-json"],
  ["kong/kong-ai-proxy", "cloudflare-ai-gateway/cloudflare-ai-gateway"],
  ["structured/rag-app-events", "envoy/envoy-default-text"],
] as const)("two servers interleaved line by line give the sum of both: %s and %s", ([one, two]) => {
  const [first, second] = [golden(one), golden(two)].map((log) =>
    log.bytes.toString("utf8").replace(/\n$/, "").split("\n"),
  ) as [string[], string[]];
  const mixed: string[] = [];
  for (let at = 0; at < Math.max(first.length, second.length); at++) {
    if (first[at] !== undefined) mixed.push(first[at] as string);
    if (second[at] !== undefined) mixed.push(second[at] as string);
  }
  const parts = [golden(one), golden(two)].map((log) => readLog(log.bytes).report);
  const total = readLog(`${mixed.join("\n")}\n`).report;
  const sum = (pick: (report: Report) => number | null | undefined): number =>
    parts.reduce((all, report) => all + (pick(report) ?? 0), 0);
  for (const count of ["received", "finished", "failed", "aborted"])
    expect(total["requests"][count] ?? 0, count).toBe(sum((report) => report["requests"][count]));
  for (const key of ["in", "out", "in_cached"])
    expect(total["tokens"][key]?.sum ?? 0, key).toBe(sum((report) => report["tokens"][key]?.sum));
  for (const kind of ["e2e", "ttft", "queue", "upstream_llm"]) {
    expect(total["latency_ms"][kind]?.count ?? 0, kind).toBe(sum((report) => report["latency_ms"][kind]?.count));
    expect(total["latency_ms"][kind]?.sum ?? 0, kind).toBeCloseTo(
      sum((report) => report["latency_ms"][kind]?.sum),
      3,
    );
  }
});

test.for([...new Set(goldenLogs.map((log) => log.folder))])(
  "mutated lines neither break nor stall a parser: %s",
  (folder) => {
    expect(fuzz(folder, 1500, 11).slow).toEqual([]);
  },
);
