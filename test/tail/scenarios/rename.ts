import { copyFileSync, mkdirSync, readFileSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import type { Scenario, Stage } from "../stage.ts";

function gzip(stage: Stage, name: string): void {
  writeFileSync(stage.at(`${name}.gz`), gzipSync(readFileSync(stage.at(name))));
  rmSync(stage.at(name));
}

/** B. Rotation by rename. */
export const RENAME: readonly Scenario[] = [
  {
    id: 14,
    title: "Rotate, writer moves at once",
    outcome: "EO",
    rivals: true,
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      stage.lines("a.log", 50);
      await stage.pass(600);
      stage.rotate();
      stage.lines("a.log", 50);
      await stage.pass(1000);
      if (stage.self !== undefined) stage.check("rotations", stage.self.stats.rotations, 1);
    },
  },
  {
    id: 15,
    title: "Unread tail at the rename",
    outcome: "EO",
    rivals: true,
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      stage.lines("a.log", 50);
      stage.rotate();
      stage.lines("a.log", 50);
    },
  },
  {
    id: 16,
    title: "Late writer to the old file",
    outcome: "EO",
    rivals: true,
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      stage.lines("a.log", 10);
      await stage.pass(600);
      const old = stage.writer("a.log");
      stage.rotate();
      for (let at = 0; at < 8; at++) {
        old.lines(1);
        await stage.pass(250);
      }
      old.close();
      stage.lines("a.log", 10);
    },
  },
  {
    id: 17,
    title: "Late writer for hours, then a stated wait from the last growth",
    outcome: "EO",
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      stage.lines("a.log", 10);
      const old = stage.writer("a.log");
      stage.rename("a.log", "a.log.1");
      for (let at = 0; at < 240; at++) {
        old.lines(1);
        await stage.pass(45_000);
      }
      stage.check("still followed", stage.self?.tailer?.fileCount, 1);
      await stage.pass(61_000);
      stage.check("let go after 60 s without growth", stage.self?.tailer?.fileCount, 0);
      old.close();
    },
  },
  {
    id: 18,
    title: "Late writer, rotated name in the pattern",
    outcome: "EO",
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start({ patterns: ["a.log*"] });
      for (let round = 1; round <= 3; round++) {
        stage.lines("a.log", 500);
        await stage.pass(300);
        const old = stage.writer("a.log");
        stage.rotate("a.log", `a.log.${round}`);
        old.lines(200);
        stage.lines("a.log", 200);
        await stage.pass(2000);
        old.lines(100);
        old.close();
        // longer than a rotated file is kept open
        await stage.pass(70_000);
      }
    },
  },
  {
    id: 19,
    title: "Unterminated line finished after the rename",
    outcome: "EO",
    rivals: true,
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      stage.raw("a.log", "L o0\nL cut");
      await stage.pass(600);
      const old = stage.writer("a.log");
      stage.rotate();
      stage.raw("a.log", "L n0\n");
      await stage.pass(600);
      old.raw("line end\n");
      old.close();
      stage.expect("L o0", "L cutline end", "L n0");
    },
  },
  {
    id: 20,
    title: "Last words: the process dies in a line, then rotation",
    outcome: "EO",
    rivals: true,
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      stage.raw("a.log", "L o0\nL lastwords oom");
      await stage.pass(600);
      stage.rotate();
      stage.raw("a.log", "L n0\n");
      stage.expect("L o0", "L lastwords oom", "L n0");
      await stage.pass(6000);
    },
  },
  {
    id: 21,
    title: "Two rotations inside one poll",
    outcome: "EO",
    rivals: true,
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      stage.lines("a.log", 5);
      stage.rotate("a.log", "a.log.2");
      stage.lines("a.log", 5);
      stage.rotate("a.log", "a.log.1");
      stage.lines("a.log", 5);
    },
  },
  {
    id: 22,
    title: "Numbered cascade with three generations under load",
    outcome: "EO",
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start({ patterns: ["a.log*"] });
      for (let round = 0; round < 12; round++) {
        for (let tick = 0; tick < 4; tick++) {
          stage.lines("a.log", 750);
          await stage.pass(150);
        }
        stage.lines("a.log", 300);
        if (round >= 2) stage.rename("a.log.2", "a.log.3");
        if (round >= 1) stage.rename("a.log.1", "a.log.2");
        stage.rotate();
      }
    },
  },
  {
    id: 23,
    title: "Live writer, 4,850 lines/s, reopens 0.4 s after each of 5 renames",
    outcome: "EO",
    rivals: true,
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      let writer = stage.writer("a.log");
      for (let round = 1; round <= 5; round++) {
        for (let tick = 0; tick < 20; tick++) {
          writer.lines(243);
          await stage.pass(50);
        }
        stage.rename("a.log", `a.log.${round}`);
        for (let tick = 0; tick < 8; tick++) {
          writer.lines(243);
          await stage.pass(50);
        }
        writer.close();
        writer = stage.writer("a.log");
      }
      writer.lines(243);
      writer.close();
    },
  },
  {
    id: 24,
    title: "Burst rotation, 6 × 1000 lines, 0.5 s apart",
    outcome: "EO",
    rivals: true,
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      for (let round = 1; round <= 6; round++) {
        stage.lines("a.log", 1000);
        stage.rotate("a.log", `a.log.${round}`);
        await stage.pass(500);
      }
    },
  },
  {
    id: 25,
    title: "Three rotations while the reader is far behind; held bytes are told",
    outcome: "EO",
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      const filler = "x".repeat(2000);
      for (let round = 1; round <= 3; round++) {
        stage.lines("a.log", 3000, filler);
        await stage.self?.glimpse();
        stage.rotate("a.log", `a.log.${round}`);
        await stage.self?.glimpse();
        unlinkSync(stage.at(`a.log.${round}`));
      }
      await stage.self?.glimpse();
      await stage.self?.glimpse();
      stage.check("held bytes are told", (stage.self?.tailer?.heldDeletedBytes ?? 0) > 1_000_000, true);
      await stage.pass(70_000);
      stage.check("nothing held at the end", stage.self?.tailer?.heldDeletedBytes, 0);
    },
  },
  {
    id: 26,
    title: "Rename and compress before the end was reached, running and stopped",
    outcome: "EO",
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      stage.lines("a.log", 50);
      await stage.pass(300);
      stage.lines("a.log", 50);
      stage.rotate();
      gzip(stage, "a.log.1");
      await stage.pass(300);
      await stage.restart(() => {
        stage.lines("a.log", 70);
        stage.rotate("a.log", "a.log.2");
        gzip(stage, "a.log.2");
        stage.lines("a.log", 5);
      });
      await stage.crash(() => {
        stage.lines("a.log", 30_000);
        stage.raw("a.log", "L no end");
        stage.expect("L no end");
        stage.rotate("a.log", "a.log.3");
        gzip(stage, "a.log.3");
      });
      stage.check("lost", stage.self?.stats.lostBytes.size, 0);
    },
  },
  {
    id: 27,
    title: "Rotate with a gap of 5 s before the new file",
    outcome: "EO",
    rivals: true,
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      stage.lines("a.log", 10);
      await stage.pass(600);
      stage.rename("a.log", "a.log.1");
      await stage.pass(5000);
      stage.lines("a.log", 20);
    },
  },
  {
    id: 28,
    title: "Rotate to another folder, and by copy and unlink",
    outcome: "EO",
    run: async (stage) => {
      stage.raw("a.log", "");
      mkdirSync(stage.at("old"));
      await stage.start();
      stage.lines("a.log", 10);
      stage.rename("a.log", "old/a.log.1");
      stage.lines("a.log", 10);
      await stage.pass(2000);
      stage.lines("a.log", 10);
      copyFileSync(stage.at("a.log"), stage.at("old/a.log.2"));
      unlinkSync(stage.at("a.log"));
      stage.lines("a.log", 10);
    },
  },
  {
    id: 29,
    title: "Atomic replace: a new file is renamed over the old one",
    outcome: "EO",
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      for (let round = 0; round < 5; round++) {
        stage.lines("a.log", 10);
        await stage.pass(300);
        stage.lines("a.log", 3);
        stage.lines("a.new", 10);
        stage.rename("a.new", "a.log");
        await stage.pass(300);
      }
    },
  },
];
