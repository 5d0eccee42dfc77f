import { createRequire } from "node:module";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { StartOptions, Subject } from "../subject.ts";
import { Delivered } from "./delivered.ts";

interface Tail {
  on(event: string, listener: (value: string) => void): void;
  start(): void;
  stop(): void;
}

/** `tail-file`, as its README uses it. */
export class TailFileSubject implements Subject {
  readonly name = "tail-file";
  readonly #delivered = new Delivered();
  #tail: Tail | undefined;

  async start({ folder, patterns }: StartOptions): Promise<void> {
    // the package has no types and is CommonJS
    const make = createRequire(import.meta.url)("tail-file") as new (file: string, options: object) => Tail;
    const tail = new make(path.join(folder, patterns[0] ?? ""), { startPos: "start" });
    tail.on("line", (line) => this.#delivered.line(line));
    tail.on("error", () => {});
    this.#tail = tail;
    tail.start();
  }

  async pass(ms: number): Promise<void> {
    await delay(ms);
  }

  async stop(): Promise<void> {
    this.#tail?.stop();
    this.#tail = undefined;
  }

  async kill(): Promise<void> {
    await this.stop();
  }

  lines(): ReadonlyMap<string, number> {
    return this.#delivered.lines;
  }
}
