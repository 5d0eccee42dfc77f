import {
  appendFileSync,
  closeSync,
  copyFileSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import path from "node:path";
import { isDeepStrictEqual } from "node:util";
import { TempFolder } from "../support/cli.ts";
import type { StartOptions, Subject } from "./subject.ts";
import type { TokentailRig } from "./subjects/tokentail.ts";

/** How the lines that arrived differ from those that were written. */
export interface Verdict {
  readonly written: number;
  readonly missing: number;
  readonly dup: number;
  /** Lines nobody wrote. */
  readonly garbled: number;
  /** Checks of the scenario that failed. */
  readonly failures: readonly string[];
}

/** A file held open by a writer, wherever its name goes. */
export class Writer {
  readonly #fd: number;
  readonly #stage: Stage;

  constructor(stage: Stage, file: string, flags: "a" | "w" | "r+") {
    this.#stage = stage;
    this.#fd = openSync(file, flags);
  }

  lines(count: number, filler?: string): void {
    writeSync(this.#fd, this.#stage.make(count, filler));
  }

  raw(text: string | Buffer, at?: number): void {
    const bytes = Buffer.from(text as string);
    writeSync(this.#fd, bytes, 0, bytes.length, at);
  }

  close(): void {
    closeSync(this.#fd);
  }
}

/** A folder, a subject that follows files in it, and the truth of what was written. */
export class Stage implements AsyncDisposable {
  readonly subject: Subject;
  readonly #folder = new TempFolder();
  readonly #truth = new Map<string, number>();
  readonly #tolerated = new Set<string>();
  readonly #failures: string[] = [];
  #next = 0;
  #options: StartOptions;

  constructor(subject: Subject) {
    this.subject = subject;
    this.#options = { folder: this.folder, patterns: ["a.log"], exclude: [], startAt: "beginning" };
  }

  /** For scenarios that look inside; undefined for a rival. */
  get self(): TokentailRig | undefined {
    return this.subject.name === "tokentail" ? (this.subject as TokentailRig) : undefined;
  }

  get folder(): string {
    return path.join(this.#folder.path, "logs");
  }

  at(name: string): string {
    return path.join(this.folder, name);
  }

  async start(options: Partial<StartOptions> = {}): Promise<void> {
    mkdirSync(this.folder, { recursive: true });
    this.#options = { ...this.#options, ...options };
    await this.subject.start(this.#options);
    await this.pass(300);
  }

  async pass(ms: number): Promise<void> {
    await this.subject.pass(ms);
  }

  async restart(meanwhile: () => void = () => {}): Promise<void> {
    await this.subject.stop();
    meanwhile();
    await this.start();
  }

  async crash(meanwhile: () => void = () => {}): Promise<void> {
    await this.subject.kill();
    meanwhile();
    await this.start();
  }

  /** Text of new lines, which are from now on expected. */
  make(count: number, filler = "lorem ipsum dolor"): string {
    let text = "";
    for (let at = 0; at < count; at++) {
      const line = `L ${String(this.#next++).padStart(7, "0")} ${filler}`;
      this.expect(line);
      text += `${line}\n`;
    }
    return text;
  }

  /** Appends new lines. */
  lines(name: string, count: number, filler?: string): void {
    this.raw(name, this.make(count, filler));
  }

  raw(name: string, text: string | Buffer): void {
    mkdirSync(path.dirname(this.at(name)), { recursive: true });
    appendFileSync(this.at(name), text);
  }

  expect(...lines: string[]): void {
    for (const line of lines) this.#truth.set(line, (this.#truth.get(line) ?? 0) + 1);
  }

  /** The line can be delivered any number of times: it says nothing. */
  tolerate(...lines: string[]): void {
    for (const line of lines) this.#tolerated.add(line);
  }

  /** Lines written that cannot be delivered. */
  giveUp(text: string): void {
    for (const line of text.split("\n")) this.#truth.delete(line);
  }

  /** The truth begins anew. */
  forget(): void {
    this.#truth.clear();
  }

  writer(name: string, flags: "a" | "w" | "r+" = "a"): Writer {
    return new Writer(this, this.at(name), flags);
  }

  create(name: string): void {
    writeFileSync(this.at(name), "", { flag: "wx" });
  }

  rename(from: string, to: string): void {
    renameSync(this.at(from), this.at(to));
  }

  remove(name: string): void {
    rmSync(this.at(name), { recursive: true });
  }

  rotate(name = "a.log", to = `${name}.1`): void {
    this.rename(name, to);
    this.create(name);
  }

  copyTruncate(name = "a.log", to = `${name}.1`): void {
    copyFileSync(this.at(name), this.at(to));
    truncateSync(this.at(name));
  }

  check(what: string, actual: unknown, expected: unknown): void {
    if (!isDeepStrictEqual(actual, expected))
      this.#failures.push(`${what}: ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`);
  }

  verdict(): Verdict {
    const delivered = this.subject.lines();
    let missing = 0;
    let dup = 0;
    let garbled = 0;
    let written = 0;
    for (const [line, times] of this.#truth) {
      const seen = delivered.get(line) ?? 0;
      written += times;
      missing += Math.max(0, times - seen);
      dup += Math.max(0, seen - times);
    }
    for (const [line, times] of delivered) if (!this.#truth.has(line) && !this.#tolerated.has(line)) garbled += times;
    return { written, missing, dup, garbled, failures: this.#failures };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.subject.stop();
    this.#folder[Symbol.dispose]();
  }
}

export interface Scenario {
  /** Number in docs/tail-scenarios.md. */
  readonly id: number;
  readonly title: string;
  /** EO = each line exactly once · ALO = at least once · EO+loss = what can be read once, what cannot is counted. */
  readonly outcome: "EO" | "ALO" | "EO+loss";
  /** Makes sense for a tailer of one file that keeps no state. */
  readonly rivals?: true;
  /** Too long for the gate. */
  readonly slow?: true;
  readonly run: (stage: Stage) => Promise<void>;
}

export async function play(scenario: Scenario, subject: Subject): Promise<Verdict> {
  await using stage = new Stage(subject);
  await scenario.run(stage);
  await stage.pass(2000);
  return stage.verdict();
}

export const isPerfect = (verdict: Verdict): boolean =>
  verdict.missing === 0 && verdict.dup === 0 && verdict.garbled === 0 && verdict.failures.length === 0;
