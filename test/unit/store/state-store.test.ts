import { existsSync, readdirSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { StateStore } from "../../../src/store/state-store.ts";
import { TempFolder } from "../../support/cli.ts";

const put = (store: StateStore, value: unknown): void => store.commit({ entries: [["shared", "key", value]] });
const get = (store: StateStore): unknown => store.load().shared.get("key");

/** A closed state whose previous generation holds 1 and whose present one holds 2. */
function twoGenerations(folder: string): string {
  using store = StateStore.open(folder);
  put(store, 1);
  store.keepGeneration();
  put(store, 2);
  return path.join(folder, "state.sqlite");
}

test("values continue after a clean end", () => {
  using folder = new TempFolder();
  twoGenerations(folder.path);
  using store = StateStore.open(folder.path);
  expect({ found: store.found, continued: store.continued, value: get(store) }).toEqual({
    found: "continued",
    continued: true,
    value: 2,
  });
});

test.for<{ name: string; damage: (file: string) => void }>([
  { name: "empty", damage: (file) => truncateSync(file, 0) },
  { name: "torn", damage: (file) => truncateSync(file, 6000) },
  { name: "filled with NULs", damage: (file) => writeFileSync(file, Buffer.alloc(20_000)) },
  { name: "no database", damage: (file) => writeFileSync(file, "hello ".repeat(1000)) },
])("a state file that is $name is set aside and the previous generation used", ({ damage }) => {
  using folder = new TempFolder();
  damage(twoGenerations(folder.path));
  using store = StateStore.open(folder.path);
  expect(store.found).toMatchObject({ previousUsed: true });
  expect(get(store)).toBe(1);
  expect(readdirSync(folder.path).some((name) => name.includes(".unreadable-"))).toBe(true);
});

test("with both generations damaged it starts anew", () => {
  using folder = new TempFolder();
  truncateSync(twoGenerations(folder.path), 0);
  writeFileSync(path.join(folder.path, "state.previous.sqlite"), "no database either".repeat(100));
  using store = StateStore.open(folder.path);
  expect(store.found).toMatchObject({ previousUsed: false });
  expect(store.continued).toBe(false);
});

test("a second store on the same folder is refused", () => {
  using folder = new TempFolder();
  using store = StateStore.open(folder.path);
  put(store, 1);
  expect(() => StateStore.open(folder.path)).toThrow(/another tokentail is running on it/);
});

test("a failed commit leaves nothing behind", () => {
  using store = StateStore.open(":memory:");
  put(store, 1);
  const entries = [
    ["shared", "key", 2],
    ["shared", "other", () => {}],
  ] as const;
  expect(() => store.commit({ entries })).toThrow();
  expect(get(store)).toBe(1);
});

test("a store that forgets writes no file", () => {
  using store = StateStore.open(":memory:");
  store.keepGeneration();
  expect(existsSync(":memory:")).toBe(false);
});
