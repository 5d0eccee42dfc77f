import type { JsonObject, Line } from "../model/line.ts";
import type { Profile } from "./profile.ts";

/** Key sequences remembered with the profiles that may claim them; a stream rarely has more kinds of lines. */
const MAX_SHAPES = 16;

interface Shape {
  readonly keys: readonly string[];
  /** Reordered by use: the profile that claimed last is asked first. */
  readonly profiles: Profile[];
}

/**
 * The profiles of one rank that could claim a line. For a JSON line the choice depends on its keys alone, so it is learned
 * per key sequence: an application's lines are not shown to thirty gateways one after another.
 */
export class Candidates {
  readonly all: readonly Profile[];
  /** By the code of a text line's first character. */
  readonly #text = new Map<number, Profile[]>();
  #shapes: Shape[] = [];

  constructor(profiles: readonly Profile[]) {
    this.all = profiles;
  }

  of(line: Line): Profile[] {
    const { json } = line;
    return json === undefined ? this.#ofText(line.text) : this.#ofObject(json);
  }

  #ofText(text: string): Profile[] {
    const code = text.charCodeAt(0);
    let profiles = this.#text.get(code);
    if (profiles === undefined) {
      const first = text[0] ?? "";
      profiles = this.all.filter(
        ({ firstCharacters }) => firstCharacters === undefined || firstCharacters.includes(first),
      );
      if (this.#text.size < 256) this.#text.set(code, profiles);
    }
    return profiles;
  }

  #ofObject(json: JsonObject): Profile[] {
    for (let index = 0; index < this.#shapes.length; index++) {
      const shape = this.#shapes[index] as Shape;
      if (!sameKeys(json, shape.keys)) continue;
      if (index > 0) {
        this.#shapes.splice(index, 1);
        this.#shapes.unshift(shape);
      }
      return shape.profiles;
    }
    const keys = Object.keys(json);
    const profiles = this.all.filter(({ jsonKeys }) => jsonKeys === undefined || jsonKeys.some((key) => key in json));
    this.#shapes.unshift({ keys, profiles });
    if (this.#shapes.length > MAX_SHAPES) this.#shapes.pop();
    return profiles;
  }
}

function sameKeys(json: JsonObject, keys: readonly string[]): boolean {
  let index = 0;
  for (const key in json) if (key !== keys[index++]) return false;
  return index === keys.length;
}
