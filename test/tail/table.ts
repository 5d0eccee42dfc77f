import { readFileSync } from "node:fs";
import path from "node:path";
import { NOT_COVERED, SCENARIOS } from "./scenarios/all.ts";
import { isPerfect, type Verdict } from "./stage.ts";

/** Verdicts of one subject by scenario id, as its last run left them. */
export interface SubjectResults {
  readonly subject: string;
  readonly version: string;
  readonly verdicts: Readonly<Record<string, Verdict>>;
}

export const SUBJECTS = ["tokentail", "logdna", "tail-file", "mtail"] as const;
export const resultsFile = (subject: string): string => path.join(import.meta.dirname, "results", `${subject}.json`);
export const DOCUMENT = path.join(import.meta.dirname, "../../docs/tail-scenarios.md");

export function readResults(subject: string): SubjectResults {
  try {
    return JSON.parse(readFileSync(resultsFile(subject), "utf8")) as SubjectResults;
  } catch {
    return { subject, version: "", verdicts: {} };
  }
}

/** docs/tail-scenarios.md from the results of all subjects. */
export function scenarioPage(): string {
  const results = SUBJECTS.map(readResults);
  const cell = (id: number, { verdicts }: SubjectResults): string => {
    const verdict = verdicts[id];
    return verdict === undefined ? "" : shown(verdict);
  };
  const rows = [
    ...SCENARIOS.map(({ id, title, outcome }) => ({
      id,
      row: `| ${id} | ${title} | ${outcome} | ${results.map((result) => cell(id, result)).join(" | ")} |`,
    })),
    ...NOT_COVERED.map(({ id, title, why }) => ({ id, row: `| ${id} | ${title} | not played: ${why} | | | | |` })),
  ].toSorted((a, b) => a.id - b.id);
  const perfect = SCENARIOS.filter(({ id }) => {
    const verdict = results[0]?.verdicts[id];
    return verdict !== undefined && isPerfect(verdict);
  }).length;
  return `# Tail scenarios

Generated from \`test/tail/\` by \`npm run test:tail\`. Each line that a scenario writes is known; what arrives is compared with it:
missing, twice, or a line nobody wrote. EO: each line exactly once. ALO: at least once. EO+loss: what can be read once, what
cannot is counted in a self-metric to the byte.

tokentail: **${perfect} of ${SCENARIOS.length + NOT_COVERED.length}** at the stated outcome, ${NOT_COVERED.length} not played. It runs in its own clock, set by hand, so that nothing waits;
its rivals run in real time (\`npm run test:tail -- --subject logdna\`), where the scenario is one for a tailer of one file that keeps no state.

| # | scenario | outcome | tokentail | @logdna/tail-file ${results[1]?.version} | tail-file ${results[2]?.version} | mtail ${results[3]?.version} |
|---|---|---|---|---|---|---|
${rows.map(({ row }) => row).join("\n")}
`;
}

function shown(verdict: Verdict): string {
  if (isPerfect(verdict)) return "✓";
  const { written, missing, dup, garbled, failures } = verdict;
  const faults = [
    ...(missing > 0 ? [`${missing} of ${written} missing`] : []),
    ...(dup > 0 ? [`${dup} twice`] : []),
    ...(garbled > 0 ? [`${garbled} garbled`] : []),
    ...failures.map((failure) => failure.replaceAll("|", "\\|")),
  ];
  return faults.join(", ");
}
