import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { App } from "../../src/app.ts";
import { parseConfig } from "../../src/config/load.ts";
import { systemClock } from "../../src/core/system-clock.ts";
import { UTC } from "../../src/core/timestamp.ts";
import { TempFolder } from "../support/cli.ts";
import { eventually } from "../support/processes.ts";

const ACCESS = 'INFO:     10.0.0.1:1 - "POST /v1/completions HTTP/1.1" 200 OK\n';

async function started(config: object, stdin = ""): Promise<App> {
  const silent = (): void => {};
  const app = await App.create({
    config: parseConfig(JSON.stringify({ http: { listen: "127.0.0.1:0" }, ...config }), "test"),
    clock: systemClock,
    zone: UTC,
    log: { info: silent, warn: silent, error: silent },
    stdin: () => Readable.from([Buffer.from(stdin)], { objectMode: false }),
    load: () => Promise.reject(new Error("no reload here")),
  });
  app.start();
  return app;
}

const metrics = async (app: App): Promise<string> => await (await fetch(`${app.http.url}/metrics`)).text();

test("standard input is a source", async () => {
  await using app = await started({ sources: [{ stdin: true, labels: { service_name: "chat" } }] }, ACCESS.repeat(3));
  await eventually("three answers", async () =>
    /^llm_http_responses_total\{[^}]*service_name="chat"[^}]*\} 3$/m.test(await metrics(app)),
  );
});

test("logs of the kubelet carry namespace, pod, container and restart count", async () => {
  using folder = new TempFolder();
  const { mkdirSync } = await import("node:fs");
  mkdirSync(`${folder.path}/web_chat-1_uid/vllm`, { recursive: true });
  folder.file("web_chat-1_uid/vllm/2.log", `2026-03-02T10:00:00.1Z stdout F ${ACCESS}`);
  await using app = await started({
    sources: [{ kubernetes: { pods: folder.path }, start_at: "beginning" }],
    state: { path: ":memory:" },
  });
  const body = await eventually("the answer", async () => {
    const text = await metrics(app);
    return text.includes("llm_http_responses_total{") ? text : undefined;
  });
  const [, labels = ""] = /^llm_http_responses_total\{([^}]*status="200"[^}]*)\} 1$/m.exec(body) ?? [];
  for (const label of ['namespace="web"', 'pod="chat-1"', 'container="vllm"', 'restart_count="2"'])
    expect(labels).toContain(label);
});

test.for([
  { name: "nothing named", source: { labels: {} }, message: "Names nothing to read" },
  { name: "two kinds named", source: { files: ["a"], stdin: true }, message: "Names files and stdin" },
])("a source with $name is refused", ({ source, message }) => {
  expect(() => parseConfig(JSON.stringify({ sources: [source] }), "test")).toThrow(message);
});
