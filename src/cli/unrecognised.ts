/** Distinct shapes kept. */
const MAX_SHAPES = 200;

/** Lines that no profile knows, grouped by their shape: digits, ids and quoted text masked. */
export class UnrecognisedShapes {
  readonly #shapes = new Map<string, { readonly example: string; count: number }>();
  /** Lines of shapes that came after the table was full. */
  more = 0;

  add(text: string): void {
    const shape = shapeOf(text);
    const known = this.#shapes.get(shape);
    if (known !== undefined) known.count++;
    else if (this.#shapes.size < MAX_SHAPES) this.#shapes.set(shape, { example: text.slice(0, 500), count: 1 });
    else this.more++;
  }

  /** Most frequent first. */
  top(limit: number): Array<{ readonly example: string; readonly count: number }> {
    return [...this.#shapes.values()].sort((a, b) => b.count - a.count).slice(0, limit);
  }
}

function shapeOf(text: string): string {
  return text
    .slice(0, 300)
    .replace(/"[^"]*"|'[^']*'/g, '""')
    .replace(/[0-9a-fA-F]{8,}/g, "#")
    .replace(/[0-9]+(?:[.:,-][0-9]+)*/g, "#");
}
