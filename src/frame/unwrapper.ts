// Longer than 300 lines: wrappers nest, so that what opens one and what delivers its content call each other.
import type { ZoneOffset } from "../core/timestamp.ts";
import type { Line } from "../model/line.ts";
import { readCri } from "./cri.ts";
import { type DockerEntry, looksLikeDockerJson, readDockerJson, readTornDockerJson } from "./docker-json.ts";
import { type JournalEntry, looksLikeJournalJson, readJournalJson } from "./journal-entry.ts";
import { beginsJournalExport, JournalExportReader, type JournalExportState } from "./journal-export.ts";
import { contentStart, trimEnd } from "./line-trim.ts";
import { LOOKS, Look, mayBeWrapped } from "./look.ts";
import { readComposePrefix } from "./name-prefix.ts";
import { innermost, mayNest, NestTally, nestIn, Wrapper, type WrapperId } from "./nest.ts";
import { type OpenPart, OpenParts } from "./open-parts.ts";
import { readHeadTime } from "./rfc3339.ts";
import { type OctetCount, readOctetCount } from "./syslog-5424.ts";
import { unescapeSyslog } from "./syslog-message.ts";
import {
  type HeadContext,
  readBracketHead,
  readDigitHead,
  readLetterHead,
  readPriorityHead,
  readTimedHead,
  type TextHead,
} from "./text-head.ts";
import { countInvalidUtf8, wholeCharacters } from "./utf8.ts";

/** Memory between two physical lines; structured-cloneable. */
export interface UnwrapperState {
  readonly parts: Map<string, OpenPart>;
  readonly journal: JournalExportState;
  readonly nests: Map<number, number>;
  readonly indent: MessageIndent | undefined;
  /** Wrappers that this stream is proven to have; a line of theirs need not prove it again. */
  readonly proven: readonly number[];
}

/** `journalctl -o short` indents the further lines of a message to the column where its first began. */
interface MessageIndent {
  readonly width: number;
  readonly timeMs: number;
  readonly origin: string | undefined;
  readonly nest: number;
}

/** Results of {@link Unwrapper.peel}'s steps, beside the index where the content begins. */
const NOT_WRAPPED = -1;
const DELIVERED = -2;
const HASH = 35;

/** Physical lines → logical lines: wrappers peeled off until none is left, parts joined, time and origin noted. */
export class Unwrapper {
  invalidBytes = 0;
  /** Lines whose joined parts passed the limit, and their bytes that were not delivered. */
  overlong = 0;
  skippedBytes = 0;
  /** Messages that the journal withheld (`null`: longer than 4096 bytes and read without `--all`). */
  withheld = 0;
  readonly tally = new NestTally();
  readonly #parts: OpenParts;
  readonly #journal: JournalExportReader;
  readonly #line: Line;
  readonly #context: HeadContext;
  readonly #onLine: (line: Line) => void;
  #indent: MessageIndent | undefined = undefined;
  /** Wrappers around what is looked at now. */
  #nest = 0;
  /** The line object holds exactly the bytes that are looked at: its parsed JSON may be used. */
  #primed = false;
  /** The bytes looked at may hold invalid UTF-8. */
  #suspect = false;

  constructor(options: { maxLineBytes: number; zone: ZoneOffset; line: Line; onLine: (line: Line) => void }) {
    this.#parts = new OpenParts({ maxBytes: options.maxLineBytes });
    this.#journal = new JournalExportReader({ maxValueBytes: options.maxLineBytes });
    this.#line = options.line;
    this.#context = { innermost: 0, nearMs: Number.NaN, zone: options.zone, proven: new Set() };
    this.#onLine = options.onLine;
  }

  /** True when the next physical line must come untrimmed: it may be part of a binary field. */
  get raw(): boolean {
    return this.#journal.state.active;
  }

  get state(): UnwrapperState {
    return {
      parts: this.#parts.state,
      journal: this.#journal.state,
      nests: this.tally.state,
      indent: this.#indent,
      proven: [...this.#context.proven],
    };
  }

  set state(state: UnwrapperState) {
    this.#parts.state = state.parts;
    this.#journal.state = state.journal;
    this.tally.state = state.nests;
    this.#indent = state.indent;
    this.#context.proven = new Set(state.proven);
  }

  /**
   * @param cutBytes Bytes that the line splitter cut off its end.
   * @param suspect The line may hold invalid UTF-8.
   */
  physical(bytes: Buffer, start: number, end: number, cutBytes: number, suspect: boolean, readMs: number): void {
    const line = this.#line;
    line.timeMs = Number.NaN;
    line.readMs = readMs;
    line.origin = undefined;
    line.cut = cutBytes > 0;
    line.endsInReturn = cutBytes === 0 && bytes[end] === 13;
    this.#primed = false;
    this.#suspect = suspect;
    this.#nest = 0;
    if (this.#indent !== undefined && bytes[start] !== 32) this.#indent = undefined;
    if (!this.#journal.state.active && (bytes[start] !== 95 || !beginsJournalExport(bytes, start, end))) {
      this.#peel(bytes, start, cutBytes > 0 ? wholeCharacters(bytes, start, end) : end, 0);
      return;
    }
    const entry = this.#journal.line(bytes, start, end, cutBytes);
    if (entry === "taken") return;
    if (entry !== "foreign") {
      this.#entry(entry, Wrapper.journaldExport);
      return;
    }
    if (this.#journal.left !== undefined) this.#entry(this.#journal.left, Wrapper.journaldExport);
    this.#again(Number.NaN, undefined);
    this.#suspect = suspect;
    const from = contentStart(bytes, start, end);
    const stop = trimEnd(bytes, from, end);
    line.endsInReturn = stop < end;
    this.#peel(bytes, from, stop, 0);
  }

  flush(nowMs: number): void {
    this.#line.endsInReturn = false;
    if (this.#parts.size > 0) for (const part of this.#parts.expired(nowMs)) this.#release(part);
  }

  end(): void {
    this.#line.endsInReturn = false;
    for (const part of this.#parts.all()) this.#release(part);
    this.#nest = 0;
    if (this.#journal.state.open) this.#entry(this.#journal.take(), Wrapper.journaldExport);
  }

  /** Delivers what is inside all wrappers of `bytes[start..end)`, which `nest` already carry. */
  #peel(bytes: Buffer, start: number, end: number, nest: number): void {
    this.#nest = nest;
    let at = start;
    let stop = end;
    while (at < stop && mayNest(this.#nest)) {
      const look = LOOKS[bytes[at] as number] as number;
      if (look === Look.plain) break;
      const next = this.#open(look, bytes, at, stop);
      if (next === DELIVERED) return;
      if (next === NOT_WRAPPED) break;
      at = contentStart(bytes, next, stop);
      stop = trimEnd(bytes, at, stop);
    }
    if (this.#suspect) this.invalidBytes += countInvalidUtf8(bytes, at, stop);
    const line = this.#line;
    if (!this.#primed || line.bytes !== bytes || line.start !== at || line.end !== stop) line.setBytes(bytes, at, stop);
    this.#deliver(at === stop);
  }

  #deliver(blank: boolean): void {
    if (!blank || this.#nest !== 0) this.tally.add(this.#nest);
    this.#onLine(this.#line);
  }

  /** @returns Index where the content of one wrapper begins, `NOT_WRAPPED`, or `DELIVERED` when it was dealt with. */
  #open(look: number, bytes: Buffer, at: number, end: number): number {
    switch (look) {
      case Look.digit:
        return this.#digit(bytes, at, end);
      case Look.brace:
        return this.#brace(bytes, at, end);
      case Look.letter:
        if (bytes[at] === 100 && bytes[at + 4] === 58 && bytes[at + 6] === 123)
          return this.#serverSentJournal(bytes, at, end);
        return this.#head(readLetterHead(bytes, at, end, this.#around()), bytes, at, end);
      case Look.angle:
        return this.#head(readPriorityHead(bytes, at, end, this.#around()), bytes, at, end);
      case Look.bracket:
        return this.#head(readBracketHead(bytes, at, end), bytes, at, end);
      case Look.blank:
        return this.#indented(bytes, at, end);
      case Look.escape:
        return this.#coloured(bytes, at, end);
      case Look.mark:
        return bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf && at + 3 <= end ? at + 3 : NOT_WRAPPED;
      case Look.separator:
        return bytes[at + 1] === 0x7b ? at + 1 : NOT_WRAPPED;
      default:
        return NOT_WRAPPED;
    }
  }

  #around(): HeadContext {
    const { timeMs, readMs } = this.#line;
    this.#context.innermost = innermost(this.#nest);
    this.#context.nearMs = Number.isNaN(timeMs) ? readMs : timeMs;
    return this.#context;
  }

  #digit(bytes: Buffer, at: number, end: number): number {
    if (bytes[at + 4] !== 45) {
      const found = readDigitHead(bytes, at, end);
      return found === undefined ? this.#octetCounted(bytes, at, end) : this.#head(found, bytes, at, end);
    }
    // most Rust servers: `…627902Z  INFO`
    if (bytes[at + 26] === 90 && bytes[at + 27] === 32 && bytes[at + 28] === 32) return NOT_WRAPPED;
    const time = readHeadTime(bytes, at, end);
    if (time === undefined) return this.#head(readDigitHead(bytes, at, end), bytes, at, end);
    if (time.end >= end || bytes[time.end] !== 32) return NOT_WRAPPED;
    const cri = readCri(bytes, time, end);
    if (cri === undefined) return this.#head(readTimedHead(bytes, at, end, time, this.#around()), bytes, at, end);
    const { stream, partial, contentAt } = cri;
    this.#line.timeMs = time.timeMs;
    const joins = partial || this.#parts.size > 0;
    if (joins && this.#part(Wrapper.cri, stream, bytes.subarray(contentAt, end), partial)) return DELIVERED;
    this.#nest = nestIn(this.#nest, Wrapper.cri);
    return contentAt;
  }

  /** Notes what a prefix says. @param start First byte of the line. */
  #head(found: TextHead | undefined, bytes: Buffer, start: number, end: number): number {
    if (found === undefined) return NOT_WRAPPED;
    const line = this.#line;
    const outer = this.#nest;
    if (!Number.isNaN(found.timeMs) && (!found.guessed || Number.isNaN(line.timeMs))) line.timeMs = found.timeMs;
    line.origin = found.origin ?? line.origin;
    this.#nest = nestIn(outer, found.wrapper);
    if (!found.message) return found.contentAt;
    if (found.strong) this.#context.proven.add(found.guessed ? Wrapper.shortOrSyslog : found.wrapper);
    if (outer === 0)
      this.#indent = { width: found.contentAt - start, timeMs: line.timeMs, origin: line.origin, nest: this.#nest };
    return this.#message(bytes, found.contentAt, end);
  }

  /** A further line of a message of `journalctl -o short`. */
  #indented(bytes: Buffer, at: number, end: number): number {
    const indent = this.#indent;
    if (indent === undefined || this.#nest !== 0 || end - at <= indent.width) return NOT_WRAPPED;
    for (let index = at; index < at + indent.width; index++) if (bytes[index] !== 32) return NOT_WRAPPED;
    this.#line.timeMs = indent.timeMs;
    this.#line.origin = indent.origin;
    this.#nest = indent.nest;
    // what is left is the message, even if it looks like a wrapper
    const from = at + indent.width;
    if (this.#suspect) this.invalidBytes += countInvalidUtf8(bytes, from, end);
    this.#line.setBytes(bytes, from, end);
    this.#deliver(false);
    return DELIVERED;
  }

  /** Prefixes that `docker compose`, `kubectl` and `stern` colour. */
  #coloured(bytes: Buffer, at: number, end: number): number {
    const { text } = this.#prime(bytes, at, end);
    const prefix = readComposePrefix(text);
    if (prefix === undefined) return NOT_WRAPPED;
    if (this.#suspect) this.invalidBytes += countInvalidUtf8(bytes, at, end);
    this.#line.origin = prefix.origin;
    this.#text(text.slice(prefix.contentAt), nestIn(this.#nest, Wrapper.compose));
    return DELIVERED;
  }

  /**
   * Several messages may stand in one line; the newline that a message holds has cut it, and its rest follows as text. A
   * count that leads to no other message was wrong (characters counted for bytes): the message goes on to the line's end.
   */
  #octetCounted(bytes: Buffer, start: number, end: number): number {
    let counted = readOctetCount(bytes, start, end);
    if (counted === undefined) return NOT_WRAPPED;
    const nest = this.#nest;
    const { timeMs, origin } = this.#line;
    while (counted !== undefined) {
      const { contentAt, contentEnd }: OctetCount = counted;
      counted = contentEnd < end ? readOctetCount(bytes, contentEnd, end) : undefined;
      this.#again(timeMs, origin);
      this.#peel(bytes, contentAt, counted === undefined ? end : contentEnd, nest);
    }
    return DELIVERED;
  }

  /** The message of a syslog line, whose control characters may be escaped. */
  #message(bytes: Buffer, at: number, end: number): number {
    const from = Math.min(at, end);
    if (bytes.subarray(from, end).indexOf(HASH) < 0) return from;
    const { text, json } = this.#prime(bytes, from, end);
    const plain = unescapeSyslog(text);
    if (plain === text || json !== undefined) return from;
    if (this.#suspect) this.invalidBytes += countInvalidUtf8(bytes, from, end);
    this.#text(plain, this.#nest);
    return DELIVERED;
  }

  #brace(bytes: Buffer, at: number, end: number): number {
    let quote = at + 1;
    while (bytes[quote] === 32 && quote < at + 8) quote++;
    if (bytes[quote] !== 34) return NOT_WRAPPED;
    if (looksLikeDockerJson(bytes, quote)) return this.#dockerJson(bytes, at, end);
    if (!looksLikeJournalJson(bytes, quote)) return NOT_WRAPPED;
    const { json } = this.#prime(bytes, at, end);
    const entry = json === undefined ? undefined : readJournalJson(json);
    if (entry === undefined) return NOT_WRAPPED;
    if (this.#suspect) this.invalidBytes += countInvalidUtf8(bytes, at, end);
    this.#entry(entry, Wrapper.journaldJson);
    return DELIVERED;
  }

  /** `data: {…}` of `journalctl -o json-sse`. */
  #serverSentJournal(bytes: Buffer, at: number, end: number): number {
    return bytes.toString("latin1", at, at + 6) === "data: " && this.#brace(bytes, at + 6, end) === DELIVERED
      ? DELIVERED
      : NOT_WRAPPED;
  }

  #dockerJson(bytes: Buffer, at: number, end: number): number {
    const { json, text } = this.#prime(bytes, at, end);
    const whole = json === undefined ? undefined : readDockerJson(json);
    if (json !== undefined && whole === undefined) return NOT_WRAPPED;
    const entries = whole === undefined ? readTornDockerJson(text) : [whole];
    // half an object alone may be an application's
    if (
      !entries.some(({ read }) => read === "entry") &&
      !(entries.length > 0 && this.#context.proven.has(Wrapper.dockerJson))
    )
      return NOT_WRAPPED;
    if (this.#suspect) this.invalidBytes += countInvalidUtf8(bytes, at, end);
    this.#context.proven.add(Wrapper.dockerJson);
    const nest = this.#nest;
    const { timeMs, origin, cut } = this.#line;
    for (const entry of entries) {
      this.#again(timeMs, origin);
      this.#nest = nest;
      this.#docker(entry, cut);
    }
    return DELIVERED;
  }

  #docker(entry: DockerEntry, cut: boolean): void {
    const { log, stream } = entry;
    this.#line.endsInReturn = false;
    if (!Number.isNaN(entry.timeMs)) this.#line.timeMs = entry.timeMs;
    this.#line.cut = cut || !entry.whole;
    const goesOn = !log.endsWith("\n");
    const text = goesOn ? log : log.slice(0, -1);
    if (entry.read === "unread") {
      this.#nest = nestIn(this.#nest, Wrapper.dockerJson);
      this.#line.setText(text);
      this.#deliver(false);
      return;
    }
    // chunks are rare: most entries never become bytes again
    if (goesOn || this.#parts.size > 0) {
      if (goesOn && log === "") return;
      if (this.#part(Wrapper.dockerJson, stream, Buffer.from(text), goesOn)) return;
    }
    this.#text(text, nestIn(this.#nest, Wrapper.dockerJson));
  }

  #entry(entry: JournalEntry, wrapper: WrapperId): void {
    const line = this.#line;
    const outer = this.#nest;
    if (!Number.isNaN(entry.timeMs)) line.timeMs = entry.timeMs;
    line.origin = entry.origin ?? line.origin;
    if (entry.cut) line.cut = true;
    const { timeMs, origin } = line;
    const nest = nestIn(outer, wrapper);
    if (entry.messages.length === 0) {
      this.withheld++;
      this.tally.add(nest);
    }
    for (const message of entry.messages) {
      this.#again(timeMs, origin);
      this.#nest = outer;
      line.endsInReturn = false;
      if (entry.join !== undefined && (entry.join.goesOn || this.#parts.size > 0)) {
        const piece = typeof message === "string" ? Buffer.from(message) : message;
        if (this.#part(wrapper, entry.join.key, piece, entry.join.goesOn)) continue;
      }
      if (typeof message === "string") this.#text(message, nest);
      else this.#lines(message, nest);
    }
  }

  /**
   * One of the parts that a line was cut into. The key is of the wrapper's making and tells its streams apart.
   *
   * @returns False when there is nothing to join: the piece is a whole line.
   */
  #part(wrapper: WrapperId, stream: string, piece: Buffer, goesOn: boolean): boolean {
    const { timeMs, origin, readMs, cut } = this.#line;
    const nest = nestIn(this.#nest, wrapper);
    const key = `${nest} ${stream}`;
    if (!goesOn) {
      const part = this.#parts.finish(key, piece, cut);
      if (part !== undefined) this.#release(part);
      return part !== undefined;
    }
    const crowdedOut = this.#parts.add(key, piece, { timeMs, origin, nest, readMs, cut });
    if (crowdedOut !== undefined) this.#release(crowdedOut);
    this.#line.cut = cut;
    return true;
  }

  #release(part: OpenPart): void {
    this.#again(part.timeMs, part.origin);
    this.#line.cut = part.cut || part.cutBytes > 0;
    if (part.cutBytes > 0) {
      this.overlong++;
      this.skippedBytes += part.cutBytes;
    }
    const bytes = Buffer.from(part.bytes.buffer, part.bytes.byteOffset, part.length);
    this.#lines(part.cutBytes > 0 ? bytes.subarray(0, wholeCharacters(bytes, 0, bytes.length)) : bytes, part.nest);
  }

  /** Back to what the outer wrapper said, for the next of several lines. */
  #again(timeMs: number, origin: string | undefined): void {
    this.#line.timeMs = timeMs;
    this.#line.origin = origin;
    this.#primed = false;
  }

  /** A message in bytes: one JSON object, however it is laid out, or its lines. */
  #lines(bytes: Buffer, nest: number): void {
    this.#suspect = true;
    this.#primed = false;
    if (bytes.indexOf(10) < 0) {
      const from = contentStart(bytes, 0, bytes.length);
      const stop = trimEnd(bytes, from, bytes.length);
      if (stop < bytes.length) this.#line.endsInReturn = true;
      this.#peel(bytes, from, stop, nest);
      return;
    }
    if (bytes[0] === 0x7b && this.#prime(bytes, 0, bytes.length).json !== undefined) {
      this.invalidBytes += countInvalidUtf8(bytes, 0, bytes.length);
      this.#nest = nest;
      this.#deliver(false);
      return;
    }
    const { timeMs, origin } = this.#line;
    const stop = bytes[bytes.length - 1] === 10 ? bytes.length - 1 : bytes.length;
    for (let start = 0; start <= stop; ) {
      const newline = bytes.indexOf(10, start);
      const end = newline < 0 ? bytes.length : newline;
      const from = contentStart(bytes, start, end);
      this.#again(timeMs, origin);
      this.#suspect = true;
      const trimmed = trimEnd(bytes, from, end);
      this.#line.endsInReturn = trimmed < end;
      this.#peel(bytes, from, trimmed, nest);
      start = end + 1;
    }
  }

  /** A message in text, whose bytes are accounted for. */
  #text(text: string, nest: number): void {
    this.#suspect = false;
    this.#line.endsInReturn = false;
    if (text.includes("\n")) {
      if (text.charCodeAt(0) === 0x7b) {
        this.#line.setText(text);
        if (this.#line.json !== undefined) {
          this.#nest = nest;
          this.#deliver(false);
          return;
        }
      }
      this.#lines(Buffer.from(text), nest);
      return;
    }
    const first = text.charCodeAt(0);
    if (first === 13 || text.charCodeAt(text.length - 1) === 13 || (mayNest(nest) && mayBeWrapped(text))) {
      this.#lines(Buffer.from(text), nest);
      return;
    }
    this.#nest = nest;
    this.#line.setText(text);
    this.#deliver(false);
  }

  #prime(bytes: Buffer, start: number, end: number): Line {
    const line = this.#line;
    if (!this.#primed || line.bytes !== bytes || line.start !== start || line.end !== end)
      line.setBytes(bytes, start, end);
    this.#primed = true;
    return line;
  }
}
