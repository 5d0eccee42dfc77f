import { DURATION_FIELDS, LAST_NUMBER_FIELD } from "./field.ts";
import { isOpaque, meaningOf } from "./key-name.ts";

/** How the value of a key is taken. */
export const Take = { nothing: 0, duration: 1, number: 2, value: 3 } as const;

/** Keys remembered in all; beyond, they are learned anew, so that a log with ids as keys stays within bounds. */
const MAX_KEYS = 4096;
const MAX_KEY_CHARS = 120;
/** Keys of one object that are found by their position. */
export const PLAN_LENGTH = 64;

/** A key as it was met inside its objects, with what it means: resolved once, then one look-up. */
export class KeyNode {
  take: number = Take.nothing;
  field = 0;
  rank = 255;
  /** Milliseconds of one unit as a fraction, so that nanoseconds divide exactly; `unitMs` 0 = the key names none. */
  multiply = 0;
  divide = 1;
  /** False for objects that must not be looked into. */
  readonly open: boolean;
  /**
   * Keys of the object that was last read here, in order, and their nodes: lines of one statement have the same keys in
   * the same order, and comparing two interned strings is cheaper than a look-up.
   */
  readonly planKeys: string[] = [];
  readonly planNodes: KeyNode[] = [];
  readonly #children = new Map<string, KeyNode>();
  readonly #path: readonly string[];
  readonly #unitMs: number;

  constructor(path: readonly string[] = [], inheritedUnitMs = 0) {
    this.#path = path;
    const key = path.at(-1);
    this.open = key === undefined || !isOpaque(key);
    const meaning = key === undefined ? undefined : meaningOf(path, inheritedUnitMs);
    this.#unitMs = meaning?.unitMs || inheritedUnitMs;
    if (meaning === undefined) return;
    const { alias, rank, unitMs } = meaning;
    this.field = alias.field;
    this.rank = rank;
    this.take =
      alias.field < DURATION_FIELDS ? Take.duration : alias.field <= LAST_NUMBER_FIELD ? Take.number : Take.value;
    this.multiply = unitMs >= 1 ? unitMs : unitMs > 0 ? 1 : 0;
    this.divide = unitMs > 0 && unitMs < 1 ? Math.round(1 / unitMs) : 1;
  }

  child(key: string, budget: { keys: number }): KeyNode {
    let node = this.#children.get(key);
    if (node !== undefined) return node;
    node = key.length > MAX_KEY_CHARS ? NOTHING : new KeyNode([...this.#path, key], this.#unitMs);
    if (budget.keys >= MAX_KEYS) return node;
    budget.keys++;
    this.#children.set(key, node);
    return node;
  }
}

const NOTHING = new KeyNode(["messages"]);
