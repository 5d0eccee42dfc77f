/** What a message of severity LOG says of a statement. */
export interface StatementMessage {
  /**
   * `statement` (simple protocol), `execute`, `parse` and `bind` (extended protocol, one line each), `fetch` (further
   * rows of a portal that was executed before), `plan` (auto_explain), or `none`: a duration without its statement.
   */
  readonly step: "statement" | "execute" | "parse" | "bind" | "fetch" | "plan" | "none";
  /** As written, milliseconds; undefined where only the statement is logged. */
  readonly duration: string | undefined;
  readonly sql: string;
}

// postgres.c of PostgreSQL 15: `duration: %s ms  statement: %s`, `duration: %s ms  execute %s%s%s: %s`
const DURATION = /^duration: (\S{1,40}) ms(?: {1,2}(?=\S)|\s*$)/;
const STEP = /^(?:(statement|plan)|(parse|bind|execute) (fetch from )?[^:]{0,200}):\s/;

/** Reads a message that names a duration, a statement or both; undefined for any other. */
export function parseMessage(message: string): StatementMessage | undefined {
  const timed = DURATION.exec(message);
  const rest = timed === null ? message : message.slice(timed[0].length);
  if (timed !== null && rest === "") return { step: "none", duration: timed[1], sql: "" };
  const found = STEP.exec(rest);
  if (found === null) return undefined;
  const step = found[3] === undefined ? (found[1] ?? found[2]) : "fetch";
  return { step: step as StatementMessage["step"], duration: timed?.[1], sql: rest.slice(found[0].length) };
}
