/** Nesting that a value of a log may have. */
const MAX_DEPTH = 16;
/** Items of a list that are kept; the numbers behind them (token ids) are stepped over. */
const KEPT_NUMBERS = 16;
/** Values that one log line may cost, all attempts at reading it together. */
const MAX_VALUES = 12_000;

export type PythonValue = string | number | boolean | null | PythonValue[] | { [key: string]: PythonValue };

/** What is left to be spent on a line. */
export interface Budget {
  values: number;
}

export const newBudget = (): Budget => ({ values: MAX_VALUES });

export interface ReadPython {
  readonly value: PythonValue;
  /** Index after the value. */
  readonly end: number;
}

/**
 * Reads what Python's `repr` wrote at `at`: dictionary, list, tuple, string, number, `True`, `None`, a call (`Name(key=value, …)`,
 * as an object of its named arguments) or an enumeration member (`<HTTPStatus.BAD_REQUEST: 400>`, as its number). Strings and
 * lists that SGLang shortened (`'start' ... 'end'`) read as their first half, and of a long list of numbers as many are kept.
 *
 * @returns Undefined when no whole value stands there (cut by a length limit, too deep, or the budget is spent).
 */
export function readPython(text: string, at: number, budget = newBudget()): ReadPython | undefined {
  const reader = new Reader(text, at, budget);
  try {
    const value = reader.value(0);
    return { value, end: reader.at };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

class Reader {
  at: number;
  readonly #text: string;
  readonly #end: number;
  readonly #budget: Budget;

  constructor(text: string, at: number, budget: Budget) {
    this.#text = text;
    this.at = at;
    this.#end = text.length;
    this.#budget = budget;
  }

  value(depth: number): PythonValue {
    if (depth > MAX_DEPTH || --this.#budget.values < 0) throw new RangeError("too deep or too much");
    this.#space();
    const value = this.#one(depth);
    if (this.#text.startsWith(" ... ", this.at)) {
      this.at += 5;
      this.#one(depth);
    }
    return value;
  }

  #one(depth: number): PythonValue {
    switch (this.#code()) {
      case 123: // {
        return this.#dictionary(depth);
      case 91: // [
        return this.#list(depth, 93);
      case 40: // (
        return this.#list(depth, 41);
      case 39: // '
      case 34: // "
        return this.#string();
      case 60: // <
        return this.#angled();
      default:
        return this.#word(depth);
    }
  }

  #dictionary(depth: number): PythonValue {
    const result: { [key: string]: PythonValue } = {};
    this.at++;
    while (!this.#closes(125)) {
      const key = this.value(depth + 1);
      this.#space();
      if (this.#code() !== 58) continue; // a set
      this.at++;
      const value = this.value(depth + 1);
      if (typeof key === "string" && key !== "__proto__") result[key] = value;
    }
    return result;
  }

  #list(depth: number, close: number): PythonValue[] {
    const result: PythonValue[] = [];
    this.at++;
    while (!this.#closes(close)) {
      if (result.length >= KEPT_NUMBERS) this.#skipNumbers();
      if (this.#code() === close) continue;
      result.push(this.value(depth + 1));
    }
    return result;
  }

  #skipNumbers(): void {
    const text = this.#text;
    let at = this.at;
    for (let code = text.charCodeAt(at); isNumeric(code); code = text.charCodeAt(at)) at++;
    this.at = at;
  }

  /** `Name(first, key=value)`; the opening parenthesis is next. */
  #call(depth: number): PythonValue {
    const result: { [key: string]: PythonValue } = {};
    this.at++;
    while (!this.#closes(41)) {
      this.#space();
      const from = this.at;
      const name = this.#name();
      if (name !== "" && this.#code() === 61) {
        this.at++;
        const value = this.value(depth + 1);
        if (name !== "__proto__") result[name] = value;
      } else {
        this.at = from;
        this.value(depth + 1);
      }
    }
    return result;
  }

  /** Steps over a comma; true (and over it) at the closing bracket. */
  #closes(close: number): boolean {
    this.#space();
    if (this.#code() === 44) {
      this.at++;
      this.#space();
    }
    if (this.at >= this.#end) throw new RangeError("cut");
    if (this.#code() !== close) return false;
    this.at++;
    return true;
  }

  #string(): string {
    const quote = this.#code();
    const from = ++this.at;
    let escaped = false;
    for (; this.at < this.#end; this.at++) {
      const code = this.#code();
      if (code === quote) {
        const raw = this.#text.slice(from, this.at++);
        return escaped ? unescape(raw) : raw;
      }
      if (code === 92) {
        escaped = true;
        this.at++;
      }
    }
    throw new RangeError("cut");
  }

  #angled(): PythonValue {
    const close = this.#text.indexOf(">", this.at);
    if (close < 0 || close >= this.#end) throw new RangeError("cut");
    const inner = this.#text.slice(this.at + 1, close);
    this.at = close + 1;
    const member = /: (-?\d{1,15})$/.exec(inner.slice(-32));
    return member === null ? inner : Number(member[1]);
  }

  #word(depth: number): PythonValue {
    const from = this.at;
    for (let code = this.#code(); isWord(code) || code === 46 || code === 43 || code === 45; code = this.#code())
      this.at++;
    const word = this.#text.slice(from, this.at);
    if (word === "" || this.at >= this.#end) throw new RangeError("no literal");
    if (word === "None") return null;
    if (word === "True" || word === "False") return word === "True";
    const number = Number(word);
    if (!Number.isNaN(number)) return number;
    const next = this.#code();
    if (next === 40) return this.#call(depth);
    // b'…'
    if ((next === 39 || next === 34) && word.length <= 2) return this.#string();
    if (word === "nan" || word === "inf" || word === "-inf") return Number.NaN;
    return word;
  }

  #name(): string {
    const from = this.at;
    while (isWord(this.#code())) this.at++;
    return this.#text.slice(from, this.at);
  }

  #space(): void {
    while (this.#code() === 32) this.at++;
  }

  /** NaN at the end. */
  #code(): number {
    return this.at < this.#end ? this.#text.charCodeAt(this.at) : Number.NaN;
  }
}

const isWord = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95;

/** Digits and what stands in and between numbers: `, + - . e` and space. */
const isNumeric = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 43 && code <= 46) || code === 32 || code === 101;

const ESCAPE = /\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))/gsu;
const NAMED: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

function unescape(raw: string): string {
  return raw.replace(ESCAPE, (_, x?: string, u?: string, long?: string, other = "") => {
    const hex = x ?? u ?? long;
    if (hex === undefined) return NAMED[other] ?? other;
    const point = Number.parseInt(hex, 16);
    return point <= 0x10ffff ? String.fromCodePoint(point) : "\ufffd";
  });
}
