import { readFile } from "node:fs/promises";
import { type Document, parseDocument, visit } from "yaml";
import { z } from "zod";
import { didYouMean, reasonOf } from "../core/told.ts";
import { UserError } from "../core/user-error.ts";
import { labelCollision } from "./labels.ts";
import { profilesOf } from "./profiles.ts";
import { Config } from "./schema.ts";

/**
 * Reads and checks a configuration file.
 *
 * @throws {UserError} Exit code 2, one line: file, place, what is wrong, the nearest known key or profile.
 */
export async function loadConfig(file: string, edit?: (document: Document) => void): Promise<Config> {
  let text: string;
  try {
    text = await readFile(file, "utf8");
  } catch (cause) {
    throw new UserError(`Cannot read configuration "${file}": ${reasonOf(cause)}`, { exitCode: 2, cause });
  }
  return parseConfig(text, file, edit);
}

/**
 * @param name How messages name the text.
 * @param edit Changes the document before it is checked.
 */
export function parseConfig(text: string, name: string, edit?: (document: Document) => void): Config {
  const document = parseDocument(text, { prettyErrors: true });
  const [fault] = document.errors;
  if (fault !== undefined) {
    throw new UserError(`${name}: ${fault.message.split("\n")[0]?.replace(/:$/, "")}`, { exitCode: 2 });
  }
  // integers beyond 2^53 stay as written: limits are exact
  visit(document, {
    Scalar: (_key, node) => {
      if (typeof node.value === "number" && Number.isInteger(node.value) && !Number.isSafeInteger(node.value))
        node.value = node.source ?? node.value;
    },
  });
  edit?.(document);
  const parsed = Config.safeParse(document.toJS() ?? {});
  if (!parsed.success) throw new UserError(`${name}: ${explain(parsed.error)}`, { exitCode: 2 });
  const names = ["auto", ...profilesOf(parsed.data, name).map((profile) => profile.name)];
  for (const [index, source] of parsed.data.sources.entries()) {
    if (!names.includes(source.profile)) {
      throw new UserError(
        `${name}: sources[${index}].profile: no profile "${source.profile}"${didYouMean(source.profile, names)}`,
        {
          exitCode: 2,
        },
      );
    }
  }
  const collision = labelCollision(parsed.data);
  if (collision !== undefined) throw new UserError(`${name}: ${collision}`, { exitCode: 2 });
  return parsed.data;
}

function explain(error: z.ZodError): string {
  const [issue] = error.issues;
  if (issue === undefined) return "not a valid configuration";
  const at = place(issue.path);
  const more = error.issues.length > 1 ? ` (and ${error.issues.length - 1} more)` : "";
  if (issue.code === "unrecognized_keys") {
    const key = issue.keys[0] ?? "";
    return `${place([...issue.path, key])}: unknown key "${key}"${didYouMean(key, keysAt(issue.path))}${more}`;
  }
  const message = issue.code === "invalid_key" ? (issue.issues[0]?.message ?? issue.message) : issue.message;
  return `${at === "" ? "" : `${at}: `}${message}${more}`;
}

function place(path: readonly PropertyKey[]): string {
  return path
    .map((part) => (typeof part === "number" ? `[${part}]` : `.${String(part)}`))
    .join("")
    .replace(/^\./, "");
}

interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
}

/** Keys that the schema knows at a path. */
function keysAt(path: readonly PropertyKey[]): string[] {
  let node: SchemaNode | undefined = z.toJSONSchema(Config, { io: "input" }) as SchemaNode;
  for (const part of path) node = typeof part === "number" ? node?.items : node?.properties?.[String(part)];
  return Object.keys(node?.properties ?? {});
}
