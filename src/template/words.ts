import { SLOT } from "./masks.ts";

/** Units of weight at which the words seen in one place of otherwise equal messages are taken for values. */
export const OPEN_AT = 120;

/** After these words stands the name of a thing more often than a part of the sentence. */
const NAMING = new Set(
  "user host hostname node device interface model collection index tenant deployment file package module named name called domain".split(
    " ",
  ),
);
/** After these words a name is likely. */
const LEADING = new Set("for from to by of on at in with via as is was than".split(" "));

/**
 * What one more word in this place says for the place being a slot; at a sum of {@link OPEN_AT} it is one. The weight depends on
 * the place and the word alone, so that the sum does not depend on the order of messages.
 *
 * @param constants Words of the message beside this place.
 */
export function wordWeight(tokens: readonly string[], at: number, constants: number): number {
  const token = tokens[at] as string;
  if (constants === 0) return 0;
  // The first word names the writer, or is the verb: fifty of them before it is a slot.
  if (token === SLOT) return 80;
  if (at === 0) return token.includes(SLOT) ? 40 : 2;
  const previous = tokens[at - 1] as string;
  let weight: number;
  if (token.includes(SLOT)) weight = 60;
  else if (NAMING.has(previous)) weight = 40;
  else if (isConstantCase(token)) weight = 12;
  else if (LEADING.has(previous)) weight = 40;
  else if (previous.endsWith(":") || previous.endsWith("=") || token.includes("=")) weight = 30;
  else weight = 15;
  return constants === 1 ? weight / 2 : weight;
}

/** `FAIL_CONTAINER_CLEANUP`: states and codes are parts of the sentence. */
function isConstantCase(token: string): boolean {
  let letters = 0;
  for (let at = 0; at < token.length; at++) {
    const code = token.charCodeAt(at);
    if (code >= 97 && code <= 122) return false;
    if (code >= 65 && code <= 90) letters++;
  }
  return letters > 1;
}

/** True for a token that holds a letter outside its slots. */
export function isWord(token: string): boolean {
  for (let at = 0; at < token.length; at++) {
    const code = token.charCodeAt(at) | 32;
    if (code >= 97 && code <= 122) return true;
    if (code > 0x7f) return true;
  }
  return false;
}

const TOKEN_PARTS = /^([("'`[{<]*(?:[A-Za-z_][\w.-]*[=:](?=.))?)(.*?)([)"'`\]}>,;:.]*)$/;
/** Stands for a slot while a token is taken apart: no bracket, no letter. */
const MARK = "\u0001";

/**
 * The common form of two tokens in one place: what stands before and after the value stays if it is the same.
 * Associative and commutative, so that the form of many does not depend on their order.
 */
export function mergeTokens(left: string, right: string): string {
  if (left === right) return left;
  const [leftHead, leftTail] = partsOf(left);
  const [rightHead, rightTail] = partsOf(right);
  return (leftHead === rightHead ? leftHead : "") + SLOT + (leftTail === rightTail ? leftTail : "");
}

function partsOf(token: string): readonly [string, string] {
  const found = TOKEN_PARTS.exec(token.replaceAll(SLOT, MARK));
  return [(found?.[1] ?? "").replaceAll(MARK, SLOT), (found?.[3] ?? "").replaceAll(MARK, SLOT)];
}
