import type { JsonObject } from "../../model/line.ts";
import { DURATION_FIELDS, FIELD_COUNT, Field } from "./field.ts";
import { durationTextMs, isAbsent, numberOf } from "./figure.ts";
import { KeyNode, PLAN_LENGTH, Take } from "./key-tree.ts";

/** Rank of a field that the line lacks. */
const ABSENT = 255;
/** Rank of an object that stands for a field until something inside it does. */
const NOTED = 254;
const DURATION_BITS = (1 << DURATION_FIELDS) - 1;
const MAX_DEPTH = 5;
/** Keys of one line that are looked at: no application writes more, and each new one must be learned. */
const MAX_LINE_KEYS = 512;
const DOLLAR = 36;

/**
 * What one line says, by field: filled by a single walk over its keys, read and then overwritten by the next line. It is
 * no memory: nothing in it outlives its line but the meaning of keys.
 */
export class LineFields {
  /** Bit per field that the line has: the first 32, and the rest. */
  #low = 0;
  #high = 0;
  /** Rank of the name that gave each field; meaningless for fields that the line lacks. */
  readonly #ranks = new Uint8Array(FIELD_COUNT);
  /** Durations in milliseconds (NaN: no number), raw while the unit is unknown; counts and money as written. */
  readonly #numbers = new Float64Array(FIELD_COUNT);
  readonly #values: unknown[] = Array.from({ length: FIELD_COUNT }, () => undefined);
  /** Bit per duration field whose unit neither key nor value names. */
  #unitless = 0;
  #budget = { keys: 0 };
  #keysLeft = 0;
  #root = new KeyNode();
  /** Keys of the last text line, as {@link KeyNode.planKeys} are those of the last object. */
  readonly #pairPlan: { readonly planKeys: string[]; readonly planNodes: KeyNode[] } = { planKeys: [], planNodes: [] };
  /** The key that gave each field, as written. */
  readonly #keys: string[] = Array.from({ length: FIELD_COUNT }, () => "");

  /** Forgets the line before. */
  clear(): void {
    this.#low = 0;
    this.#high = 0;
    this.#unitless = 0;
    if (this.#budget.keys >= 4096) {
      this.#root = new KeyNode();
      this.#budget = { keys: 0 };
      this.#pairPlan.planNodes.length = 0;
    }
  }

  /** Reads all keys of an object, and of the objects inside that may hold fields. */
  addJson(object: JsonObject): void {
    this.#keysLeft = MAX_LINE_KEYS;
    this.#walk(object, this.#root, 0);
  }

  /** Reads pairs of text: a value that looks like a number is one. */
  addPairs(keys: readonly string[], values: readonly string[], count: number): void {
    const { planKeys, planNodes } = this.#pairPlan;
    for (let at = 0; at < count; at++) {
      const key = keys[at] as string;
      let node = planNodes[at];
      if (node === undefined || planKeys[at] !== key) {
        node = this.#root.child(key, this.#budget);
        if (at < PLAN_LENGTH) {
          planKeys[at] = key;
          planNodes[at] = node;
        }
      }
      if (node.take !== Take.nothing) this.#put(node, key, values[at]);
    }
  }

  /** Reads one pair whose value already has its type, and whose key is a dotted path (an OTLP attribute). */
  addAttribute(key: string, value: unknown): void {
    const node = this.#root.child(key, this.#budget);
    if (node.take !== Take.nothing && value !== null && value !== undefined) this.#put(node, key, value);
  }

  /** What `key` alone means; -1 when it means nothing. */
  fieldOf(key: string): number {
    const node = this.#root.child(key, this.#budget);
    return node.take === Take.nothing ? -1 : node.field;
  }

  /** The meaning of a key inside its objects, outermost first; undefined where the walk does not look. */
  nodeOf(path: readonly string[]): KeyNode | undefined {
    let node = this.#root;
    for (const [depth, key] of path.entries()) {
      if (depth > 0 && (!node.open || depth > MAX_DEPTH)) return undefined;
      node = node.child(key, this.#budget);
    }
    return node;
  }

  has(field: Field): boolean {
    return ((field < 32 ? this.#low >>> field : this.#high >>> (field - 32)) & 1) === 1;
  }

  /** True when the line has any of the fields from 32 on whose bits (less 32) are set. */
  hasAnyHigh(bits: number): boolean {
    return (this.#high & bits) !== 0;
  }

  /** How well the name of a present field fits; less is better. */
  rank(field: Field): number {
    return this.has(field) ? (this.#ranks[field] as number) : ABSENT;
  }

  /** A number as written, or NaN for text that is none; undefined when absent. */
  number(field: Field): number | undefined {
    return this.has(field) ? this.#numbers[field] : undefined;
  }

  /** A non-empty text (numbers as text); undefined when absent or of another type. */
  text(field: Field): string | undefined {
    if (!this.has(field)) return undefined;
    const value = this.#values[field];
    if (typeof value === "string") return value;
    return typeof value === "number" ? String(value) : undefined;
  }

  value(field: Field): unknown {
    return this.has(field) ? this.#values[field] : undefined;
  }

  drop(field: Field): void {
    if (field < 32) this.#low &= ~(1 << field);
    else this.#high &= ~(1 << (field - 32));
    if (field < DURATION_FIELDS) this.#unitless &= ~(1 << field);
  }

  /** Bit per duration field of the line. */
  get durations(): number {
    return this.#low & DURATION_BITS;
  }

  get unitless(): number {
    return this.#unitless;
  }

  /** The key that gave a field, as written; empty when the line lacks it. */
  key(field: Field): string {
    return this.has(field) ? (this.#keys[field] as string) : "";
  }

  /** Gives a duration of unknown unit its value. */
  settle(field: Field, ms: number): void {
    this.#numbers[field] = ms;
    this.#unitless &= ~(1 << field);
  }

  #walk(object: JsonObject, node: KeyNode, depth: number): void {
    const { planKeys, planNodes } = node;
    let at = 0;
    for (const key in object) {
      if (--this.#keysLeft < 0) return;
      let child: KeyNode;
      if (at < PLAN_LENGTH) {
        if (planKeys[at] === key) child = planNodes[at] as KeyNode;
        else {
          child = node.child(key, this.#budget);
          planKeys[at] = key;
          planNodes[at] = child;
        }
        at++;
      } else child = node.child(key, this.#budget);
      const value = object[key];
      if (typeof value === "object") {
        if (value === null) continue;
        if (Array.isArray(value)) {
          if (child.take === Take.value) this.#put(child, key, value);
        } else if (child.open && depth < MAX_DEPTH) {
          // `error: {}` says that there was one
          if (child.take === Take.value && !this.has(child.field as Field)) this.#note(child, value);
          this.#walk(value as JsonObject, child, depth + 1);
        }
      } else if (child.take !== Take.nothing) this.#put(child, key, value);
    }
  }

  /** Notes an object, to be overruled by anything inside it. */
  #note(node: KeyNode, value: object): void {
    this.#set(node.field, NOTED);
    this.#values[node.field] = value;
  }

  #put(node: KeyNode, key: string, value: unknown): void {
    const { field, rank } = node;
    if (this.has(field as Field) && rank >= (this.#ranks[field] as number)) return;
    if (node.take === Take.value) {
      if (typeof value === "string" && isAbsent(value)) return;
      this.#values[field] = value;
    } else if (typeof value === "number") {
      if (node.take === Take.number) this.#numbers[field] = value;
      else this.#duration(node, value);
    } else if (typeof value === "string") {
      if (isAbsent(value)) return;
      const number = numberOf(field === Field.cost && value.charCodeAt(0) === DOLLAR ? value.slice(1) : value);
      if (node.take === Take.number) this.#numbers[field] = number;
      else if (number === number) this.#duration(node, number);
      else this.#durationText(node, value);
    } else return;
    this.#keys[field] = key;
    this.#set(field, rank);
  }

  #set(field: number, rank: number): void {
    this.#ranks[field] = rank;
    if (field < 32) this.#low |= 1 << field;
    else this.#high |= 1 << (field - 32);
  }

  #duration(node: KeyNode, value: number): void {
    const bit = 1 << node.field;
    if (node.multiply === 0) {
      this.#unitless |= bit;
      this.#numbers[node.field] = value;
    } else {
      this.#unitless &= ~bit;
      this.#numbers[node.field] = (value * node.multiply) / node.divide;
    }
  }

  #durationText(node: KeyNode, value: string): void {
    this.#unitless &= ~(1 << node.field);
    this.#numbers[node.field] = durationTextMs(value);
  }
}
