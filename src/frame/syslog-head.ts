/** Where the message of a syslog line begins, and the program that wrote it. */
export interface SyslogHead {
  /** Index of the message in the text given. */
  readonly contentAt: number;
  readonly origin: string | undefined;
  /** Only a syslog daemon or the journal writes this form: `host tag[pid]:`. */
  readonly strong: boolean;
}

/** First words of messages that came without a tag; daemons shred these into host and tag. */
const LEVEL =
  /^(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERR|ERROR|CRIT|CRITICAL|FATAL|ALERT|EMERG|PANIC|SEVERE|TRC|DBG|INF|WRN|FTL):?$/i;
const HOST = /(?:-|[A-Za-z0-9_](?:[A-Za-z0-9_.:%-]{0,253}[A-Za-z0-9_.%-])?) /y;
const FACILITY =
  /(?:kern|user|mail|daemon|auth|syslog|lpr|news|uucp|cron|authpriv|ftp|local[0-7])\.(?:emerg|alert|crit|err|warn|notice|info|debug) /y;
const TAG_WITH_PID = /([A-Za-z0-9_(][A-Za-z0-9_.@/()+:-]{0,127})\[[^\]\s]{1,32}\](?::(?: |$)?| |$)/y;
const TAG_WITH_COLON = /([A-Za-z0-9_(][A-Za-z0-9_.@/()+-]{0,127}):(?: |$)/y;
// without a colon, what follows must not read on as a sentence
const BARE_TAG = /(?:(-)|([a-z0-9_][A-Za-z0-9_.@/-]{0,127})(?= [^a-z ])) /y;
const EXCEPTION = /(?:Error|Exception|Warning|Interrupt|Exit)$|^Traceback$/;

/** How much of a line must prove that it is syslog: what is not sure may be what an application wrote. */
export type SyslogProof =
  /** It has a priority, or such lines came before it in this stream. */
  | "certain"
  /** Its time is of a form that few others use: a tag with a colon will do. */
  | "likely"
  /** Others begin so too: only `tag[pid]` or the kernel's tag tell. */
  | "open";

/**
 * Reads `host tag[pid]: message` behind the time of a syslog line. Daemons shred what they cannot parse into host and
 * tag, so a word that is no name of a program is given back to the message.
 *
 * @see rsyslog 8.2302 `RSYSLOG_TraditionalFileFormat`, `RSYSLOG_FileFormat`; systemd 252 `journalctl -o short`
 */
export function readSyslogHead(text: string, at: number, proof: SyslogProof): SyslogHead | undefined {
  const certain = proof === "certain";
  const bareMessage = certain ? { contentAt: at, origin: undefined, strong: false } : undefined;
  // no host at all: `journalctl --no-hostname`, busybox
  const ownPid = match(TAG_WITH_PID, text, at);
  if (ownPid !== null) return { contentAt: ownPid.end, origin: ownPid.name, strong: true };
  const host = match(HOST, text, at);
  if (host === null || LEVEL.test(text.slice(at, host.end - 1))) return bareMessage;
  const tagAt = match(FACILITY, text, host.end)?.end ?? host.end;
  const withPid = match(TAG_WITH_PID, text, tagAt);
  if (withPid !== null) return { contentAt: withPid.end, origin: withPid.name, strong: true };
  const named = match(TAG_WITH_COLON, text, tagAt);
  if (named !== null && isProgram(named.name)) {
    const strong = named.name === "kernel";
    return strong || proof !== "open" ? { contentAt: named.end, origin: named.name, strong } : undefined;
  }
  if (!certain) return undefined;
  const bare = match(BARE_TAG, text, tagAt);
  if (bare !== null && !LEVEL.test(bare.name))
    return { contentAt: bare.end, origin: bare.name === "-" ? undefined : bare.name, strong: false };
  // an escape where the tag should be: the "host" is the message's first word
  return { contentAt: text.startsWith("#", tagAt) ? at : tagAt, origin: undefined, strong: false };
}

function isProgram(name: string): boolean {
  return !LEVEL.test(name) && !EXCEPTION.test(name);
}

function match(pattern: RegExp, text: string, at: number): { end: number; name: string } | null {
  pattern.lastIndex = at;
  const found = pattern.exec(text);
  return found === null ? null : { end: pattern.lastIndex, name: found[1] ?? found[2] ?? "" };
}
