import { expect, test } from "vitest";
import { type AlertValues, newAlert, phaseOf, step } from "../../../src/alert/alert-state.ts";

const NONE: AlertValues = {
  p99_now_s: null,
  p99_then_s: null,
  drift_ratio: null,
  samples_now: null,
  samples_then: null,
  budget_used_ratio: null,
  risk_score: null,
};
const MINUTE = 60_000;
const RULES = { forMs: 5 * MINUTE, keepMs: 10 * MINUTE };

/** @param course `1` true and `.` false, one a minute. @returns What happened at which minute. */
function run(course: string, rules = RULES): string[] {
  const alert = newAlert("LLMSlaCritical", {}, NONE);
  return course.split("").flatMap((sign, minute) => {
    const transition = step(alert, sign === "1", minute * MINUTE, rules);
    return transition === undefined ? [] : [`${minute} ${transition}`];
  });
}

test.for([
  { name: "fires when it held for five minutes", course: "1111111", told: ["0 pending", "5 fired"] },
  {
    name: "one false tick begins anew",
    course: "1111.111111",
    told: ["0 pending", "4 cancelled", "5 pending", "10 fired"],
  },
  {
    name: "resolves after ten false minutes",
    course: `111111${".".repeat(12)}`,
    told: ["0 pending", "5 fired", "16 resolved"],
  },
  {
    name: "a true tick in between keeps it firing",
    course: `111111.........1${".".repeat(11)}`,
    told: ["0 pending", "5 fired", "26 resolved"],
  },
  { name: "never true is nothing", course: "....", told: [] },
])("$name", ({ course, told }) => {
  expect(run(course)).toEqual(told);
});

test("for 0 fires at once", () => {
  expect(run("1", { forMs: 0, keepMs: 0 })).toEqual(["0 fired"]);
  expect(run("1.", { forMs: 0, keepMs: 0 })).toEqual(["0 fired", "1 resolved"]);
});

test("a clock that goes back does not fire early", () => {
  const alert = newAlert("LLMSlaCritical", {}, NONE);
  step(alert, true, 100 * MINUTE, RULES);
  step(alert, true, 10 * MINUTE, RULES);
  expect(phaseOf(alert)).toBe("pending");
  step(alert, true, 14 * MINUTE, RULES);
  expect(phaseOf(alert)).toBe("pending");
  step(alert, true, 15 * MINUTE, RULES);
  expect(phaseOf(alert)).toBe("firing");
});
