import { templateId } from "../template/hash.ts";
import { shapeOf } from "../template/shape.ts";

/** Longest part of a message that its form is taken from, characters: the first line says what it is. */
const MAX_CHARS = 1_000;

/** The form of a message: its first line with values masked. Messages of one form differ in ids, figures, names and paths. */
export function formOf(message: string): string {
  const end = message.indexOf("\n");
  const line = end < 0 ? message : message.slice(0, end);
  return shapeOf(line.length > MAX_CHARS ? line.slice(0, MAX_CHARS) : line).key;
}

/** Id of a form: a hash of it, the same on every machine and whatever was seen before. */
export const formId = (form: string): string => templateId(form);
