import { appendFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { App, type AppLog } from "../app.ts";
import { parseConfig } from "../config/load.ts";
import { systemClock } from "../core/system-clock.ts";
import { UTC } from "../core/timestamp.ts";
import { LATENCY_NAMES } from "../model/latency.ts";
import { LogStream } from "../simulate/log-stream.ts";
import { SERVERS } from "../simulate/traffic.ts";
import type { LogEntry } from "../simulate/writers.ts";
import { count, duration } from "./format.ts";
import { type Io, painter } from "./io.ts";
import { aborted } from "./run.ts";
import { positiveDuration, positiveNumber } from "./simulate.ts";

export interface DemoOptions {
  readonly listen: string;
  readonly rate: string;
  readonly seed: string;
  readonly for?: string;
}

/** History written before the start, so that there is something to see at once. */
const HISTORY_MS = 10 * 60_000;
/** Pause between two lines of the live summary: often on a terminal, where it replaces itself. */
const SUMMARY_MS = { terminal: 1000, pipe: 10_000 };

/** `tokentail demo`: simulate and follow until `signal` aborts. @returns The exit code. */
export async function demo(options: DemoOptions, io: Io, signal: AbortSignal): Promise<0> {
  const rate = positiveNumber("--rate", options.rate);
  const seed = positiveNumber("--seed", options.seed);
  const forMs = options.for === undefined ? Number.POSITIVE_INFINITY : positiveDuration("--for", options.for);
  const startedMs = Date.now();
  const folder = await mkdtemp(path.join(tmpdir(), "tokentail-demo-"));
  const stop = AbortSignal.any([signal, ...(Number.isFinite(forMs) ? [AbortSignal.timeout(forMs)] : [])]);
  try {
    const stream = new LogStream({
      scenario: "steady",
      rate,
      seed,
      startMs: startedMs - HISTORY_MS,
      endMs: Number.POSITIVE_INFINITY,
    });
    const entries = stream.entries();
    const writer = await LogFolder.create(path.join(folder, "logs"));
    let pending = await writer.writeUntil(entries, entries.next().value as LogEntry, startedMs);
    const config = parseConfig(
      JSON.stringify({
        sources: [{ files: [path.join(folder, "logs", "*.log")], start_at: "beginning" }],
        http: { listen: options.listen },
      }),
      "demo",
    );
    await using app = await App.create({ config, clock: systemClock, log: quietLog(io), zone: UTC });
    app.start();
    await app.caughtUp();
    io.out(welcome(folder, app, stream, io));
    let summaryMs = 0;
    while (!stop.aborted) {
      pending = await writer.writeUntil(entries, pending, Date.now());
      const everyMs = io.outTty ? SUMMARY_MS.terminal : SUMMARY_MS.pipe;
      if (Date.now() - summaryMs >= everyMs) {
        summaryMs = Date.now();
        io.out(io.outTty ? `\r\u001b[K${summary(app)}` : `${summary(app)}\n`);
      }
      await Promise.race([systemClock.sleep(200), aborted(stop)]);
    }
    io.out(io.outTty ? "\n" : "");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return 0;
}

/** Appends entries to `<folder>/<server>.log`. */
class LogFolder {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async create(folder: string): Promise<LogFolder> {
    await mkdir(folder, { recursive: true });
    for (const server of SERVERS) await writeFile(path.join(folder, `${server}.log`), "");
    return new LogFolder(folder);
  }

  /** Writes all entries up to `untilMs`. @returns The first entry that is not due yet. */
  async writeUntil(entries: Iterator<LogEntry>, pending: LogEntry, untilMs: number): Promise<LogEntry> {
    const due = new Map<string, string>();
    let next = pending;
    while (next.timeMs <= untilMs) {
      due.set(next.server, (due.get(next.server) ?? "") + next.text);
      next = entries.next().value as LogEntry;
    }
    for (const [server, text] of due) await appendFile(path.join(this.#folder, `${server}.log`), text);
    return next;
  }
}

function welcome(folder: string, app: App, stream: LogStream, io: Io): string {
  const paint = painter(io);
  const { url } = app.http;
  return [
    paint("bold", "tokentail demo: three simulated servers, followed live"),
    `  logs      ${folder}/logs/{${SERVERS.join(",")}}.log  (${count(stream.truth.lines)} lines so far)`,
    `  page      ${paint("cyan", `${url}/`)}`,
    `  metrics   ${paint("cyan", `${url}/metrics`)}`,
    "",
    found(app),
    `Ctrl-C stops it and removes the logs. Your own log: ${paint("bold", "npm start -- analyze FILE")}`,
    "",
    "",
  ].join("\n");
}

function found(app: App): string {
  const { totals } = app;
  const rows = LATENCY_NAMES.flatMap((name, kind) => {
    const seen = totals.latencies[kind];
    return seen === undefined
      ? []
      : [
          `  ${name.padEnd(10)} p50 ${duration(seen.quantile(0.5)).padStart(8)}   p99 ${duration(seen.quantile(0.99)).padStart(8)}   (${count(seen.count)})`,
        ];
  });
  const causes = [...totals.causes.values()]
    .sort((a, b) => b.count - a.count)
    .map(({ cause, count: times }) => `${cause} × ${times}`);
  return `${[summary(app), ...rows, `  failures   ${causes.join(", ") || "none"}`].join("\n")}\n`;
}

function summary(app: App): string {
  const { requests, tokens, causes, latencies } = app.totals;
  const failures = [...causes.values()].reduce((sum, cause) => sum + cause.count, 0);
  const ttft = latencies[LATENCY_NAMES.indexOf("ttft")];
  return [
    `${count(requests.finished ?? 0)} finished`,
    `${count(requests.failed ?? 0)} failed`,
    `${count(requests.aborted ?? 0)} aborted`,
    `${count(tokens.get("in")?.sum.value ?? 0)} tokens in, ${count(tokens.get("out")?.sum.value ?? 0)} out`,
    `TTFT p99 ${duration(ttft?.quantile(0.99) ?? Number.NaN)}`,
    `${count(failures)} failure records`,
  ].join(" · ");
}

/** The demo talks on standard output; only what goes wrong is logged. */
function quietLog(io: Io): AppLog {
  const tell = (fields: Record<string, unknown>, message: string): void =>
    io.err(`tokentail: ${message} ${JSON.stringify(fields)}\n`);
  return { info: () => {}, warn: tell, error: tell };
}
