import { readFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { CATALOGUE } from "../../../src/failure/catalogue.ts";
import { compilePhrase, phraseFinder, wordsOf } from "../../../src/failure/evidence.ts";

test("names are unique label values", () => {
  const names = CATALOGUE.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => !/^[a-z][a-z_]{3,40}$/.test(name))).toEqual([]);
});

test("every cause says what it means and what to look at", () => {
  expect(
    CATALOGUE.filter(
      ({ title, firstChecks, evidence }) => title.length < 10 || firstChecks.length === 0 || evidence.length === 0,
    ),
  ).toEqual([]);
});

test("every cause that labelled failures name is in the catalogue", () => {
  const labels = readFileSync(path.join(import.meta.dirname, "../../golden/failures/labelled.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { label: string }).label);
  const names = new Set(CATALOGUE.map(({ name }) => name));
  expect([...new Set(labels)].filter((label) => !names.has(label))).toEqual([]);
});

test("every expression holds its key word wherever it matches", () => {
  // the word must stand in the expression's source: the prefilter would pass over a match that lacks it
  const odd = CATALOGUE.flatMap(({ name, evidence }) =>
    evidence
      .filter(({ says, word }) => says instanceof RegExp && !says.source.includes((word ?? "?").slice(0, 3)))
      .map(({ word }) => `${name}: ${word}`),
  );
  expect(odd).toEqual([]);
});

test.for([
  { name: "plain words", phrase: "CUDA out of memory", text: "runtimeerror: cuda out of memory.", at: 14 },
  { name: "not inside a longer word", phrase: "EMFILE", text: "xemfile emfiles", at: -1 },
  { name: "a later match when the first is inside a word", phrase: "FSM", text: "xfsm: fsm", at: 6 },
  {
    name: "a star passes over words of the same line",
    phrase: "model * not found",
    text: "model 'a b' not found",
    at: 0,
  },
  { name: "a star stops at the line's end", phrase: "model * not found", text: "model a\nb not found", at: -1 },
  { name: "a number", phrase: "limit # reached", text: "limit 1,024 reached", at: 0 },
  { name: "the rest of a word", phrase: "throttl~", text: "was throttling", at: 4 },
  { name: "one of several", phrase: "no free <gpu|cpu> blocks", text: "no free cpu blocks", at: 0 },
  {
    name: "what is special in expressions stands for itself",
    phrase: "d == self.d",
    text: "assert d == selfxd",
    at: -1,
  },
])("phraseFinder: $name", ({ phrase, text, at }) => {
  expect(phraseFinder(phrase)(text)).toBe(at);
  expect(compilePhrase(phrase).exec(text)?.index ?? -1).toBe(at);
});

test.for([
  { phrase: "CUDA# buffer", words: ["buffer"] },
  { phrase: "no free <gpu|cpu> blocks", words: ["no", "free", "blocks"] },
  { phrase: "throttl~", words: ["thrott~"] },
])("words of $phrase", ({ phrase, words }) => {
  expect(wordsOf(phrase)).toEqual(words);
});
