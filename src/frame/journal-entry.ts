import type { JsonObject } from "../model/line.ts";

/** What is used of one journal entry, whichever output it was read from. */
export interface JournalEntry {
  /** Values of `MESSAGE` (a field may repeat): text, or bytes where the journal could not show it as text. */
  readonly messages: ReadonlyArray<string | Buffer>;
  readonly timeMs: number;
  /** Container, identifier or unit: the narrowest name there is. */
  readonly origin: string | undefined;
  /**
   * Set when one line was cut over several entries: by Docker's and Podman's journald driver at 16 KiB, by the journal's
   * own stream reader at 48 KiB.
   */
  readonly join: { readonly key: string; readonly goesOn: boolean } | undefined;
  /** A value was cut at the size limit. */
  readonly cut: boolean;
}

/** The fields that make a {@link JournalEntry}, as `-o export` and `-o json` name them. */
export const JOURNAL_FIELDS = [
  "MESSAGE",
  "__REALTIME_TIMESTAMP",
  "SYSLOG_IDENTIFIER",
  "_SYSTEMD_UNIT",
  "CONTAINER_NAME",
  "CONTAINER_ID",
  "CONTAINER_ID_FULL",
  "CONTAINER_PARTIAL_MESSAGE",
  "CONTAINER_PARTIAL_ID",
  "PRIORITY",
  "_STREAM_ID",
  "_LINE_BREAK",
] as const;

/** Name lookup of one entry's text fields; the first value of a repeated field. */
type Fields = (name: (typeof JOURNAL_FIELDS)[number]) => string | undefined;

/** @see systemd `man/systemd.journal-fields.xml` 252; moby `daemon/logger/journald/journald.go` at b985e2313 */
export function journalEntry(messages: ReadonlyArray<string | Buffer>, cut: boolean, field: Fields): JournalEntry {
  const micros = Number(field("__REALTIME_TIMESTAMP") ?? Number.NaN);
  return {
    messages,
    timeMs: Math.floor(micros / 1000),
    origin: field("CONTAINER_NAME") ?? field("SYSLOG_IDENTIFIER") ?? field("_SYSTEMD_UNIT"),
    join: joinOf(field),
    cut,
  };
}

function joinOf(field: Fields): JournalEntry["join"] {
  const container = field("CONTAINER_ID_FULL") ?? field("CONTAINER_ID");
  if (container !== undefined)
    return { key: `${container} ${field("PRIORITY")}`, goesOn: field("CONTAINER_PARTIAL_MESSAGE") === "true" };
  const stream = field("_STREAM_ID");
  return stream === undefined ? undefined : { key: stream, goesOn: field("_LINE_BREAK") === "line-max" };
}

/**
 * Reads an object of `journalctl -o json`. Only the journal writes `__CURSOR` and `__REALTIME_TIMESTAMP`: without them
 * the object is an application's, whatever its keys.
 *
 * @see systemd `src/shared/logs-show.c` 252: values are strings, arrays of bytes (not printable), arrays of those
 * (repeated), or null (longer than 4096 bytes and no `--all`)
 */
export function readJournalJson(json: JsonObject): JournalEntry | undefined {
  if (typeof json["__REALTIME_TIMESTAMP"] !== "string" && typeof json["__CURSOR"] !== "string") return undefined;
  const message = json["MESSAGE"];
  const repeated = Array.isArray(message) && !isBytes(message) ? message : [message];
  const messages = repeated.map(messageOf).filter((value) => value !== undefined);
  return journalEntry(messages, false, (name) => {
    const value = json[name];
    const first: unknown = Array.isArray(value) ? value[0] : value;
    return typeof first === "string" ? first : undefined;
  });
}

function isBytes(value: readonly unknown[]): value is number[] {
  return value.length > 0 && value.every((byte) => typeof byte === "number" && byte >= 0 && byte <= 255);
}

function messageOf(value: unknown): string | Buffer | undefined {
  if (typeof value === "string") return value;
  return Array.isArray(value) && isBytes(value) ? Buffer.from(value) : undefined;
}

/** True for `{"NAME"` with a field name of the journal (capitals and underscores): the look before any parsing. */
export function looksLikeJournalJson(bytes: Buffer, quoteAt: number): boolean {
  const first = bytes[quoteAt + 1] as number;
  const second = bytes[quoteAt + 2] as number;
  return isFieldByte(first) && isFieldByte(second);
}

/** Capital letter or underscore. */
export function isFieldByte(byte: number | undefined): boolean {
  return byte !== undefined && ((byte >= 65 && byte <= 90) || byte === 95);
}
