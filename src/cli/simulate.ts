import { once } from "node:events";
import { createWriteStream, type WriteStream } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { parseDurationMs } from "../core/duration.ts";
import { reasonOf } from "../core/told.ts";
import { UserError } from "../core/user-error.ts";
import { LogStream } from "../simulate/log-stream.ts";
import { SCENARIOS, type Scenario, SERVERS } from "../simulate/traffic.ts";
import { byteSize, count } from "./format.ts";
import type { Io } from "./io.ts";

export interface SimulateOptions {
  readonly out: string;
  readonly scenario: string;
  readonly rate: string;
  readonly seed: string;
  readonly duration: string;
  readonly start?: string;
}

/** `tokentail simulate`: writes `<out>/<server>.log` and `<out>/truth.json`. @returns The exit code. */
export async function simulate(options: SimulateOptions, io: Io): Promise<0> {
  const scenario = scenarioNamed(options.scenario);
  const durationMs = positiveDuration("--duration", options.duration);
  const startMs = options.start === undefined ? Date.now() - durationMs : Date.parse(options.start);
  if (Number.isNaN(startMs))
    throw new UserError(`--start: "${options.start}" is no time; write e.g. 2026-05-12T09:00:00Z`, { exitCode: 2 });
  const rate = positiveNumber("--rate", options.rate);
  const seed = positiveNumber("--seed", options.seed);
  const stream = new LogStream({ scenario, rate, seed, startMs, endMs: startMs + durationMs });
  const files = await openLogs(options.out);
  let bytes = 0;
  for (const { server, text } of stream.entries()) {
    const file = files.get(server) as WriteStream;
    bytes += text.length;
    if (!file.write(text)) await once(file, "drain");
  }
  await Promise.all([...files.values()].map((file) => finish(file)));
  await writeFile(path.join(options.out, "truth.json"), `${JSON.stringify(stream.truth, null, 2)}\n`);
  io.out(
    `${options.out}: ${SERVERS.map((server) => `${server}.log`).join(", ")} (${count(stream.truth.lines)} lines, ${byteSize(bytes)}) and truth.json\n`,
  );
  return 0;
}

async function openLogs(folder: string): Promise<Map<string, WriteStream>> {
  try {
    await mkdir(folder, { recursive: true });
    const files = new Map(
      SERVERS.map((server) => [server as string, createWriteStream(path.join(folder, `${server}.log`))]),
    );
    await Promise.all([...files.values()].map((file) => once(file, "open")));
    return files;
  } catch (cause) {
    throw new UserError(`Cannot write logs to "${folder}": ${reasonOf(cause)}`, { cause });
  }
}

async function finish(file: WriteStream): Promise<void> {
  file.end();
  await once(file, "finish");
}

function scenarioNamed(name: string): Scenario {
  const found = SCENARIOS.find((scenario) => scenario === name);
  if (found === undefined)
    throw new UserError(`--scenario: no scenario "${name}"; there are ${SCENARIOS.join(", ")}`, { exitCode: 2 });
  return found;
}

/** @throws {UserError} When the text is no positive number. */
export function positiveNumber(option: string, text: string): number {
  const value = Number(text);
  if (!(value > 0 && value < 1e9)) throw new UserError(`${option}: "${text}" is no positive number`, { exitCode: 2 });
  return value;
}

/** @returns Milliseconds. @throws {UserError} When the text is no duration with a unit. */
export function positiveDuration(option: string, text: string): number {
  const ms = parseDurationMs(text);
  if (!(ms > 0)) throw new UserError(`${option}: "${text}" is no duration; write e.g. 90s, 15m, 24h`, { exitCode: 2 });
  return ms;
}
