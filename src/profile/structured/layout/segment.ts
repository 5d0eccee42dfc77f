import type { Field } from "../field.ts";

/** What may stand at a free place of a layout. */
export const Slot = {
  /** No place: the line ends behind the literal. */
  end: 0,
  /** Plain decimal digits with at most one point, as text. */
  number: 1,
  /** The same as a JSON number, which has no leading zeros. */
  jsonNumber: 2,
  /** A time of the learned shape: digits where digits stood, the same characters elsewhere. */
  time: 3,
  /** ASCII text up to a double quote, without escapes. */
  quoted: 4,
  /** A logfmt value: letters, digits and a few marks that end nothing. */
  bare: 5,
} as const;

/** What a free place is read into. */
export const Use = { ignored: 0, duration: 1, count: 2, time: 3, epoch: 4, id: 5, traceId: 6, label: 7 } as const;

/** One literal of a layout and the free place behind it. */
export interface Segment {
  readonly literal: Uint8Array;
  readonly slot: number;
  readonly use: number;
  readonly field: Field | -1;
  /** Milliseconds of one unit, as a fraction; 1/1 where it does not matter. */
  readonly multiply: number;
  readonly divide: number;
  /** The value of the learned line; its shape for {@link Slot.time}. */
  readonly sample: Uint8Array;
}

/** A value found in a line, as half-open byte ranges; quotes are outside. */
export interface Value {
  /** Keys from the outermost object inwards. */
  readonly path: readonly string[];
  readonly start: number;
  readonly end: number;
  readonly kind: "string" | "number" | "word" | "array" | "object";
  /** The text stands in double quotes. */
  readonly quoted: boolean;
  /** No escape, control character or byte beyond ASCII in it. */
  readonly plain: boolean;
}
