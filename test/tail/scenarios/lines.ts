import type { Scenario } from "../stage.ts";

/** A. Lines and bytes. */
export const LINES: readonly Scenario[] = [
  {
    id: 1,
    title: "Plain append",
    outcome: "EO",
    rivals: true,
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      for (let at = 0; at < 10; at++) {
        stage.lines("a.log", 100);
        await stage.pass(100);
      }
    },
  },
  {
    id: 2,
    title: "One line in two writes",
    outcome: "EO",
    rivals: true,
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      stage.raw("a.log", "L part");
      await stage.pass(1000);
      stage.check("nothing before the newline", stage.subject.lines().size, 0);
      stage.raw("a.log", "ial tail\n");
      stage.expect("L partial tail");
    },
  },
  {
    id: 3,
    title: "Last line never ended, process ends",
    outcome: "EO",
    run: async (stage) => {
      let writes = true;
      if (stage.self !== undefined) stage.self.overrides = { hasWriter: () => writes };
      stage.raw("a.log", "");
      await stage.start();
      stage.raw("a.log", "L last words");
      stage.expect("L last words");
      await stage.pass(60_000);
      stage.check("nothing while it is written", stage.subject.lines().size, 0);
      writes = false;
      await stage.pass(60_000);
    },
  },
  {
    id: 4,
    title: "Slow line under the flush timer",
    outcome: "EO",
    rivals: true,
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      const line = "L slow 0123456789 0123456789 x";
      stage.expect(line);
      for (let at = 0; at < line.length; at += 3) {
        stage.raw("a.log", line.slice(at, at + 3));
        await stage.pass(300);
      }
      stage.raw("a.log", "\n");
    },
  },
  {
    id: 5,
    title: "CR LF, lone CR, empty lines, no final newline in a finished file",
    outcome: "EO",
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      stage.raw("a.log", "L a\r\n\nL b\rc\nL d");
      stage.expect("L a", "L b\rc", "L d");
      await stage.pass(500);
      stage.rotate();
      await stage.pass(6000);
      const [pipeline] = stage.self?.pipelines ?? [];
      if (pipeline !== undefined) stage.check("lines", pipeline.framer.lines, 4);
    },
  },
  {
    id: 6,
    title: "Character cut across reads",
    outcome: "EO",
    rivals: true,
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      stage.raw("a.log", Buffer.from("L k\xf0\x9f", "latin1"));
      await stage.pass(700);
      stage.raw("a.log", Buffer.from("\x98\x80z x\n", "latin1"));
      stage.expect("L k😀z x");
      for (const size of [65_535, 65_536, 65_537, 524_287, 524_288]) {
        const line = `L ${"x".repeat(size - 4)}😀 ${size}`;
        stage.expect(line);
        stage.raw("a.log", `${line}\n`);
      }
    },
  },
  {
    id: 7,
    title: "Invalid UTF-8 in one line",
    outcome: "EO",
    rivals: true,
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      stage.lines("a.log", 10);
      stage.raw("a.log", Buffer.from("L bad \xff byte\n", "latin1"));
      stage.expect("L bad \ufffd byte");
      stage.lines("a.log", 20_000);
    },
  },
  {
    id: 8,
    title: "NUL inside a line, colours, U+2028, BOM at the head",
    outcome: "EO",
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      stage.raw("a.log", "\ufeffL first\nL nul\0inside\nL \u001b[31mred\u001b[0m\nL two\u2028lines\nL x\n");
      stage.expect("L first", "L nul\0inside", "L red", "L two\u2028lines", "L x");
    },
  },
  {
    id: 9,
    title: "UTF-16 with BOM, across a restart",
    outcome: "EO",
    run: async (stage) => {
      stage.raw("a.log", Buffer.from("\ufeffL één\r\nL zwei ਊ\r\nL ha", "utf16le"));
      await stage.start();
      await stage.crash(() => stage.raw("a.log", Buffer.from("lf\r\nL vier\r\n", "utf16le")));
      stage.expect("L één", "L zwei ਊ", "L half", "L vier");
    },
  },
  {
    id: 10,
    title: "10 MiB line, newline later, then a normal line",
    outcome: "EO+loss",
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      const long = `L ${"x".repeat(10 * 1024 * 1024 - 2)}`;
      stage.raw("a.log", long);
      await stage.pass(3000);
      stage.raw("a.log", "\n");
      stage.expect(long.slice(0, 1024 * 1024));
      stage.lines("a.log", 1);
      await stage.pass(300);
      const [pipeline] = stage.self?.pipelines ?? [];
      stage.check("cut", pipeline?.framer.overlong, 1);
      stage.check("bytes cut", pipeline?.framer.skippedBytes, 9 * 1024 * 1024);
    },
  },
  {
    id: 11,
    title: "1 GiB without any newline",
    outcome: "EO+loss",
    slow: true,
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      const piece = Buffer.alloc(16 * 1024 * 1024, "x");
      const before = process.memoryUsage.rss();
      for (let at = 0; at < 64; at++) {
        stage.raw("a.log", piece);
        await stage.pass(150);
      }
      const grown = process.memoryUsage.rss() - before;
      stage.check(`memory within 64 MiB (${Math.round(grown / 2 ** 20)})`, grown < 64 * 2 ** 20, true);
      stage.raw("a.log", "\n");
      stage.expect("x".repeat(1024 * 1024));
      stage.lines("a.log", 1);
    },
  },
  {
    id: 12,
    title: "Carriage-return progress bars",
    outcome: "EO",
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      for (let round = 0; round < 30; round++) {
        let bar = "";
        for (let at = 0; at < 1000; at++) bar += `\rLoading ${at / 10}% |${"#".repeat(40)}|`;
        stage.raw("a.log", bar);
        await stage.pass(150);
      }
      stage.raw("a.log", "\rLoading done\n");
      stage.expect("Loading done");
      stage.lines("a.log", 1);
    },
  },
];
