import { closeSync, ftruncateSync, openSync, truncateSync, writeSync } from "node:fs";
import type { Scenario, Stage } from "../stage.ts";

async function nineThen(stage: Stage, count: number): Promise<void> {
  stage.raw("a.log", "");
  await stage.start();
  stage.lines("a.log", 9);
  await stage.pass(700);
  stage.copyTruncate();
  stage.lines("a.log", count);
}

/** C. copytruncate. */
export const COPYTRUNCATE: readonly Scenario[] = [
  { id: 30, title: "Shorter after the truncate", outcome: "EO", rivals: true, run: (stage) => nineThen(stage, 5) },
  {
    id: 31,
    title: "Truncate, wait 1 s, write",
    outcome: "EO",
    rivals: true,
    run: async (stage) => {
      await nineThen(stage, 0);
      await stage.pass(1000);
      stage.lines("a.log", 40);
    },
  },
  { id: 32, title: "Same size after the truncate", outcome: "EO", rivals: true, run: (stage) => nineThen(stage, 9) },
  { id: 33, title: "Larger after the truncate", outcome: "EO", rivals: true, run: (stage) => nineThen(stage, 40) },
  {
    id: 34,
    title: "Every generation begins with the same 2 KiB banner",
    outcome: "EO",
    rivals: true,
    run: async (stage) => {
      const banner = Array.from(
        { length: 40 },
        (_, at) => `banner ${at} of a server that prints the same at each start`,
      );
      stage.tolerate(...banner);
      const text = `${banner.join("\n")}\n`;
      stage.raw("a.log", "");
      await stage.start();
      for (const count of [9, 9, 4, 30, 12]) {
        stage.raw("a.log", text);
        stage.lines("a.log", count);
        await stage.pass(700);
        stage.copyTruncate();
      }
      stage.raw("a.log", text);
      stage.lines("a.log", 5);
    },
  },
  {
    id: 35,
    title: "Unread lines at the truncate, copy beside it",
    outcome: "EO",
    rivals: true,
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      stage.lines("a.log", 9);
      await stage.pass(600);
      stage.lines("a.log", 50);
      stage.copyTruncate();
      stage.lines("a.log", 5);
    },
  },
  {
    id: 36,
    title: "Live writer, 4,850 lines/s, copytruncate every 1.5 s with copies kept",
    outcome: "EO",
    rivals: true,
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      for (let round = 1; round <= 5; round++) {
        for (let tick = 0; tick < 30; tick++) {
          stage.lines("a.log", 243);
          await stage.pass(50);
        }
        stage.lines("a.log", 243);
        stage.copyTruncate("a.log", `a.log.${round}`);
      }
      stage.lines("a.log", 243);
    },
  },
  {
    id: 37,
    title: "Stale writer without O_APPEND: a hole of NULs",
    outcome: "EO",
    rivals: true,
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      const writer = stage.writer("a.log", "w");
      writer.lines(50);
      await stage.pass(700);
      writer.lines(7);
      stage.copyTruncate();
      writer.lines(5);
      await stage.pass(700);
      writer.lines(5);
      writer.close();
    },
  },
  {
    id: 38,
    title: "Hole of 100 GiB, passed over in under 1 s of CPU",
    outcome: "EO",
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      stage.lines("a.log", 9);
      await stage.pass(300);
      stage.copyTruncate();
      const fd = openSync(stage.at("a.log"), "r+");
      writeSync(fd, stage.make(5), 100 * 2 ** 30 + 4711);
      closeSync(fd);
      const before = process.cpuUsage();
      await stage.pass(300);
      const { user, system } = process.cpuUsage(before);
      stage.check("CPU under 1 s", user + system < 1e6, true);
      stage.check("hole counted", stage.self?.stats.skippedBytes.get("hole"), 100 * 2 ** 30 + 4711);
      stage.lines("a.log", 5);
    },
  },
  {
    id: 39,
    title: "The copy matches the pattern; its unread tail is wanted, its start is not",
    outcome: "EO",
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start({ patterns: ["a.log*"] });
      for (let round = 1; round <= 4; round++) {
        stage.lines("a.log", 60);
        await stage.pass(700);
        stage.lines("a.log", 10);
        stage.copyTruncate("a.log", `a.log.${round}`);
        stage.lines("a.log", 20);
        await stage.pass(round === 2 ? 80_000 : 700);
      }
      await stage.restart();
      await stage.pass(10_000);
    },
  },
  {
    id: 40,
    title: "Late line to the copy, new line to the file",
    outcome: "EO",
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start({ patterns: ["a.log*"] });
      stage.lines("a.log", 1);
      await stage.pass(700);
      stage.copyTruncate();
      stage.lines("a.log.1", 1);
      stage.lines("a.log", 1);
      await stage.pass(700);
      stage.lines("a.log.1", 1);
    },
  },
  {
    id: 41,
    title: "Truncated to a size > 0, in the middle of a line",
    outcome: "EO",
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      stage.lines("a.log", 20);
      await stage.pass(700);
      truncateSync(stage.at("a.log"), 100);
      await stage.pass(300);
      stage.lines("a.log", 5);
    },
  },
  {
    id: 42,
    title: "Truncated while the reader is behind, no copy: the loss is counted to the byte",
    outcome: "EO+loss",
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      const text = stage.make(60_000, "x".repeat(90));
      stage.raw("a.log", text);
      await stage.self?.glimpse();
      const read = stage.self?.stats.readBytes ?? 0;
      stage.check("behind", read > 0 && read < text.length, true);
      truncateSync(stage.at("a.log"));
      stage.giveUp(text.slice(read));
      stage.lines("a.log", 5);
      await stage.pass(300);
      stage.check("lost", stage.self?.stats.lostBytes.get("truncated"), text.length - read);
      stage.check("truncations", stage.self?.stats.truncations, 1);
    },
  },
  {
    id: 43,
    title: "Truncate and rewrite across a restart",
    outcome: "EO",
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      stage.lines("a.log", 20);
      await stage.pass(300);
      await stage.restart(() => {
        stage.lines("a.log", 5);
        stage.copyTruncate();
        stage.lines("a.log", 60);
      });
      await stage.crash(() => {
        stage.copyTruncate("a.log", "a.log.2");
        stage.lines("a.log", 60);
        // twice while nobody looked
        stage.copyTruncate("a.log", "a.log.3");
        stage.lines("a.log", 3);
      });
    },
  },
];

/** Writes at an offset of a file that a stale writer left. */
export function writeAt(file: string, text: string, at: number): void {
  const fd = openSync(file, "r+");
  writeSync(fd, text, at);
  closeSync(fd);
}

/** Makes a file longer without content. */
export function extend(file: string, size: number): void {
  const fd = openSync(file, "r+");
  ftruncateSync(fd, size);
  closeSync(fd);
}
