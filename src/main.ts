#!/usr/bin/env node
import { processIo } from "./cli/io.ts";
import { runProgram } from "./cli/program.ts";
import { revision } from "./cli/revision.ts";

const stop = new AbortController();
for (const name of ["SIGINT", "SIGTERM"] as const) {
  // a second signal ends at once
  process.once(name, () => stop.abort());
}
// a reader that closes its end (`| head`) is no fault
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  throw error;
});

process.exitCode = await runProgram(process.argv.slice(2), {
  io: processIo,
  stdin: () => process.stdin,
  signal: stop.signal,
  revision: revision(),
});
