import { loadConfig } from "../config/load.ts";
import type { Io } from "./io.ts";

/** `tokentail check`: validates a configuration. @throws {UserError} Exit code 2 with the first fault. */
export async function check(file: string, io: Io): Promise<0> {
  const config = await loadConfig(file);
  const patterns = config.sources.reduce((sum, source) => sum + source.files.length, 0);
  io.out(`${file}: ok (${config.sources.length} sources, ${patterns} patterns, listening on ${config.http.listen})\n`);
  return 0;
}
