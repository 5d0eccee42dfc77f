import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { VERSION } from "../../src/core/version.ts";
import { causesPage, formatsPage, metricsPage } from "../support/generated-docs.ts";

const ROOT = path.join(import.meta.dirname, "../..");
const read = (file: string): string => readFileSync(path.join(ROOT, file), "utf8");

test("the version in code is the one in package.json", () => {
  expect((JSON.parse(read("package.json")) as { version: string }).version).toBe(VERSION);
});

test("docs/metrics.md is generated from the catalogue (`npm run docs` rewrites it)", () => {
  expect(read("docs/metrics.md")).toBe(metricsPage());
});

test("docs/formats.md is generated from the profiles (`npm run docs` rewrites it)", () => {
  expect(read("docs/formats.md")).toBe(formatsPage());
});

test("docs/causes.md is generated from the catalogue (`npm run docs` rewrites it)", () => {
  expect(read("docs/causes.md")).toBe(causesPage());
});

test("every link between documents leads to a file", () => {
  const pages = [
    "README.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    ...readdirSync(path.join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".md"))
      .map((file) => `docs/${file}`),
  ];
  const broken: string[] = [];
  for (const page of pages) {
    for (const [, target = ""] of read(page).matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)) {
      try {
        readFileSync(path.join(ROOT, path.dirname(page), target));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EISDIR") broken.push(`${page} → ${target}`);
      }
    }
  }
  expect(broken).toEqual([]);
});
