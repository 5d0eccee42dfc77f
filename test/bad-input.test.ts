import { mkdirSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { cli, TempFolder } from "./support/cli.ts";
import { readLog } from "./support/read-log.ts";

const REQUEST =
  '{"level":"info","time":"2026-03-02T17:00:01.330Z","msg":"chat","model":"m","status":200,"duration_ms":100.5,"ttft_ms":10,"usage":{"prompt_tokens":7,"completion_tokens":3}}\n';
const requests = (report: Record<string, any>): number => report["requests"].finished ?? 0; // oxlint-disable-line typescript/no-explicit-any

test.for<{ name: string; log: Buffer; finished: number; lines: number }>([
  {
    name: "a line that holds nothing is no request",
    log: Buffer.from(
      `${REQUEST}GET /health\n{"level":"info","msg":"GET /health","path":"/health","status":200,"method":"GET"}\n`,
    ),
    finished: 1,
    lines: 3,
  },
  {
    name: "a torn line at the end is one unknown line, the rest counts",
    log: Buffer.from(REQUEST + REQUEST.slice(0, 90)),
    finished: 1,
    lines: 2,
  },
  {
    name: "a torn line in the middle spoils no other",
    log: Buffer.from(`${REQUEST}${REQUEST.slice(0, 60)}\n${REQUEST}`),
    finished: 2,
    lines: 3,
  },
  {
    name: "a line of 1 MiB is read whole",
    log: Buffer.from(REQUEST.replace('"msg":"chat"', `"msg":"${"x".repeat(1024 * 1024 - 300)}"`) + REQUEST),
    finished: 2,
    lines: 2,
  },
  {
    name: "a line of 10 MiB is cut, its neighbours count",
    log: Buffer.from(`${REQUEST}${"y".repeat(10 * 1024 * 1024)}\n${REQUEST}`),
    finished: 2,
    lines: 3,
  },
  {
    name: "invalid UTF-8 in a value spoils nothing",
    log: Buffer.concat([
      Buffer.from(REQUEST.slice(0, 60)),
      Buffer.from([0xff, 0xc3]),
      Buffer.from(REQUEST.slice(60)),
      Buffer.from(REQUEST),
    ]),
    finished: 2,
    lines: 2,
  },
  {
    name: "invalid UTF-8 on a line of its own spoils nothing",
    log: Buffer.concat([Buffer.from([0xff, 0xfe, 0x41, 10]), Buffer.from(REQUEST)].toReversed()),
    finished: 1,
    lines: 2,
  },
  {
    name: "NUL bytes in a line of their own spoil nothing",
    log: Buffer.from(`${REQUEST}\u0000\u0000\u0000\n${REQUEST}`),
    finished: 2,
    lines: 3,
  },
  { name: "CR LF ends a line", log: Buffer.from(REQUEST.replace("\n", "\r\n") + REQUEST), finished: 2, lines: 2 },
  {
    name: "no newline at the end is still a line",
    log: Buffer.from(REQUEST + REQUEST.trimEnd()),
    finished: 2,
    lines: 2,
  },
  { name: "blank lines are lines and nothing else", log: Buffer.from(`\n\n${REQUEST}\n`), finished: 1, lines: 4 },
])("$name", ({ log, finished, lines }) => {
  const { report } = readLog(log);
  expect({ finished: requests(report), lines: report["files"][0].lines }).toEqual({ finished, lines });
});

test.for<{ name: string; value: string; e2e: number; rejected: Record<string, number> }>([
  { name: "a negative duration is refused and counted", value: "-5", e2e: 0, rejected: { "negative-duration": 1 } },
  { name: "a bare NaN is refused and counted", value: "NaN", e2e: 0, rejected: { "not-a-number": 1 } },
  { name: "a bare Infinity is refused and counted", value: "Infinity", e2e: 0, rejected: { "not-a-number": 1 } },
  { name: "a quoted NaN is refused and counted", value: '"NaN"', e2e: 0, rejected: { "not-a-number": 1 } },
  { name: "a word is refused and counted", value: '"soon"', e2e: 0, rejected: { "not-a-number": 1 } },
  { name: "null is unknown, not refused", value: "null", e2e: 0, rejected: {} },
  { name: "a number in a string is a number", value: '"12.5"', e2e: 1, rejected: {} },
  { name: "scientific notation is a number", value: "1.25e2", e2e: 1, rejected: {} },
  { name: "zero is a duration", value: "0", e2e: 1, rejected: {} },
])("$name", ({ value, e2e, rejected }) => {
  const { report } = readLog(REQUEST.replace('"duration_ms":100.5', `"duration_ms":${value}`));
  expect({
    finished: requests(report),
    e2e: report["latency_ms"].e2e?.count ?? 0,
    rejected: report["rejected_values"],
  }).toEqual({ finished: 1, e2e, rejected });
});

test.for<{
  name: string;
  make: (folder: TempFolder) => string;
  exit: number;
  stderr: string;
  finished: number | undefined;
}>([
  {
    name: "an empty file is told, exit 1",
    make: (folder) => folder.file("empty.log", ""),
    exit: 1,
    stderr: 'tokentail: cannot read "$FILE": is empty\n',
    finished: undefined,
  },
  {
    name: "a missing file is told, exit 1",
    make: (folder) => path.join(folder.path, "none.log"),
    exit: 1,
    stderr: 'tokentail: cannot read "$FILE": no such file\n',
    finished: undefined,
  },
  {
    name: "a directory is told, exit 1",
    make: (folder) => {
      const directory = path.join(folder.path, "logs");
      mkdirSync(directory);
      return directory;
    },
    exit: 1,
    stderr: 'tokentail: cannot read "$FILE": is a directory; name its files, e.g. "$FILE/*.log"\n',
    finished: undefined,
  },
  {
    name: "a gzip file is read",
    make: (folder) => folder.file("a.log.gz", gzipSync(REQUEST)),
    exit: 0,
    stderr: "",
    finished: 1,
  },
  {
    name: "a gzip file cut short is told, what was read counts, exit 1",
    make: (folder) => folder.file("cut.log.gz", gzipSync(REQUEST).subarray(0, -9)),
    exit: 1,
    stderr: 'tokentail: cannot read all of "$FILE": the gzip data is damaged or cut short; ',
    finished: 0,
  },
  {
    name: "a binary file is told, exit 1",
    make: (folder) => folder.file("core", Buffer.from(Array.from({ length: 2000 }, (_, at) => (at * 7) % 256))),
    exit: 1,
    stderr: 'tokentail: cannot read "$FILE": is no text: ',
    finished: undefined,
  },
  {
    name: "a zstd file is told with the way to read it",
    make: (folder) => folder.file("a.zst", Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0, 0])),
    exit: 1,
    stderr:
      'tokentail: cannot read "$FILE": is zstd-compressed; unpack it, or pipe it: zstdcat "$FILE" | tokentail analyze -\n',
    finished: undefined,
  },
])("analyze: $name", async ({ make, exit, stderr, finished }) => {
  using folder = new TempFolder();
  const file = make(folder);
  const result = await cli(["analyze", "--json", file]);
  const report = JSON.parse(result.stdout) as Record<string, any>; // oxlint-disable-line typescript/no-explicit-any
  expect(result.exit).toBe(exit);
  if (stderr === "") expect(result.stderr).toBe("");
  else expect(result.stderr).toContain(stderr.replaceAll("$FILE", file));
  if (finished !== undefined && exit === 0) expect(report["requests"].finished).toBe(finished);
});

test("standard input is a file like any other", async () => {
  const { stdout, exit } = await cli(["analyze", "--json", "-"], { stdin: REQUEST });
  expect({ exit, finished: JSON.parse(stdout).requests.finished }).toEqual({ exit: 0, finished: 1 });
});

test("one bad file does not keep the others from being read", async () => {
  using folder = new TempFolder();
  const good = folder.file("good.log", REQUEST);
  const { stdout, exit } = await cli(["analyze", "--json", folder.path, good]);
  expect({ exit, finished: JSON.parse(stdout).requests.finished }).toEqual({ exit: 1, finished: 1 });
});
