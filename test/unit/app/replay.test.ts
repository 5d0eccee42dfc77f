import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { type CliResult, cli, TempFolder } from "../../support/cli.ts";

const DAY = 86_400_000;
const T0 = Date.parse("2026-05-04T00:00Z");

interface Replay {
  readonly from: string;
  readonly to: string;
  readonly evaluations: number;
  readonly episodes: Array<{
    alertname: string;
    labels: Record<string, string>;
    fired_at: string;
    resolved_at: string | null;
    values_at_fire: Record<string, number | null>;
  }>;
  readonly no_verdict: Array<{ signal: string; reason: string }>;
  readonly rejected_values: Record<string, number>;
}

let next = 0;
const line = (timeMs: number, more: object = {}): string =>
  `${JSON.stringify({ time: new Date(timeMs).toISOString(), level: "info", msg: "request finished", request_id: `r${next++}`, service_name: "chat", model: "llama", route: "/v1/chat/completions", tenant: "acme", status: 200, ttft_ms: null, e2e_latency_ms: 1000, ...more })}\n`;

/** `n` lines over an hour. */
const hour = (fromMs: number, n: number, more: object = {}): string =>
  Array.from({ length: n }, (_, at) => line(fromMs + Math.floor((at * 3_600_000) / n), more)).join("");

const CONFIG = `
budgets: [{name: acme, match: {tenant: acme}, limit_tokens: 1_000}]
`;

async function replay(
  folder: TempFolder,
  files: Record<string, string | Buffer>,
  config = CONFIG,
  args: string[] = [],
): Promise<CliResult> {
  const paths = Object.entries(files).map(([name, content]) => folder.file(name, content));
  return await cli(["replay", "-c", folder.file("config.yml", config), ...args, ...paths]);
}

async function answer(files: Record<string, string | Buffer>, config = CONFIG, args: string[] = []): Promise<Replay> {
  using folder = new TempFolder();
  const { exit, stdout, stderr } = await replay(folder, files, config, ["--json", ...args]);
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: "" });
  return JSON.parse(stdout) as Replay;
}

const told = ({ episodes }: Replay): string[] =>
  episodes.map(
    ({ alertname, labels, fired_at }) => `${alertname} ${Object.values(labels).join("/")} ${fired_at.slice(0, 16)}`,
  );

test("files are merged by the time in their lines, whatever their order; gzip too", async () => {
  const then = hour(T0, 600);
  const now = hour(T0 + 7 * DAY, 600, { e2e_latency_ms: 2000 });
  const tail = hour(T0 + 7 * DAY + 3_600_000, 600, { e2e_latency_ms: 2000 });
  const wanted = ["LLMLatencyP99Drift chat/llama/e2e 2026-05-11T00:55"];
  expect(told(await answer({ "a.log": tail, "b.log.1": now, "c.log.2.gz": gzipSync(then) }))).toEqual(wanted);
  expect(told(await answer({ "all.log": then + now + tail }))).toEqual(wanted);
});

test("--set tries another threshold", async () => {
  const log =
    hour(T0, 600) +
    hour(T0 + 7 * DAY, 600, { e2e_latency_ms: 1200 }) +
    hour(T0 + 7 * DAY + 3_600_000, 600, { e2e_latency_ms: 1200 });
  expect(told(await answer({ "a.log": log }))).toHaveLength(1);
  expect(told(await answer({ "a.log": log }, CONFIG, ["--set", "alerts.drift.max_drift=0.2"]))).toEqual([]);
  expect(told(await answer({ "a.log": log }, CONFIG, ["--set", "alerts.drift.min_samples=601"]))).toEqual([]);
});

test.for([
  { name: "no equals sign", set: "alerts.for", says: /--set needs path=value/ },
  { name: "an unknown key", set: "alerts.drift.max_drif=1", says: /did you mean "max_drift"/ },
  { name: "a bad value", set: "alerts.for=soon", says: /alerts.for: "soon" is no duration/ },
])("--set with $name is refused", async ({ set, says }) => {
  using folder = new TempFolder();
  const { exit, stderr } = await replay(folder, { "a.log": line(T0) }, CONFIG, ["--set", set]);
  expect(exit).toBe(2);
  expect(stderr).toMatch(says);
});

test("lines of a clock that was never set are refused and counted; they do not stretch the replay", async () => {
  const { from, evaluations, rejected_values } = await answer({ "a.log": line(5) + line(T0) + line(T0 + 60_000) });
  expect({ from, evaluations, rejected_values }).toEqual({
    from: new Date(T0).toISOString(),
    evaluations: 2,
    rejected_values: { "unset-clock": 1 },
  });
});

test("a clock far ahead costs nothing and hides nothing", async () => {
  const log = hour(T0, 600) + hour(T0 + 7 * DAY, 600, { e2e_latency_ms: 2000 }) + line(Date.parse("2199-01-01T00:00Z"));
  const { episodes, evaluations } = await answer({ "a.log": log });
  expect(episodes).toMatchObject([{ alertname: "LLMLatencyP99Drift", resolved_at: "2026-05-11T01:20:00.000Z" }]);
  expect(evaluations).toBe((Date.parse("2199-01-01T00:00Z") - T0) / 60_000 + 1);
});

test.for([
  {
    name: "tokens of failed requests are charged",
    more: { status: 503, level: "error", tokens_in: 951, tokens_out: 0 },
    fires: true,
  },
  { name: "95 % exactly is not above it", more: { tokens_in: 900, tokens_out: 50 }, fires: false },
  { name: "null usage is no usage", more: { tokens_in: null, tokens_out: null }, fires: false },
])("$name", async ({ more, fires }) => {
  const result = await answer({ "a.log": line(T0, more) + line(T0 + 20 * 60_000) });
  expect(told(result)).toEqual(fires ? ["LLMTokenBudgetNearlySpent acme/acme 2026-05-04T00:05"] : []);
});

test("cached input at its own weight", async () => {
  const config = "budgets: [{name: acme, limit_tokens: 1000, weights: {cached_input: 0.1}}]";
  const log = line(T0, { tokens_in: 1000, cached_tokens: 900, tokens_out: 0 }) + line(T0 + 20 * 60_000);
  expect(told(await answer({ "a.log": log }, config))).toEqual([]);
  expect(told(await answer({ "a.log": log }, "budgets: [{name: acme, limit_tokens: 1000}]"))).toHaveLength(1);
});

test("an hourly budget ends at the local hour", async () => {
  const config = "budgets: [{name: acme, limit_tokens: 100, period: 1h, timezone: Asia/Kolkata}]";
  const log = line(T0 + 10 * 60_000, { tokens_in: 100, tokens_out: 0 }) + line(T0 + 2 * 3_600_000);
  const { episodes } = await answer({ "a.log": log }, config);
  expect(episodes).toMatchObject([{ fired_at: "2026-05-04T00:15:00.000Z", resolved_at: "2026-05-04T00:40:00.000Z" }]);
});

test("latencies beyond the sketch are no verdict: overflow", async () => {
  const log = hour(T0, 600) + hour(T0 + 7 * DAY, 600, { e2e_latency_ms: 2 * DAY }) + line(T0 + 7 * DAY + 3_600_000);
  const { episodes, no_verdict } = await answer({ "a.log": log });
  expect(episodes).toEqual([]);
  expect(no_verdict.map(({ reason }) => reason)).toContain("overflow");
});

test("labels of a source go with its files", async () => {
  using folder = new TempFolder();
  const bare = { service_name: undefined, tenant: undefined, tokens_in: 99, tokens_out: 0 };
  const config = `
sources: [{files: ["${folder.path}/x*.log"], labels: {service_name: search, tenant: globex}}, {files: [/other/*.log]}]
budgets: [{name: globex, match: {tenant: globex, service_name: search}, limit_tokens: 100}]`;
  const { stdout } = await replay(folder, { "x1.log": line(T0, bare) + line(T0 + 20 * 60_000) }, config, ["--json"]);
  expect(told(JSON.parse(stdout) as Replay)).toEqual(["LLMTokenBudgetNearlySpent globex/globex 2026-05-04T00:05"]);
});

test("the report for people", async () => {
  using folder = new TempFolder();
  const slow = { e2e_latency_ms: 2000, tokens_in: 1, tokens_out: 1 };
  const log = hour(T0, 600) + hour(T0 + 7 * DAY, 600, slow) + hour(T0 + 7 * DAY + 3_600_000, 600, slow);
  const { exit, stdout } = await replay(folder, { "a.log": log });
  expect(exit).toBe(0);
  expect(stdout).toMatch(/^Would have paged once: 2026-05-11 00:55; 2 warnings\n/);
  expect(stdout).toMatch(/critical +LLMSlaCritical +chat\/llama +P99 1 s → 2 s \(\+100 %\), budget /);
  expect(stdout).toMatch(/chat\/llama +e2e +·+█/);
});

test("no time in any line is told", async () => {
  using folder = new TempFolder();
  const { exit, stderr } = await replay(folder, { "a.log": "hello\nworld\n" });
  expect(exit).toBe(1);
  expect(stderr).toMatch(/no request with a time/);
});
