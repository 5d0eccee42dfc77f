import { PassThrough } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { JournalEntries } from "../../../src/source/journal-entries.ts";
import { JournaldSource } from "../../../src/source/journald-source.ts";
import type { OpenSink } from "../../../src/source/source.ts";
import { StdinSource } from "../../../src/source/stdin-source.ts";
import { TempFolder } from "../../support/cli.ts";
import { eventually } from "../../support/processes.ts";

const binary = (name: string, value: string): Buffer => {
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(Buffer.byteLength(value)));
  return Buffer.concat([Buffer.from(`${name}\n`), length, Buffer.from(`${value}\n`)]);
};
const entry = (at: number, message: string): Buffer =>
  Buffer.concat([
    Buffer.from(`__CURSOR=c${at}\n_SYSTEMD_UNIT=vllm${at % 2}.service\n`),
    message.includes("\n") ? binary("MESSAGE", message) : Buffer.from(`MESSAGE=${message}\n`),
    Buffer.from("\n"),
  ]);

/** Collects what each stream was given. */
function collector(): { openSink: OpenSink; streams: Map<string, string> } {
  const streams = new Map<string, string>();
  const openSink: OpenSink = ({ name }) => ({
    push: (bytes) => void streams.set(name, (streams.get(name) ?? "") + bytes.toString()),
    endLine: () => void streams.set(name, `${streams.get(name) ?? ""}|`),
    flush: () => {},
    end: () => {},
  });
  return { openSink, streams };
}

test("entries of the journal are cut at their ends however the bytes come, blank lines in values and all", () => {
  const all = Buffer.concat([entry(1, "one"), entry(2, "two\n\n__CURSOR=fake\n\nlines"), entry(3, "three")]);
  for (let cut = 1; cut < all.length; cut++) {
    const entries = new JournalEntries();
    const got = [...entries.push(all.subarray(0, cut)), ...entries.push(all.subarray(cut))];
    expect(got.map(({ cursor, unit }) => `${cursor} ${unit}`)).toEqual([
      "c1 vllm1.service",
      "c2 vllm0.service",
      "c3 vllm1.service",
    ]);
    expect(Buffer.concat(got.map(({ bytes }) => bytes))).toEqual(all);
  }
});

test("the journal is read by unit, the cursor is its position, and a restart goes on behind it", async () => {
  using folder = new TempFolder();
  const args = `${folder.path}/args`;
  folder.file(
    "data",
    Buffer.concat([entry(1, "one"), entry(2, "two"), Buffer.from("__CURSOR=c3\nMESSAGE=not whole\n")]),
  );
  const program = folder.file("journalctl", `echo "$@" >> '${args}'\ncat '${folder.path}/data'\nsleep 60\n`);
  const { openSink, streams } = collector();
  const options = {
    name: "journald",
    units: ["vllm*"],
    labels: {},
    profile: "auto",
    startAt: "beginning",
    openSink,
    onFault: () => {},
    command: ["sh", program],
  } as const;
  const source = new JournaldSource(options);
  await eventually("two entries", async () => {
    await source.poll(1000);
    return source.fileCount === 2;
  });
  expect(source.takeChanges()).toEqual([["journald journald", "c2"]]);
  expect(source.takeChanges()).toEqual([]);
  source.forgetCommit();
  expect(source.takeChanges()).toEqual([["journald journald", "c2"]]);
  expect([...streams.keys()].toSorted()).toEqual(["journald: vllm0.service", "journald: vllm1.service"]);
  expect([...streams.values()].join("")).not.toContain("not whole");
  await source.close();
  const next = new JournaldSource({ ...options, cursor: "c2" });
  await next.poll(1000);
  const { readFileSync } = await import("node:fs");
  await eventually("the second call", () => readFileSync(args, "utf8").split("\n").length > 2);
  expect(readFileSync(args, "utf8").split("\n")[1]).toBe(
    "--output=export --follow --after-cursor=c2 --no-tail --unit=vllm*",
  );
  await next.close();
});

test("a journalctl that cannot be started is told, counted and tried again later", async () => {
  const { openSink } = collector();
  const faults: string[] = [];
  const source = new JournaldSource({
    name: "journald",
    units: [],
    labels: {},
    profile: "auto",
    startAt: "end",
    openSink,
    onFault: (message) => faults.push(message),
    command: ["/nonexistent/journalctl"],
  });
  await source.poll(0);
  await eventually("the fault", () => faults.length > 0);
  expect(await source.poll(100)).toBe(false);
  expect(source.stats.errors.get("exited")).toBe(1);
  await source.close();
});

test("standard input is read to its end, the last line ended", async () => {
  const { openSink, streams } = collector();
  const input = new PassThrough();
  const source = new StdinSource({ name: "stdin", labels: {}, profile: "auto", openSink, input });
  input.write("one\ntw");
  await setImmediate();
  await source.poll(0);
  expect(streams.get("stdin")).toBe("one\ntw");
  input.end("o");
  await eventually("the end", async () => {
    await source.poll(0);
    return streams.get("stdin") === "one\ntwo|";
  });
  await source.poll(0);
  expect({ text: streams.get("stdin"), read: source.stats.readBytes }).toEqual({ text: "one\ntwo|", read: 7 });
});
