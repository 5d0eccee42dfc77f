import { loadConfig } from "../config/load.ts";
import { runTests } from "../profile/user/index.ts";
import type { Io } from "./io.ts";

/**
 * `tokentail check`: validates a configuration and runs the embedded tests of its profiles.
 *
 * @returns 1 when a test failed.
 * @throws {UserError} Exit code 2 with the first fault of the configuration.
 */
export async function check(file: string, io: Io): Promise<0 | 1> {
  const config = await loadConfig(file);
  let tests = 0;
  let failed = 0;
  for (const [index, profile] of config.profiles.entries()) {
    tests += profile.tests.length;
    for (const { index: test, why } of runTests(profile)) {
      failed++;
      io.err(`tokentail: ${file}: profiles[${index}].tests[${test}]: ${why}\n`);
    }
  }
  const patterns = config.sources.reduce((sum, source) => sum + (source.files?.length ?? 0), 0);
  const own =
    config.profiles.length === 0 ? "" : `, ${config.profiles.length} profiles of your own with ${tests} tests`;
  if (failed > 0) return 1;
  io.out(
    `${file}: ok (${config.sources.length} sources, ${patterns} patterns${own}, listening on ${config.http.listen})\n`,
  );
  return 0;
}
