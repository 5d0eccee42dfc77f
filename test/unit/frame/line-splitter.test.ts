import fc from "fast-check";
import { expect, test } from "vitest";
import { LineSplitter } from "../../../src/frame/line-splitter.ts";

interface Split {
  readonly lines: Array<{ text: string; offset: number; cutBytes: number }>;
  readonly splitter: LineSplitter;
}

function split(chunks: readonly Buffer[], maxLineBytes = 1000, from = 0): Split {
  const lines: Split["lines"] = [];
  const splitter = new LineSplitter({
    maxLineBytes,
    onLine: (bytes, start, end, offset, cutBytes) =>
      lines.push({ text: bytes.toString("latin1", start, end), offset, cutBytes }),
  });
  let offset = from;
  for (const chunk of chunks) {
    const copy = Buffer.from(chunk);
    splitter.push(copy, offset);
    copy.fill(0);
    offset += chunk.length;
  }
  return { lines, splitter };
}

const whole = (log: string, maxLineBytes?: number): Split => split([Buffer.from(log, "latin1")], maxLineBytes);
const textsOf = ({ lines }: Split): string[] => lines.map(({ text }) => text);

test.for([
  { name: "ends a line at its newline", log: "a\nbc\n", lines: ["a", "bc"] },
  { name: "delivers empty lines", log: "a\n\nb\n", lines: ["a", "", "b"] },
  { name: "takes the carriage return of a line end away", log: "a\r\nb\r\n", lines: ["a", "b"] },
  { name: "takes several away", log: "a\r\r\n", lines: ["a"] },
  { name: "leaves a carriage return inside a line", log: "b\rc\n", lines: ["b\rc"] },
  { name: "passes over carriage returns in front of a line", log: "\r\rready\n", lines: ["ready"] },
  { name: "takes the last frame of a progress bar", log: "\r 10%\r 20%\r100%\nL x\n", lines: ["100%", "L x"] },
  { name: "does not glue a line to the bar it draws over", log: "\r 10%\r 20%\rL x\n", lines: ["L x"] },
  { name: "a bar that ends in a carriage return shows its last frame", log: "\r 10%\r 20%\r\n", lines: [" 20%"] },
  { name: "passes over the hole in front of a line", log: "a\n\0\0\0b\n", lines: ["a", "b"] },
  { name: "leaves NULs inside a line", log: "a\0b\0\n", lines: ["a\0b\0"] },
  { name: "holds a line without newline", log: "a\nb", lines: ["a"] },
  { name: "does not split at other separators", log: "a\u000b\u000c\u0085b\n", lines: ["a\u000b\u000c\u0085b"] },
])("LineSplitter $name", ({ log, lines }) => {
  expect(textsOf(whole(log))).toEqual(lines);
});

test("an unterminated last line is delivered at the end, once", () => {
  const { splitter, lines } = whole("a\nlast");
  splitter.end();
  splitter.end();
  expect([lines.map(({ text }) => text), splitter.lines]).toEqual([["a", "last"], 2]);
});

test("a dropped line is forgotten, with what the limit had cut off", () => {
  const { splitter, lines } = whole(`x${"y".repeat(20)}`, 10);
  expect(splitter.drop()).toBe(21);
  splitter.push(Buffer.from("new\n"), 0);
  expect([lines.map(({ text }) => text), splitter.overlong]).toEqual([["new"], 0]);
});

test.for([
  { name: "as long as the limit is whole", line: "x".repeat(10), text: "x".repeat(10), cutBytes: 0 },
  {
    name: "as long as the limit is whole with its carriage return",
    line: `${"x".repeat(10)}\r`,
    text: "x".repeat(10),
    cutBytes: 0,
  },
  { name: "longer is cut, and the rest counted", line: "x".repeat(14), text: "x".repeat(10), cutBytes: 4 },
])("a line $name", ({ line, text, cutBytes }) => {
  for (const chunks of [[`${line}\nnext\n`], [line, "\nnext\n"], Array.from(`${line}\nnext\n`)]) {
    const found = split(
      chunks.map((chunk) => Buffer.from(chunk)),
      10,
    );
    expect(found.lines).toEqual([
      { text, offset: 0, cutBytes },
      { text: "next", offset: line.length + 1, cutBytes: 0 },
    ]);
    expect([found.splitter.overlong, found.splitter.skippedBytes]).toEqual([cutBytes > 0 ? 1 : 0, cutBytes]);
  }
});

test("a line of 10 MiB in pieces holds no more than the limit", () => {
  const limit = 256 * 1024;
  const lengths: number[] = [];
  const splitter = new LineSplitter({ maxLineBytes: limit, onLine: (_bytes, start, end) => lengths.push(end - start) });
  const piece = Buffer.alloc(64 * 1024, "x");
  for (let index = 0; index < 160; index++) {
    splitter.push(piece, index * piece.length);
    expect(splitter.heldBytes).toBeLessThanOrEqual(limit + 1);
  }
  expect(splitter.heldOffset).toBe(0);
  splitter.push(Buffer.from("\nnext\n"), 160 * piece.length);
  expect(lengths).toEqual([limit, 4]);
  expect([splitter.overlong, splitter.skippedBytes]).toEqual([1, 160 * piece.length - limit]);
});

test("a progress bar of 10 MiB is no over-long line, and what is read again after a crash moves on with it", () => {
  const { splitter, lines } = split([], 100);
  let offset = 0;
  for (let index = 0; index < 10_000; index++) {
    const frame = Buffer.from(`\r${"#".repeat(50)} ${index}`);
    splitter.push(frame, offset);
    expect(splitter.heldOffset).toBe(offset);
    offset += frame.length;
  }
  splitter.push(Buffer.from("\rL x\n"), offset);
  expect(lines).toEqual([{ text: "L x", offset: offset + 1, cutBytes: 0 }]);
  expect([splitter.overlong, splitter.skippedBytes]).toEqual([0, 0]);
});

const bytesLike = fc
  .array(fc.constantFrom("a", "bb", "\n", "\n", "\r", "\r\n", "\0", "xyz".repeat(5), "é"), { maxLength: 40 })
  .map((parts) => Buffer.from(parts.join("")));
const cutAt = (bytes: Buffer, cuts: readonly number[]): Buffer[] => {
  const ends = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
};
const counters = ({ lines, overlong, skippedBytes }: LineSplitter): number[] => [lines, overlong, skippedBytes];

test("any chunking gives the same lines, offsets and counters", () => {
  fc.assert(
    fc.property(
      bytesLike,
      fc.array(fc.nat(), { maxLength: 12 }),
      fc.integer({ min: 1, max: 20 }),
      (bytes, cuts, max) => {
        const once = split([bytes], max);
        once.splitter.end();
        const pieces = split(cutAt(bytes, cuts), max);
        pieces.splitter.end();
        expect(pieces.lines).toEqual(once.lines);
        expect(counters(pieces.splitter)).toEqual(counters(once.splitter));
        // what a bar draws over may be dropped sooner, but is the same
        expect(pieces.splitter.nulBytes).toBe(once.splitter.nulBytes);
      },
    ),
    { numRuns: 2000 },
  );
});

test("each line stands at its offset", () => {
  fc.assert(
    fc.property(bytesLike, fc.array(fc.nat(), { maxLength: 12 }), (bytes, cuts) => {
      const { lines } = split(cutAt(bytes, cuts));
      for (const { text, offset } of lines) expect(bytes.toString("latin1", offset, offset + text.length)).toBe(text);
    }),
  );
});

test("read again from the held offset, the rest gives the same lines", () => {
  fc.assert(
    fc.property(bytesLike, fc.nat(), fc.integer({ min: 1, max: 20 }), (bytes, cut, max) => {
      const at = cut % (bytes.length + 1);
      const once = split([bytes], max);
      once.splitter.end();
      const before = split([bytes.subarray(0, at)], max);
      const from = before.splitter.heldOffset ?? at;
      const after = split([bytes.subarray(from)], max, from);
      after.splitter.end();
      expect([...before.lines, ...after.lines]).toEqual(once.lines);
      expect(before.splitter.overlong + after.splitter.overlong).toBe(once.splitter.overlong);
    }),
    { numRuns: 2000 },
  );
});

test("raw lines come as they are", () => {
  const { splitter, lines } = split([], 10);
  splitter.raw = true;
  splitter.push(Buffer.from("\0\ra\r\n\r\n0123456789abc\n"), 0);
  expect(lines.map(({ text, cutBytes }) => [text, cutBytes])).toEqual([
    ["\0\ra\r", 0],
    ["\r", 0],
    ["0123456789", 3],
  ]);
});
