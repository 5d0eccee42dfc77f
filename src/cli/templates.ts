import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { reasonOf } from "../core/told.ts";
import { UserError } from "../core/user-error.ts";
import { type ContentFinder, headerFormat } from "../template/header-format.ts";
import { TemplateMiner } from "../template/template-miner.ts";
import { count, oneLine, percent } from "./format.ts";
import type { Io } from "./io.ts";

/**
 * `tokentail templates`: which messages a log is made of. With `--json` one line per line of the file, in order, written after the
 * whole file was read: a template may become more general by a later message. @returns The exit code.
 */
export async function templates(
  path: string,
  options: { readonly json: boolean; readonly format?: string | undefined },
  io: Io,
  stdin: () => Readable,
): Promise<0 | 1> {
  const content = finderOf(options.format);
  const miner = new TemplateMiner();
  const ids: string[] = [];
  let lines = 0;
  let other = 0;
  const input = path === "-" ? stdin() : createReadStream(path);
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      lines++;
      const message = content(line);
      if (message === undefined) other++;
      const { id } = miner.add(message ?? line);
      if (options.json) ids.push(id);
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    io.err(`tokentail: cannot read "${path}": ${reasonOf(error)}\n`);
    return 1;
  }
  if (lines === 0) {
    io.err(`tokentail: cannot read "${path}": is empty\n`);
    return 1;
  }
  if (other > 0) io.err(`tokentail: ${count(other)} lines have not the header of --format; read whole\n`);
  if (options.json) writeLines(ids, miner, io);
  else writeTable(miner, io);
  return 0;
}

function finderOf(format: string | undefined): ContentFinder {
  if (format === undefined) return (line) => line;
  try {
    return headerFormat(format);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new UserError(error.message, { exitCode: 2, cause: error });
  }
}

function writeLines(ids: readonly string[], miner: TemplateMiner, io: Io): void {
  const texts = new Map<string, string>();
  for (const { id, template } of miner.templates()) texts.set(id, template);
  let out = "";
  for (const given of ids) {
    const id = miner.currentId(given) ?? given;
    out += `${JSON.stringify({ id, template: texts.get(id) ?? "" })}\n`;
    if (out.length < 65_536) continue;
    io.out(out);
    out = "";
  }
  io.out(out);
}

function writeTable(miner: TemplateMiner, io: Io): void {
  const found = [...miner.templates()].sort((a, b) => b.count - a.count || (a.id < b.id ? -1 : 1));
  const total = Math.max(
    1,
    found.reduce((sum, entry) => sum + entry.count, 0),
  );
  for (const entry of found) {
    io.out(
      `${count(entry.count).padStart(9)}  ${percent(entry.count / total).padStart(6)}  ${entry.id}  ${oneLine(entry.template, io.columns - 36)}\n`,
    );
  }
}
