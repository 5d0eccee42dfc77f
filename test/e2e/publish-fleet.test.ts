import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { bucketIndex, LATENCY_SECONDS } from "../../src/metric/buckets.ts";
import { METRICS } from "../../src/metric/catalogue.ts";
import { RULE_DEFAULTS } from "../../src/rule/options.ts";
import { slaFleetFile } from "../../src/rule/sla-fleet.ts";
import { Random } from "../../src/simulate/random.ts";
import { TempFolder } from "../support/cli.ts";
import { eventually, freePort, installed, RunningProgram } from "../support/processes.ts";
import { writtenOut } from "../support/written-out.ts";

const STEP_S = 300;
const HOUR_S = 3600;
const WEEK_S = 7 * 24 * HOUR_S;
/** Hours that are judged; the step, if any, comes after the first {@link BEFORE_HOURS}. */
const JUDGED_HOURS = 12;
const BEFORE_HOURS = 3;

interface Service {
  readonly name: string;
  readonly perHour: number;
  /** σ of the logarithm of latencies. */
  readonly sigma: number;
  /** Factor on latencies after the step; 1 for steady traffic. */
  readonly step: number;
}

const SERVICES: readonly Service[] = [0.6, 0.8, 1].flatMap((sigma) =>
  [1, 1, 1.5, 1.5, 2].map((step, number) => ({ name: `s${sigma}-x${step}-${number}`, perHour: 10_000, sigma, step })),
);

/** Samples of two nodes around the judged hours and around the same hours a week before, in OpenMetrics. */
function samples(endS: number): string {
  const random = new Random(20_261_201);
  const name = METRICS.requestDuration.name;
  const lines = [`# TYPE ${name} histogram`];
  // the lower buckets matter little for a P99 and would triple the file
  const bounds = LATENCY_SECONDS.filter((bound) => bound >= 1);
  for (const { name: service, perHour, sigma, step } of SERVICES) {
    for (const node of ["n1", "n2"]) {
      const labels = `job="tokentail",instance="${node}",service_name="${service}",model="m"`;
      const counts = new Float64Array(bounds.length + 1);
      let sum = 0;
      for (const ago of [WEEK_S, 0]) {
        const startS = endS - ago - (JUDGED_HOURS + 2) * HOUR_S;
        for (let timeS = startS; timeS <= endS - ago; timeS += STEP_S) {
          const slow = ago === 0 && timeS > startS + (2 + BEFORE_HOURS) * HOUR_S ? step : 1;
          for (let left = poisson(random, (perHour / 2) * (STEP_S / HOUR_S)); left > 0; left--) {
            const seconds = random.lognormal(2, sigma) * slow;
            const index = bucketIndex(bounds, seconds);
            counts[index] = (counts[index] ?? 0) + 1;
            sum += seconds;
          }
          let below = 0;
          for (const [index, bound] of bounds.entries()) {
            below += counts[index] ?? 0;
            lines.push(`${name}_bucket{${labels},le="${bound}"} ${below} ${timeS}`);
          }
          below += counts.at(-1) ?? 0;
          lines.push(
            `${name}_bucket{${labels},le="+Inf"} ${below} ${timeS}`,
            `${name}_count{${labels}} ${below} ${timeS}`,
            `${name}_sum{${labels}} ${sum} ${timeS}`,
          );
        }
      }
    }
  }
  return `${lines.join("\n")}\n# EOF\n`;
}

/** Normal approximation: the means here are in the hundreds. */
function poisson(random: Random, mean: number): number {
  return Math.max(0, Math.round(mean + Math.sqrt(mean) * Math.log(random.lognormal(1, 1))));
}

test("the written-out expression holds no recorded name any more", () => {
  expect(writtenOut(slaFleetFile(RULE_DEFAULTS), "LLMLatencyP99Drift")).not.toMatch(/[a-z]:[a-z]/);
});

test.skipIf(!installed("prometheus") || !installed("promtool"))(
  "fleet drift: every step of half as much again is found, steady traffic at 10,000 requests an hour raises nothing",
  { timeout: 180_000 },
  async () => {
    using folder = new TempFolder();
    const endS = Math.floor(Date.now() / 1000 / STEP_S) * STEP_S - HOUR_S;
    const data = path.join(folder.path, "data");
    mkdirSync(data);
    const loaded = spawnSync(
      "promtool",
      [
        "tsdb",
        "create-blocks-from",
        "openmetrics",
        "--max-block-duration=48h",
        folder.file("samples.om", samples(endS)),
        data,
      ],
      { encoding: "utf8" },
    );
    expect(loaded.status, loaded.stderr).toBe(0);
    const port = await freePort();
    writeFileSync(path.join(folder.path, "prometheus.yml"), "global: {}\n");
    await using prometheus = new RunningProgram("prometheus", [
      `--config.file=${path.join(folder.path, "prometheus.yml")}`,
      `--storage.tsdb.path=${data}`,
      "--storage.tsdb.retention.time=60d",
      `--web.listen-address=127.0.0.1:${port}`,
      "--query.timeout=2m",
    ]);
    await eventually(
      `Prometheus (${prometheus.output.slice(-300)})`,
      async () => (await fetch(`http://127.0.0.1:${port}/-/ready`)).ok,
    );
    const firstS = endS - JUDGED_HOURS * HOUR_S;
    const body = new URLSearchParams({
      query: writtenOut(slaFleetFile(RULE_DEFAULTS), "LLMLatencyP99Drift"),
      start: String(firstS),
      end: String(endS),
      step: String(STEP_S),
    });
    const answer = (await (
      await fetch(`http://127.0.0.1:${port}/api/v1/query_range`, { method: "POST", body })
    ).json()) as {
      status: string;
      error?: string;
      data: { result: Array<{ metric: Record<string, string>; values: Array<[number, string]> }> };
    };
    expect(answer.status, answer.error).toBe("success");
    const times = new Map(
      answer.data.result.map(({ metric, values }) => [metric["service_name"] ?? "", values.map(([timeS]) => timeS)]),
    );
    const stepS = firstS + BEFORE_HOURS * HOUR_S;
    const verdicts = SERVICES.map(({ name, step }) => {
      const found = times.get(name) ?? [];
      const early = found.filter((timeS) => timeS <= stepS).length;
      // fires once true at two evaluations in a row, 5 minutes apart
      const fired = found.find((timeS) => timeS > stepS && found.includes(timeS - STEP_S));
      return { name, step, early, afterHours: fired === undefined ? undefined : (fired - stepS) / HOUR_S };
    });
    expect(
      verdicts.filter(({ step, early, name }) => early > 0 || (step === 1 && (times.get(name)?.length ?? 0) > 0)),
    ).toEqual([]);
    expect(verdicts.filter(({ step, afterHours = Number.POSITIVE_INFINITY }) => step > 1 && afterHours > 3)).toEqual(
      [],
    );
  },
);
