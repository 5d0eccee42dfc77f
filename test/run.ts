/**
 * Runs every check of the repository and ends with one line: `N passed, N failed, N skipped`. Each static check counts
 * as one. Arguments are passed to vitest, and then nothing else runs.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

const ROOT = path.join(import.meta.dirname, "..");
const BIN = path.join(ROOT, "node_modules/.bin");
const CHECKS: ReadonlyArray<readonly [name: string, command: string, ...args: string[]]> = [
  ["types", "tsc", "-p", "."],
  ["format", "biome", "check", "."],
  ["lint", "oxlint", "--type-aware", "--deny-warnings"],
  ["dead code", "knip"],
  ["build", "tsc", "-p", "src"],
];

const filters = process.argv.slice(2);
let passed = 0;
let failed = 0;
let skipped = 0;

for (const [name, command, ...args] of filters.length > 0 ? [] : CHECKS) {
  const run = spawnSync(path.join(BIN, command), args, { cwd: ROOT, encoding: "utf8" });
  const ok = run.status === 0;
  if (ok) passed++;
  else failed++;
  console.log(`${ok ? "ok  " : "FAIL"} ${name}`);
  if (!ok) console.log(`${run.stdout ?? ""}${run.stderr ?? ""}${run.error === undefined ? "" : String(run.error)}`);
}

const folder = mkdtempSync(path.join(tmpdir(), "tokentail-test-"));
const report = path.join(folder, "report.json");
const vitest = spawnSync(
  process.execPath,
  [
    path.join(ROOT, "node_modules/vitest/vitest.mjs"),
    "run",
    "--config",
    "test/vitest.config.ts",
    "--reporter=dot",
    "--reporter=json",
    `--outputFile.json=${report}`,
    ...filters,
  ],
  {
    cwd: ROOT,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, PATH: `${BIN}${path.delimiter}${process.env["PATH"]}` },
  },
);
try {
  const counts = JSON.parse(readFileSync(report, "utf8")) as Record<
    "numPassedTests" | "numFailedTests" | "numPendingTests" | "numTodoTests" | "numFailedTestSuites",
    number
  >;
  passed += counts.numPassedTests;
  failed += counts.numFailedTests;
  skipped += counts.numPendingTests + counts.numTodoTests;
  // a file that does not load fails without a failed test of its own
  if (vitest.status !== 0 && counts.numFailedTests === 0) failed += Math.max(1, counts.numFailedTestSuites);
} catch {
  failed++;
}
rmSync(folder, { recursive: true, force: true });
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = failed === 0 ? 0 : 1;
