import fc from "fast-check";
import { expect, test } from "vitest";
import { type Framed, frame, texts } from "./frame-lines.ts";

/** What programs write: text of any language, quotes, colours, indentation, lookalikes of wrappers in the middle. */
const word = fc.constantFrom(
  "INFO",
  "é",
  "😀",
  "\u2028",
  '"',
  "\\",
  "{",
  "}",
  "a",
  " ",
  "  ",
  "\t",
  ": ",
  "[1]: ",
  '{"log":"x"}',
  "stdout F ",
  "#",
  "<14>",
  "\u0000x",
  "vllm-1  | ",
);
/** A first word that begins no wrapper: what is read must be exactly what was written. */
const line = fc
  .tuple(fc.constantFrom("x ", "é", "(", '"', "  at", "*", "-"), fc.array(word, { maxLength: 12 }))
  .map(([first, words]) => first + words.join(""));
const streams = fc.array(fc.tuple(fc.constantFrom("stdout", "stderr"), line, fc.array(fc.nat(), { maxLength: 4 })), {
  maxLength: 12,
});
type Streams = Array<[string, string, number[]]>;

/** Deals the parts of each stream's lines out in an interleaving that `order` decides. */
function interleave<Part>(
  written: Streams,
  cut: (line: string, cuts: number[], stream: string) => Part[],
  order: number[],
): Part[] {
  const queues = ["stdout", "stderr"].map((stream) =>
    written.filter(([name]) => name === stream).flatMap(([, text, cuts]) => cut(text, cuts, stream)),
  );
  const parts: Part[] = [];
  for (let turn = 0; queues.some((queue) => queue.length > 0); turn++) {
    const turnOf = order[turn % order.length] ?? 0;
    const next = queues[turnOf]?.shift() ?? queues[1 - turnOf]?.shift();
    if (next !== undefined) parts.push(next);
  }
  return parts;
}

function pieces(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const ends = cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
}

const sorted = (written: Streams): string[] => written.map(([, text]) => text).sort();
const order = fc.array(fc.nat({ max: 1 }), { minLength: 1, maxLength: 8 });

test("lines cut by CRI at any byte, streams interleaved, come out as they were", () => {
  fc.assert(
    fc.property(streams, order, fc.array(fc.nat(), { maxLength: 6 }), (written, turns, kills) => {
      const cri = (text: string, cuts: number[], stream: string): Buffer[] => {
        const parts = pieces(Buffer.from(text), cuts);
        return parts.map((part, index) =>
          Buffer.concat([
            Buffer.from(`2026-03-02T17:00:00.5Z ${stream} ${index === parts.length - 1 ? "F" : "P"} `),
            part,
            Buffer.from("\n"),
          ]),
        );
      };
      const log = Buffer.concat(interleave(written, cri, turns));
      const once = frame(log);
      expect(once.lines.map(({ text }) => text).sort()).toEqual(sorted(written));
      expect(once.framer.invalidBytes).toBe(0);
      const at = kills.map((kill) => 1 + (kill % (log.length + 1)));
      expect(frame(log, { kills: at }).lines).toEqual(once.lines);
    }),
  );
});

test("lines cut by Docker between any characters, streams interleaved, come out as they were", () => {
  fc.assert(
    fc.property(streams, order, fc.array(fc.nat(), { maxLength: 6 }), (written, turns, kills) => {
      const docker = (text: string, cuts: number[], stream: string): string[] => {
        const characters = Array.from(text);
        const ends = cuts.map((cut) => 1 + (cut % characters.length)).sort((a, b) => a - b);
        const parts = [...new Set([...ends, characters.length])].map((end, index, all) =>
          characters.slice(index === 0 ? 0 : all[index - 1], end).join(""),
        );
        parts[parts.length - 1] += "\n";
        return parts.map((log) => `${JSON.stringify({ log, stream, time: "2026-03-02T17:00:00.5Z" })}\n`);
      };
      const log = interleave(written, docker, turns).join("");
      const once = frame(log);
      expect(once.lines.map(({ text }) => text).sort()).toEqual(sorted(written));
      const at = kills.map((kill) => 1 + (kill % (log.length + 1)));
      expect(frame(log, { kills: at }).lines).toEqual(once.lines);
    }),
  );
});

const lines = fc.array(line, { minLength: 1, maxLength: 12 });
const WRAPS: ReadonlyArray<readonly [string, (text: string) => string]> = [
  ["syslog", (text) => `Oct  9 08:53:20 gpu-01 vllm[42]: ${text}\n`],
  ["syslog with a priority", (text) => `<134>Oct 19 08:53:20 gpu-01 vllm[42]: ${text}\n`],
  ["RSYSLOG_FileFormat", (text) => `2026-11-30T22:51:18.593999+00:00 gpu-01 vllm[42]: ${text}\n`],
  ["RFC 5424", (text) => `<134>1 2026-11-30T22:51:18Z gpu-01 vllm 42 - [a@1 b="\\]\\""] \ufeff${text}\n`],
  ["compose", (text) => `vllm-1  | ${text}\n`],
  ["docker logs -t", (text) => `2026-11-30T22:51:18.593999123Z ${text}\n`],
  ["journald json", (text) => `${JSON.stringify({ MESSAGE: text, __CURSOR: "1" })}\n`],
  ["journald json, bytes", (text) => `${JSON.stringify({ MESSAGE: [...Buffer.from(text)], __CURSOR: "1" })}\n`],
  ["journald export", (text) => `__CURSOR=1\nMESSAGE=${text}\n\n`],
];

test.for(WRAPS)("%s: lines come out as they were", ([, wrap]) => {
  fc.assert(
    fc.property(lines, (written) => {
      expect(texts(written.map(wrap).join(""))).toEqual(written);
    }),
  );
});

test("two wrappers around a line come off", () => {
  const inner = WRAPS.filter(([name]) => !["docker logs -t", "journald export", "syslog"].includes(name));
  fc.assert(
    fc.property(lines, fc.constantFrom(...inner), (written, [, wrap]) => {
      const carried = written.map((text) => wrap(text));
      const cri = carried.map((text) => `2026-03-02T17:00:00.5Z stdout F ${text}`).join("");
      expect(texts(cri)).toEqual(written);
      const docker = carried.map(
        (log) => `${JSON.stringify({ log, stream: "stdout", time: "2026-03-02T17:00:00Z" })}\n`,
      );
      expect(texts(docker.join(""))).toEqual(written);
    }),
  );
});

test("bytes of any kind are framed without an exception, in any chunks, the same way", () => {
  const piece = fc.oneof(
    fc.uint8Array({ maxLength: 6 }).map((bytes) => Buffer.from(bytes)),
    fc
      .constantFrom(
        "\n",
        "2026-03-02T17:00:00.5Z stdout P ",
        "2026-03-02T17:00:00.5Z stderr F ",
        '{"log":"a","stream":"stdout","time":"2026-03-02T17:00:00Z"}',
        '{"log":"a\\n","stream":"stdout","time":"2026-03-02T17:00:00Z"}\n',
        "__CURSOR=1\nMESSAGE\n",
        "\u0003\0\0\0\0\0\0\0",
        "MESSAGE=",
        "<14>1 - - - - - - ",
        "Oct 09 08:53:20 h a[1]: ",
        "                        ",
        "#012",
        "vllm-1  | ",
        "\r",
        "\0",
        "{",
        "}",
      )
      .map((text) => Buffer.from(text)),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), fc.array(fc.nat(), { maxLength: 6 }), (parts, places) => {
      const log = Buffer.concat(parts);
      const at = places.map((place) => 1 + (place % (log.length + 1)));
      const once = frame(log, { maxLineBytes: 60 });
      const cut = frame(log, { maxLineBytes: 60, cuts: at });
      const killed = frame(log, { maxLineBytes: 60, kills: at });
      const seen = (lines: readonly Framed[]): string[] => lines.map(({ text, time }) => `${time} ${text}`);
      expect(seen(cut.lines)).toEqual(seen(once.lines));
      expect(seen(killed.lines)).toEqual(seen(once.lines));
      expect([cut.framer.invalidBytes, cut.framer.overlong]).toEqual([once.framer.invalidBytes, once.framer.overlong]);
    }),
    { numRuns: 1000 },
  );
});
