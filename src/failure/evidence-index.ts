import { type Cause, type Evidence, type Finder, phraseFinder, STEM_CHARS, wordsOf } from "./evidence.ts";

/** One piece of evidence, compiled. */
interface Compiled {
  readonly cause: Cause;
  readonly evidence: Evidence;
  readonly find: Finder;
}

/** A piece of evidence that was found. */
export interface Finding {
  readonly cause: string;
  readonly weight: number;
  readonly by: string;
  readonly says: string;
  /** Where in the searched text the match begins. */
  readonly at: number;
}

/**
 * All evidence of a catalogue, looked up by the words of a text: a text is scanned once, and only expressions whose key
 * word it holds are tried.
 */
export class EvidenceIndex {
  readonly #byWord = new Map<string, Compiled[]>();

  constructor(causes: readonly Cause[]) {
    const seen = new Set<string>();
    const all: { compiled: Compiled; words: readonly string[] }[] = [];
    const uses = new Map<string, number>();
    for (const cause of causes) {
      for (const evidence of cause.evidence) {
        const phrase = typeof evidence.says === "string" ? evidence.says.replaceAll("`", "'") : undefined;
        // phrases that differ in case only are the same
        const key = `${cause.name} ${evidence.weight} ${phrase?.toLowerCase() ?? `${evidence.word} ${String(evidence.says)}`}`;
        if (seen.has(key)) continue;
        seen.add(key);
        const words = phrase === undefined ? [evidence.word ?? ""] : wordsOf(phrase);
        if (words[0] === "")
          throw new RangeError(`Evidence ${String(evidence.says)} of "${cause.name}" has no key word`);
        const expression = evidence.says as RegExp;
        const find = phrase === undefined ? (text: string) => text.search(expression) : phraseFinder(phrase);
        all.push({ compiled: { cause, evidence, find }, words });
        for (const word of words) uses.set(word, (uses.get(word) ?? 0) + 1);
      }
    }
    // the key is the word that fewest phrases share: rare in the catalogue is rare in logs
    const rarity = (word: string): number => (uses.get(word) ?? 0) - word.length / 100;
    for (const { compiled, words } of all) {
      const word = words.reduce((best, next) => (rarity(next) < rarity(best) ? next : best));
      const list = this.#byWord.get(word);
      if (list === undefined) this.#byWord.set(word, [compiled]);
      else list.push(compiled);
    }
  }

  /** Every finding in a text as {@link searchableText} makes it. */
  find(text: string): Finding[] {
    const findings: Finding[] = [];
    const tried = new Set<string>();
    for (const [word] of text.matchAll(/\w+/g)) {
      if (tried.has(word)) continue;
      tried.add(word);
      this.#try(this.#byWord.get(word), text, findings);
      if (word.length < STEM_CHARS) continue;
      const stem = `${word.slice(0, STEM_CHARS)}~`;
      if (tried.has(stem)) continue;
      tried.add(stem);
      this.#try(this.#byWord.get(stem), text, findings);
    }
    return findings;
  }

  #try(list: readonly Compiled[] | undefined, text: string, findings: Finding[]): void {
    if (list === undefined) return;
    for (const { cause, evidence, find } of list) {
      const at = find(text);
      if (at < 0) continue;
      if (evidence.unless?.test(text) === true || evidence.also?.test(text) === false) continue;
      const { weight, by, says } = evidence;
      const shown = typeof says === "string" ? says : says.source;
      findings.push({ cause: cause.name, weight, by, says: shown, at });
    }
  }
}
