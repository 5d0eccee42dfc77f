import fc from "fast-check";
import { expect, test } from "vitest";
import type { FramerState } from "../../../src/frame/framer.ts";
import { countInvalidUtf8 } from "../../../src/frame/utf8.ts";
import { type Framed, frame, newFramer, READ_MS, texts } from "./frame-lines.ts";

const T = "2026-03-02T17:00:00.669000423Z";
const out = (framed: readonly Framed[]): string[] => framed.map(({ text }) => text);

test("a part whose end does not come is released ten seconds after its last piece", () => {
  const lines: Framed[] = [];
  const framer = newFramer(lines);
  framer.push(Buffer.from(`${T} stdout P a\n`), 0, 1000);
  framer.push(Buffer.from(`${T} stdout P b\n`), 50, 6000);
  framer.flush(15_999);
  expect(lines).toEqual([]);
  framer.flush(16_000);
  expect(out(lines)).toEqual(["ab"]);
  framer.push(Buffer.from(`${T} stdout F late\n`), 100, 17_000);
  expect(out(lines)).toEqual(["ab", "late"]);
});

test("a clock that is set back neither releases a part nor holds it for ever", () => {
  const lines: Framed[] = [];
  const framer = newFramer(lines);
  framer.push(Buffer.from(`${T} stdout P a\n`), 0, 3_600_000);
  framer.flush(0);
  framer.flush(9_999);
  expect(lines).toEqual([]);
  framer.flush(10_000);
  expect(out(lines)).toEqual(["a"]);
});

test("after a restart the wait begins anew", () => {
  const lines: Framed[] = [];
  const before = newFramer(lines);
  before.push(Buffer.from(`${T} stdout P a\n`), 0, 1000);
  const after = newFramer(lines);
  after.state = structuredClone(before.state);
  after.flush(100_000);
  after.push(Buffer.from(`${T} stdout F b\n`), 50, 100_001);
  expect(out(lines)).toEqual(["ab"]);
});

test("a part goes on in the next file of its stream; a last line without newline does not", () => {
  const lines: Framed[] = [];
  const framer = newFramer(lines);
  framer.push(Buffer.from(`${T} stdout P a\n${T} stderr F cut`), 0, READ_MS);
  framer.endLine();
  framer.push(Buffer.from(`${T} stdout F b\n`), 0, READ_MS);
  expect(out(lines)).toEqual(["cut", "ab"]);
});

test("joined parts are cut at the limit and counted", () => {
  const part = (tags: string, text: string): string => `${T} stdout ${tags} ${text.repeat(40)}\n`;
  const { lines, framer } = frame(part("P", "x") + part("P", "y") + part("F", "z") + part("F", "n"), {
    maxLineBytes: 100,
  });
  expect(lines.map(({ text, cut }) => [text, cut])).toEqual([
    ["x".repeat(40) + "y".repeat(40) + "z".repeat(20), true],
    ["n".repeat(40), false],
  ]);
  expect([framer.overlong, framer.skippedBytes]).toEqual([1, 20]);
});

test("a line with a part that was cut is a cut line", () => {
  const { lines } = frame(`${T} stdout P ${"x".repeat(70)}\n${T} stdout F y\n`, { maxLineBytes: 100 });
  expect(lines.map(({ text, cut }) => [text, cut])).toEqual([["x".repeat(60) + "y", true]]);
});

test("a flood of open parts lets the oldest go", () => {
  const entry = (id: number, text: string): string =>
    `${JSON.stringify({ __CURSOR: "1", CONTAINER_ID: String(id), CONTAINER_PARTIAL_MESSAGE: "true", MESSAGE: text })}\n`;
  const log = Array.from({ length: 100 }, (_, id) => entry(id, `m${id}`)).join("");
  const lines: Framed[] = [];
  const framer = newFramer(lines);
  framer.push(Buffer.from(log), 0, READ_MS);
  expect(out(lines)).toEqual(Array.from({ length: 36 }, (_, id) => `m${id}`));
});

test("a line cut at the limit says so, and is a line of its wrapper still", () => {
  const { lines, framer } = frame(`${T} stdout F ${"x".repeat(200)}\n`, { maxLineBytes: 100 });
  expect(lines).toEqual([{ text: "x".repeat(60), time: "2026-03-02T17:00:00.669Z", origin: undefined, cut: true }]);
  expect([framer.overlong, framer.skippedBytes]).toEqual([1, 140]);
});

test.for([
  { name: "plain", log: "a\r\nb\n" },
  { name: "CRI", log: `${T} stdout F a\r\n${T} stdout F b\n` },
  { name: "CRI in parts", log: `${T} stdout P a\n${T} stdout F \r\n${T} stdout P b\n${T} stdout F \n` },
  {
    name: "docker-json",
    log: ["a\r\n", "b\n"].map((log) => JSON.stringify({ log, stream: "stdout", time: T })).join("\n"),
  },
  { name: "journald json", log: '{"__CURSOR":"1","MESSAGE":"a\\r"}\r\n{"__CURSOR":"1","MESSAGE":"b"}\r\n' },
  { name: "journald json, lines in one", log: '{"__CURSOR":"1","MESSAGE":"a\\r\\nb"}\n' },
  { name: "syslog, escaped", log: "Oct  9 08:53:20 h a[1]: a#015#012b\n" },
])("a carriage return before the line end is told, and is no text: $name", ({ log }) => {
  const seen = (cuts: readonly number[]): unknown =>
    frame(log, { cuts }).lines.map(({ text, returned = false }) => [text, returned]);
  for (let cut = 0; cut < log.length; cut++) {
    expect(seen([cut])).toEqual([
      ["a", true],
      ["b", false],
    ]);
  }
});

test("physical lines are counted, whatever carries them", () => {
  expect(frame("__CURSOR=1\nMESSAGE=x\n\n").framer.lines).toBe(3);
  expect(frame(`${T} stdout P x\n${T} stdout F y\n`).framer.lines).toBe(2);
  expect(frame("a\nb").framer.lines).toBe(2);
});

test.for([
  { name: "none in ASCII", bytes: [97, 98], invalid: 0 },
  { name: "none in valid text", bytes: [...Buffer.from("é€😀\u{10ffff}")], invalid: 0 },
  { name: "a lone byte", bytes: [97, 0xff, 98], invalid: 1 },
  { name: "a character cut short", bytes: [0xf0, 0x9f, 0x98, 97], invalid: 3 },
  { name: "a character cut short at the end", bytes: [97, 0xe2, 0x82], invalid: 2 },
  { name: "an overlong form", bytes: [0xc0, 0x80, 0xe0, 0x80, 0x80], invalid: 5 },
  { name: "a surrogate", bytes: [0xed, 0xa0, 0x80], invalid: 3 },
  { name: "past the last code point", bytes: [0xf4, 0x90, 0x80, 0x80], invalid: 4 },
])("invalid UTF-8: $name", ({ bytes, invalid }) => {
  expect(countInvalidUtf8(Buffer.from(bytes), 0, bytes.length)).toBe(invalid);
  for (let cut = 0; cut <= bytes.length; cut++) {
    const { framer } = frame(Buffer.from([120, 10, ...bytes, 10, 121, 10]), { cuts: [cut + 2] });
    expect(framer.invalidBytes).toBe(invalid);
  }
});

test("invalid bytes are counted once, in joined parts, objects and byte arrays too", () => {
  const bad = Buffer.from([0xff]);
  const count = (...parts: Array<string | Buffer>): number =>
    frame(Buffer.concat(parts.map((part) => Buffer.from(part as string)))).framer.invalidBytes;
  expect(count(`${T} stdout P a`, bad, `\n${T} stdout F b`, bad, "\n")).toBe(2);
  expect(count(`{"log":"a`, bad, `\\n","stream":"stdout","time":"${T}"}\n`)).toBe(1);
  expect(count('{"__CURSOR":"1","MESSAGE":[97,255,98]}\n')).toBe(1);
  expect(count("__CURSOR=1\nMESSAGE=a", bad, "\n\n")).toBe(1);
  expect(count("Oct  9 08:53:20 h a[1]: x#011", bad, "\n")).toBe(1);
  expect(count("Oct  9 08:53:20 h a[1]: x", bad, "\n")).toBe(1);
});

test("a bad byte does not stop the lines after it", () => {
  const log = Buffer.concat([
    Buffer.from("good\n".repeat(10)),
    Buffer.from([0x62, 0xff, 10]),
    Buffer.from("good\n".repeat(20_000)),
  ]);
  const { lines, framer } = frame(log);
  expect([lines.length, lines[10]?.text, framer.invalidBytes]).toEqual([20_011, "b\ufffd", 1]);
});

test("the hole that a truncated file leaves is passed over and counted, wrapped lines behind it are read", () => {
  const { lines, framer } = frame(`${"\0".repeat(100_000)}${T} stdout F x\na\0b\n`, { cuts: [10, 5000, 70_000] });
  expect(out(lines)).toEqual(["x", "a\0b"]);
  expect([framer.nulBytes, framer.overlong]).toEqual([100_000, 0]);
});

const utf16 = (text: string, endian: "le" | "be"): Buffer => {
  const bytes = Buffer.from(`\ufeff${text}`, "utf16le");
  return endian === "be" ? bytes.swap16() : bytes;
};

test.for(["le", "be"] as const)("UTF-16 %s is read by its byte order mark, however it is cut", (endian) => {
  // 上 is U+4E0A: its bytes hold what is a newline in UTF-8
  const text = `a\r\nk😀z 上下\n\n${T} stdout F x\nlast`;
  const bytes = utf16(text, endian);
  for (let cut = 0; cut < bytes.length; cut++) {
    const { lines, framer } = frame(bytes, { cuts: [cut, cut + 1] });
    expect(out(lines)).toEqual(["a", "k😀z 上下", "", "x", "last"]);
    expect([framer.lines, framer.invalidBytes]).toEqual([5, 0]);
  }
});

test.for(["le", "be"] as const)("UTF-16 %s goes on after a crash at any byte", (endian) => {
  const bytes = utf16("a\nk😀z 上\n\nb\n", endian);
  for (let kill = 0; kill < bytes.length; kill++) {
    const { lines, framer } = frame(bytes, { kills: [kill] });
    expect(out(lines)).toEqual(["a", "k😀z 上", "", "b"]);
    expect(framer.frame).toBe("utf-16");
  }
});

test("UTF-16: offsets speak of the file's bytes", () => {
  const framer = newFramer([]);
  framer.push(utf16("ab\ncd", "le"), 0, READ_MS);
  expect(framer.heldOffset).toBe(2 + 2 * 3);
  framer.push(Buffer.from([10, 0]), 12, READ_MS);
  expect(framer.heldOffset).toBeUndefined();
  framer.push(Buffer.from([65]), 14, READ_MS);
  expect(framer.heldOffset).toBe(14);
});

test("UTF-16 can be told when reading starts behind the head", () => {
  const lines: Framed[] = [];
  const framer = newFramer(lines);
  const bytes = utf16("a\nb\n", "le");
  framer.beginsWith(bytes);
  framer.push(bytes.subarray(6), 6, READ_MS);
  expect(out(lines)).toEqual(["b"]);
});

test("a new file under the same name may be encoded otherwise", () => {
  const lines: Framed[] = [];
  const framer = newFramer(lines);
  framer.push(utf16("a\n", "le"), 0, READ_MS);
  framer.push(Buffer.from("b\n"), 0, READ_MS);
  framer.push(utf16("c\n", "be"), 0, READ_MS);
  expect(out(lines)).toEqual(["a", "b", "c"]);
});

test("lone surrogates and half characters count as invalid", () => {
  expect(frame(Buffer.from([0xff, 0xfe, 0x00, 0xd8, 0x41, 0x00, 0x0a, 0x00])).framer.invalidBytes).toBe(2);
  expect(frame(Buffer.from([0xff, 0xfe, 0x41, 0x00, 0x0a])).framer.invalidBytes).toBe(1);
});

test("a stream of one byte that might begin a mark is delivered", () => {
  expect(texts(Buffer.from([0xff]))).toEqual(["\ufffd"]);
});

test("the state survives structured cloning and holds no more than the parts", () => {
  const framer = newFramer([]);
  framer.push(Buffer.from(`${T} stdout P ${"x".repeat(100)}\n`), 0, READ_MS);
  const state: FramerState = structuredClone(framer.state);
  const [part] = [...state.parts.values()];
  expect(part?.bytes.buffer.byteLength).toBeLessThan(300);
});

/** One log of each kind, for cutting and killing at any byte. */
const binary = Buffer.concat([
  Buffer.from("__CURSOR=1\n__REALTIME_TIMESTAMP=1772470800669000\nMESSAGE\n"),
  Buffer.from([13, 0, 0, 0, 0, 0, 0, 0]),
  Buffer.from("a\n\r\n\0b\nMESSAG\nSYSLOG_IDENTIFIER=vllm\n\n__CURSOR=2\nMESSAGE\n"),
  Buffer.from([10, 0, 0, 0, 0, 0, 0, 0]),
  Buffer.from("0123456789\n\nplain\n"),
]);
const LOGS: ReadonlyArray<readonly [string, Buffer]> = [
  [
    "cri",
    Buffer.from(
      `${T} stdout P a\n${T} stderr P 1é\n${T} stdout P b\n${T} stdout F c\r\n${T} stderr F 2\nplain\n${T} stdout P z`,
    ),
  ],
  [
    "docker",
    Buffer.from(["a", "b\n", "c"].map((log) => JSON.stringify({ log, stream: "stdout", time: T })).join("\n")),
  ],
  ["export", binary],
  ["short", Buffer.from("Oct 09 08:53:21 h rag[77]: a\n                           b\nOct  9 08:53:21 h bare {}\nx\n")],
  ["iso", Buffer.from("2026-11-30T22:51:18+00:00 vm a[1]: x\n2026-11-30T22:51:18+00:00 - - nil all\n")],
  ["utf16", utf16(`${T} stdout P a\n${T} stdout F b\n`, "be")],
  ["bar", Buffer.from("\r 1%\r 2%\r\r 3%\r\nL\r\n\0\0M\n")],
];

test.for(LOGS)("%s: any chunking gives the same lines", ([, log]) => {
  const once = frame(log);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: log.length }), { maxLength: 8 }), (cuts) => {
      const cut = frame(log, { cuts });
      expect(cut.lines).toEqual(once.lines);
      expect([cut.framer.lines, cut.framer.frame, cut.framer.invalidBytes]).toEqual([
        once.framer.lines,
        once.framer.frame,
        once.framer.invalidBytes,
      ]);
    }),
  );
});

test.for(LOGS)("%s: killed at any byte, the lines come out whole and once", ([, log]) => {
  const once = frame(log);
  for (let kill = 1; kill < log.length; kill++) {
    const { lines, framer } = frame(log, { kills: [kill] });
    expect(lines).toEqual(once.lines);
    expect(framer.frame).toBe(once.framer.frame);
  }
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: log.length }), { maxLength: 8 }), (kills) => {
      expect(frame(log, { kills }).lines).toEqual(once.lines);
    }),
  );
});
