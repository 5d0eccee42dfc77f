import { appendFileSync } from "node:fs";
import http from "node:http";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { App } from "../../src/app.ts";
import { parseConfig } from "../../src/config/load.ts";
import { systemClock } from "../../src/core/system-clock.ts";
import { UTC } from "../../src/core/timestamp.ts";
import { TempFolder } from "../support/cli.ts";
import { eventually } from "../support/processes.ts";

const silent = { info: () => {}, warn: () => {}, error: () => {} };
const REQUEST =
  '{"level":30,"time":1772474401832,"model":"m","status":200,"duration_ms":100,"usage":{"prompt_tokens":7,"completion_tokens":3},"msg":"chat"}\n';

async function start(folder: TempFolder, more: Record<string, unknown> = {}): Promise<App> {
  const config = parseConfig(
    JSON.stringify({
      sources: [{ files: [`${folder.path}/*.log`], start_at: "beginning" }],
      http: { listen: "127.0.0.1:0" },
      ...more,
    }),
    "test",
  );
  const app = await App.create({ config, clock: systemClock, log: silent, zone: UTC });
  app.start();
  return app;
}

test("pages, methods and types", async () => {
  using folder = new TempFolder();
  folder.file("a.log", REQUEST);
  await using app = await start(folder);
  await app.caughtUp();
  const ask = async (path: string, method = "GET"): Promise<[number, string | null]> => {
    const answer = await fetch(`${app.http.url}${path}`, { method });
    await answer.text();
    return [answer.status, answer.headers.get("content-type")];
  };
  expect(await ask("/metrics")).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
  expect(await ask("/metrics", "HEAD")).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
  expect(await ask("/metrics?x=1")).toEqual([200, "text/plain; version=0.0.4; charset=utf-8"]);
  expect((await ask("/metrics", "POST"))[0]).toBe(405);
  expect(await ask("/")).toEqual([200, "text/html; charset=utf-8"]);
  expect((await ask("/-/healthy"))[0]).toBe(200);
  expect((await ask("/-/ready"))[0]).toBe(200);
  expect(await ask("/api/v1/status")).toEqual([200, "application/json"]);
  expect((await ask("/nope"))[0]).toBe(404);
});

test("/metrics is compressed for those who ask", async () => {
  using folder = new TempFolder();
  folder.file("a.log", REQUEST);
  await using app = await start(folder);
  await app.caughtUp();
  const raw = await new Promise<{ encoding: string | undefined; body: Buffer }>((resolve, reject) => {
    http
      .get(`${app.http.url}/metrics`, { headers: { "Accept-Encoding": "gzip" } }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.on("end", () => resolve({ encoding: answer.headers["content-encoding"], body: Buffer.concat(chunks) }));
      })
      .on("error", reject);
  });
  expect(raw.encoding).toBe("gzip");
  expect(gunzipSync(raw.body).toString()).toContain("# TYPE llm_requests_total counter");
});

test("a line appended while it runs is in /metrics soon after", async () => {
  using folder = new TempFolder();
  const file = folder.file("a.log", REQUEST);
  await using app = await start(folder);
  await app.caughtUp();
  appendFileSync(file, REQUEST);
  await eventually("the second request", async () =>
    (await (await fetch(`${app.http.url}/metrics`)).text()).includes('llm_requests_total{model="m",outcome="ok"} 2'),
  );
});

test("hostile label values are escaped and never break a line", async () => {
  using folder = new TempFolder();
  const hostile = [
    'a"b',
    "back\\slash",
    "new\nline",
    "nul\u0000",
    "\ud800 lone",
    "x".repeat(10_000),
    "le",
    "{}",
    "é😀",
  ];
  folder.file(
    "a.log",
    hostile.map((model) => REQUEST.replace('"model":"m"', `"model":${JSON.stringify(model)}`)).join(""),
  );
  await using app = await start(folder);
  await app.caughtUp();
  const body = await (await fetch(`${app.http.url}/metrics`)).text();
  const samples = body.split("\n").filter((line) => /^llm_requests_total\{.*outcome="ok"/.test(line));
  expect(samples.length).toBe(hostile.length);
  for (const sample of samples)
    expect(sample).toMatch(/^llm_requests_total\{model="(?:[^"\\\n]|\\["\\n])*",outcome="ok"\} 1$/);
});

test("beyond the series limit new tenants are summed under `other`, and the sum stays exact", async () => {
  using folder = new TempFolder();
  const tenants = Array.from({ length: 500 }, (_, at) =>
    REQUEST.replace('"model":"m"', `"model":"m","tenant":"t${at}"`),
  );
  folder.file("a.log", tenants.join(""));
  await using app = await start(folder, { metrics: { max_series: 50 } });
  await app.caughtUp();
  const body = await (await fetch(`${app.http.url}/metrics`)).text();
  const samples = [...body.matchAll(/^llm_requests_total\{[^}]*\} (\d+)$/gm)].map(([, value]) => Number(value));
  expect(samples.reduce((sum, value) => sum + value, 0)).toBe(500);
  expect(samples.length).toBe(51);
  expect(body).toMatch(/^tokentail_series_overflow_total\{metric="llm_requests_total"\} 450$/m);
});

test("an address that is taken is told in one line", async () => {
  using folder = new TempFolder();
  await using app = await start(folder);
  const listen = new URL(app.http.url).host;
  await expect(start(folder, { http: { listen } })).rejects.toThrow(
    `Cannot listen on ${listen}: the address is in use: another tokentail, or choose one with http.listen or --listen`,
  );
});
