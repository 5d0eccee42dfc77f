#!/usr/bin/env node
import { enableCompileCache } from "node:module";

// compiled code of the last run is used again: half of the start-up time of a short command
enableCompileCache();
const [{ processIo }, { runProgram }, { revision }] = await Promise.all([
  import("./cli/io.ts"),
  import("./cli/program.ts"),
  import("./cli/revision.ts"),
]);

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
