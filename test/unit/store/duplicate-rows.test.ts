import { expect, test } from "vitest";
import { DuplicateFilter, REMEMBERED } from "../../../src/request/duplicate-filter.ts";
import { DuplicateRows } from "../../../src/store/duplicate-rows.ts";

/** Applies the changes to rows as a commit would. */
function commit(rows: DuplicateRows, table: Map<string, unknown>): number {
  let written = 0;
  for (const [key, value] of rows.changes()) {
    written++;
    if (value === undefined) table.delete(key);
    else table.set(key, structuredClone(value));
  }
  return written;
}

test.for([
  { name: "within one generation", keys: 1000, step: 7 },
  { name: "over several generations", keys: REMEMBERED * 3 + 17, step: 611 },
  { name: "with a generation in one step", keys: REMEMBERED * 3, step: REMEMBERED * 2 + 5 },
])("rows hold what the filter remembers: $name", ({ keys, step }) => {
  const filter = new DuplicateFilter();
  const rows = new DuplicateRows(filter);
  const table = new Map<string, unknown>();
  for (let at = 0; at < keys; at++) {
    filter.seen(`key ${at}`);
    if (at % step === 0) commit(rows, table);
  }
  commit(rows, table);
  const restored = new DuplicateFilter();
  new DuplicateRows(restored).restore(table);
  expect(restored.state).toEqual(filter.state);
});

test("a failed commit is made good by the next", () => {
  const filter = new DuplicateFilter();
  const rows = new DuplicateRows(filter);
  const table = new Map<string, unknown>();
  for (let at = 0; at < REMEMBERED + 100; at++) {
    filter.seen(`key ${at}`);
    if (at === REMEMBERED / 2) commit(rows, table);
  }
  for (const _ of rows.changes()) continue;
  rows.forgetCommit();
  filter.seen("last");
  commit(rows, table);
  const restored = new DuplicateFilter();
  new DuplicateRows(restored).restore(table);
  expect(restored.state).toEqual(filter.state);
});

test("a commit writes the new keys, not all of them", () => {
  const filter = new DuplicateFilter();
  const rows = new DuplicateRows(filter);
  const table = new Map<string, unknown>();
  for (let at = 0; at < 10_000; at++) filter.seen(`key ${at}`);
  commit(rows, table);
  filter.seen("one more");
  expect(commit(rows, table)).toBe(1);
});
