import { existsSync, readdirSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StateStore } from "../../../src/store/state-store.ts";
import type { Scenario, Stage } from "../stage.ts";

const stateFile = (stage: Stage): string => path.join(stage.self?.stateFolder ?? "", "state.sqlite");

/** Damages the state of a stopped daemon, starts it, and holds it to the previous generation. */
async function damaged(stage: Stage, damage: (file: string) => void): Promise<void> {
  stage.lines("a.log", 10);
  await stage.start();
  // a generation is kept each minute
  await stage.pass(70_000);
  stage.lines("a.log", 10);
  await stage.pass(61_000);
  stage.lines("a.log", 10);
  await stage.restart(() => {
    for (const side of ["-wal", "-shm"]) rmSync(stateFile(stage) + side, { force: true });
    damage(stateFile(stage));
    stage.lines("a.log", 10);
  });
  stage.check("said", stage.self?.log.at(-1)?.startsWith("set aside"), true);
  stage.check(
    "kept aside",
    readdirSync(stage.self?.stateFolder ?? ".").some((name) => name.includes("unreadable")),
    true,
  );
  await stage.pass(1000);
}

/** F. Restart, crash, checkpoints. */
export const RESTART: readonly Scenario[] = [
  {
    id: 67,
    title: "SIGTERM, 20 lines while down, start",
    outcome: "EO",
    run: async (stage) => {
      stage.lines("a.log", 20);
      await stage.start();
      await stage.restart(() => stage.lines("a.log", 20));
      stage.lines("a.log", 20);
    },
  },
  {
    id: 68,
    title: "SIGKILL at 100 instants between commits, under rename and copytruncate",
    outcome: "EO",
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      for (let round = 1; round <= 100; round++) {
        stage.lines("a.log", 50);
        await stage.pass(150);
        if (stage.self !== undefined) stage.self.commits = round % 3 === 0;
        stage.lines("a.log", 50);
        await stage.pass(150);
        if (round % 5 === 1) stage.rotate("a.log", `a.log.${round}`);
        if (round % 5 === 3) stage.copyTruncate("a.log", `a.log.${round}`);
        stage.lines("a.log", 20);
        await stage.pass(150 * (round % 4));
        await stage.crash(() => stage.lines("a.log", round % 7));
        if (stage.self !== undefined) stage.self.commits = true;
      }
    },
  },
  {
    id: 69,
    title: "SIGKILL between two rotations and the next commit",
    outcome: "EO",
    run: async (stage) => {
      stage.lines("a.log", 10);
      await stage.start();
      if (stage.self !== undefined) stage.self.commits = false;
      stage.lines("a.log", 10);
      stage.rotate("a.log", "a.log.2");
      stage.lines("a.log", 10);
      await stage.pass(1500);
      stage.rotate("a.log", "a.log.1");
      stage.lines("a.log", 10);
      await stage.pass(1500);
      await stage.crash();
      if (stage.self !== undefined) stage.self.commits = true;
      await stage.crash(() => {
        stage.rename("a.log.2", "a.log.3");
        stage.rename("a.log.1", "a.log.2");
        stage.rotate();
        stage.lines("a.log", 10);
      });
    },
  },
  {
    id: 70,
    title: "Half a line at the restart",
    outcome: "EO",
    run: async (stage) => {
      stage.raw("a.log", "L hal");
      await stage.start();
      await stage.restart(() => stage.raw("a.log", "fline x\nL next x\n"));
      stage.expect("L halfline x", "L next x");
    },
  },
  {
    id: 71,
    title: "Multi-line event open at the restart",
    outcome: "EO",
    run: async (stage) => {
      stage.raw("a.log", "ERROR:    Exception in ASGI application\nTraceback (most recent call last):\n");
      await stage.start();
      await stage.crash(() =>
        stage.raw(
          "a.log",
          '  File "a.py", line 1, in f\n    g()\nRuntimeError: CUDA out of memory\nINFO:     10.0.0.1:1 - "POST /v1/completions HTTP/1.1" 200 OK\n',
        ),
      );
      await stage.pass(12_000);
      stage.check("one failure", stage.self?.taken.failures.length, 1);
      stage.check("whole", stage.self?.taken.failures[0]?.split("\n").length, 5);
    },
  },
  {
    id: 72,
    title: "State torn, empty, NUL-filled, of a future version, foreign: previous generation used",
    outcome: "ALO",
    run: async (stage) => {
      const damages: ReadonlyArray<(file: string) => void> = [
        (file) => truncateSync(file, 5000),
        (file) => truncateSync(file, 0),
        (file) => writeFileSync(file, Buffer.alloc(20_000)),
        (file) => {
          const database = new DatabaseSync(file);
          database.exec("PRAGMA user_version = 99");
          database.close();
        },
        (file) => {
          rmSync(file);
          const database = new DatabaseSync(file);
          database.exec("CREATE TABLE others (x)");
          database.close();
        },
      ];
      for (const damage of damages) {
        await damaged(stage, damage);
        await stage.subject.stop();
        stage.self?.forgetState();
        stage.remove("a.log");
        stage.forget();
      }
      await stage.start({ patterns: ["b.log"] });
    },
  },
  {
    id: 73,
    title: "Disk full: goes on, says so, writes when there is space",
    outcome: "EO",
    run: async (stage) => {
      stage.lines("a.log", 10);
      await stage.start();
      if (stage.self !== undefined) stage.self.diskFull = true;
      stage.lines("a.log", 10);
      await stage.pass(5000);
      stage.check("read on", stage.subject.lines().size, 20);
      stage.check("degraded", stage.self?.committer?.degraded, "database or disk is full");
      stage.check("errors counted", (stage.self?.committer?.errors ?? 0) > 2, true);
      if (stage.self !== undefined) stage.self.diskFull = false;
      await stage.pass(1500);
      stage.check("not degraded", stage.self?.committer?.degraded, undefined);
      await stage.crash();
    },
  },
  {
    id: 74,
    title: "Two daemons, one state: the second is refused",
    outcome: "EO",
    run: async (stage) => {
      stage.lines("a.log", 10);
      await stage.start();
      let refused = "";
      try {
        StateStore.open(stage.self?.stateFolder ?? "");
      } catch (error) {
        refused = (error as Error).message;
      }
      stage.check("refused", refused.includes("another tokentail is running on it"), true);
    },
  },
  {
    id: 75,
    title: "Clock set back 1 h, and forth: no expiry storm, no stalled flush",
    outcome: "EO",
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      stage.lines("a.log", 10);
      await stage.pass(300);
      const old = stage.writer("a.log");
      stage.rename("a.log", "a.log.1");
      stage.lines("a.log", 10);
      await stage.pass(1500);
      if (stage.self !== undefined) stage.self.nowMs += 3_600_000;
      await stage.pass(300);
      old.lines(5);
      await stage.pass(300);
      if (stage.self !== undefined) stage.self.nowMs -= 7_200_000;
      stage.lines("a.log", 10);
      old.raw("L no end");
      stage.expect("L no end");
      await stage.pass(10_000);
      old.close();
    },
  },
  {
    id: 76,
    title: "Crash loop: killed every 2 s for 5 min, progress each time",
    outcome: "EO",
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start();
      for (let round = 0; round < 150; round++) {
        const before = stage.subject.lines().size;
        stage.lines("a.log", 10);
        await stage.pass(1700);
        if (stage.subject.lines().size <= before) stage.check(`progress in round ${round}`, false, true);
        await stage.crash();
      }
    },
  },
  {
    id: 77,
    title: "First start: existing files from the end, the skipped bytes told; later files from their start",
    outcome: "EO",
    run: async (stage) => {
      const old = stage.make(10);
      stage.raw("a.log", old);
      stage.giveUp(old);
      await stage.start({ patterns: ["*.log"], startAt: "end" });
      stage.check("skipped", stage.self?.stats.skippedBytes.get("start_at"), old.length);
      stage.lines("a.log", 10);
      stage.lines("b.log", 10);
      await stage.crash(() => stage.lines("c.log", 10));
      stage.check("state is there", existsSync(stateFile(stage)), true);
    },
  },
];
