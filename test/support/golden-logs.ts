import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";

const GOLDEN = path.join(import.meta.dirname, "../golden");

export interface GoldenLog {
  /** `<profile folder>/<variant>` */
  readonly name: string;
  readonly folder: string;
  readonly bytes: Buffer;
}

/** Every golden log of the repository. */
export const goldenLogs: readonly GoldenLog[] = readdirSync(GOLDEN, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".expected.json"))
  .map((file) => file.replace(/\.expected\.json$/, ""))
  .sort()
  .map((name) => ({
    name,
    folder: name.split(path.sep)[0] ?? "",
    bytes: readFileSync(path.join(GOLDEN, `${name}.log`)),
  }));
