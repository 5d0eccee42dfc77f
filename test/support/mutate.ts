import { Random } from "../../src/simulate/random.ts";

/** What breaks parsers: brackets without partners, quotes, escapes, signs, long runs, control characters, prefixes of other writers. */
const SPICE = [
  "",
  " ",
  '"',
  "'",
  "\\",
  "{",
  "}",
  "[",
  "]",
  "(",
  ")",
  ":",
  ",",
  "=",
  "-",
  "NaN",
  "Infinity",
  "1e999",
  "-1",
  "0x1f",
  "\u0000",
  "\u001b[31m",
  "\r",
  "\t",
  "é",
  "\ud83d",
  "null",
  "'meta_info': {",
  ": ".repeat(50),
  "(".repeat(200),
  "[".repeat(200),
  "a".repeat(2000),
  "9".repeat(400),
  "INFO:     ",
  " - ",
  '\\"'.repeat(100),
  "%",
  "µs",
];

/** A line near `line`: cut, doubled, spiced, with bytes turned. */
export function mutate(line: string, random: Random, others: readonly string[]): string {
  let text = line;
  for (let step = random.integer(1, 4); step > 0; step--) {
    const at = random.integer(0, text.length);
    switch (random.integer(0, 6)) {
      case 0:
        text = text.slice(0, at);
        break;
      case 1:
        text = text.slice(at);
        break;
      case 2:
        text = text.slice(0, at) + random.pick(SPICE) + text.slice(at);
        break;
      case 3:
        text = text.slice(0, at) + random.pick(SPICE) + text.slice(at + random.integer(1, 8));
        break;
      case 4:
        text = text.slice(0, at) + String.fromCharCode(random.integer(0, 255)) + text.slice(at + 1);
        break;
      case 5:
        text = text.slice(0, at) + text.slice(Math.max(0, at - random.integer(1, 60)));
        break;
      default:
        text = text.slice(0, at) + random.pick(others).slice(random.integer(0, 40));
    }
    if (text.length > 20_000) text = text.slice(0, 20_000);
  }
  return text;
}
