/**
 * What may carry a line. The numbers stand in saved states: never give one to another wrapper.
 */
export const Wrapper = {
  cri: 1,
  dockerJson: 2,
  journaldJson: 3,
  journaldExport: 4,
  journaldShort: 5,
  syslog3164: 6,
  syslog5424: 7,
  syslogIso: 8,
  compose: 9,
  dockerLogs: 10,
  /** `Oct 19 …`: the journal's short output and syslog's look alike when the day has two digits. */
  shortOrSyslog: 11,
  kubectl: 12,
  stern: 13,
  dockerDesktop: 14,
  priority: 15,
} as const;

export type WrapperId = (typeof Wrapper)[keyof typeof Wrapper];

const NAMES: Readonly<Record<number, string>> = {
  1: "cri",
  2: "docker-json",
  3: "journald-json",
  4: "journald-export",
  5: "journald-short",
  6: "syslog-3164",
  7: "syslog-5424",
  8: "syslog-iso",
  9: "compose",
  10: "docker-logs",
  12: "kubectl",
  13: "stern",
  14: "docker-desktop",
  15: "syslog-priority",
};

const BITS = 4;
const MAX_LEVELS = 6;

/** Wrappers around a line, outermost first, packed in a number: no allocation for a line that has some. 0 = none. */
export function nestIn(nest: number, wrapper: WrapperId): number {
  return nest * (1 << BITS) + wrapper;
}

export function mayNest(nest: number): boolean {
  return nest < 2 ** (BITS * (MAX_LEVELS - 1));
}

/** The innermost wrapper so far; 0 = none. */
export function innermost(nest: number): number {
  return nest % (1 << BITS);
}

/** Share of lines that one nesting must have to name the stream. */
const DOMINANT = 0.95;

/** Which nesting carried how many lines of a stream. */
export class NestTally {
  plain = 0;
  #nests = new Map<number, number>();

  add(nest: number): void {
    if (nest === 0) this.plain++;
    else this.#nests.set(nest, (this.#nests.get(nest) ?? 0) + 1);
  }

  get state(): Map<number, number> {
    return new Map([[0, this.plain], ...this.#nests]);
  }

  set state(state: Map<number, number>) {
    this.#nests = new Map(state);
    this.plain = state.get(0) ?? 0;
    this.#nests.delete(0);
  }

  /** `plain`, a wrapper, several from the outside in (`cri+docker-json`), or `mixed` when none has 95 % of the lines. */
  get name(): string {
    const names = new Map<string, number>([["plain", this.plain]]);
    const either = this.#journaldShort() ? Wrapper.journaldShort : Wrapper.syslog3164;
    let total = this.plain;
    for (const [nest, lines] of this.#nests) {
      const name = levels(nest)
        .map((level) => NAMES[level === Wrapper.shortOrSyslog ? either : level])
        .join("+");
      names.set(name, (names.get(name) ?? 0) + lines);
      total += lines;
    }
    if (total === 0) return "plain";
    for (const [name, lines] of names) if (lines >= DOMINANT * total) return name;
    return "mixed";
  }

  #journaldShort(): boolean {
    let short = false;
    for (const nest of this.#nests.keys()) {
      if (levels(nest).includes(Wrapper.syslog3164)) return false;
      short ||= levels(nest).includes(Wrapper.journaldShort);
    }
    return short;
  }
}

function levels(nest: number): number[] {
  const found: number[] = [];
  for (let rest = nest; rest > 0; rest = Math.floor(rest / (1 << BITS))) found.unshift(rest % (1 << BITS));
  return found;
}
