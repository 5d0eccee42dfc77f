import { appendFileSync, copyFileSync, renameSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { TempFolder } from "../support/cli.ts";
import { eventually, freePort, RunningProgram } from "../support/processes.ts";

const MAIN = path.join(import.meta.dirname, "../../src/main.ts");
/** `CRASH_ROUNDS=100` for the long run. */
const ROUNDS = Number(process.env["CRASH_ROUNDS"] ?? 4);
/** Lines a second while the daemon is being killed. */
const RATE = 3000;

interface Written {
  requests: number;
  tokensIn: number;
  tokensOut: number;
}

/** Writes request lines to `a.log` and keeps the truth. */
class Writer {
  readonly truth: Written = { requests: 0, tokensIn: 0, tokensOut: 0 };
  readonly #folder: string;
  #rotations = 0;

  constructor(folder: string) {
    this.#folder = folder;
    writeFileSync(this.#log, "");
  }

  get #log(): string {
    return path.join(this.#folder, "a.log");
  }

  async writeFor(ms: number): Promise<void> {
    const end = performance.now() + ms;
    while (performance.now() < end) {
      this.append(RATE / 100);
      await delay(10);
    }
  }

  append(lines: number): void {
    let block = "";
    for (let at = 0; at < lines; at++) {
      const { truth } = this;
      const tokensIn = truth.requests % 997;
      const tokensOut = truth.requests % 101;
      block += `${JSON.stringify({ level: 30, time: 1_772_474_401_832 + truth.requests, request_id: `r${truth.requests}`, model: "m", status: 200, duration_ms: 5 + (truth.requests % 50), usage: { prompt_tokens: tokensIn, completion_tokens: tokensOut }, msg: "chat" })}\n`;
      truth.requests++;
      truth.tokensIn += tokensIn;
      truth.tokensOut += tokensOut;
    }
    appendFileSync(this.#log, block);
  }

  rename(): void {
    renameSync(this.#log, path.join(this.#folder, `a.log.${++this.#rotations}`));
    writeFileSync(this.#log, "");
  }

  /** The copy stays, so nothing is lost to a reader that finds it. */
  copyTruncate(): void {
    copyFileSync(this.#log, path.join(this.#folder, `a.log.${++this.#rotations}`));
    truncateSync(this.#log);
  }
}

/** Each round is another daemon on the same port: no connection may outlive it. */
async function get(port: number, page: string): Promise<Response> {
  return await fetch(`http://127.0.0.1:${port}${page}`, { headers: { connection: "close" } });
}

async function daemon(folder: string, port: number): Promise<RunningProgram> {
  const program = new RunningProgram(process.execPath, [
    MAIN,
    "run",
    "-c",
    path.join(folder, "config.yml"),
    "--listen",
    `127.0.0.1:${port}`,
  ]);
  await eventually(`the daemon (${program.output})`, async () => (await get(port, "/-/healthy")).ok);
  return program;
}

async function counted(port: number): Promise<Written & { observed: number; lost: number }> {
  const body = await (await get(port, "/metrics")).text();
  const sum = (pattern: RegExp): number =>
    [...body.matchAll(pattern)].reduce((total, [, value]) => total + Number(value), 0);
  return {
    requests: sum(/^llm_requests_total\{[^}]*\} (\d+)$/gm),
    tokensIn: sum(/^ai_token_consumption_total\{[^}]*token_type="input"[^}]*\} (\d+)$/gm),
    tokensOut: sum(/^ai_token_consumption_total\{[^}]*token_type="output"[^}]*\} (\d+)$/gm),
    observed: sum(/^llm_request_duration_seconds_count\{[^}]*\} (\d+)$/gm),
    lost: sum(/^tokentail_lost_bytes_total\{[^}]*\} (\d+)$/gm),
  };
}

test.for([
  { name: "SIGKILL under a writer that rotates by rename", signal: "SIGKILL", rotate: "rename" },
  {
    name: "SIGKILL under a writer that rotates by copytruncate with copies",
    signal: "SIGKILL",
    rotate: "copyTruncate",
  },
  { name: "SIGTERM under a writer that rotates by rename", signal: "SIGTERM", rotate: "rename" },
] as const)("values continue through $name", { timeout: 60_000 + ROUNDS * 5000 }, async ({ signal, rotate }) => {
  using folder = new TempFolder();
  folder.file(
    "config.yml",
    `sources: [{files: ["${folder.path}/a.log"], start_at: beginning}]\nstate: {path: "${folder.path}/state"}\n`,
  );
  const port = await freePort();
  const writer = new Writer(folder.path);
  let seen = 0;
  for (let round = 0; round < ROUNDS; round++) {
    await using program = await daemon(folder.path, port);
    await writer.writeFor(100 + ((round * 137) % 400));
    if (round % 2 === 1) writer[rotate]();
    await writer.writeFor((round * 71) % 300);
    const before = await counted(port);
    // what a scrape has shown never goes back
    expect(before.requests).toBeGreaterThanOrEqual(seen);
    seen = before.requests;
    program.kill(signal);
    await program.ended();
    if (round % 3 === 2) writer.append(200);
  }
  await using _ = await daemon(folder.path, port);
  const { truth } = writer;
  const reached = await eventually("all lines", async () => {
    const now = await counted(port);
    return now.requests >= truth.requests ? now : undefined;
  }).catch(() => counted(port));
  expect(reached).toEqual({ ...truth, observed: truth.requests, lost: 0 });
});

test("a second daemon on the same state is refused in one line", async () => {
  using folder = new TempFolder();
  folder.file("a.log", "");
  folder.file("config.yml", `sources: [{files: ["${folder.path}/a.log"]}]\nstate: {path: "${folder.path}/state"}\n`);
  await using _ = await daemon(folder.path, await freePort());
  const second = new RunningProgram(process.execPath, [
    MAIN,
    "run",
    "-c",
    path.join(folder.path, "config.yml"),
    "--listen",
    "127.0.0.1:0",
  ]);
  expect(await second.ended()).toBe(1);
  expect(second.output).toBe(
    `tokentail: Cannot use the state in "${folder.path}/state": another tokentail is running on it\n`,
  );
});

test("a state file that is no database is set aside, said, and replaced", async () => {
  using folder = new TempFolder();
  folder.file("a.log", "");
  folder.file("config.yml", `sources: [{files: ["${folder.path}/a.log"]}]\nstate: {path: "${folder.path}"}\n`);
  folder.file("state.sqlite", "this is no database at all, and longer than a header would be".repeat(100));
  await using program = await daemon(folder.path, await freePort());
  expect(program.output).toContain("The state could not be read and was set aside; starting anew");
});
