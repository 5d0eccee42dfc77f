import { type ChildProcess, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { JournalEntries } from "./journal-entries.ts";
import { count, newSourceStats, type OpenSink, type PositionChange, type Source, type StreamSink } from "./source.ts";

const TURN_BYTES = 4 * 1024 * 1024;
/** Streams kept apart by unit; further units share one. */
const MAX_UNITS = 500;
const MIN_RESTART_MS = 1_000;
const MAX_RESTART_MS = 60_000;

export interface JournaldOptions {
  readonly name: string;
  readonly units: readonly string[];
  readonly labels: Readonly<Record<string, string>>;
  readonly profile: string;
  readonly startAt: "beginning" | "end";
  /** Where an earlier run stood. */
  readonly cursor?: string | undefined;
  readonly openSink: OpenSink;
  readonly onFault: (message: string, fields: Record<string, unknown>) => void;
  /** Program and first arguments. Default: `journalctl`. */
  readonly command?: readonly string[];
}

/**
 * Follows the journal through `journalctl -o export`. The cursor of the last entry that was pushed is its position: it is
 * committed with the values, so that each entry counts once through a crash. Each unit is a stream of its own.
 */
export class JournaldSource implements Source {
  readonly name: string;
  readonly stats = newSourceStats();
  readonly lagBytes = 0;
  readonly heldDeletedBytes = 0;
  unreadable = 0;
  caughtUp = false;
  readonly #options: JournaldOptions;
  readonly #sinks = new Map<string, StreamSink>();
  #entries = new JournalEntries();
  #cursor: string | undefined;
  #moved = false;
  #child: ChildProcess | undefined = undefined;
  #output: Readable | undefined = undefined;
  #errors = "";
  #restartMs = MIN_RESTART_MS;
  #restartDueMs = Number.NEGATIVE_INFINITY;
  #offset = 0;

  constructor(options: JournaldOptions) {
    this.#options = options;
    this.name = options.name;
    this.#cursor = options.cursor;
  }

  get fileCount(): number {
    return this.#sinks.size;
  }

  async poll(nowMs: number): Promise<boolean> {
    if (this.#child === undefined) {
      if (nowMs < this.#restartDueMs && this.#restartDueMs - nowMs <= MAX_RESTART_MS) return false;
      this.#start();
      this.#restartDueMs = nowMs + this.#restartMs;
    }
    let left = TURN_BYTES;
    for (let chunk = this.#read(); chunk !== null; chunk = left > 0 ? this.#read() : null) {
      left -= chunk.length;
      this.#restartMs = MIN_RESTART_MS;
      for (const { bytes, cursor, unit } of this.#entries.push(chunk)) {
        this.#sink(unit ?? "").push(bytes, this.#offset, nowMs);
        this.#offset += bytes.length;
        this.stats.readBytes += bytes.length;
        this.#cursor = cursor ?? this.#cursor;
        this.#moved = true;
      }
    }
    for (const sink of this.#sinks.values()) sink.flush(nowMs);
    if (left > 0) this.caughtUp = true;
    return left <= 0;
  }

  takeChanges(): PositionChange[] {
    if (!this.#moved) return [];
    this.#moved = false;
    return [[`journald ${this.name}`, this.#cursor]];
  }

  forgetCommit(): void {
    this.#moved = this.#cursor !== undefined;
  }

  async close(): Promise<void> {
    this.#child?.kill();
    this.#child = undefined;
  }

  #read(): Buffer | null {
    return (this.#output?.read() ?? null) as Buffer | null;
  }

  #sink(unit: string): StreamSink {
    const key = this.#sinks.size < MAX_UNITS || this.#sinks.has(unit) ? unit : "";
    let sink = this.#sinks.get(key);
    if (sink === undefined) {
      const { name, labels, profile, openSink } = this.#options;
      sink = openSink({ name: key === "" ? name : `${name}: ${key}`, labels, profile });
      this.#sinks.set(key, sink);
    }
    return sink;
  }

  #start(): void {
    const { command = ["journalctl"], units, startAt } = this.#options;
    const [program = "journalctl", ...first] = command;
    const from =
      this.#cursor !== undefined
        ? [`--after-cursor=${this.#cursor}`, "--no-tail"]
        : startAt === "end"
          ? ["--lines=0"]
          : ["--no-tail"];
    const args = [...first, "--output=export", "--follow", ...from, ...units.map((unit) => `--unit=${unit}`)];
    // what the last one had begun comes whole from the new one
    this.#entries = new JournalEntries();
    this.#errors = "";
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"] });
    this.#child = child;
    this.#output = child.stdout.on("readable", () => {});
    child.stderr.on("data", (text: Buffer) => {
      this.#errors = (this.#errors + text.toString()).slice(-500);
    });
    child.on("error", (error) => this.#ended(child, error.message));
    child.on("exit", (code, signal) => this.#ended(child, `it exited with ${code ?? signal}: ${this.#errors.trim()}`));
  }

  #ended(child: ChildProcess, reason: string): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    count(this.stats.errors, "exited");
    this.#restartMs = Math.min(this.#restartMs * 2, MAX_RESTART_MS);
    this.#options.onFault("Cannot read the journal; it is tried again", { reason });
  }
}
