import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { TemplateMiner } from "../../../src/template/template-miner.ts";

/** Templates with their counts, sorted. */
function mine(messages: readonly string[], miner = new TemplateMiner()): string[] {
  for (const message of messages) miner.add(message);
  return [...miner.templates()].map(({ count, template }) => `${count} ${template}`).sort();
}

test.for([
  {
    name: "numbers inside words are slots",
    lines: ["generating core.2275", "generating core.862"],
    out: ["2 generating core.<*>"],
  },
  {
    name: "an unclosed bracket is a word's part",
    lines: [
      "ciod: failed to read message prefix on control stream (CioStream socket to 10.16.9.116:33569",
      "ciod: failed to read message prefix on control stream (CioStream socket to 10.16.9.117:33370",
    ],
    out: ["2 ciod: failed to read message prefix on control stream (CioStream socket to <*>"],
  },
  {
    name: "switches in brackets are values, and so is a figure too wide for its column",
    lines: ["PSU ( on on )", "PSU ( off off )", "Fan ( 3552 3534 4245 )", "Fan ( 3552 **** 4245 )"],
    out: ["2 Fan ( <*> <*> <*> )", "2 PSU ( <*> <*> )"],
  },
  {
    name: "names after a leading word open at the third; another sentence stays apart",
    lines: [
      "Failed password for root from 10.0.0.4 port 4 ssh2",
      "Failed password for ftp from 10.0.0.9 port 44 ssh2",
      "Failed password for uucp from 10.0.0.9 port 44 ssh2",
      "Failed password for invalid user admin from 10.0.0.9 port 44 ssh2",
    ],
    out: [
      "1 Failed password for invalid user admin from <*> port <*> ssh<*>",
      "3 Failed password for <*> from <*> port <*> ssh<*>",
    ],
  },
  {
    name: "states are parts of the sentence",
    lines: ["task t Transitioned from NEW to RUNNING", "task t Transitioned from RUNNING to FAILED"],
    out: ["1 task t Transitioned from NEW to RUNNING", "1 task t Transitioned from RUNNING to FAILED"],
  },
  {
    name: "the first word names the writer",
    lines: ["klogd startup succeeded", "sdpd startup succeeded", "cupsd startup succeeded", "hcid startup succeeded"],
    out: [
      "1 cupsd startup succeeded",
      "1 hcid startup succeeded",
      "1 klogd startup succeeded",
      "1 sdpd startup succeeded",
    ],
  },
  {
    name: "units do not split a template, and stay when all agree",
    lines: ["kept 5.2 KB, free 3 MB", "kept 17 B, free 4 MB"],
    out: ["2 kept <*> <*>, free <*> MB"],
  },
  {
    name: "a list is one slot however long",
    lines: ["bad nodes 1, 2, 3", "bad nodes 1, 2", "ask to drop blk_1 blk_-2", "ask to drop blk_3"],
    out: ["2 ask to drop blk_<*>", "2 bad nodes <*>"],
  },
  {
    name: "nested objects with hashes and component names",
    lines: [
      "opening wtoken = AppWindowToken{9f4ef63 token=Token{a64f992 ActivityRecord{de9231d u0 com.example.app/.NewsActivity t761}}}, allDrawn= false",
      "opening wtoken = AppWindowToken{1234567 token=Token{abc4f99 ActivityRecord{d6d5e8f u0 com.example.app/com.other.Player t762}}}, allDrawn= true",
    ],
    out: ["2 opening wtoken = AppWindowToken{<*> token=Token{<*> ActivityRecord{<*> u<*> <*> t<*>}}}, allDrawn= <*>"],
  },
  {
    name: "hosts, with and without name, and dates in words",
    lines: [
      "connection from 10.0.0.1 () at Sat Jun  4 10:11:12 2005",
      "connection from 10.0.0.2 (10.0.0.2.dsl.example.at) at Sun Jul 13 01:11:12 2005",
    ],
    out: ["2 connection from <*> (<*>) at <*> <*> <*> <*> <*>"],
  },
  {
    name: "package names and component versions",
    lines: [
      "Read applicability for package: Package_for_KB2928120~31bf3856ad364e35~amd64~~6.1.1.2, State: 112",
      "Read applicability for package: Package_1_for_KB2928121~31bf3856ad364e35~amd64~~6.1.2.0, State: 80",
    ],
    out: ["2 Read applicability for package: <*>, State: <*>"],
  },
])("TemplateMiner: $name", ({ lines, out }) => {
  expect(mine(lines)).toEqual(out);
});

describe("what does not depend on the order", () => {
  const word = fc.constantFrom(
    "alice",
    "bob",
    "carol",
    "dave",
    "RUN",
    "STOP",
    "node-4",
    "0x1f",
    "7",
    "on",
    "5",
    "KB",
    "a=x",
    "a=true",
  );
  const message = fc
    .tuple(fc.constantFrom("opened for", "user", "state to", "kept"), word, fc.constantFrom("by", "in"), word, word)
    .map((parts) => parts.join(" "));
  const messages = fc.array(message, { minLength: 1, maxLength: 120 });

  test("templates, counts and ids", () => {
    fc.assert(
      fc.property(
        messages.chain((list) => fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length }))),
        ([list, shuffled]) => {
          expect(mine(shuffled)).toEqual(mine(list));
        },
      ),
    );
  });

  test("the template of each message at the end", () => {
    fc.assert(
      fc.property(messages, (list) => {
        const finals = [list, [...list].reverse()].map((order) => {
          const miner = new TemplateMiner();
          const given = order.map((text) => [text, miner.add(text).id] as const);
          return new Map(given.map(([text, id]) => [text, miner.currentId(id)]));
        });
        for (const [text, id] of finals[0] ?? []) expect(finals[1]?.get(text)).toBe(id);
      }),
    );
  });

  test("a restart between any two messages changes nothing", () => {
    fc.assert(
      fc.property(messages, fc.nat(), (list, cut) => {
        const at = cut % list.length;
        const first = new TemplateMiner();
        for (const text of list.slice(0, at)) first.add(text);
        const second = new TemplateMiner();
        second.state = structuredClone(first.state);
        expect(mine(list.slice(at), second)).toEqual(mine(list));
      }),
    );
  });

  test("a replay changes counts alone", () => {
    fc.assert(
      fc.property(messages, (list) => {
        const once = mine(list).map((row) => row.replace(/^\d+ /, ""));
        expect(
          mine([...list, ...list])
            .map((row) => row.replace(/^\d+ /, ""))
            .sort(),
        ).toEqual(once.sort());
      }),
    );
  });
});

test("an id given before a template became more general leads to the present one", () => {
  const miner = new TemplateMiner();
  const early = miner.add("opened for alice").id;
  for (const name of ["bob", "carol", "dave", "erin", "frank", "grace"]) miner.add(`opened for ${name}`);
  const late = miner.add("opened for heidi");
  expect(late.template).toBe("opened for <*>");
  expect(late.id).not.toBe(early);
  expect(miner.currentId(early)).toBe(late.id);
  expect(miner.currentId("t0000000000000")).toBeUndefined();
  const restored = new TemplateMiner();
  restored.state = structuredClone(miner.state);
  expect(restored.currentId(early)).toBe(late.id);
});

test("beyond the limit a message of no known template goes to a coarse one, and is counted", () => {
  const miner = new TemplateMiner({ maxShapes: 10 });
  const letters = "abcdefghijklmnopqrstuvwxyz".split("");
  for (const a of letters) for (const b of letters) miner.add(`${a}x said ${b}y ${b}${a}z ${a}${b}w`);
  const found = [...miner.templates()];
  expect(found.reduce((sum, { count }) => sum + count, 0)).toBe(676);
  expect(found.length).toBeLessThanOrEqual(10 + 26);
  expect(miner.overflowed).toBe(666);
  expect(found.some(({ template }) => template === "bx <*> …")).toBe(true);
});
