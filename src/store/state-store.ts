import { existsSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { deserialize, serialize } from "node:v8";
import { reasonOf } from "../core/told.ts";
import { UserError } from "../core/user-error.ts";

/** Layout of the tables; another number is a state file of another version. */
const SCHEMA = 2;

/** Everything a restart needs, as one consistent moment. Blobs are structured clones. */
export interface StateDelta {
  /** Rows that changed since the last commit; undefined deletes. */
  readonly entries: ReadonlyArray<readonly [table: StateTable, key: string, value: unknown]>;
}

/** `files` = read positions · `streams` = open partial lines and parser memory · `series` = metric values · `shared` = the rest. */
export type StateTable = "files" | "streams" | "series" | "shared";
const TABLES: readonly StateTable[] = ["files", "streams", "series", "shared"];

export type LoadedState = Readonly<Record<StateTable, ReadonlyMap<string, unknown>>>;

/** What became of the state that was found: none · continued · set aside, and then whether the previous generation was good. */
export type Found =
  | "none"
  | "continued"
  | { readonly setAside: string; readonly why: string; readonly previousUsed: boolean };

/**
 * Read positions and the values they led to, in one SQLite file: a commit is one transaction, so that after a crash the
 * counters continue where the offsets do, and no line counts twice or is lost. Beside it lies a copy of an earlier moment
 * ({@link StateStore.keepGeneration}): read on from there, the same lines lead to the same values.
 */
export class StateStore implements Disposable {
  readonly found: Found;
  readonly #database: DatabaseSync;
  /** Undefined for a store that forgets. */
  readonly #previous: string | undefined;
  readonly #put: Record<StateTable, StatementSync>;
  readonly #get: Record<StateTable, StatementSync>;
  readonly #drop: Record<StateTable, StatementSync>;

  private constructor(database: DatabaseSync, found: Found, previous?: string) {
    this.#database = database;
    this.found = found;
    this.#previous = previous;
    const statements = (sql: (table: StateTable) => string): Record<StateTable, StatementSync> =>
      Object.fromEntries(TABLES.map((table) => [table, database.prepare(sql(table))])) as Record<
        StateTable,
        StatementSync
      >;
    this.#put = statements(
      (table) =>
        `INSERT INTO ${table} (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value`,
    );
    this.#get = statements((table) => `SELECT value FROM ${table} WHERE key = ?`);
    this.#drop = statements((table) => `DELETE FROM ${table} WHERE key = ?`);
  }

  /** True when values and positions of an earlier run are in it. */
  get continued(): boolean {
    return this.found === "continued" || (typeof this.found === "object" && this.found.previousUsed);
  }

  /**
   * Opens `<folder>/state.sqlite`, or a store that forgets (`:memory:`). A file that is torn, empty, foreign or of another
   * version is kept aside under another name, and the previous generation takes its place.
   *
   * @throws {UserError} When the folder cannot be written, or another tokentail uses it.
   */
  static open(folder: string): StateStore {
    if (folder === ":memory:") return new StateStore(connect(":memory:"), "none");
    const file = path.join(folder, "state.sqlite");
    const previous = path.join(folder, "state.previous.sqlite");
    try {
      mkdirSync(folder, { recursive: true });
    } catch (cause) {
      throw new UserError(`Cannot make the state folder "${folder}": ${reasonOf(cause)}`, { cause });
    }
    const known = existsSync(file);
    try {
      return new StateStore(connect(file), known ? "continued" : "none", previous);
    } catch (cause) {
      const why = whyUnusable(cause, folder, known);
      const setAside = moveAside(file);
      if (existsSync(previous)) {
        renameSync(previous, file);
        try {
          return new StateStore(connect(file), { setAside, why, previousUsed: true }, previous);
        } catch (error) {
          whyUnusable(error, folder, true);
          moveAside(file);
        }
      }
      return new StateStore(connect(file), { setAside, why, previousUsed: false }, previous);
    }
  }

  /** One row. */
  get(table: StateTable, key: string): unknown {
    const row = this.#get[table].get(key) as { value: Uint8Array } | undefined;
    return row === undefined ? undefined : (deserialize(row.value) as unknown);
  }

  load(): LoadedState {
    const tables = TABLES.map((table) => {
      const rows = this.#database.prepare(`SELECT key, value FROM ${table}`).all() as Array<{
        key: string;
        value: Uint8Array;
      }>;
      return [table, new Map(rows.map(({ key, value }) => [key, deserialize(value) as unknown]))] as const;
    });
    return Object.fromEntries(tables) as unknown as LoadedState;
  }

  /** Writes all of it or nothing. @throws The database's error: disk full, read-only. */
  commit({ entries }: StateDelta): void {
    if (entries.length === 0) return;
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      for (const [table, key, value] of entries) {
        if (value === undefined) this.#drop[table].run(key);
        else this.#put[table].run(key, serialize(value));
      }
      this.#database.exec("COMMIT");
    } catch (error) {
      try {
        this.#database.exec("ROLLBACK");
      } catch {
        // SQLite has rolled back by itself
      }
      throw error;
    }
  }

  /** Makes the present moment the previous generation. @throws The database's error, then the older one stays. */
  keepGeneration(): void {
    if (this.#previous === undefined) return;
    const next = `${this.#previous}.new`;
    rmSync(next, { force: true });
    try {
      this.#database.exec(`VACUUM INTO '${next.replaceAll("'", "''")}'`);
      renameSync(next, this.#previous);
    } catch (error) {
      rmSync(next, { force: true });
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#database.close();
  }
}

class BadState extends Error {}

/** @returns Why the content is no good. @throws {UserError} When it is not the content that is at fault. */
function whyUnusable(cause: unknown, folder: string, known: boolean): string {
  const why = (cause as Error).message;
  if (/locked|busy/i.test(why))
    throw new UserError(`Cannot use the state in "${folder}": another tokentail is running on it`, { cause });
  if (!known || !(cause instanceof BadState || /not a database|malformed|corrupt|unsupported file format/i.test(why)))
    throw new UserError(`Cannot open the state in "${folder}": ${why}`, { cause });
  return why;
}

function moveAside(file: string): string {
  const setAside = `${file}.unreadable-${new Date().toISOString().replace(/[:.]/g, "-")}`;
  renameSync(file, setAside);
  for (const side of ["-wal", "-shm"]) if (existsSync(file + side)) renameSync(file + side, setAside + side);
  return setAside;
}

/** An empty file is what a full disk leaves of one: SQLite would take it for a new database. */
function isEmptied(file: string): boolean {
  const size = (name: string): number => statSync(name, { throwIfNoEntry: false })?.size ?? -1;
  return size(file) === 0 && size(`${file}-wal`) <= 0;
}

function connect(file: string): DatabaseSync {
  if (isEmptied(file)) throw new BadState("it is empty");
  const database = new DatabaseSync(file, { timeout: 200 });
  try {
    // the lock is held for life: a second daemon on the same state would count every line twice
    database.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
    const version = (database.prepare("PRAGMA user_version").get() as { user_version: number }).user_version;
    const tables = database.prepare("SELECT count(*) AS n FROM sqlite_schema").get() as { n: number };
    if (version !== SCHEMA && (version !== 0 || tables.n > 0))
      throw new BadState(`its layout is ${version}, this version writes ${SCHEMA}`);
    database.exec("BEGIN IMMEDIATE");
    for (const table of TABLES)
      database.exec(
        `CREATE TABLE IF NOT EXISTS ${table} (key TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID`,
      );
    database.exec(`PRAGMA user_version = ${SCHEMA}; COMMIT;`);
    const check = database.prepare("PRAGMA quick_check(1)").get() as { quick_check: string };
    if (check.quick_check !== "ok") throw new BadState(`it is malformed: ${check.quick_check}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
