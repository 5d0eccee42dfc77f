import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { NOT_COVERED, SCENARIOS } from "./scenarios/all.ts";
import { isPerfect, play } from "./stage.ts";
import { TokentailRig } from "./subjects/tokentail.ts";
import { DOCUMENT, readResults, scenarioPage } from "./table.ts";

test.for(SCENARIOS.filter(({ slow }) => slow !== true))(
  "scenario $id: $title",
  { timeout: 60_000 },
  async (scenario) => {
    const { written: _, ...faults } = await play(scenario, new TokentailRig());
    expect(faults).toEqual({ missing: 0, dup: 0, garbled: 0, failures: [] });
  },
);

test("every scenario of the list is played or named with the reason", () => {
  const ids = [...SCENARIOS, ...NOT_COVERED].map(({ id }) => id).toSorted((a, b) => a - b);
  expect(ids).toEqual(Array.from({ length: 101 }, (_, at) => at + 1));
});

test("docs/tail-scenarios.md is generated from the last full run (`npm run test:tail` rewrites it)", () => {
  expect(readFileSync(DOCUMENT, "utf8")).toBe(scenarioPage());
});

test("the last full run had every scenario at its outcome", () => {
  const { verdicts } = readResults("tokentail");
  expect(
    SCENARIOS.filter(({ id }) => verdicts[id] === undefined || !isPerfect(verdicts[id])).map(({ id }) => id),
  ).toEqual([]);
});
