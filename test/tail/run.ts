/**
 * `npm run test:tail`: plays every scenario, the slow ones too, and writes docs/tail-scenarios.md.
 * `--subject logdna|tail-file|mtail` plays a rival in real time; `--only 21,36` some scenarios.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { VERSION } from "../../src/core/version.ts";
import { SCENARIOS } from "./scenarios/all.ts";
import { isPerfect, play, type Verdict } from "./stage.ts";
import type { Subject } from "./subject.ts";
import { LogdnaSubject } from "./subjects/logdna.ts";
import { MtailSubject } from "./subjects/mtail.ts";
import { TailFileSubject } from "./subjects/tail-file.ts";
import { TokentailRig } from "./subjects/tokentail.ts";
import { DOCUMENT, readResults, resultsFile, scenarioPage } from "./table.ts";

const MAKERS: Readonly<Record<string, () => Subject>> = {
  tokentail: () => new TokentailRig(),
  logdna: () => new LogdnaSubject(),
  "tail-file": () => new TailFileSubject(),
  mtail: () => new MtailSubject(),
};

function versionOf(subject: string): string {
  if (subject === "tokentail") return VERSION;
  if (subject === "mtail")
    return /version (\S+)/.exec(spawnSync("mtail", ["--version"], { encoding: "utf8" }).stdout)?.[1] ?? "";
  const name = subject === "logdna" ? "@logdna/tail-file" : subject;
  const file = path.join(import.meta.dirname, "../../node_modules", name, "package.json");
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}

const { values } = parseArgs({
  options: { subject: { type: "string", default: "tokentail" }, only: { type: "string" } },
});
const { subject } = values;
const make = MAKERS[subject];
if (make === undefined) throw new Error(`No subject "${subject}": one of ${Object.keys(MAKERS).join(", ")}`);
const only = values.only?.split(",").map(Number);
const verdicts: Record<string, Verdict> = { ...readResults(subject).verdicts };
if (only === undefined) for (const id of Object.keys(verdicts)) delete verdicts[id];
const save = (): void => {
  mkdirSync(path.dirname(resultsFile(subject)), { recursive: true });
  const results = { subject, version: versionOf(subject), verdicts };
  writeFileSync(resultsFile(subject), `${JSON.stringify(results, undefined, 1)}\n`);
  writeFileSync(DOCUMENT, scenarioPage());
};
// a rival that throws from a callback of its own fails its scenario, not the others
if (subject !== "tokentail")
  process.on("uncaughtException", (error) => console.log(`     ${subject} threw: ${error.message}`));
// a rival whose timers have all ended must not end the run
setInterval(() => {}, 1000);
let failed = 0;
let passed = 0;
for (const scenario of SCENARIOS) {
  if (only !== undefined && !only.includes(scenario.id)) continue;
  if (subject !== "tokentail" && scenario.rivals !== true) continue;
  const verdict = await play(scenario, make());
  verdicts[scenario.id] = verdict;
  save();
  if (isPerfect(verdict)) passed++;
  else failed++;
  const { missing, dup, garbled, failures } = verdict;
  console.log(
    `${isPerfect(verdict) ? "ok  " : "FAIL"} ${scenario.id} ${scenario.title}${isPerfect(verdict) ? "" : ` — ${JSON.stringify({ missing, dup, garbled, failures })}`}`,
  );
}
save();
console.log(`${passed} passed, ${failed} failed`);
process.exit(subject === "tokentail" && failed > 0 ? 1 : 0);
