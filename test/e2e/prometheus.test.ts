import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { App } from "../../src/app.ts";
import { parseConfig } from "../../src/config/load.ts";
import { systemClock } from "../../src/core/system-clock.ts";
import { UTC } from "../../src/core/timestamp.ts";
import type { Truth } from "../../src/simulate/log-stream.ts";
import { cli, TempFolder } from "../support/cli.ts";
import { eventually, freePort, installed, RunningProgram } from "../support/processes.ts";

const silent = { info: () => {}, warn: () => {}, error: () => {} };

async function simulatedApp(folder: TempFolder): Promise<{ app: App; truth: Truth }> {
  await cli([
    "simulate",
    "--out",
    path.join(folder.path, "logs"),
    "--duration",
    "10m",
    "--rate",
    "6",
    "--scenario",
    "incident",
    "--seed",
    "7",
  ]);
  const truth = JSON.parse(readFileSync(path.join(folder.path, "logs/truth.json"), "utf8")) as Truth;
  const config = parseConfig(
    JSON.stringify({
      sources: [
        { files: [path.join(folder.path, "logs/*.log")], start_at: "beginning", labels: { service_name: "demo" } },
      ],
      http: { listen: "127.0.0.1:0" },
    }),
    "test",
  );
  const app = await App.create({ config, clock: systemClock, log: silent, zone: UTC });
  app.start();
  await app.caughtUp();
  return { app, truth };
}

test.skipIf(!installed("promtool"))("promtool check metrics accepts the exposition", async () => {
  using folder = new TempFolder();
  const { app } = await simulatedApp(folder);
  await using _ = app;
  const body = await (await fetch(`${app.http.url}/metrics`)).text();
  const check = spawnSync("promtool", ["check", "metrics"], { input: body, encoding: "utf8" });
  expect({ status: check.status, said: check.stdout + check.stderr }).toEqual({ status: 0, said: "" });
});

test.skipIf(!installed("prometheus"))(
  "a real Prometheus gets exactly the totals that the simulator wrote",
  async () => {
    using folder = new TempFolder();
    const { app, truth } = await simulatedApp(folder);
    await using _ = app;
    const port = await freePort();
    const target = new URL(app.http.url).host;
    writeFileSync(
      path.join(folder.path, "prometheus.yml"),
      `global: {scrape_interval: 1s}\nscrape_configs:\n  - job_name: tokentail\n    static_configs: [{targets: ["${target}"]}]\n`,
    );
    await using prometheus = new RunningProgram("prometheus", [
      `--config.file=${path.join(folder.path, "prometheus.yml")}`,
      `--storage.tsdb.path=${path.join(folder.path, "data")}`,
      `--web.listen-address=127.0.0.1:${port}`,
    ]);
    const query = async (promql: string): Promise<number | undefined> => {
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/query?query=${encodeURIComponent(promql)}`);
      const body = (await answer.json()) as { data: { result: Array<{ value: [number, string] }> } };
      const value = body.data.result[0]?.value[1];
      return value === undefined ? undefined : Number(value);
    };
    await eventually(
      `a scrape (${prometheus.output.slice(-300)})`,
      async () => (await query('up{job="tokentail"} == 1')) === 1,
    );

    const wanted: Record<string, number> = {
      'sum(llm_requests_total{outcome="ok"})': truth.requests.finished,
      'sum(llm_requests_total{outcome="aborted"})': truth.requests.aborted,
      'sum(llm_requests_total{outcome="error"})': truth.requests.failed,
      "sum(llm_requests_received_total)": truth.requests.received,
      'sum(ai_token_consumption_total{token_type="input"})': truth.tokens.in,
      'sum(ai_token_consumption_total{token_type="output"})': truth.tokens.out,
      "sum(llm_cached_input_tokens_total)": truth.tokens.in_cached,
      "sum(llm_request_duration_seconds_count)": truth.latency_ms.e2e.count,
      'sum(llm_request_duration_seconds_bucket{le="+Inf"})': truth.latency_ms.e2e.count,
      "sum(llm_request_ttft_seconds_count)": truth.latency_ms.ttft.count,
      "sum(llm_request_queue_seconds_count)": truth.latency_ms.queue.count,
      "sum(rag_retrieval_duration_seconds_count)": truth.latency_ms.retrieval.count,
      'sum(tokentail_lines_total{result="unrecognised"})': 0,
      "sum(tokentail_lines_total)": truth.lines,
    };
    for (const [cause, count] of Object.entries(truth.failures))
      wanted[`sum(llm_failures_total{cause="${cause}"})`] = count;
    const got = Object.fromEntries(
      await Promise.all(Object.keys(wanted).map(async (promql) => [promql, await query(promql)] as const)),
    );
    expect(got).toEqual(wanted);
    const sum = (await query("sum(llm_request_duration_seconds_sum)")) ?? Number.NaN;
    expect(Math.abs(sum * 1000 - truth.latency_ms.e2e.sum)).toBeLessThan(0.01);
  },
);
