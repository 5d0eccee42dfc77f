import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { App } from "../../../src/app.ts";
import { parseConfig } from "../../../src/config/load.ts";
import { systemClock } from "../../../src/core/system-clock.ts";
import { UTC } from "../../../src/core/timestamp.ts";
import type { Scenario, Stage } from "../stage.ts";

async function app(stage: Stage, config: object = {}): Promise<App> {
  const text = JSON.stringify({
    sources: [{ files: [stage.at("*.log")], start_at: "beginning" }],
    http: { listen: "127.0.0.1:0" },
    ...config,
  });
  const silent = (): void => {};
  const running = await App.create({
    config: parseConfig(text, "scenario"),
    clock: systemClock,
    zone: UTC,
    log: { info: silent, warn: silent, error: silent },
  });
  running.start();
  return running;
}

async function metric(running: App, pattern: RegExp): Promise<number> {
  const body = await (await fetch(`${running.http.url}/metrics`)).text();
  return [...body.matchAll(pattern)].reduce((sum, [, value]) => sum + Number(value), 0);
}

const access = (at: number): string => `INFO:     10.0.0.1:${at} - "POST /v1/completions HTTP/1.1" 200 OK\n`;
const RESPONSES = /^llm_http_responses_total\{[^}]*\} (\d+)$/gm;

async function until(what: string, stage: Stage, reached: () => Promise<boolean>): Promise<void> {
  for (let at = 0; at < 400; at++) {
    if (await reached()) return;
    await delay(25);
  }
  stage.check(what, false, true);
}

/** H. Load and fairness. */
export const LOAD: readonly Scenario[] = [
  {
    id: 85,
    title: "One hot file, 99 cold: each cold line is read in the next pass",
    outcome: "EO",
    run: async (stage) => {
      await stage.start({ patterns: ["*.log"] });
      for (let at = 0; at < 99; at++) stage.lines(`cold${at}.log`, 1);
      stage.raw("hot.log", "");
      await stage.pass(1500);
      stage.lines("hot.log", 20_000, "x".repeat(800));
      await stage.self?.glimpse();
      const before = stage.subject.lines().size;
      for (let at = 0; at < 99; at++) stage.lines(`cold${at}.log`, 1);
      await stage.self?.glimpse();
      const cold = [...stage.subject.lines().keys()].slice(before).filter((line) => line.length < 100).length;
      stage.check("hot file not done", (stage.self?.tailer?.lagBytes ?? 0) > 1_000_000, true);
      stage.check("cold lines read", cold, 99);
    },
  },
  {
    id: 86,
    title: "Catch-up with 400 MB: memory bounded, /metrics answers under 1 s",
    outcome: "EO",
    slow: true,
    run: async (stage) => {
      const block = Array.from({ length: 20_000 }, (_, at) => access(at)).join("");
      const blocks = Math.ceil(400e6 / block.length);
      for (let at = 0; at < blocks; at++) stage.raw("a.log", block);
      await using running = await app(stage);
      let slowestMs = 0;
      await until("read", stage, async () => {
        const start = performance.now();
        const seen = await metric(running, RESPONSES);
        slowestMs = Math.max(slowestMs, performance.now() - start);
        return seen === blocks * 20_000;
      });
      stage.check(`/metrics under 1 s (${Math.round(slowestMs)} ms)`, slowestMs < 1000, true);
    },
  },
  {
    id: 87,
    title: "Stuck scraper: opens /metrics and reads nothing",
    outcome: "EO",
    run: async (stage) => {
      stage.raw("a.log", access(1));
      await using running = await app(stage);
      const { hostname, port } = new URL(running.http.url);
      const stuck = Array.from({ length: 20 }, () => {
        const socket = connect(Number(port), hostname);
        socket.on("error", () => {}).pause();
        socket.write("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        return socket;
      });
      stage.raw("a.log", Array.from({ length: 1000 }, (_, at) => access(at)).join(""));
      await until("read", stage, async () => (await metric(running, RESPONSES)) === 1001);
      for (const socket of stuck) socket.destroy();
    },
  },
  {
    id: 89,
    title: "Lines of one file leave in file order, also across rotations",
    outcome: "EO",
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      for (let round = 1; round <= 5; round++) {
        stage.lines("a.log", 3000, "x".repeat(600));
        await stage.self?.glimpse();
        stage.rotate("a.log", `a.log.${round}`);
        stage.lines("a.log", 10);
        await stage.self?.glimpse();
      }
      await stage.pass(3000);
      const order = stage.self?.taken.order ?? [];
      stage.check(
        "in order",
        order.every((line, at) => at === 0 || (order[at - 1] ?? "") < line),
        true,
      );
    },
  },
  {
    id: 90,
    title: "Pod churn: 1,500 short-lived files leave nothing behind",
    outcome: "EO",
    run: async (stage) => {
      await stage.start({ patterns: ["*.log"] });
      for (let at = 0; at < 1500; at++) {
        stage.lines(`pod${at}.log`, 2);
        await stage.pass(1000);
        if (at >= 3) stage.remove(`pod${at - 3}.log`);
      }
      stage.check("streams bounded", (stage.self?.pipelines.size ?? 0) < 80, true);
      stage.check("files bounded", (stage.self?.tailer?.fileCount ?? 0) < 80, true);
      await stage.pass(70_000);
      stage.check("streams left", stage.self?.pipelines.size, 3);
    },
  },
  {
    id: 92,
    title: "A counter idle for 10 min keeps its value, its return does not reset it",
    outcome: "EO",
    run: async (stage) => {
      stage.lines("a.log", 10);
      await stage.start();
      await stage.pass(600_000);
      stage.check("kept", stage.subject.lines().size, 10);
      stage.lines("a.log", 10);
    },
  },
  {
    id: 93,
    title: "Cardinality bomb: 20,000 models are capped at insert, the rest sums under other",
    outcome: "EO",
    run: async (stage) => {
      const line = (at: number): string =>
        `${JSON.stringify({ level: 30, time: 1_772_474_401_832 + at, request_id: `r${at}`, model: `m${at}`, status: 200, duration_ms: 5, usage: { prompt_tokens: 1, completion_tokens: 1 }, msg: "chat" })}\n`;
      stage.raw("a.log", Array.from({ length: 20_000 }, (_, at) => line(at)).join(""));
      await using running = await app(stage, { metrics: { max_series: 100 } });
      const requests = /^llm_requests_total\{[^}]*\} (\d+)$/gm;
      await until("all", stage, async () => (await metric(running, requests)) === 20_000);
      const body = await (await fetch(`${running.http.url}/metrics`)).text();
      stage.check("series", [...body.matchAll(requests)].length <= 102, true);
    },
  },
  {
    id: 94,
    title: "One bad number does not stop the rest of the line",
    outcome: "EO",
    run: async (stage) => {
      const line = (duration: unknown, at: number): string =>
        `${JSON.stringify({ level: 30, time: 1_772_474_401_832 + at, request_id: `r${at}`, model: "m", status: 200, duration_ms: duration, usage: { prompt_tokens: 3, completion_tokens: 2 }, msg: "chat" })}\n`;
      stage.raw("a.log", [5, -3.5, "soon", 7, 9].map(line).join(""));
      await using running = await app(stage);
      await until(
        "requests",
        stage,
        async () => (await metric(running, /^llm_requests_total\{[^}]*\} (\d+)$/gm)) === 5,
      );
      stage.check(
        "input tokens",
        await metric(running, /^ai_token_consumption_total\{[^}]*"input"[^}]*\} (\d+)$/gm),
        15,
      );
      stage.check("durations", await metric(running, /^llm_request_duration_seconds_count\{[^}]*\} (\d+)$/gm), 3);
    },
  },
  {
    id: 95,
    title: "+Inf bucket equals the count after NaN, negative and infinite observations",
    outcome: "EO",
    run: async (stage) => {
      const line = (duration: string, at: number): string =>
        `{"level":30,"time":${1_772_474_401_832 + at},"request_id":"r${at}","model":"m","status":200,"duration_ms":${duration},"usage":{"prompt_tokens":3,"completion_tokens":2},"msg":"chat"}\n`;
      stage.raw("a.log", ["5", "-3.5", "NaN", "Infinity", "9"].map(line).join(""));
      await using running = await app(stage);
      await until(
        "requests",
        stage,
        async () => (await metric(running, /^llm_requests_total\{[^}]*\} (\d+)$/gm)) === 5,
      );
      const top = await metric(running, /^llm_request_duration_seconds_bucket\{[^}]*le="\+Inf"[^}]*\} (\d+)$/gm);
      stage.check("+Inf", top, await metric(running, /^llm_request_duration_seconds_count\{[^}]*\} (\d+)$/gm));
      stage.check("good ones", top, 2);
    },
  },
  {
    id: 98,
    title: "Reserved and colliding label names are refused at load",
    outcome: "EO",
    run: async (stage) => {
      for (const name of ["le", "job", "__x", "quantile", "a-b"]) {
        let message = "";
        try {
          parseConfig(JSON.stringify({ sources: [{ files: ["x"], labels: { [name]: "v" } }] }), "c.yml");
        } catch (error) {
          message = (error as Error).message;
        }
        stage.check(name, message.startsWith(`c.yml: sources[0].labels.${name}`), true);
      }
      await stage.start();
    },
  },
  {
    id: 99,
    title: "Health: ready after the first pass only, 404 elsewhere",
    outcome: "EO",
    run: async (stage) => {
      stage.raw("a.log", access(1));
      await using running = await app(stage);
      const status = async (page: string): Promise<number> => (await fetch(running.http.url + page)).status;
      stage.check("healthy", await status("/-/healthy"), 200);
      stage.check("elsewhere", await status("/nothing"), 404);
      await until("ready", stage, async () => (await status("/-/ready")) === 200);
    },
  },
  {
    id: 100,
    title: "Self-metrics move by the exact amount",
    outcome: "EO+loss",
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      const lines = stage.make(10);
      stage.raw("a.log", lines);
      await stage.pass(300);
      stage.rotate();
      stage.raw("a.log", Buffer.from("L bad \xff\xfe bytes\n", "latin1"));
      stage.expect("L bad \ufffd\ufffd bytes");
      stage.raw("a.log", "half a line");
      await stage.pass(300);
      stage.copyTruncate("a.log", "elsewhere");
      await stage.pass(300);
      const stats = stage.self?.stats;
      stage.check("rotations", stats?.rotations, 1);
      stage.check("truncations", stats?.truncations, 1);
      stage.check("lost", stats?.lostBytes.get("truncated"), "half a line".length);
      stage.check("read", stats?.readBytes, lines.length + 15);
      const invalid = [...(stage.self?.pipelines ?? [])].reduce((sum, { framer }) => sum + framer.invalidBytes, 0);
      stage.check("invalid bytes", invalid, 2);
    },
  },
];
