/** Longest entry that is kept whole while its end has not come; the journal's own fields are bounded by 768 MiB. */
const MAX_ENTRY_BYTES = 8 * 1024 * 1024;
const NEWLINE = 10;
const EQUALS = 61;

/** One entry of `journalctl -o export`, its blank line included. */
export interface ExportedEntry {
  readonly bytes: Buffer;
  readonly cursor: string | undefined;
  readonly unit: string | undefined;
}

/**
 * Cuts an export stream at entry ends: a blank line outside of a length-prefixed value.
 *
 * @see systemd, https://systemd.io/JOURNAL_EXPORT_FORMATS/
 */
export class JournalEntries {
  /** Entries that were longer than is kept, and dropped. */
  dropped = 0;
  #held: Buffer = Buffer.alloc(0);

  *push(chunk: Buffer): Iterable<ExportedEntry> {
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    let start = 0;
    for (let end = endOfEntry(this.#held, start); end > 0; end = endOfEntry(this.#held, start)) {
      const bytes = this.#held.subarray(start, end);
      start = end;
      // journalctl sets entries apart by one blank line; an empty entry is none
      if (bytes.length > 1) yield { bytes, cursor: fieldOf(bytes, "__CURSOR="), unit: unitOf(bytes) };
    }
    this.#held = this.#held.subarray(start);
    if (this.#held.length > MAX_ENTRY_BYTES) {
      this.dropped++;
      this.#held = Buffer.alloc(0);
    }
  }
}

/** @returns Index behind the blank line that ends the entry at `start`, or -1 when it has not come. */
function endOfEntry(bytes: Buffer, start: number): number {
  for (let at = start; ; ) {
    const newline = bytes.indexOf(NEWLINE, at);
    if (newline < 0) return -1;
    if (newline === at) return at + 1;
    const equals = bytes.subarray(at, newline).indexOf(EQUALS);
    if (equals >= 0) at = newline + 1;
    else {
      if (bytes.length < newline + 9) return -1;
      const length = Number(bytes.readBigUInt64LE(newline + 1));
      at = newline + 9 + length + 1;
      if (at > bytes.length) return -1;
    }
  }
}

function unitOf(bytes: Buffer): string | undefined {
  return fieldOf(bytes, "_SYSTEMD_UNIT=") ?? fieldOf(bytes, "UNIT=");
}

/** Text of a field at a line start; the first one counts. */
function fieldOf(bytes: Buffer, name: string): string | undefined {
  for (let at = bytes.indexOf(name); at >= 0; at = bytes.indexOf(name, at + 1)) {
    if (at > 0 && bytes[at - 1] !== NEWLINE) continue;
    const end = bytes.indexOf(NEWLINE, at);
    return bytes.toString("utf8", at + name.length, end < 0 ? bytes.length : end);
  }
  return undefined;
}
