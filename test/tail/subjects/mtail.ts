import { writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort, RunningProgram } from "../../support/processes.ts";
import type { StartOptions, Subject } from "../subject.ts";

/** mtail with a program that counts each line by its text. */
export class MtailSubject implements Subject {
  readonly name = "mtail";
  #counted: ReadonlyMap<string, number> = new Map();
  #program: RunningProgram | undefined;
  #url = "";

  async start({ folder, patterns }: StartOptions): Promise<void> {
    const rules = path.join(folder, "..", "rules");
    writeFileSync(`${rules}.mtail`, "counter seen by line\n/^(?P<line>.*)$/ {\n  seen[$line]++\n}\n");
    const port = await freePort();
    this.#url = `http://127.0.0.1:${port}/json`;
    const logs = patterns.flatMap((pattern) => ["--logs", path.join(folder, pattern)]);
    this.#program = new RunningProgram("mtail", [
      "--progs",
      `${rules}.mtail`,
      ...logs,
      "--address",
      "127.0.0.1",
      "--port",
      String(port),
      "--poll_interval",
      "250ms",
    ]);
    await delay(700);
  }

  async pass(ms: number): Promise<void> {
    await delay(ms);
    await this.#read();
  }

  async stop(): Promise<void> {
    if (this.#program === undefined) return;
    await this.#read();
    this.#program.kill("SIGKILL");
    await this.#program.ended();
    this.#program = undefined;
  }

  async kill(): Promise<void> {
    await this.stop();
  }

  lines(): ReadonlyMap<string, number> {
    return this.#counted;
  }

  async #read(): Promise<void> {
    try {
      const metrics = (await (await fetch(this.#url)).json()) as ReadonlyArray<{
        Name: string;
        LabelValues?: ReadonlyArray<{ Labels: readonly string[]; Value: { Value: number } }>;
      }>;
      const seen = metrics.find(({ Name }) => Name === "seen")?.LabelValues ?? [];
      this.#counted = new Map(
        seen
          .map(({ Labels, Value }): [string, number] => [Labels[0] ?? "", Value.Value])
          .filter(([line]) => line !== ""),
      );
    } catch {
      // not up yet, or gone: what was read stays
    }
  }
}
