import { linkSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { deserialize, serialize } from "node:v8";
import type { Scenario, Stage } from "../stage.ts";

const BANNER = Array.from({ length: 60 }, (_, at) => `build: 4711 line ${at} of a banner that all replicas print`);

/** Makes a file with the inode that the removed one had; ext4 and tmpfs give it out again. @returns False if they do not. */
function reuseInode(stage: Stage, removed: string, made: string): boolean {
  const { ino } = statSync(stage.at(removed));
  stage.remove(removed);
  for (let at = 0; at < 50; at++) {
    stage.create(at === 0 ? made : `${made}.try${at}`);
    const name = at === 0 ? made : `${made}.try${at}`;
    if (statSync(stage.at(name)).ino !== ino) continue;
    if (at > 0) stage.rename(name, made);
    return true;
  }
  return false;
}

/** Changes every stored position. */
function editPositions(stage: Stage, change: (position: Record<string, unknown>) => void): void {
  const database = new DatabaseSync(path.join(stage.self?.stateFolder ?? "", "state.sqlite"));
  const rows = database.prepare("SELECT key, value FROM files").all() as Array<{ key: string; value: Uint8Array }>;
  database.exec("DELETE FROM files");
  for (const { value } of rows) {
    const position = deserialize(value) as Record<string, unknown>;
    change(position);
    database
      .prepare("INSERT INTO files (key, value) VALUES (?, ?)")
      .run(`${String(position["device"])}:${String(position["inode"])}`, serialize(position));
  }
  database.close();
}

/** D. Identity. */
export const IDENTITY: readonly Scenario[] = [
  {
    id: 44,
    title: "Two files, same first line",
    outcome: "EO",
    run: async (stage) => {
      stage.tolerate(BANNER[0] ?? "");
      stage.raw("r0.log", `${BANNER[0]}\n`);
      await stage.start({ patterns: ["*.log"] });
      stage.lines("r0.log", 10);
      stage.raw("r1.log", `${BANNER[0]}\n`);
      stage.raw("r0-1.log", `${BANNER[0]}\n`);
      await stage.pass(8000);
      stage.lines("r1.log", 10);
      stage.lines("r0-1.log", 10);
      stage.lines("r0.log", 10);
    },
  },
  {
    id: 45,
    title: "Two files, same first 3 KiB, one named like a rotated form of the other",
    outcome: "EO",
    run: async (stage) => {
      stage.tolerate(...BANNER);
      const text = `${BANNER.join("\n")}\n`;
      stage.raw("r.log", text);
      await stage.start({ patterns: ["r*"] });
      stage.lines("r.log", 10);
      await stage.pass(300);
      stage.raw("r.log.b", text);
      await stage.pass(8000);
      stage.lines("r.log.b", 10);
      await stage.pass(300);
      stage.raw("r-2.log", text);
      stage.lines("r-2.log", 10);
    },
  },
  {
    id: 46,
    title: "Shorter than a fingerprint at the restart, then grows",
    outcome: "EO",
    run: async (stage) => {
      stage.raw("a.log", "L x");
      await stage.start();
      await stage.restart();
      stage.raw("a.log", "yz\n");
      stage.expect("L xyz");
      stage.lines("a.log", 100);
      await stage.restart();
      stage.lines("a.log", 10);
    },
  },
  {
    id: 47,
    title: "Inode reused while running",
    outcome: "EO",
    run: async (stage) => {
      stage.raw("a.log", "");
      await stage.start({ patterns: ["*.log"] });
      stage.lines("a.log", 30);
      await stage.pass(300);
      reuseInode(stage, "a.log", "b.log");
      stage.lines("b.log", 50);
      await stage.pass(2000);
      stage.lines("b.log", 5);
    },
  },
  {
    id: 48,
    title: "Inode reused across a restart",
    outcome: "EO",
    run: async (stage) => {
      stage.lines("a.log", 30);
      await stage.start({ patterns: ["*.log"] });
      await stage.restart(() => {
        stage.check("the file system gives the inode out again", reuseInode(stage, "a.log", "a.log"), true);
        stage.lines("a.log", 50);
      });
      await stage.restart(() => {
        reuseInode(stage, "a.log", "b.log");
        stage.lines("b.log", 90);
      });
      stage.lines("b.log", 5);
    },
  },
  {
    id: 49,
    title: "One inode by two names: hard link, kubelet's symlink",
    outcome: "EO",
    run: async (stage) => {
      stage.lines("pods/ns_pod_1/c/0.log", 5);
      stage.raw("a.log", "");
      linkSync(stage.at("a.log"), stage.at("b.log"));
      writeFileSync(stage.at("containers"), "");
      symlinkSync(stage.at("pods/ns_pod_1/c/0.log"), stage.at("c.log"));
      await stage.start({ patterns: ["*.log", "pods/*/*/*.log"] });
      stage.lines("a.log", 10);
      stage.lines("b.log", 10);
      stage.lines("c.log", 10);
      await stage.pass(3000);
      stage.rotate("pods/ns_pod_1/c/0.log", "pods/ns_pod_1/c/0.log.20260301-000000");
      stage.lines("c.log", 10);
    },
  },
  {
    id: 50,
    title: "Device number changed by a reboot",
    outcome: "EO",
    run: async (stage) => {
      stage.lines("a.log", 30);
      await stage.start();
      await stage.restart(() => {
        editPositions(stage, (position) => {
          position["device"] = "4711";
        });
        stage.lines("a.log", 10);
      });
      await stage.restart(() => stage.lines("a.log", 10));
    },
  },
  {
    id: 51,
    title: "Restored from a backup: same head, older and shorter, new inode",
    outcome: "ALO",
    run: async (stage) => {
      stage.lines("a.log", 30);
      await stage.start();
      await stage.restart(() => {
        const old = readFileSync(stage.at("a.log"), "utf8").split("\n").slice(0, 20);
        stage.remove("a.log");
        writeFileSync(stage.at("a.new"), `${old.join("\n")}\n`);
        stage.rename("a.new", "a.log");
        // read from its start, as any new inode
        stage.expect(...old);
        stage.lines("a.log", 10);
      });
      stage.lines("a.log", 10);
    },
  },
];
