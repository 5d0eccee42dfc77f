import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { reasonOf } from "../core/told.ts";
import { UserError } from "../core/user-error.ts";
import { classifyFailure, UNKNOWN_CAUSE } from "../failure/classify.ts";
import { type Attributes, type Explanation, explain } from "../failure/explain.ts";
import { groupUnknowns } from "../failure/group-unknowns.ts";
import { formOf } from "../failure/message-form.ts";
import { count, oneLine, percent } from "./format.ts";
import type { Io } from "./io.ts";

export interface ClusterOptions {
  /** File of failure records, one JSON object a line: `{"id", "raw", "fields"}`. */
  readonly input: string;
  /** File of other traffic to compare with: `{"fields"}` a line. Without it a cause is compared with the other failures. */
  readonly baseline?: string | undefined;
  readonly json: boolean;
}

interface Clustered {
  readonly id: string;
  readonly cause: string;
  readonly templateId: string;
  /** What the cluster is called: the cause, or the group of an unknown form. */
  cluster: string;
  readonly deciding: string;
  readonly fields: Attributes;
}

/**
 * `tokentail cluster`: names the cause of each failure record, groups those without one, and says what sets each cluster
 * apart from other traffic. With `--json` one line a record, in order, and last `{"explanations": {cause: […]}}`.
 *
 * @returns The exit code.
 */
export async function cluster(options: ClusterOptions, io: Io): Promise<0 | 1> {
  const records: Clustered[] = [];
  let broken = 0;
  for await (const row of readRows(options.input)) {
    const raw = row?.["raw"];
    if (typeof raw !== "string") {
      broken++;
      continue;
    }
    const { cause, templateId, deciding } = classifyFailure(raw);
    const id = typeof row?.["id"] === "string" ? row["id"] : String(records.length + broken + 1);
    records.push({ id, cause, templateId, cluster: cause, deciding, fields: attributesOf(row?.["fields"]) });
  }
  nameUnknown(records);
  const baseline: Attributes[] = [];
  if (options.baseline !== undefined) {
    for await (const row of readRows(options.baseline)) {
      if (row === undefined) broken++;
      else baseline.push(attributesOf(row["fields"]));
    }
  }
  if (broken > 0) io.err(`tokentail: ${count(broken)} lines are no JSON objects with "raw"; left out\n`);
  const explanations = explainClusters(records, options.baseline === undefined ? undefined : baseline);
  if (options.json) writeJson(records, explanations, io);
  else writeTable(records, explanations, io);
  return broken > 0 ? 1 : 0;
}

/** Unknown failures are called after the group of their form. */
function nameUnknown(records: readonly Clustered[]): void {
  const forms = new Map<string, { id: string; form: string; count: number }>();
  for (const record of records) {
    if (record.cause !== UNKNOWN_CAUSE) continue;
    const known = forms.get(record.templateId);
    if (known === undefined)
      forms.set(record.templateId, { id: record.templateId, form: formOf(record.deciding), count: 1 });
    else known.count++;
  }
  const groups = groupUnknowns([...forms.values()]);
  for (const record of records) {
    if (record.cause === UNKNOWN_CAUSE)
      record.cluster = `${UNKNOWN_CAUSE}/${groups.get(record.templateId) ?? record.templateId}`;
  }
}

function explainClusters(
  records: readonly Clustered[],
  baseline: readonly Attributes[] | undefined,
): Map<string, Explanation[]> {
  const byCluster = new Map<string, Attributes[]>();
  for (const { cluster, fields } of records) {
    const members = byCluster.get(cluster);
    if (members === undefined) byCluster.set(cluster, [fields]);
    else members.push(fields);
  }
  const explanations = new Map<string, Explanation[]>();
  for (const [cluster, members] of [...byCluster].sort((a, b) => b[1].length - a[1].length || (a[0] < b[0] ? -1 : 1))) {
    const others = baseline ?? records.filter((record) => record.cluster !== cluster).map(({ fields }) => fields);
    explanations.set(cluster, explain(members, others));
  }
  return explanations;
}

function writeJson(records: readonly Clustered[], explanations: ReadonlyMap<string, Explanation[]>, io: Io): void {
  let out = "";
  for (const { id, cluster, cause, templateId } of records) {
    out += `${JSON.stringify({ id, cluster, cause, template_id: templateId })}\n`;
    if (out.length < 65_536) continue;
    io.out(out);
    out = "";
  }
  io.out(`${out}${JSON.stringify({ explanations: Object.fromEntries(explanations) })}\n`);
}

function writeTable(records: readonly Clustered[], explanations: ReadonlyMap<string, Explanation[]>, io: Io): void {
  for (const [cluster, found] of explanations) {
    const members = records.filter((record) => record.cluster === cluster);
    io.out(
      `${count(members.length).padStart(9)}  ${percent(members.length / records.length).padStart(6)}  ${cluster}\n`,
    );
    io.out(`${" ".repeat(19)}${oneLine(members[0]?.deciding ?? "", io.columns - 20)}\n`);
    for (const { attribute, value, share, baseline_share } of found.slice(0, 3)) {
      io.out(
        `${" ".repeat(19)}${attribute} ${value}: ${percent(share)} of these, ${percent(baseline_share)} of other traffic\n`,
      );
    }
  }
}

async function* readRows(path: string): AsyncIterable<Readonly<Record<string, unknown>> | undefined> {
  const lines = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  try {
    for await (const line of lines) if (line.trim() !== "") yield parseRow(line);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error;
    throw new UserError(`Cannot read "${path}": ${reasonOf(error)}`, { cause: error });
  }
}

function parseRow(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return value !== null && typeof value === "object" && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** The attributes that are single values; lists and objects explain nothing. */
function attributesOf(fields: unknown): Attributes {
  if (fields === null || typeof fields !== "object") return {};
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value === null || typeof value !== "object"));
}
