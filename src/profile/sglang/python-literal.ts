/** Nesting and size that a literal of a log may have. */
const MAX_DEPTH = 12;

export type PythonValue = string | number | boolean | null | PythonValue[] | { [key: string]: PythonValue };

/**
 * Reads the Python `repr` of a dictionary, list, string, number, `True`, `False` or `None` that starts at `at`.
 *
 * @returns The value, or undefined when the text is no whole literal there (cut by a length limit, say).
 */
export function parsePythonLiteral(text: string, at: number): PythonValue | undefined {
  const reader = new Reader(text, at);
  try {
    return reader.value(0);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

class Reader {
  readonly #text: string;
  #at: number;

  constructor(text: string, at: number) {
    this.#text = text;
    this.#at = at;
  }

  value(depth: number): PythonValue {
    if (depth > MAX_DEPTH) throw new RangeError("too deep");
    this.#space();
    const code = this.#text.charCodeAt(this.#at);
    if (code === 123) return this.#dictionary(depth);
    if (code === 91) return this.#list(depth, 93);
    if (code === 40) return this.#list(depth, 41);
    if (code === 39 || code === 34) return this.#string(code);
    return this.#word();
  }

  #dictionary(depth: number): PythonValue {
    const result: { [key: string]: PythonValue } = {};
    this.#at++;
    while (!this.#closes(125)) {
      const key = this.value(depth + 1);
      this.#expect(58);
      const value = this.value(depth + 1);
      if (typeof key === "string" && key !== "__proto__") result[key] = value;
    }
    return result;
  }

  #list(depth: number, close: number): PythonValue {
    const result: PythonValue[] = [];
    this.#at++;
    while (!this.#closes(close)) result.push(this.value(depth + 1));
    return result;
  }

  /** Steps over a comma; true (and over it) at the closing bracket. */
  #closes(close: number): boolean {
    this.#space();
    if (this.#text.charCodeAt(this.#at) === 44) {
      this.#at++;
      this.#space();
    }
    if (this.#at >= this.#text.length) throw new RangeError("cut");
    if (this.#text.charCodeAt(this.#at) !== close) return false;
    this.#at++;
    return true;
  }

  #string(quote: number): string {
    let result = "";
    let from = ++this.#at;
    for (; this.#at < this.#text.length; this.#at++) {
      const code = this.#text.charCodeAt(this.#at);
      if (code === quote) {
        result += this.#text.slice(from, this.#at++);
        return result;
      }
      if (code === 92) {
        result += this.#text.slice(from, this.#at) + (this.#text[this.#at + 1] ?? "");
        this.#at++;
        from = this.#at + 1;
      }
    }
    throw new RangeError("cut");
  }

  #word(): PythonValue {
    const from = this.#at;
    while (/[\w.+-]/.test(this.#text[this.#at] ?? "")) this.#at++;
    const word = this.#text.slice(from, this.#at);
    if (word === "None") return null;
    if (word === "True" || word === "False") return word === "True";
    const number = Number(word);
    if (word !== "" && !Number.isNaN(number)) return number;
    if (word === "nan" || word === "inf" || word === "-inf") return Number.NaN;
    throw new RangeError("no literal");
  }

  #expect(code: number): void {
    this.#space();
    if (this.#text.charCodeAt(this.#at) !== code) throw new RangeError("no literal");
    this.#at++;
  }

  #space(): void {
    while (this.#text.charCodeAt(this.#at) === 32) this.#at++;
  }
}
