import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";

/** True when a Debian program is installed; tests against it are skipped otherwise. */
export const installed = (program: string): boolean => spawnSync("which", [program]).status === 0;

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** A program that is ended with the test. Its output is kept for the message of a failure. */
export class RunningProgram implements AsyncDisposable {
  output = "";
  readonly #child: ChildProcess;

  constructor(command: string, args: readonly string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) {
    this.#child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    const keep = (chunk: Buffer): void => {
      this.output = (this.output + chunk.toString()).slice(-100_000);
    };
    this.#child.stdout?.on("data", keep);
    this.#child.stderr?.on("data", keep);
  }

  get pid(): number {
    return this.#child.pid ?? -1;
  }

  get exitCode(): number | null {
    return this.#child.exitCode;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async ended(): Promise<number | null> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) await once(this.#child, "exit");
    return this.#child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) this.#child.kill("SIGKILL");
    await this.ended();
  }
}

/** Asks until the answer is truthy; the last error or answer is in the message when time runs out. */
export async function eventually<T>(
  what: string,
  ask: () => Promise<T> | T,
  timeoutMs = 20_000,
): Promise<NonNullable<T>> {
  const end = Date.now() + timeoutMs;
  let last: unknown;
  for (;;) {
    try {
      const answer = await ask();
      if (answer !== undefined && answer !== null && answer !== false) return answer;
      last = answer;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end) throw new Error(`Timed out waiting for ${what}: ${String(last)}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 50);
    });
  }
}
