import { isFieldByte, JOURNAL_FIELDS, type JournalEntry, journalEntry } from "./journal-entry.ts";
import { isDigit } from "./rfc3339.ts";

/** Memory of an entry that has not ended; structured-cloneable. */
export interface JournalExportState {
  /** True once the stream is known to be of this format: its lines are read raw. */
  active: boolean;
  /** Fields of the open entry that are used; values as bytes. */
  fields: Array<[name: string, value: Uint8Array]>;
  /** An entry has begun and its blank line has not come. */
  open: boolean;
  /** Present while the value of a length-prefixed field is read. */
  binary: BinaryField | undefined;
  /** A value of the open entry was cut at the size limit. */
  cut: boolean;
}

interface BinaryField {
  readonly name: string;
  /** The eight bytes of the length, little-endian, as far as they have come. */
  readonly length: number[];
  /** Bytes of the value still to come. */
  left: number;
  value: Uint8Array;
  /** Bytes of `value` that are filled. */
  filled: number;
}

const WANTED: ReadonlySet<string> = new Set(JOURNAL_FIELDS);
const NEWLINE = Buffer.from("\n");
/** A longer field than this is no field: the stream is something else. */
const MAX_FIELD_BYTES = 2 ** 40;
/** Used fields of one entry that are kept; more are a message repeated without end. */
const MAX_FIELDS = 32;

export const newJournalExport = (): JournalExportState => ({
  active: false,
  fields: [],
  open: false,
  binary: undefined,
  cut: false,
});

/** True for the line that every exported entry begins with. */
export function beginsJournalExport(bytes: Buffer, start: number, end: number): boolean {
  const text = bytes.toString("latin1", start, Math.min(end, start + 24));
  return (
    (text.startsWith("__CURSOR=") && end - start > 9) ||
    (text.startsWith("__REALTIME_TIMESTAMP=") && isDigit(bytes[start + 21]))
  );
}

/**
 * Reads physical lines of `journalctl -o export`, which carries any bytes: a value with control characters is written
 * as name, newline, eight bytes of length, value, newline. What the line splitter cut at newlines is put together again.
 *
 * @see systemd, https://systemd.io/JOURNAL_EXPORT_FORMATS/
 */
export class JournalExportReader {
  state: JournalExportState = newJournalExport();
  /** The entry that was open when a line turned out to be foreign. */
  left: JournalEntry | undefined = undefined;
  readonly #maxValueBytes: number;

  constructor(options: { maxValueBytes: number }) {
    this.#maxValueBytes = options.maxValueBytes;
  }

  /**
   * @param cutBytes Bytes that the line splitter cut off the end of this line.
   * @returns `taken`; `foreign` when the line is none of this format, which is then left; an entry when it has ended one.
   */
  line(bytes: Buffer, start: number, end: number, cutBytes: number): JournalEntry | "taken" | "foreign" {
    const { state } = this;
    if (state.binary !== undefined) return this.#binary(state.binary, bytes, start, end, cutBytes);
    if (start === end) return state.open ? this.take() : "taken";
    if (!state.open && !beginsJournalExport(bytes, start, end)) return this.#leave();
    const nameEnd = passFieldName(bytes, start, end);
    if (nameEnd < 0) return this.#leave();
    state.active = true;
    state.open = true;
    const name = bytes.toString("latin1", start, nameEnd);
    if (nameEnd === end) state.binary = { name, length: [], left: 0, value: new Uint8Array(0), filled: 0 };
    else if (WANTED.has(name)) {
      this.#keep(name, Uint8Array.from(bytes.subarray(nameEnd + 1, end)));
      if (cutBytes > 0) state.cut = true;
    }
    return "taken";
  }

  /** Ends the open entry. */
  take(): JournalEntry {
    const { fields, cut } = this.state;
    this.state = { ...newJournalExport(), active: true };
    const messages = fields.filter(([name]) => name === "MESSAGE").map(([, value]) => asBuffer(value));
    return journalEntry(messages, cut, (name) => {
      const found = fields.find(([known]) => known === name);
      return found === undefined ? undefined : asBuffer(found[1]).toString();
    });
  }

  #keep(name: string, value: Uint8Array): void {
    if (this.state.fields.length < MAX_FIELDS) this.state.fields.push([name, value]);
    else this.state.cut = true;
  }

  #append(field: BinaryField, piece: Uint8Array): void {
    if (!WANTED.has(field.name)) return;
    const kept = piece.subarray(0, field.value.length - field.filled);
    field.value.set(kept, field.filled);
    field.filled += kept.length;
    if (kept.length < piece.length) this.state.cut = true;
  }

  #leave(): "foreign" {
    this.left = this.state.open ? this.take() : undefined;
    this.state = newJournalExport();
    return "foreign";
  }

  /** The bytes of a line and its newline, which belongs to the length, the value, or ends the field. */
  #binary(field: BinaryField, bytes: Buffer, start: number, end: number, cutBytes: number): "taken" | "foreign" {
    let at = start;
    while (at <= end && field.length.length < 8) {
      field.length.push(at < end ? (bytes[at] as number) : 10);
      at++;
      if (field.length.length < 8) continue;
      field.left = Number(Buffer.from(field.length).readBigUInt64LE());
      if (field.left > MAX_FIELD_BYTES) return this.#leave();
      if (WANTED.has(field.name)) field.value = new Uint8Array(Math.min(field.left, this.#maxValueBytes));
    }
    if (at > end) return "taken";
    const valueEnd = Math.min(end, at + field.left);
    this.#append(field, bytes.subarray(at, valueEnd));
    field.left -= valueEnd - at;
    // cut bytes stand between what is here and the newline
    const passed = Math.min(field.left, cutBytes);
    field.left -= passed;
    if (field.left > 0) {
      this.#append(field, NEWLINE);
      field.left--;
      return "taken";
    }
    if (valueEnd < end || passed < cutBytes) return this.#leave();
    if (WANTED.has(field.name)) this.#keep(field.name, field.value.subarray(0, field.filled));
    this.state.binary = undefined;
    return "taken";
  }
}

function asBuffer(value: Uint8Array): Buffer {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}

/** Index of the `=` behind a field's name, or of the line's end when the name is all of it; -1 if there is none. */
function passFieldName(bytes: Buffer, start: number, end: number): number {
  const limit = Math.min(end, start + 65);
  for (let at = start; at < limit; at++) {
    const byte = bytes[at] as number;
    if (byte === 61) return at > start ? at : -1;
    if (!isFieldByte(byte) && !(at > start && isDigit(byte))) return -1;
  }
  return limit === end ? end : -1;
}
