import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { UTC } from "../../../src/core/timestamp.ts";
import { Line } from "../../../src/model/line.ts";
import type { LogRecord } from "../../../src/model/record.ts";
import { chroma } from "../../../src/profile/chroma/index.ts";
import { dify } from "../../../src/profile/dify/index.ts";
import { elasticsearch } from "../../../src/profile/elasticsearch/index.ts";
import { haystack } from "../../../src/profile/haystack/index.ts";
import { langchain } from "../../../src/profile/langchain/index.ts";
import { llamaindex } from "../../../src/profile/llamaindex/index.ts";
import { milvus } from "../../../src/profile/milvus/index.ts";
import { openWebui } from "../../../src/profile/open-webui/index.ts";
import { opensearch } from "../../../src/profile/opensearch/index.ts";
import { postgres } from "../../../src/profile/postgres/index.ts";
import type { Profile } from "../../../src/profile/profile.ts";
import { qdrant } from "../../../src/profile/qdrant/index.ts";
import { qdrantAudit } from "../../../src/profile/qdrant-audit/index.ts";
import { ragflow } from "../../../src/profile/ragflow/index.ts";
import { LineRouter } from "../../../src/profile/router.ts";
import { weaviate } from "../../../src/profile/weaviate/index.ts";
import { readLog } from "../../support/read-log.ts";

const PROFILES: readonly Profile[] = [
  qdrant,
  qdrantAudit,
  milvus,
  weaviate,
  chroma,
  postgres,
  elasticsearch,
  opensearch,
  dify,
  ragflow,
  openWebui,
  haystack,
  langchain,
  llamaindex,
];
const GOLDEN = path.join(import.meta.dirname, "../../golden");
const LOGS = PROFILES.flatMap(({ name }) => {
  const folder = path.join(GOLDEN, name);
  const files = name === "llamaindex" ? [] : readdirSync(folder).filter((file) => file.endsWith(".log"));
  return files.map((file) => ({ name: `${name}/${file}`, log: readFileSync(path.join(folder, file)) }));
});
const linesOf = (log: Buffer): string[] => log.toString("utf8").replace(/\n$/, "").split("\n");
const READ_MS = Date.UTC(2026, 5, 1);

/** Reads a log with the router thrown away and restored from its saved state between any two lines. */
function readRestored(lines: readonly string[], restart: boolean): LogRecord[] {
  const records: LogRecord[] = [];
  const context = { reject: () => {}, zone: UTC };
  const open = (): LineRouter =>
    new LineRouter({ profiles: PROFILES, context, emit: (record) => records.push(record) });
  let router = open();
  for (const text of lines) {
    const line = new Line();
    const bytes = Buffer.from(text);
    line.setBytes(bytes, 0, bytes.length);
    line.readMs = READ_MS;
    router.route(line);
    if (!restart) continue;
    const saved = structuredClone(router.state);
    router = open();
    router.restore(saved);
    // the daemon flushes at any time: nothing that may still go on is cut off
    router.flush(READ_MS + 100, false);
  }
  router.flush(READ_MS, true);
  return records;
}

/** Order may differ where a half waited for its other half; figures may not. */
const asSet = (records: readonly LogRecord[]): string[] => records.map((record) => JSON.stringify(record)).sort();

test.for(LOGS)("$name: a restart between any two lines changes nothing", ({ log }) => {
  const lines = linesOf(log);
  expect(asSet(readRestored(lines, true))).toEqual(asSet(readRestored(lines, false)));
});

test.for(LOGS)("$name: cut anywhere, the report is the same", ({ log }) => {
  const whole = readLog(log, { profiles: PROFILES }).report;
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: log.length }), { maxLength: 20 }), (cuts) => {
      expect(readLog(log, { profiles: PROFILES, cuts }).report).toEqual(whole);
    }),
    { numRuns: 5 },
  );
});

test.for(LOGS)("$name: no line is claimed by two of these profiles", ({ log }) => {
  const line = new Line();
  for (const text of linesOf(log)) {
    line.setText(text);
    const claims = PROFILES.filter((profile) => profile.claims(line)).map(({ name }) => name);
    expect(claims.length, `${claims.join(", ")}: ${text}`).toBeLessThan(2);
  }
});

const FRAGMENTS = [
  '"',
  "'",
  "[",
  "]",
  "(",
  "\\",
  " ",
  "\t",
  ",",
  "=",
  ": ",
  "-",
  "NaN",
  "$1",
  "<->",
  "{",
  "}",
  "§",
  "\u0000",
];

test("no line takes long or throws, however it is changed", () => {
  const lines = LOGS.flatMap(({ log }) => linesOf(log)).filter((text, index, all) => all.indexOf(text) === index);
  fc.assert(
    fc.property(
      fc.constantFrom(...lines),
      fc.array(fc.tuple(fc.nat(), fc.constantFrom(...FRAGMENTS), fc.integer({ min: 1, max: 3000 })), { maxLength: 3 }),
      (text, changes) => {
        let changed = text;
        for (const [at, fragment, times] of changes) {
          const index = at % (changed.length + 1);
          changed = changed.slice(0, index) + fragment.repeat(times) + changed.slice(index);
        }
        const line = new Line();
        line.setText(changed);
        const start = performance.now();
        for (const profile of PROFILES) {
          if (!profile.claims(line)) continue;
          const parser = profile.open({ emit: () => {}, reject: () => {}, zone: UTC });
          parser.parse(line);
          parser.continues?.(line);
          parser.flush?.(0, true);
        }
        // 5 ms by design; the first runs are not compiled yet, and the machine is shared
        expect(performance.now() - start, changed.slice(0, 200)).toBeLessThan(100);
      },
    ),
    { numRuns: 2000 },
  );
});
