import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { type Report, readLog } from "../../support/read-log.ts";

/** Whatever carries a log, its figures are the same. */
const GOLDEN = path.join(import.meta.dirname, "../../golden");
const logs = readdirSync(GOLDEN, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".log") && path.dirname(file) !== "frame")
  .sort();

const T = "2026-03-02T17:00:00.669000423Z";
const cri = (line: Buffer): Buffer => {
  const head = (tag: string): Buffer => Buffer.from(`${T} stdout ${tag} `);
  const newline = Buffer.from("\n");
  if (line.length < 200) return Buffer.concat([head("F"), line, newline]);
  return Buffer.concat([head("P"), line.subarray(0, 150), newline, head("F"), line.subarray(150), newline]);
};
const CARRIERS: Readonly<Record<string, (line: Buffer) => Buffer>> = {
  cri,
  "docker-json": (line) =>
    Buffer.from(`${JSON.stringify({ log: `${line.toString()}\n`, stream: "stderr", time: T })}\n`),
  "journald-json": (line) =>
    Buffer.from(
      `${JSON.stringify({ __REALTIME_TIMESTAMP: "1772470800669000", MESSAGE: line.length === 0 ? "" : [...line] })}\n`,
    ),
  "journald-export": (line) => {
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(line.length));
    return Buffer.concat([Buffer.from("__CURSOR=1\nMESSAGE\n"), length, line, Buffer.from("\n\n")]);
  },
  "syslog-3164": (line) => Buffer.concat([Buffer.from("Mar  2 17:00:00 gpu-01 app[42]: "), line, Buffer.from("\n")]),
  "syslog-5424": (line) => Buffer.concat([Buffer.from(`<14>1 ${T} gpu-01 app 42 - - `), line, Buffer.from("\n")]),
  compose: (line) => Buffer.concat([Buffer.from("vllm-1  | "), line, Buffer.from("\n")]),
  "docker-logs": (line) => Buffer.concat([Buffer.from(`${T} `), line, Buffer.from("\n")]),
  "cri+compose": (line) => Buffer.concat([Buffer.from(`${T} stdout F vllm-1  | `), line, Buffer.from("\n")]),
};

function* linesOf(bytes: Buffer): Iterable<Buffer> {
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(10, start);
    const end = newline < 0 ? bytes.length : newline;
    yield bytes.subarray(start, end);
    start = end + 1;
  }
}

/** What may differ: how many physical lines there are, and at which time something without its own is noted. */
function figures(report: Report): Report {
  const { profiles, unrecognised } = report["files"][0] as Report;
  return { ...report, files: undefined, root_causes: undefined, profiles, unrecognised };
}

test.for(logs)("%s: every carrier gives the same figures", (log) => {
  const bytes = readFileSync(path.join(GOLDEN, log));
  const plain = figures(readLog(bytes).report);
  for (const [carrier, wrap] of Object.entries(CARRIERS)) {
    const { report } = readLog(Buffer.concat([...linesOf(bytes)].map(wrap)));
    expect(figures(report), carrier).toEqual(plain);
    expect(report["files"][0].frame).toBe(carrier);
  }
});
