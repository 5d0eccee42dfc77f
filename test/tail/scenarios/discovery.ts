import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { OpenFiles } from "../../../src/source/open-files.ts";
import type { Scenario } from "../stage.ts";
import { extend, writeAt } from "./copytruncate.ts";

/** E. Discovery, links, permissions. */
export const DISCOVERY: readonly Scenario[] = [
  {
    id: 52,
    title: "New file with content already in it",
    outcome: "EO",
    run: async (stage) => {
      await stage.start({ patterns: ["*.log"], startAt: "end" });
      stage.lines("b.log", 20);
      await stage.pass(1500);
      stage.lines("b.log", 20);
    },
  },
  {
    id: 53,
    title: "Short-lived file of a crash-looping pod",
    outcome: "EO",
    run: async (stage) => {
      await stage.start({ patterns: ["*.log"], startAt: "end" });
      stage.lines("b.log", 5);
      await stage.pass(1000);
      stage.lines("b.log", 5);
      await stage.pass(2000);
      stage.remove("b.log");
      await stage.pass(70_000);
      stage.check("stream forgotten", stage.self?.pipelines.size, 0);
    },
  },
  {
    id: 54,
    title: "Created, written, deleted inside 100 ms (folder watched)",
    outcome: "EO",
    run: async (stage) => {
      if (stage.self !== undefined) stage.self.overrides = { watch: true };
      await stage.start({ patterns: ["*.log"] });
      stage.create("b.log");
      // what is awaited here is the kernel's event, within the 100 ms of the scenario
      for (let at = 0; at < 9 && stage.self?.tailer?.fileCount === 0; at++) await delay(10);
      stage.lines("b.log", 5);
      stage.remove("b.log");
    },
  },
  {
    id: 55,
    title: "Deleted with an unread tail",
    outcome: "EO",
    rivals: true,
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      stage.lines("a.log", 1);
      await stage.pass(600);
      stage.lines("a.log", 20);
      stage.remove("a.log");
    },
  },
  {
    id: 56,
    title: "Deleted and recreated at once, and 3 s later",
    outcome: "EO",
    rivals: true,
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      stage.lines("a.log", 10);
      await stage.pass(600);
      stage.remove("a.log");
      stage.lines("a.log", 10);
      await stage.pass(1500);
      stage.remove("a.log");
      await stage.pass(3000);
      stage.lines("a.log", 10);
    },
  },
  {
    id: 57,
    title: "Folder appears later, is removed and made again",
    outcome: "EO",
    run: async (stage) => {
      await stage.start({ patterns: ["**/x.log", "later/*.log"] });
      stage.lines("one/two/x.log", 10);
      stage.lines("later/b.log", 10);
      await stage.pass(2000);
      stage.remove("one");
      stage.remove("later");
      await stage.pass(2000);
      stage.lines("one/two/x.log", 10);
      stage.lines("later/b.log", 10);
    },
  },
  {
    id: 58,
    title: "Symlink swap, late lines to the old target",
    outcome: "EO",
    rivals: true,
    run: async (stage) => {
      stage.raw("one", "");
      symlinkSync(stage.at("one"), stage.at("a.log"));
      await stage.start();
      stage.lines("one", 10);
      await stage.pass(600);
      stage.lines("two", 10);
      symlinkSync(stage.at("two"), stage.at("tmp"));
      renameSync(stage.at("tmp"), stage.at("a.log"));
      await stage.pass(300);
      stage.lines("one", 3);
      stage.lines("two", 10);
    },
  },
  {
    id: 59,
    title: "Symlink loop, dangling link, link to a folder, FIFO and device in the pattern",
    outcome: "EO",
    run: async (stage) => {
      mkdirSync(stage.at("dir.log"), { recursive: true });
      symlinkSync(stage.at("loop.log"), stage.at("loop.log"));
      symlinkSync(stage.at("nowhere"), stage.at("dangling.log"));
      symlinkSync(stage.folder, stage.at("folder.log"));
      symlinkSync("/dev/zero", stage.at("zero.log"));
      execFileSync("mkfifo", [stage.at("fifo.log")]);
      stage.lines("a.log", 10);
      await stage.start({ patterns: ["*.log", "**/*.log", "loop.log/*.log"] });
      await stage.pass(5000);
      stage.lines("a.log", 10);
      await stage.pass(300);
      stage.check("files", stage.self?.tailer?.fileCount, 1);
      stage.check("warnings", (stage.self?.faults.length ?? 0) <= 2, true);
      unlinkSync(stage.at("dangling.log"));
    },
  },
  {
    id: 60,
    title: "Cannot be opened at the start, later it can",
    outcome: "EO",
    run: async (stage) => {
      let denied = true;
      if (stage.self !== undefined) {
        // root may read everything: the refusal is made here
        const openFiles = new (class extends OpenFiles {
          override openPath(name: string): number {
            if (denied) throw Object.assign(new Error("permission denied"), { code: "EACCES" });
            return super.openPath(name);
          }
        })();
        stage.self.overrides = { openFiles };
      }
      stage.lines("a.log", 10);
      await stage.start();
      await stage.pass(3000);
      stage.check("told once", stage.self?.faults.length, 1);
      stage.check("unreadable", stage.self?.tailer?.unreadable, 1);
      denied = false;
      await stage.pass(1500);
      stage.lines("a.log", 10);
      await stage.pass(300);
      stage.check("readable", stage.self?.tailer?.unreadable, 0);
    },
  },
  {
    id: 61,
    title: "Names with spaces, newline, brackets, star, bytes that are no UTF-8",
    outcome: "EO",
    run: async (stage) => {
      await stage.start({ patterns: ["*.log"] });
      for (const name of ["a b.log", "new\nline.log", "x[1].log", "st*r.log", "größe.log"]) stage.lines(name, 5);
      const odd = Buffer.concat([Buffer.from(`${stage.folder}/odd`), Buffer.from([0xff, 0xe9]), Buffer.from(".log")]);
      writeFileSync(odd, stage.make(5));
      await stage.pass(1500);
      const names = [...(stage.self?.streams.keys() ?? [])].map((name) => name.slice(stage.folder.length + 1)).sort();
      stage.check("labels", names, [
        "a b.log",
        "größe.log",
        "new\\x0aline.log",
        "odd\\xff\\xe9.log",
        "st*r.log",
        "x[1].log",
      ]);
      await stage.restart(() => {
        writeFileSync(odd, stage.make(5), { flag: "a" });
        stage.lines("x[1].log", 5);
      });
      rmSync(odd);
    },
  },
  {
    id: 62,
    title: "20,000 files match, 100 are live: descriptors bounded, live files whole",
    outcome: "EO",
    slow: true,
    run: async (stage) => {
      mkdirSync(stage.folder, { recursive: true });
      for (let at = 0; at < 20_000; at++) writeFileSync(stage.at(`f${at}.log`), "");
      if (stage.self !== undefined) stage.self.overrides = { watch: true };
      await stage.start({ patterns: ["*.log"] });
      for (let round = 0; round < 5; round++) {
        for (let at = 0; at < 100; at++) stage.lines(`f${at * 199}.log`, 2);
        await stage.pass(6000);
      }
      await stage.pass(61_000);
      stage.check("streams", stage.self?.pipelines.size, 100);
    },
  },
  {
    id: 63,
    title: "Folders cannot be watched (inotify limit): polling, and it is said",
    outcome: "EO",
    run: async (stage) => {
      if (stage.self !== undefined)
        stage.self.overrides = {
          watch: () => {
            throw Object.assign(new Error("System limit for number of file watchers reached"), { code: "ENOSPC" });
          },
        };
      stage.lines("a.log", 10);
      await stage.start({ patterns: ["*.log"] });
      stage.lines("b.log", 10);
      await stage.pass(1500);
      stage.lines("b.log", 10);
      stage.check("said", stage.self?.faults, ["Cannot watch folders; files are polled instead"]);
      stage.check("counted", stage.self?.stats.errors.get("watch-limit"), 1);
    },
  },
  {
    id: 64,
    title: "Eight descriptors for 200 files that all grow",
    outcome: "EO",
    run: async (stage) => {
      const openFiles = new OpenFiles(8);
      if (stage.self !== undefined) {
        stage.self.overrides = { openFiles };
        stage.self.maxOpenStreams = 20;
      }
      await stage.start({ patterns: ["*.log"] });
      for (let round = 0; round < 4; round++) {
        for (let at = 0; at < 200; at++) stage.lines(`f${at}.log`, 3);
        await stage.pass(1500);
        stage.check("open", openFiles.count <= 8, true);
      }
      stage.lines("f7.log", 2);
      stage.rotate("f7.log");
      stage.lines("f7.log", 2);
      await stage.pass(6000);
      stage.check("open at the end", openFiles.count <= 9, true);
    },
  },
  {
    id: 65,
    title: "Size grows before the data is there; a stale handle is opened again",
    outcome: "EO",
    run: async (stage) => {
      stage.lines("a.log", 5);
      await stage.start();
      const text = stage.make(4000);
      const at = 5 * 28;
      extend(stage.at("a.log"), at + text.length);
      await stage.pass(600);
      writeAt(stage.at("a.log"), text.slice(0, 70_003), at);
      await stage.pass(600);
      writeAt(stage.at("a.log"), text.slice(70_003), at + 70_003);
      await stage.pass(600);
      stage.lines("a.log", 5);
    },
  },
  {
    id: 66,
    title: "Read error in the middle: tried again, counted",
    outcome: "EO",
    run: async (stage) => {
      let failures = 0;
      if (stage.self !== undefined) {
        const openFiles = new (class extends OpenFiles {
          override manage(...args: Parameters<OpenFiles["manage"]>): ReturnType<OpenFiles["manage"]> {
            const file = super.manage(...args);
            return {
              open: () => {
                if (failures-- > 0) throw Object.assign(new Error("i/o error"), { code: "EIO" });
                return file.open();
              },
              get isOpen() {
                return file.isOpen;
              },
              close: () => file.close(),
            };
          }
        })();
        stage.self.overrides = { openFiles };
      }
      stage.lines("a.log", 10);
      await stage.start();
      stage.lines("a.log", 10);
      failures = 1;
      await stage.pass(600);
      stage.check("counted", stage.self?.stats.errors.get("io"), 1);
      stage.lines("a.log", 10);
    },
  },
];
