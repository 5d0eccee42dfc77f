import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { compareReport } from "./support/compare-report.ts";
import { readLog } from "./support/read-log.ts";

/**
 * `golden/<profile>/<variant>.log` with `<variant>.expected.json`: every figure right, core and soft. A soft figure that
 * cannot be right is listed, with the reason, in `<variant>.misses.json`: `{ "errors/timeout": "why" }`.
 */
const GOLDEN = path.join(import.meta.dirname, "golden");
const logs = readdirSync(GOLDEN, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".expected.json"))
  .map((file) => path.join(GOLDEN, file.replace(".expected.json", "")))
  .sort();

test.for(logs.map((log) => ({ name: path.relative(GOLDEN, log), log })))("golden $name", ({ log }) => {
  const expected = JSON.parse(readFileSync(`${log}.expected.json`, "utf8")) as Record<string, unknown>;
  const misses = existsSync(`${log}.misses.json`)
    ? (JSON.parse(readFileSync(`${log}.misses.json`, "utf8")) as Record<string, string>)
    : {};
  const figures = compareReport(expected, readLog(readFileSync(`${log}.log`)).report);
  const wrong = figures.filter((figure) => !figure.right && (figure.core || misses[figure.what] === undefined));
  expect(wrong).toEqual([]);
});
