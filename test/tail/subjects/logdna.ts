import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import TailFile from "@logdna/tail-file";
import type { StartOptions, Subject } from "../subject.ts";
import { Delivered } from "./delivered.ts";

/** `@logdna/tail-file`, as its README uses it, polling each 250 ms. */
export class LogdnaSubject implements Subject {
  readonly name = "logdna";
  readonly #delivered = new Delivered();
  #tail: InstanceType<typeof TailFile> | undefined;

  async start({ folder, patterns }: StartOptions): Promise<void> {
    const tail = new TailFile(path.join(folder, patterns[0] ?? ""), {
      encoding: "utf8",
      pollFileIntervalMs: 250,
      startPos: 0,
    });
    tail.on("data", (chunk: string) => this.#delivered.text(chunk));
    tail.on("error", () => {});
    tail.on("tail_error", () => {});
    this.#tail = tail;
    await tail.start();
  }

  async pass(ms: number): Promise<void> {
    await delay(ms);
  }

  async stop(): Promise<void> {
    // once it has given up on a file, its quit() never settles
    if (this.#tail !== undefined) await Promise.race([this.#tail.quit(), delay(1000)]);
    this.#tail = undefined;
  }

  async kill(): Promise<void> {
    await this.stop();
  }

  lines(): ReadonlyMap<string, number> {
    return this.#delivered.lines;
  }
}
