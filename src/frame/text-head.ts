import type { ZoneOffset } from "../core/timestamp.ts";
import {
  barFollows,
  desktopTimeLength,
  type NamePrefix,
  nameEnd,
  readComposePrefix,
  readKubectlPrefix,
  readSternPrefix,
} from "./name-prefix.ts";
import { Wrapper, type WrapperId } from "./nest.ts";
import { type HeadTime, readHeadTime } from "./rfc3339.ts";
import { passPriority, readSyslog5424 } from "./syslog-5424.ts";
import { readSyslogHead, type SyslogProof } from "./syslog-head.ts";
import {
  looksLikeShortTime,
  readFullTime,
  readMonotonicTime,
  readShortTime,
  readUnixTime,
  type SyslogTime,
} from "./syslog-time.ts";

/** A wrapper that is a prefix of text. */
export interface TextHead {
  readonly wrapper: WrapperId;
  readonly contentAt: number;
  /** NaN if the prefix has none. */
  readonly timeMs: number;
  /** The time has no year or zone: any time around it knows better. */
  readonly guessed: boolean;
  readonly origin: string | undefined;
  /** The content went through a syslog daemon or the journal: it may be escaped, or go on in indented lines. */
  readonly message: boolean;
  /** This prefix alone proves what wrote it. */
  readonly strong: boolean;
}

/** What is known beside the line itself. */
export interface HeadContext {
  /** Wrapper directly around; 0 = none. */
  innermost: number;
  /** Time around the line, or of its reading. */
  nearMs: number;
  readonly zone: ZoneOffset;
  /** Wrappers that this stream is proven to have. */
  proven: Set<number>;
}

/** Bytes of a line that hold the head of any text wrapper. */
const HEAD_BYTES = 320;
/** `2026-03-02T10:00:00.123456789Z  INFO target: …`: a Rust program's own line, not one of `docker logs -t`. */
const RUST = /^(?: INFO| WARN|ERROR|DEBUG|TRACE) [a-z_][\w:.-]*(?:: |\{)/;

/** Behind an RFC 3339 time, when it is no CRI line: `docker logs -t` or syslog. */
export function readTimedHead(
  bytes: Buffer,
  at: number,
  end: number,
  time: HeadTime,
  context: HeadContext,
): TextHead | undefined {
  if (time.fractionDigits >= 8 && time.zone !== "+00:00") {
    if (!carriesTimes(context.innermost) || isRust(bytes, time.end + 1, end)) return undefined;
    return prefix(Wrapper.dockerLogs, time.end + 1, time.timeMs, undefined);
  }
  if (bytes[time.end + 1] === 32) return undefined;
  // rsyslog writes its own times with an offset; a `Z` may be any program's
  const proof = time.zone !== "Z" && context.proven.has(Wrapper.syslogIso) ? "certain" : "open";
  return isoSyslog(bytes, at, end, time, proof);
}

/** A line that begins with a digit and no RFC 3339 time. */
export function readDigitHead(bytes: Buffer, at: number, end: number): TextHead | undefined {
  if (bytes[at + 4] === 45) {
    const length = bytes[at + 10] === 32 ? desktopTimeLength(head(bytes, at, end)) : 0;
    return length > 0 ? prefix(Wrapper.dockerDesktop, at + length, Number.NaN, undefined) : undefined;
  }
  if (bytes[at + 10] !== 46 || bytes[at + 17] !== 32) return undefined;
  const text = head(bytes, at, end);
  return syslog(text, at, readUnixTime(text), Wrapper.journaldShort, "open");
}

export function readLetterHead(bytes: Buffer, at: number, end: number, context: HeadContext): TextHead | undefined {
  if (looksLikeShortTime(bytes, at)) {
    const text = head(bytes, at, end);
    const time = readShortTime(text, context.nearMs, context.zone) ?? readFullTime(text, context.zone);
    const proof = context.proven.has(Wrapper.shortOrSyslog) ? "certain" : "likely";
    const found = time && syslog(text, at, time, shortWrapper(time), proof);
    if (found !== undefined) return found;
  }
  const blank = nameEnd(bytes, at, end);
  if (blank < 0) return undefined;
  if (barFollows(bytes, blank, end)) return named(Wrapper.compose, at, readComposePrefix(head(bytes, at, end)));
  // "-x2x9p "
  if (context.innermost !== 0 || blank < at + 14 || bytes[blank - 6] !== 45) return undefined;
  return named(Wrapper.stern, at, readSternPrefix(head(bytes, at, end)));
}

export function readBracketHead(bytes: Buffer, at: number, end: number): TextHead | undefined {
  const next = bytes[at + 1];
  if (next === 112) return named(Wrapper.kubectl, at, readKubectlPrefix(head(bytes, at, end)));
  if (next !== 32 && !(next !== undefined && next >= 48 && next <= 57)) return undefined;
  // "[2026-" and "[2026/" begin many programs' lines
  if (bytes[at + 5] === 45 || bytes[at + 5] === 47) return undefined;
  const text = head(bytes, at, end);
  return syslog(text, at, readMonotonicTime(text), Wrapper.journaldShort, "open");
}

/** `<PRI>` and what of syslog follows it; alone it is the level that systemd and the kernel put in front. */
export function readPriorityHead(bytes: Buffer, at: number, end: number, context: HeadContext): TextHead | undefined {
  const next = passPriority(bytes, at, end);
  if (next < 0 || next === end) return undefined;
  const modern = readSyslog5424(bytes, next, end);
  if (modern !== undefined) {
    const { timeMs, origin, contentAt } = modern;
    return { wrapper: Wrapper.syslog5424, contentAt, timeMs, guessed: false, origin, message: true, strong: false };
  }
  const time = readHeadTime(bytes, next, end);
  if (time !== undefined && bytes[time.end] === 32) return isoSyslog(bytes, next, end, time, "certain");
  const text = head(bytes, next, end);
  const short = readShortTime(text, context.nearMs, context.zone);
  if (short !== undefined) return syslog(text, next, short, Wrapper.syslog3164, "certain");
  return bytes[next] === 32 ? undefined : prefix(Wrapper.priority, next, Number.NaN, undefined);
}

function isoSyslog(bytes: Buffer, at: number, end: number, time: HeadTime, proof: SyslogProof): TextHead | undefined {
  const when = { timeMs: time.timeMs, end: time.end + 1 - at, writer: "syslog" } as const;
  return syslog(head(bytes, at, end), at, when, Wrapper.syslogIso, proof);
}

/** @param at Where `text` begins. */
function syslog(
  text: string,
  at: number,
  time: SyslogTime | undefined,
  wrapper: WrapperId,
  proof: SyslogProof,
): TextHead | undefined {
  if (time === undefined) return undefined;
  const found = readSyslogHead(text, time.end, proof);
  if (found === undefined) return undefined;
  const { contentAt, origin, strong } = found;
  const guessed = wrapper !== Wrapper.syslogIso;
  return { wrapper, contentAt: at + contentAt, timeMs: time.timeMs, guessed, origin, message: true, strong };
}

function named(wrapper: WrapperId, at: number, found: NamePrefix | undefined): TextHead | undefined {
  return found && prefix(wrapper, at + found.contentAt, Number.NaN, found.origin);
}

function prefix(wrapper: WrapperId, contentAt: number, timeMs: number, origin: string | undefined): TextHead {
  return { wrapper, contentAt, timeMs, guessed: false, origin, message: false, strong: false };
}

/** The beginning of a line as text whose indices are those of its bytes. */
function head(bytes: Buffer, at: number, end: number): string {
  return bytes.toString("latin1", at, Math.min(end, at + HEAD_BYTES));
}

function shortWrapper(time: SyslogTime): WrapperId {
  if (time.writer === "either") return Wrapper.shortOrSyslog;
  return time.writer === "journald" ? Wrapper.journaldShort : Wrapper.syslog3164;
}

/** `docker logs -t` stands alone, or behind a name that its like puts in front. */
function carriesTimes(outer: number): boolean {
  return outer === 0 || outer === Wrapper.compose || outer === Wrapper.kubectl || outer === Wrapper.stern;
}

function isRust(bytes: Buffer, at: number, end: number): boolean {
  const first = bytes[at] as number;
  // blank, D, E, T
  if (first !== 32 && first !== 68 && first !== 69 && first !== 84) return false;
  return RUST.test(bytes.toString("latin1", at, Math.min(end, at + 128)));
}
