import { UTC, type ZoneOffset } from "../../../src/core/timestamp.ts";
import { Framer, type FramerState } from "../../../src/frame/framer.ts";

export const READ_MS = Date.UTC(2026, 11, 1, 12);

/** A logical line, copied out of the reused object. */
export interface Framed {
  readonly text: string;
  /** ISO 8601, or `-` when no wrapper gave a time. */
  readonly time: string;
  readonly origin: string | undefined;
  readonly cut: boolean;
  /** Present when the line ended in a carriage return. */
  readonly returned?: true;
}

export interface FrameOptions {
  readonly maxLineBytes?: number;
  readonly zone?: ZoneOffset;
  readonly readMs?: number;
  /** Chunks end here. */
  readonly cuts?: readonly number[];
  /** At these offsets the process is killed: a new framer goes on from what a commit held. */
  readonly kills?: readonly number[];
}

export function newFramer(out: Framed[], options: FrameOptions = {}): Framer {
  return new Framer({
    maxLineBytes: options.maxLineBytes ?? 1024 * 1024,
    zone: options.zone ?? UTC,
    onLine: ({ text, timeMs, origin, cut, endsInReturn }) => {
      const time = Number.isNaN(timeMs) ? "-" : new Date(timeMs).toISOString();
      out.push({ text, time, origin, cut, ...(endsInReturn ? { returned: true } : {}) });
    },
  });
}

/** Reads all of `log`; the last framer tells frame and counters. */
export function frame(log: string | Buffer, options: FrameOptions = {}): { lines: Framed[]; framer: Framer } {
  const bytes = typeof log === "string" ? Buffer.from(log) : log;
  const { cuts = [], kills = [], readMs = READ_MS } = options;
  const lines: Framed[] = [];
  let framer = newFramer(lines, options);
  let from = 0;
  const ends = [...new Set([...cuts, ...kills])].filter((cut) => cut > 0 && cut < bytes.length).sort((a, b) => a - b);
  for (const end of [...ends, bytes.length]) {
    // a copy that is wiped afterwards: nothing may keep a view of the caller's buffer
    const chunk = Buffer.from(bytes.subarray(from, end));
    framer.push(chunk, from, readMs);
    chunk.fill(0);
    from = end;
    if (!kills.includes(end) || end === bytes.length) continue;
    const state: FramerState = structuredClone(framer.state);
    from = framer.heldOffset ?? end;
    framer = newFramer(lines, options);
    framer.state = state;
  }
  framer.end();
  return { lines, framer };
}

export const texts = (log: string | Buffer, options?: FrameOptions): string[] =>
  frame(log, options).lines.map(({ text }) => text);
