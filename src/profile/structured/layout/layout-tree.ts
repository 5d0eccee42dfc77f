import type { Plan } from "./plan.ts";
import { type Segment, Slot } from "./segment.ts";

/** Alternatives kept at one place, the most recent first: beyond, the least recent is forgotten. */
const MAX_ALTERNATIVES = 24;

/** A literal, the free place behind it, and what may follow: layouts share their beginnings. */
export class LayoutNode {
  readonly literal: Uint8Array;
  readonly slot: number;
  /** For {@link Slot.time}. */
  readonly shape: Uint8Array;
  readonly followers: LayoutNode[] = [];
  /** How a line that ends here is read. */
  plan: Plan | undefined = undefined;
  /** The literal eight bytes at a time; the last eight overlap those before them. Empty for a literal that cannot be so compared. */
  readonly #eights: Float64Array;
  readonly #last: number;
  readonly #length: number;

  constructor(segment: Segment) {
    this.literal = Uint8Array.from(segment.literal);
    this.slot = segment.slot;
    this.shape = Uint8Array.from(segment.sample);
    const { length } = this.literal;
    this.#length = length;
    // doubles are equal when their bytes are, but for zeros and NaNs, which no text of printable ASCII spells
    const ascii = this.literal.every((byte) => byte >= 32 && byte < 127);
    const view = new DataView(this.literal.buffer);
    const eights = ascii ? Math.ceil(length / 8) - 1 : 0;
    this.#eights = Float64Array.from({ length: Math.max(0, eights) }, (_, at) => view.getFloat64(at * 8, true));
    this.#last = ascii && length >= 8 ? view.getFloat64(length - 8, true) : 0;
  }

  /** @returns The index behind the literal, or -1 when it does not stand at `at`. */
  pass(view: DataView, at: number, end: number): number {
    const after = at + this.#length;
    if (after > end) return -1;
    const last = this.#last;
    if (last === 0) return this.#passBytes(view, at, after);
    const eights = this.#eights;
    let from = at;
    for (let index = 0; index < eights.length; index++, from += 8) {
      if (view.getFloat64(from, true) !== eights[index]) return -1;
    }
    return view.getFloat64(after - 8, true) === last ? after : -1;
  }

  #passBytes(view: DataView, at: number, after: number): number {
    const { literal } = this;
    for (let from = at; from < after; from++) if (view.getUint8(from) !== literal[from - at]) return -1;
    return after;
  }

  /** True for the same literal with the same kind of place behind it. */
  is(segment: Segment): boolean {
    if (this.slot !== segment.slot || !same(this.literal, segment.literal)) return false;
    return this.slot !== Slot.time || sameShape(this.shape, segment.sample);
  }
}

/** Adds a layout. @returns False when the tree has it already. */
export function addLayout(roots: LayoutNode[], segments: readonly Segment[], plan: Plan): boolean {
  let nodes = roots;
  let added = false;
  for (const segment of segments) {
    let node = nodes.find((known) => known.is(segment));
    if (node === undefined) {
      node = new LayoutNode(segment);
      added = true;
      nodes.unshift(node);
      if (nodes.length > MAX_ALTERNATIVES) nodes.pop();
    }
    if (segment.slot === Slot.end) node.plan = plan;
    nodes = node.followers;
  }
  return added;
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}

const digitsAsZero = (byte: number): number => (byte >= 48 && byte <= 57 ? 48 : byte);

function sameShape(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => digitsAsZero(byte) === digitsAsZero(b[index] as number));
}
