import { type Meaning, meaningOf, normalise } from "./fields.ts";

/** Keys remembered in all; logs with more (ids as keys) are still read, only slower. */
const MAX_NODES = 20_000;

/** A key as it was met inside its objects, with what it means. */
export class KeyNode {
  readonly meaning: Meaning | undefined;
  readonly #path: readonly string[];
  readonly #children = new Map<string, KeyNode>();
  readonly #tree: { nodes: number };

  private constructor(path: readonly string[], tree: { nodes: number }) {
    this.#path = path;
    this.#tree = tree;
    this.meaning = path.length === 0 ? undefined : meaningOf(path);
  }

  static root(): KeyNode {
    return new KeyNode([], { nodes: 0 });
  }

  /** The node of `key` inside this one: learned once, then one look-up. */
  child(key: string): KeyNode {
    let node = this.#children.get(key);
    if (node === undefined) {
      // a dotted key is the path it spells
      const parts = key.includes(".") ? key.split(".").map(normalise) : [normalise(key)];
      node = new KeyNode([...this.#path, ...parts], this.#tree);
      if (this.#tree.nodes < MAX_NODES) {
        this.#tree.nodes++;
        this.#children.set(key, node);
      }
    }
    return node;
  }
}
