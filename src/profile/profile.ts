import type { ZoneOffset } from "../core/timestamp.ts";
import type { Line } from "../model/line.ts";
import type { LogRecord, RejectReason } from "../model/record.ts";
import type { Asked } from "./asked-line.ts";

/** The four request counts; a profile lists those that its log can tell. Others stay null in reports: never invented. */
export type RequestCount = "received" | "finished" | "failed" | "aborted";

/**
 * The reader of one writer's lines. A profile is a folder: `index.ts` (this constant), `parse.ts` (the grammar),
 * `README.md` (what it reads and what that log cannot tell).
 */
export interface Profile {
  /** The name in configuration, reports and metric labels, e.g. `vllm-v1`. */
  readonly name: string;
  /** The product as people call it. */
  readonly title: string;
  /** Upstream files and versions that the grammar was read from. */
  readonly upstream: string;
  /**
   * `specific` lines belong to this writer alone; `shared` ones are written by several (uvicorn's access line);
   * `generic` ones are tried last. Specific claims must not overlap: a test holds all corpora against all profiles.
   */
  readonly rank: "specific" | "shared" | "generic";
  readonly tells: readonly RequestCount[];
  /** Figures this log holds, in words of the generated table (`ttft`, `e2e`, `tokens in`, …). */
  readonly figures: readonly string[];
  /** One sentence each: what people look for in this log and will not find. */
  readonly cannotTell: readonly string[];
  /**
   * Top-level keys of which every JSON line of this writer has at least one; empty when it writes no JSON. A line without
   * any of them is never offered to {@link Profile.claims}. Leave it out only if no such list exists.
   */
  readonly jsonKeys?: readonly string[];
  /** Characters of which every other line of this writer starts with one (colours removed); left out when there is no such set. */
  readonly firstCharacters?: string;
  /** True when a claim may hang on any character of a line, as a user's expression does: then every line is asked about. */
  readonly claimsAnywhere?: boolean;
  /**
   * True when this line was written by this program, whether or not it holds a figure. Must be cheap on lines of others
   * (look at the first characters, or at a key of `line.json`, before any regular expression) and must never search the
   * middle of a line, where prompts stand. Two lines that differ only in the digits of their times and figures, or in an
   * id, a model or a tenant behind their beginning, get the same answer: the second may not be asked about at all.
   */
  claims(line: Line): boolean;
  /** A parser for one stream, opened at the first claimed line. */
  open(context: ParserContext): Parser;
}

export interface ParserContext {
  /** Takes a record; the object may be kept by the consumer. */
  emit(record: LogRecord): void;
  /** Counts a figure that was refused. */
  reject(reason: RejectReason): void;
  /** Zone of times printed without one. */
  readonly zone: ZoneOffset;
}

/**
 * Holds what one stream's lines need to be joined. All its memory is in `state`, which must survive
 * `structuredClone` (plain objects, arrays, Maps, numbers, strings), is bounded, and is put back after a restart.
 */
export interface Parser {
  state: unknown;
  /** Reads a line that the profile claims. */
  parse(line: Line): void;
  /**
   * Takes a line that is laid out like one this parser has read before, from its bytes and without asking any claim; false
   * for all others, which go the usual way. Never gives another record than {@link Parser.parse} would.
   */
  repeat?(line: Line): boolean;
  /**
   * Called after {@link Parser.parse} of a parser with `repeat`, so that lines like this one may be known again.
   *
   * @param asked What the claims of all other profiles looked at; undefined if one of them may hang on anything.
   */
  learn?(line: Line, asked: () => Asked | undefined): void;
  /**
   * Called before any claim is asked, for each line after one of this parser's own. True takes the line: continuation
   * lines of a traceback or a pretty-printed object, or lines of a shared writer that mean more in this one's company.
   */
  continues?(line: Line): boolean;
  /** Emits what has waited too long (5 s of wall time) for its other half; everything when `final`. */
  flush?(nowMs: number, final: boolean): void;
}
