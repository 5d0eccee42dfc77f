import { UTC } from "../../core/timestamp.ts";
import type { Line } from "../../model/line.ts";
import type { Profile } from "../profile.ts";
import { isCsvHead } from "./csv.ts";
import { parseJsonLine } from "./entry.ts";
import { PostgresParser } from "./parse.ts";
import { parseTextLine } from "./prefix.ts";

/** PostgreSQL with pgvector: vector searches and errors of the server's log. */
export const postgres: Profile = {
  name: "postgres",
  title: "PostgreSQL (pgvector)",
  upstream:
    "PostgreSQL 15.20: src/backend/utils/error/{elog,csvlog,jsonlog}.c, tcop/postgres.c; pgvector 0.8 operators",
  jsonKeys: ["error_severity", "record"],
  rank: "specific",
  tells: ["finished", "failed"],
  figures: ["retrieval", "tenant", "errors"],
  cannotTell: [
    "Searches below `log_min_duration_statement`, and the share of those that sampling leaves out.",
    "The tenant, unless the statement compares a tenant column with a parameter.",
    "Messages in another language than English (`lc_messages`), in the text format.",
  ],
  claims(line: Line): boolean {
    const { text } = line;
    const first = text.charCodeAt(0);
    if (first === 123) return parseJsonLine(line, UTC) !== undefined;
    // a time, `[`, `<`, or a word
    if (!(first >= 48 && first <= 57) && first !== 91 && first !== 60 && !isLetter(first)) return false;
    return parseTextLine(text, UTC) !== undefined || (first >= 48 && first <= 57 && isCsvHead(text));
  },
  open: (context) => new PostgresParser(context),
};

const isLetter = (code: number): boolean => (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
