import fc from "fast-check";
import { expect, test } from "vitest";
import { groupUnknowns } from "../../../src/failure/group-unknowns.ts";
import { noteSighting, type Sightings } from "../../../src/failure/novelty.ts";

const FORMS = [
  { id: "t3", form: "license check failed: license for feature <*> expired on <*>", count: 4 },
  { id: "t1", form: "license server: license expired, feature <*> refused", count: 1 },
  { id: "t2", form: "clock skew of <*> s against the signature service", count: 2 },
  { id: "t5", form: "clock skew detected: local time is <*> s ahead of the signature service", count: 1 },
  { id: "t4", form: "webhook delivery <*> was answered with a redirect", count: 1 },
];

test("forms that share words are one group, called by the smallest id", () => {
  expect(Object.fromEntries(groupUnknowns(FORMS))).toEqual({ t1: "t1", t3: "t1", t2: "t2", t5: "t2", t4: "t4" });
});

test("groups do not depend on the order of forms", () => {
  const expected = Object.fromEntries(groupUnknowns(FORMS));
  fc.assert(
    fc.property(fc.shuffledSubarray(FORMS, { minLength: FORMS.length }), (forms) => {
      expect(Object.fromEntries(groupUnknowns(forms))).toEqual(expected);
    }),
  );
});

test("forms beyond the bound stay alone", () => {
  const many = Array.from({ length: 450 }, (_, index) => ({
    id: `t${String(index).padStart(3, "0")}`,
    form: `same words here <*>`,
    count: 450 - index,
  }));
  const groups = groupUnknowns(many);
  expect(groups.get("t399")).toBe("t000");
  expect(groups.get("t400")).toBe("t400");
});

test("nothing to group", () => {
  expect(groupUnknowns([]).size).toBe(0);
});

test.for([
  { name: "never seen is new", times: [5], is: "new" },
  { name: "seen a moment ago is known", times: [5, 6], is: "known" },
  { name: "back after the silence is resurgent", times: [5, 106], is: "resurgent" },
  { name: "exactly the silence is not yet", times: [5, 105], is: "known" },
  { name: "an older event that comes late is known", times: [500, 5], is: "known" },
  { name: "without a time nothing is news", times: [Number.NaN], is: "known" },
])("noteSighting: $name", ({ times, is }) => {
  const sightings: Sightings = new Map();
  const found = times.map((timeMs) => noteSighting(sightings, "t1", timeMs, 100));
  expect(found.at(-1)).toBe(is);
  expect(sightings.get("t1")?.count).toBe(times.length);
});
