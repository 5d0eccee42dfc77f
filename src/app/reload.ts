import type { Config } from "../config/schema.ts";
import { UserError } from "../core/user-error.ts";

export interface ReloaderOptions {
  /** Reads and checks the whole configuration; undefined when there is no file. */
  readonly load: (() => Promise<Config>) | undefined;
  /** Puts it in force. @returns Settings that need a restart. */
  readonly apply: (config: Config) => readonly string[];
  readonly log: {
    info(fields: Record<string, unknown>, message: string): void;
    error(fields: Record<string, unknown>, message: string): void;
  };
}

/** Swaps the configuration while the daemon runs: all of it is checked first, and a bad one changes nothing. */
export class Reloader {
  /** The last load succeeded. */
  ok = true;
  readonly #options: ReloaderOptions;

  constructor(options: ReloaderOptions) {
    this.#options = options;
  }

  /** @returns Why it failed, in one line; undefined when the new configuration is in force. */
  async reload(): Promise<string | undefined> {
    const { load, apply, log } = this.#options;
    if (load === undefined) return "there is no configuration file to read again";
    try {
      const restart = apply(await load());
      this.ok = true;
      log.info(restart.length === 0 ? {} : { needs_restart: restart }, "Configuration reloaded");
      return undefined;
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      this.ok = false;
      log.error({ reason: error.message }, "Cannot reload the configuration; the old one stays in force");
      return error.message;
    }
  }
}
