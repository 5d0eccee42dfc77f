import { UserError } from "../core/user-error.ts";
import type { Profile } from "../profile/profile.ts";
import { PROFILES } from "../profile/registry.ts";
import { compileProfile } from "../profile/user/index.ts";
import { UserProfileError } from "../profile/user/matcher.ts";
import type { Config } from "./schema.ts";

/**
 * The profiles of a configuration: its own first, then the built-in ones.
 *
 * @param name How messages name the configuration.
 * @throws {UserError} Exit code 2, naming the entry and what is wrong with it.
 */
export function profilesOf(config: Pick<Config, "profiles">, name: string): readonly Profile[] {
  const known = new Set(PROFILES.map((profile) => profile.name));
  const own = config.profiles.map((entry, index) => {
    const at = `${name}: profiles[${index}]`;
    if (known.has(entry.name) || entry.name === "auto")
      throw new UserError(`${at}.name: "${entry.name}" is taken`, { exitCode: 2 });
    known.add(entry.name);
    try {
      return compileProfile(entry);
    } catch (error) {
      if (error instanceof UserProfileError)
        throw new UserError(`${at}.${error.at}: ${error.message}`, { exitCode: 2, cause: error });
      throw error;
    }
  });
  return [...own, ...PROFILES];
}
