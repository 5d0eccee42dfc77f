import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";

/** A file imports its own folder and lower floors only. */
const FLOORS = [
  ["core"],
  ["model"],
  ["template"],
  ["frame", "profile", "request", "metric", "failure", "baseline", "budget", "alert", "analysis", "simulate"],
  ["pipeline", "rule"],
  ["dashboard"],
  ["source", "store", "publish", "http"],
  ["config"],
  ["app"],
  ["app.ts"],
  ["cli"],
  ["main.ts"],
];
const SRC = path.join(import.meta.dirname, "../src");
const floorOf = (folder: string): number => FLOORS.findIndex((floor) => floor.includes(folder));
/** Only these may touch the clock, the process, the disk or the network. */
const WORLDLY = ["source", "store", "publish", "http", "config", "app.ts", "cli", "main.ts"];
const WORLD =
  /\b(?:Date\.now|setTimeout|setInterval|(?<![.\w])process\.(?:argv|env|exit|exitCode|std\w+|on|once|cwd|pid|kill|nextTick|hrtime|memoryUsage)\b|fetch\()|from "node:(?:fs|net|http|https|child_process|timers)/;

const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));

test("every folder of src has a floor", () => {
  expect(files.map((file) => file.split(path.sep)[0] ?? "").filter((folder) => floorOf(folder) < 0)).toEqual([]);
});

test("imports go to the own folder or to a lower floor", () => {
  const upward: string[] = [];
  for (const file of files) {
    const own = file.split(path.sep)[0] ?? "";
    for (const [, target = ""] of readFileSync(path.join(SRC, file), "utf8").matchAll(/from "(\.[^"]+)"/g)) {
      const to = path.relative(SRC, path.resolve(SRC, path.dirname(file), target)).split(path.sep)[0] ?? "";
      if (to !== own && !to.startsWith("..") && !(floorOf(to) < floorOf(own))) upward.push(`${file} → ${target}`);
    }
  }
  expect(upward).toEqual([]);
});

test("pure floors read no clock and do no I/O", () => {
  const worldly = files.filter(
    (file) =>
      !WORLDLY.includes(file.split(path.sep)[0] ?? "") &&
      file !== path.join("core", "system-clock.ts") &&
      WORLD.test(readFileSync(path.join(SRC, file), "utf8").replace(/\/\*[^]*?\*\/|\/\/.*/g, "")),
  );
  expect(worldly).toEqual([]);
});
