import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { Readable } from "node:stream";
import type { Io } from "../../src/cli/io.ts";
import { runProgram } from "../../src/cli/program.ts";

export interface CliResult {
  readonly exit: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one command line in this process, with nothing of the terminal. */
export async function cli(
  argv: readonly string[],
  options: { stdin?: string | Buffer; signal?: AbortSignal } = {},
): Promise<CliResult> {
  let stdout = "";
  let stderr = "";
  const io: Io = {
    out: (text) => {
      stdout += text;
    },
    err: (text) => {
      stderr += text;
    },
    outTty: false,
    errTty: false,
    columns: 100,
  };
  const exit = await runProgram(argv, {
    io,
    stdin: () => Readable.from([Buffer.from(options.stdin ?? "")]),
    signal: options.signal ?? new AbortController().signal,
    revision: "0123456789ab",
  });
  return { exit, stdout, stderr };
}

/** A folder that is gone after the test. */
export class TempFolder implements Disposable {
  readonly path = mkdtempSync(path.join(tmpdir(), "tokentail-"));

  file(name: string, content: string | Buffer): string {
    const file = path.join(this.path, name);
    writeFileSync(file, content);
    return file;
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}
