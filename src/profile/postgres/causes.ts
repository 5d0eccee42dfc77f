/** Causes by SQLSTATE (csvlog and jsonlog; errcodes.txt of PostgreSQL 16). Codes with several meanings are left to the words. */
const BY_STATE: Readonly<Record<string, string>> = {
  "28000": "auth_invalid_key",
  "28P01": "auth_invalid_key",
  "42501": "permission_denied",
  "42601": "invalid_request",
  "42703": "invalid_request",
  "42704": "invalid_request",
  "42883": "invalid_request",
  "42P01": "vector_index_missing",
  "22P02": "invalid_request",
  "53100": "disk_full",
  "53300": "db_pool_exhausted",
};

/** Causes by the fixed words of a message, anchored at its start: the rest may hold names that users chose. */
const BY_WORDS: ReadonlyArray<readonly [words: RegExp, cause: string]> = [
  [/^relation "[^"]{1,200}" does not exist/, "vector_index_missing"],
  [/^canceling statement due to statement timeout/, "upstream_timeout"],
  [/^canceling statement due to user request/, "client_cancelled"],
  [
    /^(?:sorry, too many clients already|remaining connection slots are reserved|too many connections for )/,
    "db_pool_exhausted",
  ],
  [/^(?:[A-Za-z0-9"-]{1,20} )?authentication failed for user /, "auth_invalid_key"],
  [/^no pg_hba\.conf entry for |^permission denied for |^new row violates row-level security/, "permission_denied"],
  [
    /^different (?:vector|halfvec|sparsevec|bit) (?:dimensions|lengths) |^expected \d+ dimensions, not \d+/,
    "embedding_dim_mismatch",
  ],
  [/^could not resize shared memory segment .{0,200}No space left on device/, "shm_exhausted"],
  [/^could not (?:extend|write|create|open) .{0,300}No space left on device/, "disk_full"],
  [
    /^syntax error at |^invalid input syntax for |^column \S{1,200} does not exist|^function .{1,200} does not exist|^operator does not exist|^type "[^"]{1,80}" does not exist/,
    "invalid_request",
  ],
];

/** The cause that the server itself decides; undefined leaves it to the catalogue. */
export function causeOfPostgres(message: string, sqlState: string | undefined): string | undefined {
  const words = BY_WORDS.find(([pattern]) => pattern.test(message))?.[1];
  return words ?? (sqlState === undefined ? undefined : BY_STATE[sqlState]);
}
