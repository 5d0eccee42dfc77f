import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { eventually, freePort, RunningProgram } from "../../test/support/processes.ts";

const MAIN = path.join(import.meta.dirname, "../../src/main.ts");
/** Clock ticks a second of `/proc/PID/stat` (Linux, all architectures). */
const TICKS = 100;

/** A folder with logs and state, and the real daemon on it. */
export class BenchDaemon implements AsyncDisposable {
  readonly folder = mkdtempSync(path.join(tmpdir(), "tokentail-bench-"));
  #program: RunningProgram | undefined;
  #url = "";

  at(name: string): string {
    return path.join(this.folder, name);
  }

  async start(options: { patterns?: readonly string[]; state?: string } = {}): Promise<void> {
    const files = (options.patterns ?? ["a.log"]).map((pattern) => this.at(pattern));
    const config = { sources: [{ files, start_at: "beginning" }], state: { path: options.state ?? this.at("state") } };
    writeFileSync(this.at("config.yml"), JSON.stringify(config));
    const port = await freePort();
    this.#url = `http://127.0.0.1:${port}`;
    const listen = ["--listen", `127.0.0.1:${port}`];
    this.#program = new RunningProgram(process.execPath, [MAIN, "run", "-c", this.at("config.yml"), ...listen]);
    await eventually("the daemon", async () => (await fetch(`${this.#url}/-/healthy`)).ok);
  }

  async ready(timeoutMs = 120_000): Promise<void> {
    await eventually("readiness", async () => (await fetch(`${this.#url}/-/ready`)).ok, timeoutMs);
  }

  /** Sum of all series of a metric. */
  async metric(name: string): Promise<number> {
    const body = await (await fetch(`${this.#url}/metrics`)).text();
    let sum = 0;
    for (const [, value] of body.matchAll(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, "gm"))) sum += Number(value);
    return sum;
  }

  /** CPU time used so far, seconds. */
  get cpuSeconds(): number {
    const fields = readFileSync(`/proc/${this.#program?.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) / TICKS;
  }

  /** `VmRSS` or `VmHWM`, MiB. */
  memoryMiB(name: "VmRSS" | "VmHWM"): number {
    const status = readFileSync(`/proc/${this.#program?.pid}/status`, "utf8");
    return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#program?.[Symbol.asyncDispose]();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** One request of the structured log that `simulate` writes. */
export const requestLine = (id: number): string =>
  `${JSON.stringify({ level: 30, time: 1_772_474_401_832 + id, request_id: `r${id}`, model: "m", status: 200, duration_ms: 5 + (id % 50), usage: { prompt_tokens: id % 997, completion_tokens: id % 101 }, msg: "chat" })}\n`;

export const requestLines = (from: number, count: number): string => {
  let text = "";
  for (let id = from; id < from + count; id++) text += requestLine(id);
  return text;
};
