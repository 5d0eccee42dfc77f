import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { FileTailer } from "../../../src/source/file-tailer.ts";
import type { FilePosition, StreamSink } from "../../../src/source/source.ts";
import { TempFolder } from "../../support/cli.ts";

/** Takes lines as a pipeline would: cut at newlines, a rest only when told that no newline will come. */
class LineSink implements StreamSink {
  readonly lines: string[] = [];
  #rest = "";

  push(bytes: Buffer): void {
    const parts = (this.#rest + bytes.toString("latin1")).split("\n");
    this.#rest = parts.pop() ?? "";
    this.lines.push(...parts);
  }
  endLine(): void {
    if (this.#rest !== "") this.lines.push(this.#rest);
    this.#rest = "";
  }
  flush(): void {}
  end(): void {
    this.endLine();
  }
}

class Rig implements AsyncDisposable {
  readonly folder = new TempFolder();
  readonly sinks = new Map<string, LineSink>();
  readonly tailer: FileTailer;
  nowMs = 1_000_000;

  constructor(options: { patterns?: string[]; startAt?: "beginning" | "end" } = {}) {
    this.tailer = new FileTailer({
      patterns: (options.patterns ?? ["a.log"]).map((pattern) => path.join(this.folder.path, pattern)),
      startAt: options.startAt ?? "beginning",
      labels: {},
      profile: "auto",
      watch: false,
      openSink: (stream) => {
        const sink = new LineSink();
        this.sinks.set(path.basename(stream.name), sink);
        return sink;
      },
    });
  }

  at(name: string): string {
    return path.join(this.folder.path, name);
  }
  append(name: string, text: string): void {
    appendFileSync(this.at(name), text);
  }
  /** Lets time pass and reads until nothing is waiting. */
  async read(afterMs = 1000): Promise<void> {
    this.nowMs += afterMs;
    while (await this.tailer.poll(this.nowMs));
  }
  get lines(): string[] {
    return [...this.sinks.values()].flatMap((sink) => sink.lines);
  }
  async [Symbol.asyncDispose](): Promise<void> {
    await this.tailer.close();
    this.folder[Symbol.dispose]();
  }
}

const lines = (prefix: string, count: number): string =>
  Array.from({ length: count }, (_, at) => `${prefix}${at}\n`).join("");
const ids = (prefix: string, count: number): string[] => Array.from({ length: count }, (_, at) => `${prefix}${at}`);

test("reads what is there and what is appended", async () => {
  await using rig = new Rig();
  rig.append("a.log", "L0\nL1\n");
  await rig.read();
  rig.append("a.log", "L2\n");
  await rig.read();
  expect(rig.lines).toEqual(["L0", "L1", "L2"]);
});

test("starts at the end of an existing file, and says how much it left out", async () => {
  await using rig = new Rig({ startAt: "end" });
  rig.append("a.log", "old1\nold2\nhal");
  await rig.read();
  rig.append("a.log", "f\nnew\n");
  await rig.read();
  expect(rig.lines).toEqual(["half", "new"]);
  expect(rig.tailer.stats.skippedBytes.get("start_at")).toBe(10);
});

test("reads a file that appears later from its beginning, whatever the start position", async () => {
  await using rig = new Rig({ startAt: "end", patterns: ["*.log"] });
  await rig.read();
  rig.append("b.log", "L0\nL1\n");
  await rig.read();
  expect(rig.lines).toEqual(["L0", "L1"]);
});

test("delivers a line written in two parts as one", async () => {
  await using rig = new Rig();
  rig.append("a.log", "L par");
  await rig.read();
  expect(rig.lines).toEqual([]);
  rig.append("a.log", "tial\n");
  await rig.read();
  expect(rig.lines).toEqual(["L partial"]);
});

test("rename: reads the rest of the old file and all of the new one", async () => {
  await using rig = new Rig();
  rig.append("a.log", lines("o", 50));
  await rig.read();
  rig.append("a.log", lines("p", 5));
  renameSync(rig.at("a.log"), rig.at("a.log.1"));
  rig.append("a.log", lines("n", 50));
  await rig.read();
  expect(rig.lines.toSorted()).toEqual([...ids("o", 50), ...ids("p", 5), ...ids("n", 50)].toSorted());
  expect(rig.tailer.stats.rotations).toBe(1);
});

test("rename: a late writer to the old file is still read", async () => {
  await using rig = new Rig();
  rig.append("a.log", "o0\n");
  await rig.read();
  renameSync(rig.at("a.log"), rig.at("a.log.1"));
  rig.append("a.log", "n0\n");
  await rig.read();
  rig.append("a.log.1", "late\n");
  await rig.read(30_000);
  expect(rig.lines).toEqual(["o0", "n0", "late"]);
});

test("rename: an unterminated line finished afterwards is not glued to the new file", async () => {
  await using rig = new Rig();
  rig.append("a.log", "o0\ncut");
  await rig.read();
  renameSync(rig.at("a.log"), rig.at("a.log.1"));
  rig.append("a.log", "n0\n");
  await rig.read();
  rig.append("a.log.1", "line end\n");
  await rig.read();
  expect(rig.lines).toEqual(["o0", "n0", "cutline end"]);
});

test("rename: last words without newline are delivered once after the wait", async () => {
  await using rig = new Rig();
  rig.append("a.log", "o0\nlastwords oom");
  await rig.read();
  renameSync(rig.at("a.log"), rig.at("a.log.1"));
  await rig.read();
  expect(rig.lines).toEqual(["o0"]);
  await rig.read(6000);
  await rig.read(6000);
  expect(rig.lines).toEqual(["o0", "lastwords oom"]);
});

test("a rotated name inside the pattern is not read again", async () => {
  await using rig = new Rig({ patterns: ["a.log*"] });
  rig.append("a.log", lines("o", 10));
  await rig.read();
  renameSync(rig.at("a.log"), rig.at("a.log.1"));
  rig.append("a.log", lines("n", 10));
  await rig.read();
  await rig.read();
  expect(rig.lines.toSorted()).toEqual([...ids("n", 10), ...ids("o", 10)]);
});

test.for([
  { name: "shorter", after: 5 },
  { name: "of the same size", after: 9 },
  { name: "longer", after: 40 },
])("copytruncate: new content that is $name is read from its start", async ({ after }) => {
  await using rig = new Rig();
  rig.append("a.log", lines("o", 9));
  await rig.read();
  copyFileSync(rig.at("a.log"), rig.at("copy"));
  truncateSync(rig.at("a.log"));
  rig.append("a.log", lines("n", after));
  await rig.read();
  expect(rig.lines).toEqual([...ids("o", 9), ...ids("n", after)]);
  expect(rig.tailer.stats.truncations).toBe(1);
});

test("copytruncate: bytes seen and gone before they were read are counted as lost", async () => {
  await using rig = new Rig();
  rig.append("a.log", "o0\npart of a line");
  await rig.read();
  truncateSync(rig.at("a.log"));
  await rig.read();
  rig.append("a.log", "n0\n");
  await rig.read();
  expect(rig.lines).toEqual(["o0", "n0"]);
  expect(rig.tailer.stats.lostBytes.get("truncated")).toBe("part of a line".length);
});

test("deletion and re-creation, at once and later", async () => {
  await using rig = new Rig();
  rig.append("a.log", "L0\n");
  await rig.read();
  rmSync(rig.at("a.log"));
  await rig.read(5000);
  rig.append("a.log", "L1\n");
  await rig.read();
  expect(rig.lines).toEqual(["L0", "L1"]);
});

test("a symbolic link moved to another file: the old target is read on", async () => {
  await using rig = new Rig({ patterns: ["current.log"] });
  writeFileSync(rig.at("one"), "a0\n");
  writeFileSync(rig.at("two"), "b0\n");
  symlinkSync(rig.at("one"), rig.at("current.log"));
  await rig.read();
  symlinkSync(rig.at("two"), rig.at("tmp"));
  renameSync(rig.at("tmp"), rig.at("current.log"));
  await rig.read();
  rig.append("one", "a1\n");
  rig.append("two", "b1\n");
  await rig.read();
  expect(rig.lines.toSorted()).toEqual(["a0", "a1", "b0", "b1"]);
});

test("a directory, a dangling link and an unreadable path in the pattern harm nothing", async () => {
  await using rig = new Rig({ patterns: ["*.log"] });
  mkdirSync(rig.at("dir.log"));
  symlinkSync(rig.at("nowhere"), rig.at("dangling.log"));
  rig.append("a.log", "L0\n");
  await rig.read();
  expect(rig.lines).toEqual(["L0"]);
});

test("directories of any depth", async () => {
  await using rig = new Rig({ patterns: ["**/x.log"] });
  await rig.read();
  mkdirSync(rig.at("one/two"), { recursive: true });
  rig.append("one/two/x.log", "L0\n");
  await rig.read();
  expect(rig.lines).toEqual(["L0"]);
});

test("a line longer than the read buffer passes in pieces and is one line", async () => {
  await using rig = new Rig();
  rig.append("a.log", `${"x".repeat(3 * 1024 * 1024)}\nL1\n`);
  await rig.read();
  expect(rig.lines.map((line) => line.length)).toEqual([3 * 1024 * 1024, 2]);
});

test("positions stay at a line start, with the bytes before them", async () => {
  await using rig = new Rig();
  rig.append("a.log", "L0\nL1\nhal");
  await rig.read();
  const position = rig.tailer.takeChanges()[0]?.[1] as FilePosition | undefined;
  expect({ offset: position?.offset, marker: position?.marker.toString(), head: position?.head.toString() }).toEqual({
    offset: 6,
    marker: "L0\nL1\n",
    head: "L0\nL1\n",
  });
});
