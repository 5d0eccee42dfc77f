import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import type { Scenario } from "../stage.ts";

const cri = (stream: string, tag: "P" | "F", text: string): string =>
  `2026-03-02T10:00:00.000000001Z ${stream} ${tag} ${text}\n`;

/** G. Containers and multi-line. */
export const CONTAINERS: readonly Scenario[] = [
  {
    id: 78,
    title: "CRI P…P F merged to one line",
    outcome: "EO",
    run: async (stage) => {
      await stage.start({ patterns: ["*.log"] });
      stage.raw("0.log", cri("stdout", "P", "L on") + cri("stdout", "P", "e lo"));
      await stage.pass(1500);
      stage.raw("0.log", cri("stdout", "F", "ng line") + cri("stdout", "F", "L two"));
      stage.expect("L one long line", "L two");
    },
  },
  {
    id: 79,
    title: "stdout and stderr parts interleaved",
    outcome: "EO",
    run: async (stage) => {
      await stage.start({ patterns: ["*.log"] });
      stage.raw(
        "0.log",
        cri("stdout", "P", "L a") + cri("stderr", "P", "L 1") + cri("stdout", "F", "b") + cri("stderr", "F", "2"),
      );
      stage.expect("L ab", "L 12");
    },
  },
  {
    id: 80,
    title: "CRI part across a rotation",
    outcome: "EO",
    run: async (stage) => {
      await stage.start({ patterns: ["*.log"] });
      stage.raw("0.log", cri("stdout", "F", "L first") + cri("stdout", "P", "L be"));
      await stage.pass(1500);
      stage.rotate("0.log", "0.log.20260302-100000");
      stage.raw("0.log", cri("stdout", "F", "gun"));
      stage.expect("L first", "L begun");
    },
  },
  {
    id: 81,
    title: "Final P without its F is released after 10 s",
    outcome: "EO",
    run: async (stage) => {
      await stage.start({ patterns: ["*.log"] });
      stage.raw("0.log", cri("stdout", "P", "L killed in"));
      await stage.pass(5000);
      stage.check("not yet", stage.subject.lines().size, 0);
      stage.expect("L killed in");
      await stage.pass(8000);
    },
  },
  {
    id: 82,
    title: "Kubelet rotation: time suffix, gz later, new pod folder",
    outcome: "EO",
    run: async (stage) => {
      const pod = "pods/ns_web-1_uid1/app";
      await stage.start({ patterns: ["pods/*/*/*.log"] });
      let next = 0;
      const write = (name: string, lines: number): void => {
        for (let at = 0; at < lines; at++) {
          const text = `L k${next++}`;
          stage.expect(text);
          stage.raw(name, cri("stdout", "F", text));
        }
      };
      write(`${pod}/0.log`, 20);
      await stage.pass(1500);
      for (let round = 1; round <= 3; round++) {
        const old = `${pod}/0.log.2026030${round}-100000`;
        write(`${pod}/0.log`, 5);
        stage.rotate(`${pod}/0.log`, old);
        write(`${pod}/0.log`, 20);
        await stage.pass(700);
        writeFileSync(stage.at(`${old}.gz`), gzipSync(readFileSync(stage.at(old))));
        rmSync(stage.at(old));
        await stage.pass(700);
      }
      write("pods/ns_web-1_uid2/app/0.log", 20);
      await stage.pass(1500);
      write(`${pod}/1.log`, 20);
      await stage.pass(1500);
      stage.remove("pods/ns_web-1_uid1");
    },
  },
  {
    id: 83,
    title: "Docker json-file: 16 KiB parts, newline in JSON, rotation by max-file",
    outcome: "EO",
    run: async (stage) => {
      const entry = (log: string): string =>
        `${JSON.stringify({ log, stream: "stdout", time: "2026-03-02T10:00:00.000000001Z" })}\n`;
      await stage.start({ patterns: ["*-json.log"] });
      const long = `L ${"x".repeat(30_000)} end`;
      stage.raw("c-json.log", entry("L one\n") + entry(long.slice(0, 16_384)));
      await stage.pass(1500);
      stage.rotate("c-json.log");
      stage.raw("c-json.log", entry(`${long.slice(16_384)}\n`) + entry("L two\n"));
      stage.expect("L one", long, "L two");
    },
  },
  {
    id: 84,
    title: "Traceback between access lines of another writer",
    outcome: "EO",
    run: async (stage) => {
      const access = (port: number): string => `INFO:     10.0.0.1:${port} - "POST /v1/completions HTTP/1.1" 200 OK\n`;
      stage.raw(
        "a.log",
        `${access(1)}ERROR:    Exception in ASGI application\nTraceback (most recent call last):\n${access(2)}  File "a.py", line 1, in f\n    g()\n${access(3)}RuntimeError: CUDA out of memory\n${access(4)}`,
      );
      await stage.start();
      await stage.pass(12_000);
      stage.check("access lines", stage.self?.taken.records.get("http"), 4);
      stage.check("failures", stage.self?.taken.failures.length, 1);
      stage.check("whole", stage.self?.taken.failures[0]?.includes("CUDA out of memory"), true);
    },
  },
  {
    id: 101,
    title: "Crash with a CRI partial open",
    outcome: "EO",
    run: async (stage) => {
      await stage.start({ patterns: ["*.log"] });
      stage.raw("0.log", cri("stdout", "F", "L zero") + cri("stdout", "P", "L o") + cri("stdout", "P", "n"));
      await stage.pass(1500);
      await stage.crash(() => stage.raw("0.log", cri("stdout", "F", "e")));
      stage.expect("L zero", "L one");
    },
  },
];
