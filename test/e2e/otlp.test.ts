import path from "node:path";
import { expect, test } from "vitest";
import { App } from "../../src/app.ts";
import { parseConfig } from "../../src/config/load.ts";
import { systemClock } from "../../src/core/system-clock.ts";
import { UTC } from "../../src/core/timestamp.ts";
import { TempFolder } from "../support/cli.ts";
import { OtlpReceiver } from "../support/otlp-receiver.ts";
import { eventually } from "../support/processes.ts";

const REQUEST =
  '{"time":"2026-03-02T10:00:00Z","model":"m","duration_ms":1200,"ttft_ms":200,"prompt_tokens":7,"completion_tokens":3,"status":200}\n';

async function start(folder: TempFolder, more: Record<string, unknown>, warnings: string[] = []): Promise<App> {
  const config = parseConfig(
    JSON.stringify({
      sources: [{ files: [path.join(folder.path, "*.log")], start_at: "beginning", labels: { service_name: "chat" } }],
      http: { listen: "127.0.0.1:0" },
      ...more,
    }),
    "test",
  );
  const log = { info: () => {}, error: () => {}, warn: (_: unknown, message: string) => void warnings.push(message) };
  const app = await App.create({ config, clock: systemClock, log, zone: UTC });
  app.start();
  return app;
}

const tokens = (receiver: OtlpReceiver, type: string): number | undefined =>
  [...receiver.series.values()].find(
    ({ name, attributes }) => name === "ai_token_consumption_total" && attributes["token_type"] === type,
  )?.value;

test("pushes what /metrics shows, with resource attributes and headers", async () => {
  using folder = new TempFolder();
  folder.file("a.log", REQUEST.repeat(5));
  const token = path.join(folder.path, "token");
  folder.file("token", "secret\n");
  await using receiver = await OtlpReceiver.listen();
  await using app = await start(folder, {
    metrics: { naming: "both" },
    otlp: {
      endpoint: `${receiver.url}/tenant`,
      interval: "1s",
      headers: { "X-Scope": "a" },
      bearer_token_file: token,
      resource: { "deployment.environment.name": "test" },
    },
  });
  await app.caughtUp();
  await eventually("a push with everything", () => tokens(receiver, "input") === 35);

  const [push] = receiver.pushes;
  expect(push?.path).toBe("/tenant/v1/metrics");
  expect(push?.headers).toMatchObject({
    "content-type": "application/x-protobuf",
    "x-scope": "a",
    authorization: "Bearer secret",
  });
  expect(push?.resource).toMatchObject({ "service.name": "tokentail", "deployment.environment.name": "test" });
  const named = (name: string) => [...receiver.series.values()].find((point) => point.name === name);
  expect(named("ai_token_consumption_total")).toMatchObject({
    kind: "sum",
    temporality: 2,
    monotonic: true,
    value: 35,
  });
  const duration = named("llm_request_duration_seconds");
  expect(duration).toMatchObject({ kind: "histogram", temporality: 2, value: 5, sum: 6, unit: "s" });
  expect(duration?.attributes).toEqual({ service_name: "chat", model: "m" });
  expect(duration?.bucketCounts.reduce((sum, count) => sum + count, 0)).toBe(5);
  expect(duration?.bucketCounts.length).toBe((duration?.bounds.length ?? 0) + 1);
  expect(duration?.bucketCounts[duration.bounds.indexOf(1.2)]).toBe(5);
  expect(named("gen_ai.server.request.duration")?.attributes).toEqual({
    service_name: "chat",
    "gen_ai.operation.name": "inference",
    "gen_ai.request.model": "m",
  });

  const body = await (await fetch(`${app.http.url}/metrics`)).text();
  expect(body).toMatch(/^tokentail_otlp_pushes_total\{result="ok"\} [1-9]/m);
  expect(body).toMatch(/^tokentail_otlp_pushes_total\{result="error"\} 0$/m);
  expect(body).toMatch(/^tokentail_otlp_last_push_timestamp_seconds \d+/m);
});

test("a stop pushes what was read last, though no interval has passed", async () => {
  using folder = new TempFolder();
  folder.file("a.log", REQUEST.repeat(9));
  await using receiver = await OtlpReceiver.listen();
  const app = await start(folder, { otlp: { endpoint: receiver.url, interval: "1h" } });
  await app.caughtUp();
  expect(receiver.pushes).toEqual([]);
  await app[Symbol.asyncDispose]();
  expect(tokens(receiver, "output")).toBe(27);
});

test("a busy collector is asked again, and nothing is lost", async () => {
  using folder = new TempFolder();
  folder.file("a.log", REQUEST);
  await using receiver = await OtlpReceiver.listen();
  receiver.statuses.push(503);
  const warnings: string[] = [];
  await using app = await start(folder, { otlp: { endpoint: receiver.url, interval: "1s" } }, warnings);
  await app.caughtUp();
  await eventually("a push after the refusal", () => tokens(receiver, "input") === 7);
  expect({ refused: receiver.refused, warnings }).toEqual({ refused: 1, warnings: [] });
});

test("a collector that refuses is counted and told once; the next push carries the same values", async () => {
  using folder = new TempFolder();
  folder.file("a.log", REQUEST);
  await using receiver = await OtlpReceiver.listen();
  receiver.statuses.push(400, 400);
  const warnings: string[] = [];
  await using app = await start(folder, { otlp: { endpoint: receiver.url, interval: "1s" } }, warnings);
  await eventually("the third push", () => tokens(receiver, "input") === 7);
  expect(warnings).toEqual(["Cannot push metrics; the next push carries them too"]);
  const body = await (await fetch(`${app.http.url}/metrics`)).text();
  expect(body).toMatch(/^tokentail_otlp_pushes_total\{result="error"\} 2$/m);
});

test("a collector that is not there holds up neither reading nor the stop", async () => {
  using folder = new TempFolder();
  folder.file("a.log", REQUEST);
  const warnings: string[] = [];
  const app = await start(folder, { otlp: { endpoint: "http://127.0.0.1:9", timeout: "200ms" } }, warnings);
  await app.caughtUp();
  const before = performance.now();
  await app[Symbol.asyncDispose]();
  expect(performance.now() - before).toBeLessThan(5000);
  expect(warnings).toEqual(["Cannot push metrics; the next push carries them too"]);
});

test("values go on after a restart, and so does the time they count from", async () => {
  using folder = new TempFolder();
  folder.file("a.log", REQUEST);
  await using receiver = await OtlpReceiver.listen();
  const more = {
    otlp: { endpoint: receiver.url, interval: "1h" },
    state: { path: path.join(folder.path, "state") },
  };
  for (const run of [1, 2]) {
    const app = await start(folder, more);
    await app.caughtUp();
    await app[Symbol.asyncDispose]();
    expect(tokens(receiver, "input"), `run ${run}`).toBe(7);
  }
  const starts = receiver.pushes.flatMap(({ points }) => points.map(({ startMs }) => Math.round(startMs)));
  expect(receiver.pushes.length).toBe(2);
  expect(new Set(starts).size).toBe(1);
});

test.for([
  { name: "no address", otlp: { endpoint: "localhost:4318" }, says: "is no http:// or https:// address" },
  { name: "another protocol", otlp: { endpoint: "http://a", protocol: "grpc" }, says: "otlp.protocol" },
  { name: "an unknown key", otlp: { endpoint: "http://a", intervall: "1s" }, says: 'did you mean "interval"' },
])("refused at load: $name", ({ otlp, says }) => {
  expect(() => parseConfig(JSON.stringify({ sources: [{ stdin: true }], otlp }), "c.yml")).toThrow(says);
});
