import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { array, assert, boolean, infiniteStream, nat, property } from "fast-check";
import { expect, test } from "vitest";
import { analyzeReport } from "../../../src/analysis/report.ts";
import { Totals } from "../../../src/analysis/totals.ts";
import { UTC } from "../../../src/core/timestamp.ts";
import { Line } from "../../../src/model/line.ts";
import type { Profile } from "../../../src/profile/profile.ts";
import { PROFILES } from "../../../src/profile/registry.ts";
import { LineRouter } from "../../../src/profile/router.ts";
import { type Report, readLog } from "../../support/read-log.ts";

const GOLDEN = path.join(import.meta.dirname, "../../golden");
const logs = ["llamacpp", "ollama"].flatMap((folder) =>
  readdirSync(path.join(GOLDEN, folder))
    .filter((file) => file.endsWith(".log"))
    .map((file) => ({ name: `${folder}/${file}`, bytes: readFileSync(path.join(GOLDEN, folder, file)) })),
);

/** All figures, without what is said of the file. */
const figures = (report: Report): Report => ({ ...report, files: undefined });

test.for(logs)("$name says the same however it is cut", ({ bytes }) => {
  const whole = figures(readLog(bytes).report);
  assert(
    property(array(nat(bytes.length), { maxLength: 12 }), (cuts) => {
      expect(figures(readLog(bytes, { cuts }).report)).toEqual(whole);
    }),
    { numRuns: 12 },
  );
});

interface Totalled {
  readonly totals: Totals;
  router: LineRouter;
}

function opened(totals = new Totals()): Totalled {
  const router = new LineRouter({
    profiles: PROFILES,
    context: { reject: (reason) => totals.reject(reason), zone: UTC },
    emit: (record, profile: Profile) => {
      if (record.kind === "request" && record.failure !== undefined) {
        const { failure } = record;
        record.failure = undefined;
        totals.add(failure, profile.tells);
      }
      totals.add(record, profile.tells);
    },
  });
  return { totals, router };
}

/** Reads line by line; `between` may replace the router after any line. */
function readLines(lines: readonly string[], between: (read: Totalled, index: number) => void = () => {}): Report {
  const read = opened();
  const line = new Line();
  lines.forEach((text, index) => {
    const bytes = Buffer.from(text);
    line.setBytes(bytes, 0, bytes.length);
    line.readMs = 1000;
    read.router.route(line);
    between(read, index);
  });
  read.router.flush(2000, true);
  return figures(analyzeReport([], read.totals));
}

const linesOf = (bytes: Buffer): string[] =>
  bytes
    .toString("latin1")
    .split("\n")
    .map((text) => Buffer.from(text, "latin1").toString("utf8").replace(/\r$/, ""));

test.for(logs)("$name says the same with a restart and a flush between any two lines", ({ bytes }) => {
  const lines = linesOf(bytes);
  const whole = readLines(lines);
  const restarted = readLines(lines, (read) => {
    read.router.flush(1500, false);
    const saved = structuredClone(read.router.state);
    read.router = opened(read.totals).router;
    read.router.restore(saved);
  });
  expect(restarted).toEqual(whole);
});

/** Task ids moved on, so that two logs of one server's kind have none in common. */
const moved = (lines: readonly string[], by: number): string[] =>
  lines.map((text) =>
    text.replace(
      /(\| task |task id = |id_task = )(\d+)/g,
      (_, key: string, id: string) => key + String(Number(id) + by),
    ),
  );

/** Lines that belong to one record stay together: a block's bare figures, an error's continuation. */
function recordsOf(lines: readonly string[]): string[][] {
  const records: string[][] = [];
  for (const text of lines) {
    // oxlint-disable-next-line no-control-regex
    const plain = text.replace(/\u001b\[\d+m/g, "");
    const begins = /^(?:\d+\.\d\d\.\d{3}\.\d{3} [DIWE] |slot |srv {2}|main: |got exc|Unauth|CUDA error)/.test(plain);
    // the exception that explains a cancelled task comes from the same thread, at once
    const explains = /got exception|send_error|stop: cancel task/.test(plain) && records.length > 0;
    if (begins && !explains) records.push([text]);
    else (records.at(-1) ?? records[records.push([]) - 1])?.push(text);
  }
  return records;
}

const sum = (a: unknown, b: unknown): unknown => {
  if (typeof a === "object" || typeof b === "object") {
    const left = (a ?? {}) as Record<string, unknown>;
    const right = (b ?? {}) as Record<string, unknown>;
    const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])].sort();
    return Object.fromEntries(keys.map((key) => [key, sum(left[key], right[key])]));
  }
  return Math.round((Number(a ?? 0) + Number(b ?? 0)) * 1000) / 1000;
};

/** The additive figures. */
const additive = (report: Report): Record<string, unknown> => {
  const { requests, latency_ms: latency } = report as { requests: Report; latency_ms: Record<string, Report> };
  return {
    ended: [requests["finished"], requests["failed"], requests["aborted"]],
    http: report["http"],
    latency: Object.fromEntries(
      Object.entries(latency).map(([kind, { count, sum: total }]) => [kind, { count, total }]),
    ),
    tokens: report["tokens"],
    counters: report["counters"],
    rejected: report["rejected_values"],
    causes: report["errors"].records,
  };
};

const servers = logs.filter(({ name }) => name.startsWith("llamacpp/"));

test("two servers' lines in one stream, in any order of records, say the sum of both", () => {
  const pick = nat(servers.length - 1);
  assert(
    property(pick, pick, infiniteStream(boolean()), (first, second, turns) => {
      const a = linesOf(servers[first]?.bytes ?? Buffer.alloc(0));
      const b = moved(linesOf(servers[second]?.bytes ?? Buffer.alloc(0)), 1_000_000);
      const [left, right] = [recordsOf(a), recordsOf(b)];
      const mixed: string[] = [];
      while (left.length > 0 && right.length > 0)
        mixed.push(...((turns.next().value === true ? left : right).shift() ?? []));
      mixed.push(...left.flat(), ...right.flat());
      expect(sum(additive(readLines(mixed)), {})).toEqual(sum(additive(readLines(a)), additive(readLines(b))));
    }),
    { numRuns: 40 },
  );
});

test("a children's router log says what its children's logs say", () => {
  const children = servers.filter(({ name }) => name.includes("real-new"));
  for (const { bytes } of children) {
    const lines = linesOf(bytes).filter((text) => text !== "");
    const routed = ["[42027] ", "[ 8080] "].flatMap((port) => lines.map((text) => port + text));
    // the children's tasks have equal ids: interleave them line by line
    const mixed = lines.flatMap((_, index) => [routed[index] ?? "", routed[index + lines.length] ?? ""]);
    const alone = additive(readLines(lines));
    expect(sum(additive(readLines(mixed)), {})).toEqual(sum(alone, alone));
  }
});
