import { putBounded } from "../core/bounded-map.ts";
import { OpenPlaceHasher, templateId } from "./hash.ts";
import { SLOT, slotToken } from "./masks.ts";
import { KEY_GAP, shapeOf } from "./shape.ts";
import { isWord, mergeTokens, OPEN_AT, wordWeight } from "./words.ts";

export interface TemplateMatch {
  /** `t` and 13 hexadecimal digits: the hash of the template. {@link TemplateMiner.currentId} tells what an old one became. */
  readonly id: string;
  /** Words and slots, `Served block <*> to <*>`. */
  readonly template: string;
}

export interface TemplateCount extends TemplateMatch {
  readonly count: number;
  /** The first message seen of it, cut to {@link MAX_EXAMPLE_CHARS}. */
  readonly example: string;
}

/** All memory of a miner, for a commit. Plain data. */
export interface TemplateMinerState {
  readonly version: 1;
  /** One row per distinct key: the key, what is shown, how often, the first message. */
  readonly shapes: readonly (readonly [key: string, shown: string, count: number, example: string])[];
  /** Ids given out before a template became more general, and a row number of a shape in it. */
  readonly aliases: ReadonlyMap<string, number>;
  readonly overflowed: number;
}

export interface TemplateMinerLimits {
  /** Distinct masked messages kept. */
  readonly maxShapes: number;
  /** Old ids kept. */
  readonly maxAliases: number;
}

const LIMITS: TemplateMinerLimits = { maxShapes: 20_000, maxAliases: 20_000 };
const MAX_EXAMPLE_CHARS = 500;
/** Words by their masked form; only spares work. */
const MAX_CACHED_TOKENS = 20_000;
const MAX_CACHED_CHARS = 64;
const MAX_CACHED_KEYS = 20_000;
/** Places at which words are compared. */
const MAX_OPEN_PLACES = 48;
/** Ends the key of a coarse row. */
const COARSE_END = `${SLOT} …`;
/** Coarse rows named by a first word. */
const MAX_COARSE = 500;

/** Messages that are one template. A tree of rows (union-find); only roots hold a template. */
interface Row {
  readonly key: string;
  /** What is common to the messages of this row; the key is coarser: `5 KB` and `5 MB`. */
  shown: string;
  count: number;
  readonly example: string;
  /** Row number of the parent, or the own number. */
  parent: number;
  /** Of the root: tokens of the template. */
  tokens: string[];
  /** Of the root: the match, until the template changes. */
  match: TemplateMatch | undefined;
}

/** What was seen with one place open. */
interface OpenPlace {
  weight: number;
  /** Rows with this context, until the place is a slot; then one of them. */
  rows: number[];
}

/**
 * Online template miner. A message is masked ({@link shapeOf}); messages with equal keys are one row. Rows that differ in one place
 * only are one template once enough different words were seen in that place ({@link wordWeight}); the row with that place open
 * then takes part as a row itself, so that templates with several such places are found.
 *
 * Every step only adds (weights grow, sets unite), and what is decided is a function of the **set** of rows: the templates at the
 * end do not depend on the order of messages. That holds up to `maxShapes` rows. Beyond it a message of no known template goes to
 * one coarse template per first word, and {@link overflowed} counts it.
 */
export class TemplateMiner {
  /** Messages put into a coarse template because `maxShapes` rows were there already. */
  overflowed = 0;
  readonly #limits: TemplateMinerLimits;
  /** Coarse rows. */
  #coarse = 0;
  #rows: Row[] = [];
  #byKey = new Map<string, number>();
  /** Row number of a place seen once, or what is known of it. */
  #places = new Map<number, number | OpenPlace>();
  /** Rows by the ids given out. */
  #aliases = new Map<string, number>();
  readonly #tokens = new Map<string, string>();
  /** Keys that are not rows (at the limit): their row. */
  readonly #routes = new Map<string, number>();

  constructor(limits: Partial<TemplateMinerLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  /** Counts a message. The template may become more general later: see {@link currentId}. */
  add(text: string): TemplateMatch {
    const row = this.#rowOf(text);
    (this.#rows[row] as Row).count++;
    return this.#matchOf(row);
  }

  /** What the id stands for by now, or undefined if it was never given or is forgotten. */
  currentId(id: string): string | undefined {
    const row = this.#aliases.get(id);
    return row === undefined ? undefined : this.#matchOf(row).id;
  }

  /** All templates with their counts; templates with equal text are one. */
  *templates(): Iterable<TemplateCount> {
    const found = new Map<string, { match: TemplateMatch; count: number; example: string; key: string }>();
    for (let at = 0; at < this.#rows.length; at++) {
      const { count, example, key } = this.#rows[at] as Row;
      if (count === 0) continue;
      const match = this.#matchOf(at);
      const entry = found.get(match.id);
      if (entry === undefined) found.set(match.id, { match, count, example, key });
      else {
        entry.count += count;
        // Of the row with the least key, so that the order of messages has no say.
        if (key < entry.key) {
          entry.key = key;
          entry.example = example;
        }
      }
    }
    for (const { match, count, example } of found.values()) yield { ...match, count, example };
  }

  get state(): TemplateMinerState {
    return {
      version: 1,
      shapes: this.#rows.map(({ key, shown, count, example }) => [key, shown, count, example] as const),
      aliases: new Map(this.#aliases),
      overflowed: this.overflowed,
    };
  }

  set state(state: TemplateMinerState) {
    this.#rows = [];
    this.#byKey = new Map();
    this.#places = new Map();
    this.#routes.clear();
    this.#coarse = state.shapes.filter(([key]) => key.endsWith(COARSE_END)).length;
    for (const [key, shown, count, example] of state.shapes) this.#addRow(key, shown, example, count);
    this.#aliases = new Map(state.aliases);
    this.overflowed = state.overflowed;
  }

  #rowOf(text: string): number {
    const { tokens, key } = shapeOf(text, this.#mask);
    const known = this.#byKey.get(key);
    if (known !== undefined) {
      const row = this.#rows[known] as Row;
      const shown = tokens.join(KEY_GAP);
      if (shown !== row.shown) this.#widen(known, tokens);
      return known;
    }
    if (this.#rows.length < this.#limits.maxShapes) return this.#addRow(key, tokens.join(KEY_GAP), cut(text), 0);
    let row = this.#routes.get(key);
    if (row === undefined) {
      row = this.#route(key, text);
      if (this.#routes.size >= MAX_CACHED_KEYS) this.#routes.clear();
      this.#routes.set(key, row);
    }
    if ((this.#rows[row] as Row).key.endsWith(COARSE_END)) this.overflowed++;
    return row;
  }

  /** The row, and so its template, covers these tokens too. */
  #widen(number: number, tokens: readonly string[]): void {
    const row = this.#rows[number] as Row;
    const before = row.shown.split(KEY_GAP);
    const shown = before.map((token, at) => mergeTokens(token, tokens[at] ?? SLOT)).join(KEY_GAP);
    if (shown === row.shown) return;
    row.shown = shown;
    const root = this.#rows[this.#root(number)] as Row;
    if (this.#absorb(root, tokens)) root.match = undefined;
  }

  readonly #mask = (token: string): string => {
    const known = this.#tokens.get(token);
    if (known !== undefined) return known;
    const masked = slotToken(token);
    if (token.length < MAX_CACHED_CHARS) {
      // Numbers and names come again within a while, ids never: dropping all of them now and then is as good as an order of use.
      if (this.#tokens.size >= MAX_CACHED_TOKENS) this.#tokens.clear();
      this.#tokens.set(token, masked);
    }
    return masked;
  };

  #addRow(key: string, shown: string, example: string, count: number): number {
    const row = this.#rows.length;
    this.#rows.push({ key, shown, count, example, parent: row, tokens: shown.split(KEY_GAP), match: undefined });
    this.#byKey.set(key, row);
    this.#openPlaces(key.split(KEY_GAP), row);
    return row;
  }

  /** Enters the row under each of its contexts (itself with one place open) and unites it with what it belongs to. */
  #openPlaces(tokens: readonly string[], row: number): void {
    const words = tokens.map(isWord);
    const total = words.filter(Boolean).length;
    const hasher = new OpenPlaceHasher(tokens);
    const places = Math.min(tokens.length, MAX_OPEN_PLACES);
    for (let at = 0; at < places; at++) {
      if (words[at] !== true && tokens[at] !== SLOT) continue;
      const hash = hasher.without(at);
      const seen = this.#places.get(hash);
      if (seen === undefined) {
        this.#places.set(hash, row);
        continue;
      }
      const weightOf = (other: readonly string[]): number =>
        wordWeight(other, at, total - (words[at] === true ? 1 : 0));
      let place: OpenPlace;
      if (typeof seen === "number") {
        place = { weight: weightOf((this.#rows[seen] as Row).key.split(KEY_GAP)), rows: [seen] };
        this.#places.set(hash, place);
      } else place = seen;
      if (place.weight >= OPEN_AT) {
        this.#unite(row, place.rows[0] as number);
        continue;
      }
      place.weight += weightOf(tokens);
      place.rows.push(row);
      if (place.weight < OPEN_AT) continue;
      for (const other of place.rows) this.#unite(row, other);
      place.rows = [row];
      this.#unite(row, this.#openRow(tokens, at, row));
    }
  }

  /** The row with a place open, which stands for all that differ there. */
  #openRow(tokens: readonly string[], at: number, of: number): number {
    const key = tokens.with(at, SLOT).join(KEY_GAP);
    const { tokens: shown, example } = this.#rows[this.#root(of)] as Row;
    return this.#byKey.get(key) ?? this.#addRow(key, shown.join(KEY_GAP), example, 0);
  }

  /** At the limit: the template whose context the message has, or a coarse one. */
  #route(key: string, text: string): number {
    const tokens = key.split(KEY_GAP);
    const hasher = new OpenPlaceHasher(tokens);
    for (let at = 0; at < Math.min(tokens.length, MAX_OPEN_PLACES); at++) {
      const seen = this.#places.get(hasher.without(at));
      if (typeof seen === "object" && seen.weight >= OPEN_AT) return seen.rows[0] as number;
    }
    const first = tokens[0] as string;
    // A million first words must not become a million coarse templates.
    const named = `${first} ${COARSE_END}`;
    const coarse = isWord(first) && (this.#byKey.has(named) || this.#coarse < MAX_COARSE) ? named : COARSE_END;
    const known = this.#byKey.get(coarse);
    if (known !== undefined) return known;
    this.#coarse++;
    return this.#addRow(coarse, coarse, cut(text), 0);
  }

  #unite(left: number, right: number): void {
    const a = this.#root(left);
    const b = this.#root(right);
    if (a === b) return;
    const [keep, drop] = a < b ? [a, b] : [b, a];
    const root = this.#rows[keep] as Row;
    const other = this.#rows[drop] as Row;
    this.#absorb(root, other.tokens);
    other.parent = keep;
    other.tokens = [];
    root.match = undefined;
    other.match = undefined;
  }

  /** Generalises the template of a root. @returns True if it changed. */
  #absorb(root: Row, tokens: readonly string[]): boolean {
    let changed = false;
    if (tokens.length !== root.tokens.length) return false;
    for (let at = 0; at < tokens.length; at++) {
      const own = root.tokens[at] as string;
      const merged = own === tokens[at] ? own : mergeTokens(own, tokens[at] as string);
      if (merged === own) continue;
      root.tokens[at] = merged;
      changed = true;
    }
    return changed;
  }

  #root(row: number): number {
    let at = row;
    for (;;) {
      const { parent } = this.#rows[at] as Row;
      if (parent === at) return at;
      const above = (this.#rows[parent] as Row).parent;
      (this.#rows[at] as Row).parent = above;
      at = above;
    }
  }

  #matchOf(row: number): TemplateMatch {
    const number = this.#root(row);
    const root = this.#rows[number] as Row;
    if (root.match !== undefined) return root.match;
    const template = root.tokens.join(" ");
    const id = templateId(template);
    root.match = { id, template };
    putBounded(this.#aliases, id, number, this.#limits.maxAliases);
    return root.match;
  }
}

function cut(text: string): string {
  return text.length > MAX_EXAMPLE_CHARS ? `${text.slice(0, MAX_EXAMPLE_CHARS)}…` : text;
}
