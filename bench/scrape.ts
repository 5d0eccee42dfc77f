/**
 * What scrapes and pushes of many series cost the event loop of the daemon, which is what reading waits for.
 *
 *   node bench/scrape.ts [--lines 100000] [--tenants 200000] [--json]
 *
 * Part 1: an exposition of some 100,000 sample lines, scraped ten times in each format over HTTP, and pushed by OTLP; the longest
 * and the 99th percentile stall of the event loop, by `monitorEventLoopDelay`. The client runs in a process of its own.
 * Part 2: a daemon that reads a log of 200,000 distinct tenants: its memory, the size of the body, and whether the sums are exact.
 */
import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { parseArgs, promisify } from "node:util";
import { systemClock } from "../src/core/system-clock.ts";
import { HttpServer, type HttpViews } from "../src/http/server.ts";
import { MetricSet } from "../src/metric/metric-set.ts";
import { renderOpenMetrics, renderText } from "../src/metric/open-metrics.ts";
import { MetricSetProducer } from "../src/metric/otel-producer.ts";
import { Recorder } from "../src/metric/recorder.ts";
import { Latency } from "../src/model/latency.ts";
import { RequestRecord } from "../src/model/record.ts";
import { OtlpPusher } from "../src/publish/otlp.ts";
import { Otlp } from "../src/publish/otlp-schema.ts";

const { values } = parseArgs({
  options: {
    lines: { type: "string", default: "100000" },
    tenants: { type: "string", default: "200000" },
    json: { type: "boolean", default: false },
  },
});
const wantedLines = Number(values.lines);
const tenants = Number(values.tenants);
const ROUNDS = 10;
const PUSH_FIGURES = 4000;
const OPEN_METRICS = "application/openmetrics-text; version=1.0.0";
const run = promisify(execFile);

/** Series of as many models as give `wantedLines` lines, each bucket with an exemplar where a request fell. */
function filledSet(): MetricSet {
  const set = new MetricSet({ maxSeries: 1_000_000 });
  const recorder = new Recorder({ set, labels: ["model", "route", "tenant"] });
  const stream = { name: "bench", labels: { service_name: "chat" }, profile: "auto" };
  for (let model = 0, lines = 0; lines < wantedLines; model++) {
    for (let at = 0; at < 20; at++) {
      const record = new RequestRecord();
      Object.assign(record, { model: `model-${model}`, route: "/v1/chat/completions", tenant: `team-${model % 50}` });
      Object.assign(record, { tokensIn: 10 * at, tokensOut: at, id: `request-${model}-${at}`, timeMs: 1.77e12 + at });
      record.traceId = `${model}-${at}`.padStart(32, "0");
      record.latencies.set(Latency.e2e, 40 * 1.4 ** at);
      record.latencies.set(Latency.ttft, 10 * 1.3 ** at);
      recorder.record(record, stream, 0);
    }
    // two latencies, two of tokens, one rate, and four counters
    if (model % 50 === 0 || lines + 300 >= wantedLines) lines = countLines(set);
  }
  return set;
}

const countLines = (set: MetricSet): number =>
  [...set.families()].reduce(
    (sum, { cells }) =>
      sum + [...cells].reduce((all, cell) => all + ("counts" in cell ? cell.counts.length + 2 : 1), 0),
    0,
  );

interface Stall {
  readonly maxMs: number;
  readonly p99Ms: number;
  readonly tookMs: number;
}

/** The stalls of the event loop while `work` is done; the resolution of the monitor is taken off. */
async function stalls(work: () => Promise<unknown>): Promise<Stall> {
  const RESOLUTION_MS = 1;
  const monitor = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  monitor.enable();
  const start = performance.now();
  await work();
  const tookMs = performance.now() - start;
  monitor.disable();
  const ms = (nanoseconds: number): number => Math.round((nanoseconds / 1e6 - RESOLUTION_MS) * 10) / 10;
  return { maxMs: ms(monitor.max), p99Ms: ms(monitor.percentile(99)), tookMs: Math.round(tookMs) };
}

async function partOne(): Promise<Record<string, unknown>> {
  const set = filledSet();
  const fault = (metric: string, error: unknown): never => {
    throw new Error(`Cannot render ${metric}`, { cause: error });
  };
  const views = {
    metrics: () => renderText(set, fault),
    openMetrics: () => renderOpenMetrics(set, fault),
  } as Partial<HttpViews> as HttpViews; // the other pages are not asked for
  await using http = await HttpServer.listen("127.0.0.1:0", views, (error) => console.error(error));
  const scrape = (accept: string, gzip: boolean) => async (): Promise<void> => {
    for (let round = 0; round < ROUNDS; round++) {
      const zip = gzip ? ["-H", "Accept-Encoding: gzip"] : [];
      await run("curl", ["-sf", "-o", "/dev/null", "-H", `Accept: ${accept}`, ...zip, `${http.url}/metrics`]);
    }
  };
  const idle = await stalls(() => systemClock.sleep(1000));
  await scrape(OPEN_METRICS, false)(); // compiled and label texts made
  const first = { ...(await stalls(scrape(OPEN_METRICS, true))) };
  const openMetrics = await stalls(scrape(OPEN_METRICS, false));
  const text = await stalls(scrape("text/plain", false));

  const body = [...renderText(set, fault)].join("");
  const check = spawnSync("promtool", ["check", "metrics"], { input: body, encoding: "utf8" });

  const sink = createServer((request, response) => {
    request.resume().on("end", () => response.end());
  }).listen(0, "127.0.0.1");
  await once(sink, "listening");
  const endpoint = `http://127.0.0.1:${(sink.address() as AddressInfo).port}`;
  const producer = new MetricSetProducer({ set, nowMs: () => Date.now(), beforeCollect: () => {}, resource: {} });
  const pusher = new OtlpPusher({
    config: Otlp.parse({ endpoint }),
    clock: systemClock,
    collect: () => producer.batches(PUSH_FIGURES),
    log: { info: () => {}, warn: (fields, message) => console.error(message, fields) },
  });
  await pusher.push();
  const otlp = await stalls(async () => {
    for (let round = 0; round < ROUNDS; round++) await pusher.push();
  });
  sink.closeAllConnections();
  sink.close();
  return {
    sample_lines: countLines(set),
    body_bytes: body.length,
    promtool: check.error === undefined ? { exit: check.status, said: check.stderr.slice(0, 200) } : "not installed",
    rounds: ROUNDS,
    idle,
    open_metrics_gzip: first,
    open_metrics: openMetrics,
    text,
    otlp_push: { ...otlp, pushes: pusher.sent, failed: pusher.errors },
  };
}

async function partTwo(): Promise<Record<string, unknown>> {
  const folder = mkdtempSync(path.join(tmpdir(), "tokentail-tenants-"));
  try {
    let log = "";
    for (let at = 0; at < tenants; at++)
      log += `{"time":"2026-03-02T10:00:00Z","model":"m","tenant":"tenant-${at}","duration_ms":250,"prompt_tokens":3,"completion_tokens":2,"status":200}\n`;
    const file = path.join(folder, "app.log");
    writeFileSync(file, log);
    const main = path.join(import.meta.dirname, "../src/main.ts");
    const daemon = spawn(process.execPath, [main, "run", "--from-beginning", file, "--listen", "127.0.0.1:0"], {
      stdio: ["ignore", "ignore", "pipe"],
    });
    try {
      const url = await new Promise<string>((resolve, reject) => {
        let said = "";
        daemon.stderr.on("data", (chunk: Buffer) => {
          said += chunk.toString();
          const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said);
          if (found !== null) resolve(found[0]);
        });
        daemon.on("exit", () => reject(new Error(`the daemon ended: ${said}`)));
      });
      const start = performance.now();
      while ((await fetch(`${url}/-/ready`)).status !== 200) await systemClock.sleep(200);
      const readMs = performance.now() - start;
      const mib = (key: string): number => {
        const status = readFileSync(`/proc/${daemon.pid}/status`, "utf8");
        return Math.round(Number(new RegExp(`${key}:\\s+(\\d+)`).exec(status)?.[1]) / 1024);
      };
      const readRss = mib("VmRSS");
      const body = await (await fetch(`${url}/metrics`)).text();
      const sum = (name: string): number =>
        [...body.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\d+)$`, "gm"))].reduce(
          (all, [, n]) => all + Number(n),
          0,
        );
      return {
        tenants,
        read_ms: Math.round(readMs),
        rss_mib_after_reading: readRss,
        rss_mib_after_scrape: mib("VmRSS"),
        peak_rss_mib: mib("VmHWM"),
        body_bytes: body.length,
        series: body.match(/^llm_requests_total\{/gm)?.length,
        requests: sum("llm_requests_total"),
        duration_count: sum("llm_request_duration_seconds_count"),
        tokens: sum("ai_token_consumption_total"),
        exact: sum("llm_requests_total") === tenants && sum("ai_token_consumption_total") === tenants * 5,
      };
    } finally {
      daemon.kill("SIGTERM");
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const result = { scrape: await partOne(), tenants: tenants > 0 ? await partTwo() : undefined };
if (values.json) console.log(JSON.stringify(result));
else console.dir(result, { depth: 5 });
