import type { Readable } from "node:stream";
import { PROFILES } from "../profile/registry.ts";
import { DuplicateFilter } from "../request/duplicate-filter.ts";
import { knownProfiles } from "./analyze.ts";
import { count, oneLine, percent } from "./format.ts";
import { type Io, painter } from "./io.ts";
import { readFiles } from "./read-files.ts";
import { UnrecognisedShapes } from "./unrecognised.ts";

/** `tokentail detect`: who wrote these lines, what they can tell, what was not recognised. @returns The exit code. */
export async function detect(
  paths: readonly string[],
  options: { readonly config?: string | undefined },
  io: Io,
  stdin: () => Readable,
): Promise<0 | 1> {
  const paint = painter(io);
  const profiles = await knownProfiles(options.config);
  let faults = 0;
  for (const path of paths) {
    const shapes = new UnrecognisedShapes();
    const result = await readFiles([path], {
      profiles,
      duplicates: new DuplicateFilter(),
      consumer: { record: () => {}, reject: () => {}, unrecognised: (line) => shapes.add(line.text) },
      io,
      stdin,
    });
    faults += result.faults;
    for (const file of result.files) {
      const lines = Math.max(1, file.lines);
      io.out(`${paint("bold", file.path)}\n`);
      io.out(`  frame      ${file.frame}\n`);
      io.out(
        `  lines      ${count(file.lines)}, ${count(file.records)} records, not recognised ${count(file.unrecognised)} (${percent(file.unrecognised / lines)})\n`,
      );
      const found = Object.entries(file.profiles).sort((a, b) => b[1] - a[1]);
      for (const [name, taken] of found) {
        const profile = profiles.find((candidate) => candidate.name === name);
        if (profile === undefined) continue;
        io.out(`  ${paint("green", name)} (${profile.title})  ${percent(taken / lines)} of the lines\n`);
        io.out(
          `      tells      ${[...profile.tells.map((word) => `requests ${word}`), ...profile.figures].join(", ")}\n`,
        );
        for (const sentence of profile.cannotTell) io.out(`      cannot     ${sentence}\n`);
      }
      if (file.unrecognised > 0) {
        io.out(`  ${paint("yellow", "not recognised")}\n`);
        for (const { example, count: times } of shapes.top(10)) {
          io.out(`      ${`× ${count(times)}`.padEnd(8)} ${oneLine(example, io.columns - 16)}\n`);
        }
      }
      const [main] = found;
      if (main !== undefined)
        io.out(
          `  config     - {files: [${JSON.stringify(file.path)}], profile: ${found.length === 1 ? main[0] : "auto"}}\n`,
        );
    }
  }
  return faults > 0 ? 1 : 0;
}

/** `tokentail detect --list`: every built-in profile. */
export function listProfiles(io: Io): void {
  const width = Math.max(...PROFILES.map(({ name }) => name.length));
  for (const { name, title, figures } of PROFILES) io.out(`${name.padEnd(width)}  ${title}: ${figures.join(", ")}\n`);
}
