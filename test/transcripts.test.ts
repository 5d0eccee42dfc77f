import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { cli, TempFolder } from "./support/cli.ts";

/**
 * `cli/NNNN-name.txt`: sections headed `-- name --`. `command` is one command line; `stdout`, `stderr` and `exit` are what
 * it must give; every other section is a file beside it. `$DIR` stands for the folder. `UPDATE=1` rewrites.
 */
const FOLDER = path.join(import.meta.dirname, "cli");
const SECTION = /^-- (\S+) --\n/gm;

function sections(text: string): Map<string, string> {
  const found = [...text.matchAll(SECTION)];
  return new Map(
    found.map((match, index) => [match[1] ?? "", text.slice(match.index + match[0].length, found[index + 1]?.index)]),
  );
}

const transcripts = readdirSync(FOLDER).filter((name) => name.endsWith(".txt"));

test.for(transcripts)("transcript %s", async (name) => {
  const file = path.join(FOLDER, name);
  const wanted = sections(readFileSync(file, "utf8"));
  using folder = new TempFolder();
  const files = [...wanted].filter(([section]) => !["command", "stdout", "stderr", "exit"].includes(section));
  for (const [section, content] of files) folder.file(section, content);
  const command = wanted.get("command")?.trim() ?? "";
  const argv = (command.match(/"[^"]*"|\S+/g) ?? [])
    .slice(1)
    .map((word) => word.replace(/^"|"$/g, "").replaceAll("$DIR", folder.path));
  const { exit, stdout, stderr } = await cli(argv);
  const plain = (text: string): string => text.replaceAll(folder.path, "$DIR");
  const got = new Map([
    ["stdout", plain(stdout)],
    ["stderr", plain(stderr)],
    ["exit", `${exit}\n`],
  ]);
  if (process.env["UPDATE"] === "1") {
    const all = [...files, ["command", `${command}\n`] as const, ...got];
    writeFileSync(
      file,
      all
        .filter(([, content]) => content !== "")
        .map(([section, content]) => `-- ${section} --\n${content}`)
        .join(""),
    );
  }
  for (const [section, content] of got) expect(content, section).toBe(wanted.get(section) ?? "");
});
