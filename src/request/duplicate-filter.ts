/** Keys remembered; an entry written again later than this many requests afterwards counts again. */
export const REMEMBERED = 20_000;

/**
 * Recognises an entry that was written twice: two files that copy each other's lines, a logger that propagates,
 * a gateway that repeats a payload milliseconds apart. The first one wins.
 */
export class DuplicateFilter {
  /** Entries that were dropped. */
  dropped = 0;
  /** Entries seen for the first time; grows with every change of the state. */
  added = 0;
  /** Plain memory for a commit. Two generations: the older is forgotten whole when the younger is full. */
  state: { young: Set<string>; old: Set<string> } = { young: new Set(), old: new Set() };

  /** @param key Unique to the entry: profile, request id and outcome. @returns True when it was seen before. */
  seen(key: string): boolean {
    const { young, old } = this.state;
    if (young.has(key) || old.has(key)) {
      this.dropped++;
      return true;
    }
    this.added++;
    young.add(key);
    if (young.size >= REMEMBERED) this.state = { young: new Set(), old: young };
    return false;
  }
}
