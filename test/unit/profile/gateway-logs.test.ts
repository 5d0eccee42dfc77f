import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { readLog } from "../../support/read-log.ts";
import { readWithRestarts } from "../../support/restarts.ts";

const GOLDEN = path.join(import.meta.dirname, "../../golden");
const logs = ["litellm", "envoy", "kong", "higress", "cloudflare-ai-gateway", "nginx"].flatMap((folder) =>
  readdirSync(path.join(GOLDEN, folder))
    .filter((file) => file.endsWith(".log"))
    .map((file) => ({ name: `${folder}/${file}`, log: readFileSync(path.join(GOLDEN, folder, file)) })),
);

test.for(logs)("$name: a restart after each line changes no figure", ({ log }) => {
  const { files: _files, ...whole } = readLog(log).report;
  const { files: _none, ...restarted } = readWithRestarts(log);
  expect(restarted).toEqual(whole);
});

test.for(logs)("$name: cut anywhere, the report is the same", ({ log }) => {
  const whole = readLog(log).report;
  fc.assert(
    fc.property(fc.array(fc.nat(log.length), { maxLength: 6 }), (cuts) => {
      expect(readLog(log, { cuts }).report).toEqual(whole);
    }),
    { numRuns: 10 },
  );
});

test.for(logs)("$name: every line is recognised by its own profile", ({ log }) => {
  const { unrecognised, profiles } = readLog(log);
  expect(profiles["structured"]).toBeUndefined();
  // what uvicorn prints before the first line of the proxy, and the brace before the first payload
  expect(unrecognised.filter((line) => line !== "{")).toEqual([]);
});

test.for(logs)("$name: a mutated line takes no more than 5 ms and throws nothing", ({ log }) => {
  const lines = log.toString("utf8").split("\n");
  fc.assert(
    fc.property(
      fc.constantFrom(...lines),
      fc.array(fc.tuple(fc.nat(), fc.constantFrom('"', "\\", " ", "[", "]", "{", "-", ", ", "\t", "é", "", "9")), {
        maxLength: 8,
      }),
      fc.constantFrom(1, 1, 400),
      (line, edits, repeat) => {
        let text = line;
        for (const [at, insert] of edits) {
          const cut = at % (text.length + 1);
          text = `${text.slice(0, cut)}${insert.repeat(repeat)}${text.slice(cut + (at % 3))}`;
        }
        const started = performance.now();
        readLog(`${text}\n`);
        const spentMs = performance.now() - started;
        // a busy machine may interrupt one run: the second has to be quick
        if (spentMs > 5) {
          const again = performance.now();
          readLog(`${text}\n`);
          expect(performance.now() - again).toBeLessThan(20);
        }
      },
    ),
    { numRuns: 150 },
  );
});
