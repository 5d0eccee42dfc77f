import { type JsonObject, Line } from "../model/line.ts";

/** What the claims of others looked at before they let a line pass. */
export interface Asked {
  /** Top-level keys of a JSON line whose values were looked at. */
  readonly keys: ReadonlySet<string>;
  /** The text itself was looked at. */
  readonly text: boolean;
}

/** A line that notes which values of its object a claim looks at. A claim gives the same answer as long as those stay. */
export class AskedLine extends Line {
  readonly #line: Line;
  readonly #object: JsonObject | undefined;
  readonly #keys = new Set<string>();
  #text = false;

  constructor(line: Line) {
    super();
    this.#line = line;
    this.bytes = line.bytes;
    this.start = line.start;
    this.end = line.end;
    this.timeMs = line.timeMs;
    this.readMs = line.readMs;
    this.origin = line.origin;
    this.cut = line.cut;
    this.endsInReturn = line.endsInReturn;
    const { json } = line;
    this.#object =
      json &&
      new Proxy(json, {
        get: (target, key) => {
          if (typeof key === "string") this.#keys.add(key);
          return Reflect.get(target, key) as unknown;
        },
      });
  }

  get asked(): Asked {
    return { keys: this.#keys, text: this.#text };
  }

  override get text(): string {
    this.#text = true;
    return this.#line.text;
  }

  override get json(): JsonObject | undefined {
    return this.#object;
  }
}
