import type { Line } from "../model/line.ts";
import type { LogRecord } from "../model/record.ts";
import { AskedLine } from "./asked-line.ts";
import { Candidates } from "./candidates.ts";
import type { Parser, ParserContext, Profile } from "./profile.ts";

interface Opened {
  readonly profile: Profile;
  readonly parser: Parser;
  lines: number;
  records: number;
}

/** What a commit holds of a router: each open profile's memory, in order of last use. */
export type RouterState = ReadonlyArray<{
  readonly name: string;
  readonly lines: number;
  readonly records: number;
  readonly state: unknown;
}>;

/**
 * Chooses the profile **per line**: several writers share one stream (Ray and vLLM, Ollama and llama.cpp, gateway and app).
 * Open parsers may first take the line as a continuation, most recent first; then specific profiles claim it, then shared
 * ones, then the generic ones. The profile that claimed last is asked first within its rank.
 */
export class LineRouter {
  /** Lines that no profile knows (blank lines are not counted). */
  unrecognised = 0;
  readonly #context: Omit<ParserContext, "emit">;
  readonly #emit: (record: LogRecord, profile: Profile) => void;
  readonly #onUnrecognised: ((line: Line) => void) | undefined;
  /** Specific, shared, generic. */
  readonly #ranks: readonly Candidates[];
  readonly #opened = new Map<string, Opened>();
  /** Open parsers with a `continues`, most recent first. */
  readonly #continuing: Opened[] = [];
  /** The open parser that knows lines again, if one does. */
  #repeating: Opened | undefined = undefined;

  constructor(options: {
    profiles: readonly Profile[];
    context: Omit<ParserContext, "emit">;
    emit: (record: LogRecord, profile: Profile) => void;
    onUnrecognised?: (line: Line) => void;
  }) {
    this.#context = options.context;
    this.#emit = options.emit;
    this.#onUnrecognised = options.onUnrecognised;
    this.#ranks = (["specific", "shared", "generic"] as const).map(
      (rank) => new Candidates(options.profiles.filter((profile) => profile.rank === rank)),
    );
  }

  /** @returns The profile that took the line, or undefined. */
  route(line: Line): Profile | undefined {
    for (const opened of this.#continuing) {
      if (opened.parser.continues?.(line) === true) {
        opened.lines++;
        return opened.profile;
      }
    }
    const repeating = this.#repeating;
    if (repeating?.parser.repeat?.(line) === true) {
      repeating.lines++;
      this.#touch(repeating);
      return repeating.profile;
    }
    for (const rank of this.#ranks) {
      const candidates = rank.of(line);
      for (let index = 0; index < candidates.length; index++) {
        const profile = candidates[index];
        if (profile === undefined || !profile.claims(line)) continue;
        if (index > 0) {
          candidates.copyWithin(1, 0, index);
          candidates[0] = profile;
        }
        const opened = this.#open(profile);
        opened.lines++;
        this.#touch(opened);
        opened.parser.parse(line);
        if (opened === this.#repeating && candidates.length === 1) this.#learn(opened, line);
        return profile;
      }
    }
    if (line.text.trim() !== "") {
      this.unrecognised++;
      this.#onUnrecognised?.(line);
    }
    return undefined;
  }

  flush(nowMs: number, final: boolean): void {
    for (const opened of this.#opened.values()) opened.parser.flush?.(nowMs, final);
  }

  /** Lines taken and records emitted, by profile name. */
  *counts(): Iterable<{ readonly profile: Profile; readonly lines: number; readonly records: number }> {
    yield* this.#opened.values();
  }

  /** The live memory of all open parsers, for a structured clone into a commit. */
  get state(): RouterState {
    // least recent first, so that opening them in this order restores who is asked first
    const others = [...this.#opened.values()].filter((opened) => !this.#continuing.includes(opened));
    return [...others, ...this.#continuing.toReversed()].map(({ profile, lines, records, parser }) => ({
      name: profile.name,
      lines,
      records,
      state: parser.state,
    }));
  }

  restore(state: RouterState): void {
    const known = new Map(this.#ranks.flatMap(({ all }) => all).map((profile) => [profile.name, profile]));
    for (const saved of state) {
      const profile = known.get(saved.name);
      if (profile === undefined) continue;
      const opened = this.#open(profile);
      opened.lines = saved.lines;
      opened.records = saved.records;
      opened.parser.state = saved.state;
    }
  }

  /** Lets a generic parser learn a line that no specific or shared profile has claimed. */
  #learn(opened: Opened, line: Line): void {
    opened.parser.learn?.(line, () => {
      const asked = new AskedLine(line);
      for (const rank of this.#ranks) {
        for (const profile of rank.of(line)) {
          if (profile.claimsAnywhere === true) return undefined;
          if (profile !== opened.profile && profile.claims(asked)) return undefined;
        }
      }
      return asked.asked;
    });
  }

  #open(profile: Profile): Opened {
    const known = this.#opened.get(profile.name);
    if (known !== undefined) return known;
    const emit = (record: LogRecord): void => {
      opened.records++;
      this.#emit(record, profile);
    };
    const opened: Opened = { profile, parser: profile.open({ ...this.#context, emit }), lines: 0, records: 0 };
    this.#opened.set(profile.name, opened);
    if (opened.parser.continues !== undefined) this.#continuing.unshift(opened);
    if (opened.parser.repeat !== undefined) this.#repeating ??= opened;
    return opened;
  }

  #touch(opened: Opened): void {
    if (opened.parser.continues === undefined || this.#continuing[0] === opened) return;
    const at = this.#continuing.indexOf(opened);
    this.#continuing.copyWithin(1, 0, at);
    this.#continuing[0] = opened;
  }
}
