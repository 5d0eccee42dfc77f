import type { Scenario } from "../stage.ts";
import { CONTAINERS } from "./containers.ts";
import { COPYTRUNCATE } from "./copytruncate.ts";
import { DISCOVERY } from "./discovery.ts";
import { IDENTITY } from "./identity.ts";
import { LINES } from "./lines.ts";
import { LOAD } from "./load.ts";
import { RENAME } from "./rename.ts";
import { RESTART } from "./restart.ts";

export const SCENARIOS: readonly Scenario[] = [
  ...LINES,
  ...RENAME,
  ...COPYTRUNCATE,
  ...IDENTITY,
  ...DISCOVERY,
  ...RESTART,
  ...CONTAINERS,
  ...LOAD,
].toSorted((a, b) => a.id - b.id);

/** Scenarios that are not played, and why. */
export const NOT_COVERED: ReadonlyArray<{ readonly id: number; readonly title: string; readonly why: string }> = [
  {
    id: 13,
    title: "Configurable delimiter of several bytes",
    why: "lines end with a newline; there is no such option",
  },
  {
    id: 88,
    title: "Catastrophic regular expression of a user",
    why: "belongs to the user profiles and is tested with them",
  },
  {
    id: 91,
    title: "Labelled counter exists at 0 before the first match",
    why: "label values come from the logs; none are declared",
  },
  { id: 96, title: "Two rules, one metric name", why: "metrics are a fixed catalogue; users cannot name new ones" },
  { id: 97, title: "Reload of the configuration", why: "belongs to the reload and is tested with it" },
];
