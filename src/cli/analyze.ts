import type { Readable } from "node:stream";
import { analyzeReport } from "../analysis/report.ts";
import { Totals } from "../analysis/totals.ts";
import { didYouMean } from "../core/told.ts";
import { UserError } from "../core/user-error.ts";
import type { Profile } from "../profile/profile.ts";
import { PROFILES } from "../profile/registry.ts";
import { DuplicateFilter } from "../request/duplicate-filter.ts";
import type { Io } from "./io.ts";
import { readFiles } from "./read-files.ts";
import { textReport } from "./text-report.ts";
import { UnrecognisedShapes } from "./unrecognised.ts";

export interface AnalyzeOptions {
  readonly json: boolean;
  /** Name of the only profile to use. */
  readonly profile?: string | undefined;
  /** Configuration file whose own profiles are used too. */
  readonly config?: string | undefined;
}

/** `tokentail analyze`: one shot over files. @returns The exit code. */
export async function analyze(
  paths: readonly string[],
  options: AnalyzeOptions,
  io: Io,
  stdin: () => Readable,
): Promise<0 | 1> {
  const totals = new Totals();
  const shapes = new UnrecognisedShapes();
  const { files, faults } = await readFiles(paths, {
    profiles: profilesNamed(await knownProfiles(options.config), options.profile),
    duplicates: new DuplicateFilter(),
    consumer: {
      record: (record, profile) => totals.add(record, profile.tells),
      reject: (reason) => totals.reject(reason),
      unrecognised: (line) => shapes.add(line.text),
    },
    io,
    stdin,
  });
  if (options.json) io.out(`${JSON.stringify(analyzeReport(files, totals))}\n`);
  else if (files.length > 0) io.out(textReport(files, totals, shapes, io));
  return faults > 0 ? 1 : 0;
}

/** The built-in profiles, and those of a configuration file. */
export async function knownProfiles(config: string | undefined): Promise<readonly Profile[]> {
  if (config === undefined) return PROFILES;
  const [{ loadConfig }, { profilesOf }] = await Promise.all([
    import("../config/load.ts"),
    import("../config/profiles.ts"),
  ]);
  return profilesOf(await loadConfig(config), config);
}

/** @throws {UserError} When there is no such profile. */
function profilesNamed(known: readonly Profile[], name: string | undefined): readonly Profile[] {
  if (name === undefined || name === "auto") return known;
  const found = known.filter((profile) => profile.name === name);
  if (found.length === 0) {
    const nearest = didYouMean(
      name,
      known.map((profile) => profile.name),
    );
    throw new UserError(`No profile "${name}"${nearest} (\u0060tokentail detect --list\u0060 shows all)`, {
      exitCode: 2,
    });
  }
  return found;
}
